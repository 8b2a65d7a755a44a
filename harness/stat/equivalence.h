/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_EQUIVALENCE_H
#define KB_STAT_EQUIVALENCE_H

#include "base/base.h"
#include "stat/bracket.h"

/*
 * Two one-sided tests (TOST) at 5 % each: an effect is equivalent to none when
 * its 90 % interval lies within 1 - margin and 1 + margin.
 * docs/statistics.md, section 6. margin is a fraction, 0 < margin < 1.
 */

/* True when the 90 % interval of the effect lies within the margin. False when
 * the effect is not testable. */
bool equivalence_shown(const struct bracket *effect, double margin);

/* The p-value of the TOST, the larger of the two; NAN when the effect is not
 * testable. equivalence_shown is the same as p < 5 %. */
double equivalence_p(const struct bracket *effect, double margin);

#endif
