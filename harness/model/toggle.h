/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_TOGGLE_H
#define KB_MODEL_TOGGLE_H

#include "base/base.h"

#include "model/store_view.h"

/*
 * design.order: toggle. Variants of one kernel are switched inside one boot, A B A, as often as
 * there are variants beside the baseline (A B A C A). Each part is a boot of the plan; all parts of
 * a block are in one start of the kernel. What two starts of a kernel differ by is not in such
 * numbers, so runs are their unit, and they are never taken together with booted ones.
 */

/* How the parts after the first were "booted": in the place of "kexec". */
#define TOGGLE_METHOD "toggle"

/* True when the experiment has parts that were switched to inside a boot. */
bool toggle_seen(const struct store_view *view);

#endif
