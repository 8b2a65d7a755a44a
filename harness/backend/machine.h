/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_MACHINE_H
#define KB_BACKEND_MACHINE_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"
#include "model/machine.h"
#include "sys/proc.h"

/*
 * A machine that kernels are booted on. Order of calls: machine_open, machine_start, then
 * machine_boot and machine_exec in any order, machine_close. The kinds (qemu, ssh, local) are const
 * tables of functions in machine_KIND.c, the boot methods in boot_METHOD.c; nobody else knows them.
 */
struct machine;

/* A program or an input file that suites need: a file here that must be on the machine under its
 * name. */
struct machine_program {
	const char *name;
	const char *path;   /* on this host; NULL: it must be found on the machine */
	const char *sha256; /* of the file here; "" when path is NULL */
	bool is_data;	    /* a suite's input: nothing that can be run */
};

/* One step of bringing a machine back, when it has ended. Text is borrowed during the call. */
struct machine_rung {
	const char *kind; /* look, wait, restart, power */
	int64_t began_ns; /* wall clock */
	int64_t limit_ns; /* that it was given */
	int64_t took_ns;
	const char *found;  /* what answers now: own (kernel), ours, nothing; or failed */
	const char *detail; /* what went wrong; "" */
};
typedef void machine_rung_fn(void *arg, const struct machine_rung *rung);

struct machine_env {
	const char *cache_dir; /* guest images, keys, sockets */
	const char *agent;     /* path of the static kbracket-agent here */
	const struct machine_program *programs;
	size_t program_count;
	machine_rung_fn *rung; /* NULL: nobody wants to know */
	void *rung_arg;
};

/* A kernel to be booted. */
struct boot_image {
	const char *image;
	const char *modules; /* "" when none */
	const char *release;
	const char *cmdline; /* whole command line: the machine's and the variant's */
	const char *config;  /* path of its .config; "" when not known */
	bool cold;	     /* through the firmware, where the machine's method is kexec */
};

/* No contact is made yet. The spec and env stay the caller's and must outlive the machine. */
KB_MUST_CHECK int machine_open(const struct machine_spec *spec, const struct machine_env *env,
	struct machine **out, struct err *err);

/* Makes the machine answer with the agent and programs in place. A guest is started with the safe
 * kernel; an ssh host must be up. What was found out on the way ("no KVM: ...; using TCG") goes to
 * the log. */
KB_MUST_CHECK int machine_start(
	struct machine *machine, const struct boot_image *safe, struct err *err);

/* Switches to a kernel by the machine's boot method and returns when the agent answers from a boot
 * with a new boot_id. The console is written to console_path where there is one. ERR_TIMEOUT when
 * it did not come back in the machine's boot_timeout; ERR_INFRA when the kernel could not be
 * loaded. Proving which kernel came up is the caller's. */
KB_MUST_CHECK int machine_boot(struct machine *machine, const struct boot_image *image,
	const char *console_path, struct err *err);

/* The recovery ladder after a failed boot: power cycle (a guest is ended and started again), wait
 * for the safe kernel. ERR_INFRA when the machine cannot be brought back. */
KB_MUST_CHECK int machine_recover(
	struct machine *machine, const struct boot_image *safe, struct err *err);

/* Puts the agent and the programs there again, on a machine that answers: for one on which they do
 * not run any more. Boot and recovery do that by themselves. */
KB_MUST_CHECK int machine_equip(struct machine *machine, struct err *err);

/* Runs a command on the machine as root. As proc_run: 0 when it ran and ended; a lost connection
 * is ERR_INFRA. spec->argv is the remote argv; env and cwd of spec are not used. */
KB_MUST_CHECK int machine_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err);

/* Puts a file on the machine under workdir/NAME (atomic, size and SHA-256 checked). */
KB_MUST_CHECK int machine_put(struct machine *machine, const char *local_path, const char *name,
	unsigned mode, struct err *err);

/* Paths on the machine; borrowed. */
const char *machine_workdir(const struct machine *machine);
const char *machine_agent(const struct machine *machine);
/* Where a program is on the machine; NULL when it is not there. Valid after machine_start. */
const char *machine_program_path(const struct machine *machine, const char *name);

/* "kexec", "direct", ...; and one line on how the machine is run ("QEMU 7.2, TCG, 8 CPUs"). */
const char *machine_boot_method(const struct machine *machine);
const char *machine_about(const struct machine *machine);

/* False when the machine is known not to run any more (a guest has ended): nothing will ever answer
 * before machine_recover. True otherwise, also when nobody knows. */
bool machine_alive(struct machine *machine);

/* Ends guests, closes connections, frees. NULL is fine. */
void machine_close(struct machine *machine);

#endif
