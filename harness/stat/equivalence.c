/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/equivalence.h"

bool equivalence_shown(const struct bracket *effect, double margin)
{
	return effect->testable && effect->lo90 > log1p(-margin) && effect->hi90 < log1p(margin);
}

double equivalence_p(const struct bracket *effect, double margin)
{
	double below = effect->d - log1p(-margin), above = log1p(margin) - effect->d;

	if (!effect->testable)
		return NAN;
	if (effect->no_spread)
		return below > 0 && above > 0 ? 0 : 1;
	return pt(-fmin(below, above) / effect->se, effect->df, 1, 0);
}
