/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RESUME_H
#define KB_RUN_RESUME_H

#include "base/base.h"

#include "run/engine_state.h"

/*
 * What a boot's journal and the machine together say, before the walk goes on: a boot that was not
 * begun is left as it is. For one that was, *alive tells whether its proved kernel still runs (live
 * is then filled in). A run that was under way is collected from the agent of a living kernel,
 * else it is kept as interrupted and planned again.
 */
KB_MUST_CHECK int resume_boot(struct rig *rig, const struct store_boot *boot, struct live *live,
	bool *alive, struct err *err);

#endif
