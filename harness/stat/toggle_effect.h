/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_TOGGLE_EFFECT_H
#define KB_STAT_TOGGLE_EFFECT_H

#include "base/base.h"
#include "stat/bracket.h"

/*
 * The effect of a variant that was switched on and off inside one boot, A B A, with the run as the
 * unit: what it says holds for that boot.
 *
 *   d    mean of ln y over all runs of b, less that over the runs of a in the parts next to them
 *   V    (SS_a + SS_b) / (n_a + n_b - 2), SS about the arm's mean, so that drift between the parts
 *        widens the interval
 *   se^2 = V (1 / n_a + 1 / n_b),  df = n_a + n_b - 2
 *
 * boots are the parts in time order, t their ordinals, block the boot that they were in; those
 * without runs or with a mean that is not finite are left out. A part of one run has no variance of
 * its own: it counts by its mean. Always fills *out; boots_a and boots_b are numbers of parts.
 */
void toggle_effect(
	const struct bracket_boot *boots, size_t count, int a, int b, struct bracket *out);

#endif
