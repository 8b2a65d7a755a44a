/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RUNNING_H
#define KB_RUN_RUNNING_H

#include "base/base.h"

#include "run/engine_state.h"

/* Runs what is left of a boot's runs, in order. live->died: the kernel or the machine was lost, the
 * run is stored as failed; with live->measured the runs after it are, too. Returns an error only
 * for what stops the walk. */
KB_MUST_CHECK int running_walk(
	struct rig *rig, const struct store_boot *boot, struct live *live, struct err *err);

/* Removes the folder of the last run from the machine, where nothing else would: the runs before it
 * were forgotten by the ones after them. Only for a run that was stored or given up. */
void running_forget(struct rig *rig, struct live *live);

#endif
