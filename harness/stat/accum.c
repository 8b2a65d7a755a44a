/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/accum.h"

void accum_add(struct accum *acc, double value)
{
	double delta;

	if (!isfinite(value)) {
		acc->unusable++;
		return;
	}
	if (acc->n == 0 || value < acc->min)
		acc->min = value;
	if (acc->n == 0 || value > acc->max)
		acc->max = value;
	acc->n++;
	delta = value - acc->mean;
	acc->mean += delta / (double)acc->n;
	acc->m2 += delta * (value - acc->mean);
}

void accum_add_ln(struct accum *acc, double value)
{
	/* log() of zero or less is not finite, and accum_add leaves that out. */
	accum_add(acc, value > 0 ? log(value) : NAN);
}

void accum_merge(struct accum *acc, const struct accum *other)
{
	double n = (double)acc->n, m = (double)other->n;
	double delta = other->mean - acc->mean;

	if (other->n == 0) {
		acc->unusable += other->unusable;
		return;
	}
	if (acc->n == 0) {
		size_t unusable = acc->unusable + other->unusable;

		*acc = *other;
		acc->unusable = unusable;
		return;
	}
	acc->mean += delta * m / (n + m);
	acc->m2 += other->m2 + delta * delta * n * m / (n + m);
	acc->n += other->n;
	acc->unusable += other->unusable;
	acc->min = fmin(acc->min, other->min);
	acc->max = fmax(acc->max, other->max);
}

double accum_mean(const struct accum *acc)
{
	return acc->n > 0 ? acc->mean : NAN;
}

double accum_variance(const struct accum *acc)
{
	return acc->n > 1 ? acc->m2 / (double)(acc->n - 1) : NAN;
}

double accum_sd(const struct accum *acc)
{
	return sqrt(accum_variance(acc));
}

double accum_cv(const struct accum *acc)
{
	if (acc->n < 2 || acc->mean == 0)
		return NAN;
	return accum_sd(acc) / fabs(acc->mean);
}
