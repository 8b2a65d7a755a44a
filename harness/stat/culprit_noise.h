/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_CULPRIT_NOISE_H
#define KB_STAT_CULPRIT_NOISE_H

#include "base/base.h"

#include "stat/culprit.h"

/*
 * Inside stat/ only: the noise that culprit_fit integrates over. A boot's mean is
 *   (1 - share) N(level, v) + 0.97 share N(level - depth, d^2 + v) + 0.03 share Cauchy(level, 10 %)
 * with v = within / runs + tau^2 and d = 1.5 %, or 15 % of the depth if that is more; a wide one has
 * N(level, 10 %^2) in the middle. Outliers may be fast as well as slow.
 */
enum { NOISE_TAUS = 6, NOISE_DEPTHS = 10, NOISE_SHARES = 3 };

extern const double noise_taus[NOISE_TAUS], noise_shares[NOISE_SHARES];

/* One of the grid's noises. */
struct culprit_noise noise_at(double within, int tau, int depth, int share);

/* Density of a boot's mean at a distance from its kernel's level. */
double noise_density(const struct culprit_noise *noise, size_t runs, double distance);

/* Parts of that density over a grid of levels, so that they are computed once for all shares:
 * out[i] for level low + i * step. */
struct noise_grid {
	double low, step;
	size_t count;
};
void noise_main(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out);
void noise_outlying(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out);

/* Variance between runs of one boot, drawn towards 1.2 % while there are few. */
double noise_within(const struct culprit_boot *boots, size_t count);

#endif
