/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_WARMTH_H
#define KB_RUN_WARMTH_H

#include "base/base.h"

#include "run/engine_state.h"

/* The temperature that a machine's runs are to begin at: that of the experiment's first one. */

/* What a run must keep to; NULL as long as nothing is known or asked for. */
const struct temperature_spec *warmth_wanted(const struct rig *rig);

/* Takes it from an agent's result, unless it is known. */
void warmth_learn(struct rig *rig, const json_t *result);

/* Takes it from the journal, for an experiment that goes on. ERR_INFRA: the database. */
KB_MUST_CHECK int warmth_recall(struct rig *rig, struct err *err);

#endif
