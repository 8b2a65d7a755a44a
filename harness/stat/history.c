/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/accum.h"
#include "stat/history.h"

static bool usable(const struct history_boot *boot)
{
	return boot->runs > 0 && isfinite(boot->mean_ln);
}

/* Pools the within-boot variances, weighted by their degrees of freedom. */
static void pool_within(const struct history_boot *boots, size_t count, struct history *out)
{
	double ss = 0;

	for (size_t i = 0; i < count; i++) {
		double df = (double)boots[i].runs - 1;

		if (!usable(&boots[i]) || df < 1 || !isfinite(boots[i].var_ln))
			continue;
		ss += df * boots[i].var_ln;
		out->sw_df += df;
	}
	out->sw2 = out->sw_df > 0 ? ss / out->sw_df : NAN;
}

/* The variance of boot means around their group's mean; returns its degrees
 * of freedom. */
static double between_groups(const struct history_boot *boots, size_t count, double *variance)
{
	double ss = 0, df = 0;

	for (size_t i = 0; i < count;) {
		struct accum group = {0};
		size_t end = i;

		for (; end < count && boots[end].group == boots[i].group; end++) {
			if (usable(&boots[end]))
				accum_add(&group, boots[end].mean_ln);
		}
		ss += group.m2;
		df += group.n > 0 ? (double)group.n - 1 : 0;
		i = end;
	}
	*variance = df > 0 ? ss / df : NAN;
	return df;
}

void history_from_boots(const struct history_boot *boots, size_t count, struct history *out)
{
	double variance, df, per_run = 0;
	struct history history = {0};

	pool_within(boots, count, &history);
	for (size_t i = 0; i < count; i++) {
		if (!usable(&boots[i]))
			continue;
		history.boots++;
		per_run += 1 / (double)boots[i].runs;
	}
	df = between_groups(boots, count, &variance);
	history.df = df;
	/* One run a boot leaves sw2 unknown: all of the variance is then taken as
	 * the boots', which is what it does to a boot mean. */
	if (df >= HISTORY_MIN_DF) {
		double run_part =
			history.sw_df > 0 ? history.sw2 * per_run / (double)history.boots : 0;

		history.tau2 = fmax(HISTORY_MIN_TAU * HISTORY_MIN_TAU, variance - run_part);
		history.nu0 = fmin(df, HISTORY_MAX_DF);
	}
	*out = history;
}
