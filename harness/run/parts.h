/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_PARTS_H
#define KB_RUN_PARTS_H

#include "base/base.h"

#include "run/engine_state.h"

/* design.order: toggle: the parts of a block are in one start of the kernel. */

/* The boot_id of the kernel that an earlier part of the boot's block was measured in, and this one
 * must be; NULL when this one starts a kernel, as every boot does in another order. */
const char *parts_boot_id(const struct rig *rig, const struct store_boot *boot);

/* The part was proved in the kernel with that boot_id. */
void parts_note(struct rig *rig, const struct store_boot *boot, const char *boot_id);

#endif
