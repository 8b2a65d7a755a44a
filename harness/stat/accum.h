/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_ACCUM_H
#define KB_STAT_ACCUM_H

#include "base/base.h"

/*
 * Mean and variance of a stream of values in constant memory, so that a
 * million samples need no array. Welford's update, as described in
 * docs/statistics.md, section 1: it keeps its digits at 1e-12 and at 1e15.
 * A zeroed struct accum is ready to use.
 */
struct accum {
	size_t n;	 /* values that count */
	size_t unusable; /* values left out: not finite, or no logarithm (accum_add_ln) */
	double mean;
	double m2;	 /* sum of squared deviations from the mean */
	double min, max; /* meaningful when n > 0 */
};

/* Adds a value; one that is not finite is only counted as unusable. */
void accum_add(struct accum *acc, double value);

/* Adds the natural logarithm of a value; zero, negative and not finite
 * values have none and are only counted as unusable. */
void accum_add_ln(struct accum *acc, double value);

/* Adds everything that other holds, as if its values had been added one by
 * one (Chan, Golub and LeVeque's pairwise update). */
void accum_merge(struct accum *acc, const struct accum *other);

double accum_mean(const struct accum *acc);	/* NAN when empty */
double accum_variance(const struct accum *acc); /* divisor n - 1; NAN below two values */
double accum_sd(const struct accum *acc);	/* NAN below two values */

/* Coefficient of variation, sd / |mean|, as a fraction; NAN below two values
 * or at mean 0. */
double accum_cv(const struct accum *acc);

#endif
