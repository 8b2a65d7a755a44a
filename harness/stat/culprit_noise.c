/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include "stat/culprit_noise.h"

/* What runs are taken to scatter by until enough of them were seen, and what that counts for. */
#define PRIOR_WITHIN (0.012 * 0.012)
#define PRIOR_DF 3

/* Outliers of one kind differ by that, deep ones by a share of their depth. */
#define DEPTH_SD 0.015
#define DEPTH_CV 0.15
#define WIDE_SD 0.1
#define FAR_SCALE 0.1
#define FAR_SHARE 0.03

const double noise_taus[NOISE_TAUS] = {0.001, 0.004, 0.01, 0.025, 0.06, 0.15};
const double noise_shares[NOISE_SHARES] = {0.04, 0.13, 0.28};
/* NAN: wide */
static const double depths[NOISE_DEPTHS] = {
	-0.20, -0.10, -0.06, 0.03, 0.05, 0.08, 0.12, 0.20, 0.32, NAN};

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

/* Densities at a distance. A fit asks for millions: without the care of a library for far tails. */
static double normal(double distance, double sd)
{
	double z = distance / sd;

	return exp(-0.5 * z * z) / (sd * sqrt(2 * M_PI));
}

static double cauchy(double distance, double scale)
{
	double z = distance / scale;

	return 1 / (M_PI * scale * (1 + z * z));
}

static double variance(const struct culprit_noise *noise, size_t runs)
{
	return noise->within / (double)runs + noise->tau * noise->tau;
}

static double outlier_sd(const struct culprit_noise *noise, size_t runs)
{
	double sd = fmax(DEPTH_SD, DEPTH_CV * fabs(noise->depth));

	return noise->wide ? WIDE_SD : sqrt(sd * sd + variance(noise, runs));
}

static double outlying(const struct culprit_noise *noise, double sd, double distance)
{
	return (1 - FAR_SHARE) * normal(distance + noise->depth, sd) +
	       FAR_SHARE * cauchy(distance, FAR_SCALE);
}

double noise_density(const struct culprit_noise *noise, size_t runs, double distance)
{
	return (1 - noise->share) * normal(distance, sqrt(variance(noise, runs))) +
	       noise->share * outlying(noise, outlier_sd(noise, runs), distance);
}

void noise_main(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out)
{
	double sd = sqrt(variance(noise, boot->runs));

	for (size_t i = 0; i < grid->count; i++)
		out[i] = normal(boot->mean_ln - (grid->low + grid->step * (double)i), sd);
}

void noise_outlying(const struct noise_grid *grid, const struct culprit_boot *boot,
	const struct culprit_noise *noise, double *out)
{
	double sd = outlier_sd(noise, boot->runs);

	for (size_t i = 0; i < grid->count; i++)
		out[i] = outlying(noise, sd, boot->mean_ln - (grid->low + grid->step * (double)i));
}
