/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_KNOBS_H
#define KB_RUN_KNOBS_H

#include "base/base.h"

#include "run/engine_state.h"

/*
 * What is changed on a running machine while it is measured: the settings of its file (tune:), and
 * a variant's run-time part, which are scheduler features, sysctls and a sched_ext scheduler. The
 * agent reads each of them back, and keeps on the machine what was before, so that it can be put
 * back by whoever comes next.
 */

/* Makes the machine as the variant wants it, whatever it was changed to before. *report: what the
 * agent says (its hold.h); the caller ends with json_decref. What the machine's file asks for and
 * the machine can't do is told and noted, once. What the variant asks for and can't be had is an
 * error; ERR_NOT_FOUND: this kernel has no such thing, trying again is of no use. */
KB_MUST_CHECK int knobs_apply(
	struct rig *rig, const struct variant *variant, json_t **report, struct err *err);

/* The machine was turned off and on: nothing is changed on it. */
void knobs_forget(struct rig *rig);

/* Puts everything back; what can't be put back is told in the log. */
void knobs_restore(struct rig *rig);

#endif
