/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RIG_H
#define KB_RUN_RIG_H

#include "base/base.h"

#include "run/engine_state.h"

/* Walks the boots of one machine that are not ended. *unusable: the error is about this machine
 * only, other machines may go on. */
KB_MUST_CHECK int rig_walk(struct engine *engine, size_t machine, bool *unusable, struct err *err);

/* What is booted for a variant; empty on a machine that is not booted. Lives as long as the engine.
 */
struct boot_image rig_image(struct rig *rig, size_t variant);

/* For engine_ask_cpus: a machine that is started without a plan. */
KB_MUST_CHECK int rig_ask_cpus(const struct machine_spec *machine,
	const struct engine_options *options, int64_t *cpus, struct err *err);

#endif
