/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RUNGS_H
#define KB_RUN_RUNGS_H

#include "base/base.h"

#include "backend/machine.h"

/* For machine_env.rung, with the rig as its argument: keeps the step in the database, with the boot
 * that it was taken in. One that cannot be kept is told, and is not worth stopping for. */
void rungs_keep(void *rig, const struct machine_rung *rung);

#endif
