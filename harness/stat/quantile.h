/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_QUANTILE_H
#define KB_STAT_QUANTILE_H

#include "base/base.h"

/*
 * Percentiles of many observations: from a list or a histogram, how well they are known, and
 * whether there are enough. docs/statistics.md, section 13. p is a fraction, 0 < p < 1.
 */

/* A value and how often it was observed. */
struct quantile_count {
	double value;
	int64_t times;
};

enum {
	/* With fewer observations beyond a percentile it is no number to compare: what lies there
	 * decides it by chance. */
	QUANTILE_MIN_BEYOND = 10,
	/* The same where one side has more than half as many again as the other: the percentile of
	 * few is too low on average, and that no longer cancels. */
	QUANTILE_MIN_BEYOND_UNEQUAL = 30,
};

/* Puts counts in ascending order of value. */
void quantile_sort(struct quantile_count *counts, size_t count);

/* The p-quantile of sorted counts: the smallest value that a share p of the observations does not
 * exceed (Hyndman and Fan's type 1). NAN without observations. */
double quantile_of_counts(const struct quantile_count *sorted, size_t count, double p);

/*
 * The ranks, from 1, of the order statistics between which the p-quantile of the population lies
 * with at least the given confidence, whatever its distribution is: the narrowest pair that leaves
 * at most half of the rest on either side (binomial). false when n observations have none.
 */
bool quantile_ranks(int64_t n, double p, double confidence, int64_t *low, int64_t *high);

/* The value of that rank among sorted counts. */
double quantile_value_at(const struct quantile_count *sorted, size_t count, int64_t rank);

/* Observations that must be behind a percentile of either side, when they have a and b of them. */
int64_t quantile_wanted(double a, double b, double p);
/* True when both have. */
bool quantile_is_known(double a, double b, double p);

#endif
