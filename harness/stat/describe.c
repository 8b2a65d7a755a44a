/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/describe.h"

double describe_mean(const double *x, size_t n)
{
	double mean = 0;

	if (n == 0)
		return NAN;
	/* A running mean cannot overflow where a sum of large values would. */
	for (size_t i = 0; i < n; i++)
		mean += (x[i] - mean) / (double)(i + 1);
	return mean;
}

double describe_variance(const double *x, size_t n)
{
	double mean = describe_mean(x, n), sum = 0, rest = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		sum += (x[i] - mean) * (x[i] - mean);
		rest += x[i] - mean;
	}
	/* The second term takes away what rounding left in the mean. */
	return (sum - rest * rest / (double)n) / (double)(n - 1);
}

double describe_sd(const double *x, size_t n)
{
	return sqrt(describe_variance(x, n));
}

double describe_cv(const double *x, size_t n)
{
	double mean = describe_mean(x, n);

	return n > 1 && mean != 0 ? describe_sd(x, n) / fabs(mean) : NAN;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void describe_sort(double *x, size_t n)
{
	if (n > 1)
		qsort(x, n, sizeof(*x), ascending);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = xmalloc(n * sizeof(*copy));

	memcpy(copy, x, n * sizeof(*copy));
	describe_sort(copy, n);
	return copy;
}

double describe_quantile_sorted(const double *sorted, size_t n, double p)
{
	double place, below;
	size_t i;

	if (n == 0 || !(p >= 0 && p <= 1))
		return NAN;
	place = p * (double)(n - 1);
	below = floor(place);
	i = (size_t)below;
	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (place - below) * (sorted[i + 1] - sorted[i]);
}

double describe_quantile(const double *x, size_t n, double p)
{
	double *copy, value;

	if (n == 0)
		return NAN;
	copy = sorted_copy(x, n);
	value = describe_quantile_sorted(copy, n, p);
	free(copy);
	return value;
}

double describe_median(const double *x, size_t n)
{
	return describe_quantile(x, n, 0.5);
}

double describe_trimmed_mean(const double *x, size_t n, double share)
{
	double *copy, value;
	size_t cut;

	if (n == 0 || !(share >= 0 && share < 0.5))
		return NAN;
	cut = (size_t)floor((double)n * share);
	copy = sorted_copy(x, n);
	value = describe_mean(copy + cut, n - 2 * cut);
	free(copy);
	return value;
}

double describe_mad(const double *x, size_t n)
{
	double *away, median, value;

	if (n == 0)
		return NAN;
	median = describe_median(x, n);
	away = xmalloc(n * sizeof(*away));
	for (size_t i = 0; i < n; i++)
		away[i] = fabs(x[i] - median);
	describe_sort(away, n);
	value = 1.4826 * describe_quantile_sorted(away, n, 0.5);
	free(away);
	return value;
}

double describe_pct_of_ln(double d)
{
	return 100 * expm1(d);
}

double describe_ln_of_pct(double pct)
{
	return log1p(pct / 100);
}
