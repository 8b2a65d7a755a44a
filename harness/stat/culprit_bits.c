/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/culprit_noise.h"

enum { POINTS_MIN = 300, POINTS_MAX = 3000, CURVE = 16 };
#define REACH 0.25 /* beyond the levels: further out there is next to nothing */

/* What a boot's mean may be: densities over points, and their entropies in bits. */
struct channel {
	double low, step;
	size_t points;
	double *good, *bad, *none; /* of each segment; of none */
	double *good_bits, *bad_bits, none_bits;
	double *base, *mixed; /* scratch */
};

static double entropy(const struct channel *c, const double *density)
{
	double sum = 0;

	for (size_t i = 0; i < c->points; i++)
		if (density[i] > 0)
			sum -= density[i] * log2(density[i]);
	return sum * c->step;
}

static void stretch(struct channel *c, const struct culprit_level *level, double *high)
{
	c->low = fmin(c->low, level->mean - REACH);
	*high = fmax(*high, level->mean + REACH);
}

static void lay_out(struct channel *c, const struct culprit_fit *fit, size_t runs)
{
	double high = -INFINITY, sd = INFINITY;

	c->low = INFINITY;
	stretch(c, &fit->level, &high);
	for (size_t k = 0; k < fit->segment_count; k++) {
		const struct culprit_segment *s = &fit->segments[k];

		stretch(c, &s->good, &high);
		stretch(c, &s->bad, &high);
		sd = fmin(sd, sqrt(s->noise.within / (double)runs + s->noise.tau * s->noise.tau));
	}
	c->points = (size_t)fmax(POINTS_MIN, fmin(POINTS_MAX, (high - c->low) / (0.6 * sd)));
	c->step = (high - c->low) / (double)c->points;
	c->good = xcalloc(fit->segment_count * c->points, sizeof(double));
	c->bad = xcalloc(fit->segment_count * c->points, sizeof(double));
	c->good_bits = xcalloc(fit->segment_count, sizeof(double));
	c->bad_bits = xcalloc(fit->segment_count, sizeof(double));
	c->none = xcalloc(c->points, sizeof(double));
	c->base = xcalloc(c->points, sizeof(double));
	c->mixed = xcalloc(c->points, sizeof(double));
}

/* Density of a boot at a level that is not known for certain; returns its entropy. */
static double predict(const struct channel *c, const struct culprit_level *level,
	const struct culprit_noise *noise, size_t runs, double *out)
{
	struct culprit_noise loose = *noise;

	loose.tau = sqrt(noise->tau * noise->tau + level->variance);
	for (size_t i = 0; i < c->points; i++)
		out[i] = noise_density(
			&loose, runs, c->low + ((double)i + 0.5) * c->step - level->mean);
	return entropy(c, out);
}

static void fill(struct channel *c, const struct culprit_fit *fit, size_t runs)
{
	for (size_t k = 0; k < fit->segment_count; k++) {
		const struct culprit_segment *s = &fit->segments[k];

		c->good_bits[k] = predict(c, &s->good, &s->noise, runs, c->good + k * c->points);
		c->bad_bits[k] = predict(c, &s->bad, &s->noise, runs, c->bad + k * c->points);
	}
	c->none_bits = predict(c, &fit->level, &fit->none_noise, runs, c->none);
}

static void add(struct channel *c, double *to, double weight, const double *density)
{
	for (size_t i = 0; i < c->points; i++)
		to[i] += weight * density[i];
}

/* Bits from a commit in segment s that a share of the segment's probability does not lie behind. */
static double bits_at(struct channel *c, size_t s, double weight, double share, double base_bits)
{
	memcpy(c->mixed, c->base, c->points * sizeof(double));
	add(c, c->mixed, weight * share, c->bad + s * c->points);
	add(c, c->mixed, weight * (1 - share), c->good + s * c->points);
	return entropy(c, c->mixed) - base_bits -
	       weight * (share * c->bad_bits[s] + (1 - share) * c->good_bits[s]);
}

/* Everything but segment s itself: a commit in it is bad when the change is before. */
static double lay_base(
	struct channel *c, const double *weights, size_t count, double none, size_t s)
{
	double bits = none * c->none_bits;

	memset(c->base, 0, c->points * sizeof(double));
	add(c, c->base, none, c->none);
	for (size_t k = 0; k < count; k++) {
		const double *density = k < s ? c->bad : c->good;

		if (k == s)
			continue;
		add(c, c->base, weights[k], density + k * c->points);
		bits += weights[k] * (k < s ? c->bad_bits[k] : c->good_bits[k]);
	}
	return bits;
}

/* The commits of one segment: computed at few shares, interpolated between them. */
static void fill_segment(struct channel *c, const struct culprit_segment *segment, size_t s,
	double weight, double base_bits, const double *posterior, double *bits)
{
	double curve[CURVE + 1], before = 0;

	for (int i = 0; i <= CURVE; i++)
		curve[i] = bits_at(c, s, weight, (double)i / CURVE, base_bits);
	if (segment->first == 1)
		bits[0] = curve[0];
	for (int i = segment->first; i <= segment->last; i++) {
		double at;
		int k;

		before += posterior[i];
		at = CURVE * (weight > 0 ? fmin(before / weight, 1) : 1);
		k = at < CURVE ? (int)at : CURVE - 1;
		bits[i] = curve[k] + (at - k) * (curve[k + 1] - curve[k]);
	}
}

void culprit_bits(const struct culprit_fit *fit, const double *posterior, double none, size_t runs,
	double *bits)
{
	double *weights = xcalloc(fit->segment_count, sizeof(double));
	struct channel c;

	lay_out(&c, fit, runs);
	fill(&c, fit, runs);
	for (size_t k = 0; k < fit->segment_count; k++)
		for (int i = fit->segments[k].first; i <= fit->segments[k].last; i++)
			weights[k] += posterior[i];
	for (size_t k = 0; k < fit->segment_count; k++) {
		double base_bits = lay_base(&c, weights, fit->segment_count, none, k);

		fill_segment(&c, &fit->segments[k], k, weights[k], base_bits, posterior, bits);
	}
	free(weights);
	free(c.good);
	free(c.bad);
	free(c.good_bits);
	free(c.bad_bits);
	free(c.none);
	free(c.base);
	free(c.mixed);
}
