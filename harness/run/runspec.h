/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RUNSPEC_H
#define KB_RUN_RUNSPEC_H

#include "base/base.h"

#include "base/clock.h"
#include "run/engine_state.h"

/* Beyond a run's timeout: starting, killing, writing, and the way back. */
#define RUNSPEC_SLACK_NS (90 * NS_PER_S)

/* Where things are on the machine. */
struct runspec_places {
	const char *program;
	const char *const *before; /* argv that the program's is put behind, NULL-ended; NULL: none
				    */
	const char *const *files;  /* of the suite, in their order */
	/* where a program is that a set-up, a server or a tear-down names; NULL: in the PATH */
	const char *(*find)(const void *arg, const char *name);
	const void *arg;
	const struct temperature_spec *temperature; /* NULL: as warm as it is */
	int64_t first_mc;
	const struct counting *counting; /* NULL: the run is not made for it */
	const char *perf;		 /* for its events */
};

/* What the agent is asked to run for a condition, and kernel messages from a sequence number
 * on. Freed by the caller. */
char *runspec_condition(const struct condition *condition, const struct runspec_places *places,
	const char *id, int64_t kmsg_after);
/* When the reply must be there at the latest, from now, of a run without counting. */
int64_t runspec_condition_deadline_ns(const struct condition *condition);
/* Largest reply that is in order. */
size_t runspec_condition_bytes(const struct condition *condition);

/* The same for a run of the plan; the agent's spec.h describes it. Freed by the caller. */
char *runspec_json(struct rig *rig, const struct store_run *run, int64_t kmsg_after);
/* When its reply must be there at the latest, from now. */
int64_t runspec_deadline_ns(const struct rig *rig, const struct store_run *run);
size_t runspec_reply_bytes(const struct rig *rig, const struct store_run *run);

#endif
