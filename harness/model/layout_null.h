/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_LAYOUT_NULL_H
#define KB_MODEL_LAYOUT_NULL_H

#include "base/base.h"

#include "model/experiment.h"

/*
 * The layout null: a change of source moves code about, and that alone can move a number. Each
 * variant that is built from another source or configuration than its baseline is built, with that
 * baseline, in two more layouts: NAME-aligned with every function at 64 bytes, NAME-padded with
 * some padding before the scheduler's text, of a size that comes from the experiment's seed. They
 * are compared in pairs of the same layout. Link order stays: it is the order of initcalls.
 */

/* Adds these variants behind the others. The node is where it was asked for: nothing to rebuild is
 * an error there, as is an order that names every boot. */
void layout_null_add(
	const struct opt_ctx *ctx, struct experiment *experiment, const struct ynode *node);

#endif
