/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_DESCRIBE_H
#define KB_STAT_DESCRIBE_H

#include "base/base.h"

/*
 * What one list of values says. docs/statistics.md, section 1. Every function
 * takes n values and returns NAN when n is too small for it; none changes its
 * input. The values have to be finite: whoever reads samples leaves the others
 * out and counts them (stat/accum.h).
 */
double describe_mean(const double *x, size_t n);
double describe_variance(const double *x, size_t n); /* divisor n - 1, two passes */
double describe_sd(const double *x, size_t n);
double describe_cv(const double *x, size_t n); /* sd / |mean|, a fraction; NAN at mean 0 */
double describe_median(const double *x, size_t n);

/* The p-quantile, 0 <= p <= 1, interpolated between order statistics
 * (Hyndman and Fan's type 7, the default of R and NumPy). */
double describe_quantile(const double *x, size_t n, double p);

/* As describe_quantile, of values that are already in ascending order. */
double describe_quantile_sorted(const double *sorted, size_t n, double p);

/* Mean without the floor(n * share) smallest and as many largest values,
 * 0 <= share < 0.5. */
double describe_trimmed_mean(const double *x, size_t n, double share);

/* Median absolute deviation from the median, times 1.4826 so that it estimates
 * the sd of normal data. */
double describe_mad(const double *x, size_t n);

/* Puts values in ascending order. */
void describe_sort(double *x, size_t n);

/* A difference of logarithms as a change in percent, 100 * (exp(d) - 1), and back. */
double describe_pct_of_ln(double d);
double describe_ln_of_pct(double pct);

#endif
