/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_COLLECT_H
#define KB_RUN_COLLECT_H

#include "base/base.h"

#include "run/engine_state.h"
#include "run/outcome.h"

/* From a run that is over on the machine to its rows. */

/* Folder of a run on the machine; freed by the caller. */
char *collect_place(const struct rig *rig, const struct store_run *run);

enum collected {
	COLLECTED,
	COLLECT_NEVER_RAN, /* the kernel is the same, and the agent does not know the run, or died
			    * before it started the program */
	COLLECT_DIED,	   /* another kernel runs, or nothing answers */
};

/* Asks the agent, again and again until a deadline that leaves the run its time, for the reply on a
 * run whose connection was lost. outcome is filled in when COLLECTED. */
KB_MUST_CHECK int collect_reply(struct rig *rig, const struct live *live,
	const struct store_run *run, struct outcome *outcome, enum collected *end, struct err *err);

/* Reads the output and stores the run; *failure is why it gave no numbers, "" when it did. */
KB_MUST_CHECK int collect_store(struct rig *rig, const struct store_boot *boot, struct live *live,
	const struct store_run *run, const struct outcome *outcome, struct str *failure,
	struct err *err);

#endif
