/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_KNOBS_H
#define KB_RUN_KNOBS_H

#include "base/base.h"

#include "run/engine_state.h"

/* A variant's run-time part: scheduler features and sysctls, set through the agent, which reads
 * each of them back. On a machine that is not booted what was before is noted in live. */

/* before: what the agent's proof said. *sysctls: the report, or NULL; the caller ends with
 * json_decref. ERR_NOT_FOUND: this kernel has no such switch, trying again is of no use. */
KB_MUST_CHECK int knobs_apply(struct rig *rig, const struct variant *variant, const json_t *before,
	struct live *live, json_t **sysctls, struct err *err);

/* Takes what was before from a proof that another kbracket stored, which may have died before it
 * could put it back. */
void knobs_remember(
	struct rig *rig, const struct variant *variant, const char *proof, struct live *live);

/* Puts back what live has noted; what can't be put back is told in the log. */
void knobs_restore(struct rig *rig, struct live *live);

#endif
