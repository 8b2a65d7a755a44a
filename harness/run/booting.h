/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_BOOTING_H
#define KB_RUN_BOOTING_H

#include "base/base.h"

#include "run/engine_state.h"

/* One boot of the plan from its start, or from where the journal left it, to its end: done, or
 * failed with a reason. A kernel that does not come up, or not as the one asked for, is tried once
 * more after a recovery. Returns an error only for what stops the walk; *unusable when it is the
 * machine that can't be brought back. */
KB_MUST_CHECK int booting_walk(
	struct rig *rig, const struct store_boot *boot, bool *unusable, struct err *err);

/* Sets the variant's switches in the running kernel and proves it; answer says what was found. */
struct prove_answer;
KB_MUST_CHECK int booting_prove(struct rig *rig, const struct store_boot *boot,
	const char *old_boot_id, struct prove_answer *answer, struct err *err);

#endif
