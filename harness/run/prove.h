/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_PROVE_H
#define KB_RUN_PROVE_H

#include "base/base.h"

#include "base/mem.h"
#include "model/variant.h"
#include "sys/json.h"

/* Is this the kernel that was asked for? Pure: what is expected and what the agent saw in, an
 * answer out. */
struct prove_expect {
	bool booted;	      /* false: a machine that is never booted; its kernel is as it is */
	const char *build_id; /* hex; "": not known, then release and version prove it weakly */
	const char *release;  /* uname -r */
	const char *proc_version;    /* /proc/version; "" when not known */
	const char *cmdline;	     /* each of its words must be on the kernel's command line */
	const char *old_boot_id;     /* of before the boot; NULL: it may be any */
	int64_t cpus;		     /* online; 0: any */
	const char *const *features; /* NAME or NO_NAME as read back; NULL: none */
	const char *features_before; /* all of them before they were set, for the record; NULL */
	bool scheduler;		     /* a sched_ext scheduler is loaded; else none may be */
};

struct prove_answer {
	const char *reason; /* NULL: proved; wrong-kernel, same-boot, cpus, features, scheduler,
				tainted */
	const char *detail; /* arena's; "" */
	bool weak;
	char boot_id[64];
	const char *json; /* arena's: {expected, seen} */
};

/* seen: what `kbracket-agent proof` printed. held: what its `hold` reported, or NULL. */
void prove_check(const struct prove_expect *expect, const json_t *seen, json_t *held,
	struct arena *arena, struct prove_answer *out);

#endif
