/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/culprit.h"
#include "stat/culprit_noise.h"

enum { POINTS = 2000, SHARES = 9 };
#define REACH 0.3 /* beyond both levels */
/* Of what a boot tells at best; the rest goes for levels that are not known yet, commits that are
 * dearer than others, and boots of the ends. */
#define EFFICIENCY 0.7

/* What a boot may be when its commit is good, and when it is bad, over points. */
struct pair {
	double step, good[POINTS], bad[POINTS];
};

static double density(const struct culprit_level *level, const struct culprit_noise *noise,
	size_t runs, double at)
{
	struct culprit_noise loose = *noise;

	loose.tau = sqrt(noise->tau * noise->tau + level->variance);
	return noise_density(&loose, runs, at - level->mean);
}

static void fill(const struct culprit_segment *s, size_t runs, struct pair *out)
{
	double low = fmin(s->good.mean, s->bad.mean) - REACH;
	double high = fmax(s->good.mean, s->bad.mean) + REACH;

	out->step = (high - low) / POINTS;
	for (int i = 0; i < POINTS; i++) {
		double at = low + (i + 0.5) * out->step;

		out->good[i] = density(&s->good, &s->noise, runs, at);
		out->bad[i] = density(&s->bad, &s->noise, runs, at);
	}
}

/* Bits by which boots of the first kind speak against the second. */
static double divergence(const double *first, const double *second, double step)
{
	double bits = 0;

	for (int i = 0; i < POINTS; i++)
		if (first[i] > 0 && second[i] > 0)
			bits += first[i] * log2(first[i] / second[i]) * step;
	return bits;
}

/* Bits that a boot tells at best about whether its commit is bad. */
static double capacity(const struct pair *pair)
{
	double best = 0, mixed[POINTS];

	for (int k = 1; k <= SHARES; k++) {
		double share = (double)k / (SHARES + 1), bits;

		for (int i = 0; i < POINTS; i++)
			mixed[i] = (1 - share) * pair->good[i] + share * pair->bad[i];
		bits = (1 - share) * divergence(pair->good, mixed, pair->step) +
		       share * divergence(pair->bad, mixed, pair->step);
		best = fmax(best, bits);
	}
	return best;
}

static double entropy(double p)
{
	return p > 0 ? -p * log2(p) : 0;
}

double culprit_boots_left(const struct culprit_fit *fit, const double *posterior, double none,
	size_t runs, double doubt)
{
	const struct culprit_segment *best = &fit->segments[fit->best];
	int commits = fit->segments[fit->segment_count - 1].last;
	double open = entropy(none), sure;
	struct pair pair;

	for (int i = 1; i <= commits; i++)
		open += entropy(posterior[i]);
	fill(best, runs, &pair);
	/* the culprit against what is after it, and its neighbour against what is before */
	sure = log2(1 / doubt) *
	       (1 / divergence(pair.good, pair.bad, pair.step) +
		       1 / divergence(pair.bad, pair.good, pair.step)) /
	       2;
	/* that there is no change shows at the ends, in few boots */
	return (1 - none) * (open / capacity(&pair) + sure) / EFFICIENCY;
}
