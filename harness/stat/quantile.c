/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/quantile.h"

/* Sides whose numbers of observations differ by more are held to more of them. */
#define UNEQUAL 1.5

static int by_value(const void *a, const void *b)
{
	const struct quantile_count *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

void quantile_sort(struct quantile_count *counts, size_t count)
{
	if (count)
		qsort(counts, count, sizeof(*counts), by_value);
}

double quantile_value_at(const struct quantile_count *sorted, size_t count, int64_t rank)
{
	int64_t below = 0;

	for (size_t i = 0; i < count; i++) {
		below += sorted[i].times;
		if (below >= rank)
			return sorted[i].value;
	}
	return NAN;
}

double quantile_of_counts(const struct quantile_count *sorted, size_t count, double p)
{
	int64_t all = 0;
	double rank;

	for (size_t i = 0; i < count; i++)
		all += sorted[i].times;
	/* 0.99 * 100 is a little more than 99 */
	rank = ceil((double)all * p * (1 - 1e-12));
	return quantile_value_at(sorted, count, rank < 1 ? 1 : (int64_t)rank);
}

bool quantile_ranks(int64_t n, double p, double confidence, int64_t *low, int64_t *high)
{
	double side = (1 - confidence) / 2, size = (double)n;

	if (n < 1)
		return false;
	/* P(X_(low) > quantile) = P(fewer than low below it) <= side, and the like above */
	*low = (int64_t)qbinom(side, size, p, 1, 0);
	if (pbinom((double)*low - 1, size, p, 1, 0) > side)
		(*low)--;
	*high = (int64_t)qbinom(side, size, p, 0, 0) + 1;
	return *low >= 1 && *high <= n;
}

int64_t quantile_wanted(double a, double b, double p)
{
	bool unequal = fmax(a, b) > UNEQUAL * fmin(a, b);
	double beyond = unequal ? QUANTILE_MIN_BEYOND_UNEQUAL : QUANTILE_MIN_BEYOND;

	return (int64_t)ceil(beyond / fmin(p, 1 - p) * (1 - 1e-9));
}

bool quantile_is_known(double a, double b, double p)
{
	return fmin(a, b) >= (double)quantile_wanted(a, b, p);
}
