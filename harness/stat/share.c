/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/describe.h"
#include "stat/share.h"

static double squares(const double *x, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

void share_difference(
	const double *a, size_t n_a, const double *b, size_t n_b, struct share_difference *out)
{
	double df = (double)(n_a + n_b) - 2, variance, se;

	*out = (struct share_difference){
		.a = n_a ? describe_mean(a, n_a) : (double)NAN,
		.b = n_b ? describe_mean(b, n_b) : (double)NAN,
		.half = (double)NAN,
		.p = (double)NAN,
	};
	out->points = out->b - out->a;
	if (n_a < 2 || n_b < 2)
		return;
	variance = (squares(a, n_a, out->a) + squares(b, n_b, out->b)) / df;
	se = sqrt(variance * (1 / (double)n_a + 1 / (double)n_b));
	out->half = qt(0.975, df, 1, 0) * se;
	if (se > 0)
		out->p = 2 * pt(-fabs(out->points) / se, df, 1, 0);
}
