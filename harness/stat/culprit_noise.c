/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/culprit_noise.h"

/* What runs are taken to scatter by until enough of them were seen, and what that counts for. */
#define PRIOR_WITHIN (0.012 * 0.012)
#define PRIOR_DF 3

#define DEPTH_SD 0.015 /* outliers of one kind differ by that */
#define WIDE_SD 0.1
#define FAR_SCALE 0.1
#define FAR_SHARE 0.03

const double noise_taus[NOISE_TAUS] = {0.001, 0.004, 0.01, 0.025};
const double noise_shares[NOISE_SHARES] = {0.04, 0.13, 0.28};
/* NAN: wide */
static const double depths[NOISE_DEPTHS] = {-0.10, -0.06, 0.03, 0.05, 0.08, 0.12, NAN};

double noise_within(const struct culprit_boot *boots, size_t count)
{
	double ss = PRIOR_DF * PRIOR_WITHIN, df = PRIOR_DF;

	for (size_t i = 0; i < count; i++) {
		ss += boots[i].ss_ln;
		df += (double)boots[i].runs - 1;
	}
	return ss / df;
}

struct culprit_noise noise_at(double within, int tau, int depth, int share)
{
	return (struct culprit_noise){.within = within,
		.tau = noise_taus[tau],
		.share = noise_shares[share],
		.depth = isnan(depths[depth]) ? 0 : depths[depth],
		.wide = isnan(depths[depth])};
}

static double variance(const struct culprit_noise *noise, size_t runs)
{
	return noise->within / (double)runs + noise->tau * noise->tau;
}

static double outlier_sd(const struct culprit_noise *noise, size_t runs)
{
	return noise->wide ? WIDE_SD : sqrt(DEPTH_SD * DEPTH_SD + variance(noise, runs));
}

static double outlying(const struct culprit_noise *noise, double sd, double distance)
{
	return (1 - FAR_SHARE) * dnorm(distance, -noise->depth, sd, 0) +
	       FAR_SHARE * dcauchy(distance, 0, FAR_SCALE, 0);
}

double noise_density(const struct culprit_noise *noise, size_t runs, double distance)
{
	return (1 - noise->share) * dnorm(distance, 0, sqrt(variance(noise, runs)), 0) +
	       noise->share * outlying(noise, outlier_sd(noise, runs), distance);
}

void noise_main(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out)
{
	double sd = sqrt(variance(noise, boot->runs));

	for (size_t i = 0; i < grid->count; i++)
		out[i] = dnorm(boot->mean_ln, grid->low + grid->step * (double)i, sd, 0);
}

void noise_outlying(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out)
{
	double sd = outlier_sd(noise, boot->runs);

	for (size_t i = 0; i < grid->count; i++)
		out[i] = outlying(noise, sd, boot->mean_ln - (grid->low + grid->step * (double)i));
}
