/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_LAYOUT_H
#define KB_JUDGE_LAYOUT_H

#include "base/base.h"

#include "judge/rate.h"

/*
 * Does a change stay when the same two kernels are laid out otherwise? For each decided rate that
 * is a change, and whose variant was measured in other layouts (layout_null), fills in row.layout:
 *
 *   "suspect"  in one of them it is not there: equivalent, a change in the other direction, or
 *              an effect whose interval does not meet this one's
 *   "open"     one of them is not decided and may still show it
 *   "held"     all of them show it, too
 *
 * and says in the reason what was seen. Texts live in the arena.
 */
void layout_tag(struct rate *rates, size_t count, struct arena *arena);

#endif
