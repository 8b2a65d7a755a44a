/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/drift.h"

void drift_of_arm(const struct bracket_boot *boots, size_t count, int arm, struct drift *out)
{
	struct drift drift = {0, 0, 0};

	for (size_t i = 0; i < count;) {
		const struct bracket_boot *first = NULL, *last = NULL;
		int block = boots[i].block;

		for (; i < count && boots[i].block == block; i++) {
			const struct bracket_boot *boot = &boots[i];

			if (boot->arm != arm || boot->runs == 0 || !isfinite(boot->mean_ln))
				continue;
			first = first ? first : boot;
			last = boot;
		}
		if (first == last)
			continue;
		drift.blocks++;
		drift.ratio += expm1(last->mean_ln - first->mean_ln);
		drift.ln += last->mean_ln - first->mean_ln;
	}
	drift.ratio = drift.blocks > 0 ? drift.ratio / drift.blocks : NAN;
	drift.ln = drift.blocks > 0 ? drift.ln / drift.blocks : NAN;
	*out = drift;
}

double drift_limit(const struct history *history, double run_variance, int blocks)
{
	if (!history || history->nu0 <= 0 || blocks < 1 || !isfinite(run_variance))
		return NAN;
	return 2.58 * sqrt(2 * (history->tau2 + run_variance) / blocks);
}

double drift_cv_limit(const struct history *history, size_t runs)
{
	double df = (double)runs - 1;

	if (!history || history->sw_df < HISTORY_MIN_DF || runs < 2)
		return NAN;
	return sqrt(history->sw2 * qchisq(0.999, df, 1, 0) / df);
}
