/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/culprit_noise.h"

/* Of the prior on the two levels: the least change that counts, and how it falls off. */
#define LEAST_STEP 0.01
#define STEP_SCALE 0.08
/* The grid of levels reaches this far beyond the boots' means. */
#define GRID_MARGIN 0.02
#define GRID_FINENESS 0.4 /* of a boot's error, where few enough points allow it */

enum { GRID_MIN = 61, GRID_MAX = 401, NOISES = NOISE_TAUS * NOISE_DEPTHS * NOISE_SHARES };

/* A gap between boots that is wider is far beyond what noise explains, and is taken for this: the
 * grid would be too coarse otherwise. */
#define GAP_MAX 0.6

/* What a fit works with. Rows of a matrix are count (boots) or tested + 1 (places for the change),
 * each grid.count wide. */
struct work {
	struct culprit_boot *boots; /* our own, ones with gaps closed */
	size_t count;
	int *tested; /* commits with boots, ascending */
	size_t tested_count;
	size_t *row; /* of each boot, its commit's place in tested */
	struct noise_grid grid;
	double within;
	/* of the prior on levels */
	size_t least;	       /* grid points between two levels */
	double decay, nearest; /* weight from point to point, of the nearest */
	double pairs;	       /* its sum over all pairs of levels */
	/* of one noise */
	double *main, *outlying;	/* densities of each boot */
	double *factor;			/* of each tested commit */
	double *before, *after;		/* products of the factors left and right of a place */
	double *log_before, *log_after; /* their scales */
	double *scratch, *ones;
};

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int compare_means(const void *a, const void *b)
{
	double x = ((const struct culprit_boot *)a)->mean_ln;
	double y = ((const struct culprit_boot *)b)->mean_ln;

	return (x > y) - (x < y);
}

/* The order of the boots means nothing to a fit. */
static void close_gaps(struct work *w)
{
	double excess = 0;

	qsort(w->boots, w->count, sizeof(*w->boots), compare_means);
	for (size_t i = 1; i < w->count; i++) {
		double gap = w->boots[i].mean_ln - excess - w->boots[i - 1].mean_ln;

		if (gap > GAP_MAX)
			excess += gap - GAP_MAX;
		w->boots[i].mean_ln -= excess;
	}
}

static void list_tested(struct work *w)
{
	w->tested = xcalloc(w->count, sizeof(*w->tested));
	w->row = xcalloc(w->count, sizeof(*w->row));
	for (size_t i = 0; i < w->count; i++)
		w->tested[i] = w->boots[i].commit;
	qsort(w->tested, w->count, sizeof(*w->tested), compare_ints);
	for (size_t i = 0; i < w->count; i++)
		if (i == 0 || w->tested[i] != w->tested[i - 1])
			w->tested[w->tested_count++] = w->tested[i];
	for (size_t i = 0; i < w->count; i++)
		while (w->tested[w->row[i]] != w->boots[i].commit)
			w->row[i]++;
}

static void make_grid(struct work *w)
{
	double low = INFINITY, high = -INFINITY, error = INFINITY, points;

	for (size_t i = 0; i < w->count; i++) {
		low = fmin(low, w->boots[i].mean_ln);
		high = fmax(high, w->boots[i].mean_ln);
		error = fmin(error, sqrt(w->within / (double)w->boots[i].runs + 1e-6));
	}
	points = ceil((high - low + 2 * GRID_MARGIN) / (GRID_FINENESS * error)) + 1;
	w->grid.count = (size_t)fmax(GRID_MIN, fmin(GRID_MAX, points));
	w->grid.low = low - GRID_MARGIN;
	w->grid.step = (high - low + 2 * GRID_MARGIN) / (double)(w->grid.count - 1);
}

/* out[i]: sum over the levels that are better by at least the least step, weighted by the prior. */
static void fall(const struct work *w, const double *in, double *out)
{
	double sum = 0;

	for (size_t i = w->grid.count; i-- > 0;) {
		sum *= w->decay;
		if (i + w->least < w->grid.count)
			sum += w->nearest * in[i + w->least];
		out[i] = sum;
	}
}

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static void make_prior(struct work *w)
{
	w->least = (size_t)ceil(LEAST_STEP / w->grid.step - 1e-9);
	w->decay = exp(-w->grid.step / STEP_SCALE);
	w->nearest = exp(-((double)w->least * w->grid.step - LEAST_STEP) / STEP_SCALE);
	fall(w, w->ones, w->scratch);
	w->pairs = dot(w->scratch, w->ones, w->grid.count);
}

static void begin(struct work *w)
{
	size_t n, places;

	close_gaps(w);
	list_tested(w);
	w->within = noise_within(w->boots, w->count);
	make_grid(w);
	n = w->grid.count;
	places = w->tested_count + 1;
	w->main = xcalloc(w->count * n, sizeof(double));
	w->outlying = xcalloc(w->count * n, sizeof(double));
	w->factor = xcalloc(w->tested_count * n, sizeof(double));
	w->before = xcalloc(places * n, sizeof(double));
	w->after = xcalloc(places * n, sizeof(double));
	w->log_before = xcalloc(places, sizeof(double));
	w->log_after = xcalloc(places, sizeof(double));
	w->scratch = xcalloc(n * 3, sizeof(double));
	w->ones = xcalloc(n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		w->ones[i] = 1;
	make_prior(w);
}

static void end(struct work *w)
{
	free(w->boots);
	free(w->tested);
	free(w->row);
	free(w->main);
	free(w->outlying);
	free(w->factor);
	free(w->before);
	free(w->after);
	free(w->log_before);
	free(w->log_after);
	free(w->scratch);
	free(w->ones);
}

/* out = a * b, scaled so that its largest is 1; returns the logarithm of the scale. */
static double multiply(const double *a, const double *b, double *out, size_t n)
{
	double largest = 1e-300;

	for (size_t i = 0; i < n; i++) {
		out[i] = a[i] * b[i];
		largest = fmax(largest, out[i]);
	}
	for (size_t i = 0; i < n; i++)
		out[i] /= largest;
	return log(largest);
}

/* Products over the tested commits left and right of every place for one noise. */
static void multiply_out(struct work *w, double share)
{
	size_t n = w->grid.count, last = w->tested_count;

	for (size_t i = 0; i < last * n; i++)
		w->factor[i] = 1;
	memcpy(w->before, w->ones, n * sizeof(double));
	memcpy(w->after + last * n, w->ones, n * sizeof(double));
	w->log_before[0] = w->log_after[last] = 0;
	for (size_t b = 0; b < w->count; b++) {
		double *factor = w->factor + w->row[b] * n;

		for (size_t i = 0; i < n; i++)
			factor[i] *=
				(1 - share) * w->main[b * n + i] + share * w->outlying[b * n + i];
	}
	for (size_t k = 0; k < last; k++)
		w->log_before[k + 1] =
			w->log_before[k] +
			multiply(w->before + k * n, w->factor + k * n, w->before + (k + 1) * n, n);
	for (size_t k = last; k-- > 0;)
		w->log_after[k] =
			w->log_after[k + 1] +
			multiply(w->after + (k + 1) * n, w->factor + k * n, w->after + k * n, n);
}

/* Logarithm of the likelihood of one change at a place, and of none, for one noise. */
static double log_change(const struct work *w, size_t place)
{
	size_t n = w->grid.count;

	fall(w, w->before + place * n, w->scratch);
	return log(dot(w->scratch, w->after + place * n, n) / w->pairs + 1e-300) +
	       w->log_before[place] + w->log_after[place];
}

static double log_none(const struct work *w)
{
	return log(dot(w->after, w->ones, w->grid.count) / (double)w->grid.count + 1e-300) +
	       w->log_after[0];
}

/* The level under weights. */
static struct culprit_level centre(const struct work *w, const double *a, const double *b)
{
	double sum = 0, squares = 0, total = 1e-300;

	for (size_t i = 0; i < w->grid.count; i++) {
		double weight = a[i] * b[i], level = w->grid.step * (double)i;

		sum += weight * level;
		squares += weight * level * level;
		total += weight;
	}
	return (struct culprit_level){.mean = w->grid.low + sum / total,
		.variance = fmax(0, squares / total - (sum / total) * (sum / total))};
}

static void densities(struct work *w, const struct culprit_noise *noise, bool all)
{
	size_t n = w->grid.count;

	for (size_t b = 0; b < w->count; b++) {
		if (all)
			noise_main(&w->grid, &w->boots[b], noise, w->main + b * n);
		noise_outlying(&w->grid, &w->boots[b], noise, w->outlying + b * n);
	}
}

/* The levels on both sides of a place for the present noise. before is weighted by what comes after
 * it, and the other way round, by the same prior. */
static void find_levels(struct work *w, size_t place, struct culprit_segment *out)
{
	size_t n = w->grid.count;
	double *weights = w->scratch, *turned = w->scratch + n, *mirror = w->scratch + 2 * n;

	fall(w, w->before + place * n, weights);
	out->bad = centre(w, weights, w->after + place * n);
	for (size_t i = 0; i < n; i++)
		turned[i] = w->after[place * n + n - 1 - i];
	fall(w, turned, mirror);
	for (size_t i = 0; i < n; i++)
		weights[i] = mirror[n - 1 - i];
	out->good = centre(w, weights, w->before + place * n);
}

/* Places between tested commits that hold commits. */
static void list_segments(const struct work *w, int commits, struct culprit_fit *out)
{
	out->segments = xcalloc(w->tested_count + 1, sizeof(*out->segments));
	for (size_t k = 0; k <= w->tested_count; k++)
		out->segments[k] = (struct culprit_segment){.first = k ? w->tested[k - 1] + 1 : 1,
			.last = k < w->tested_count ? w->tested[k] : commits};
	out->segment_count = w->tested_count + 1;
}

/* Sums over the noises, all divided by exp(scale). */
struct sums {
	double *place; /* by place */
	double none, scale;
	double *best, best_none; /* logarithms of the largest terms */
};

static void rescale(struct sums *s, size_t places, double log_l)
{
	double by;

	if (log_l <= s->scale)
		return;
	by = exp(s->scale - log_l);
	for (size_t k = 0; k < places; k++)
		s->place[k] *= by;
	s->none *= by;
	s->scale = log_l;
}

static void add_place(struct work *w, size_t place, const struct culprit_noise *noise,
	struct sums *s, struct culprit_segment *out)
{
	double log_l;

	if (out->first > out->last)
		return;
	log_l = log_change(w, place);
	rescale(s, w->tested_count + 1, log_l);
	s->place[place] += exp(log_l - s->scale);
	if (log_l <= s->best[place])
		return;
	s->best[place] = log_l;
	out->noise = *noise;
	find_levels(w, place, out);
}

static void add_noise(
	struct work *w, const struct culprit_noise *noise, struct sums *s, struct culprit_fit *out)
{
	double log_l;

	multiply_out(w, noise->share);
	for (size_t k = 0; k <= w->tested_count; k++)
		add_place(w, k, noise, s, &out->segments[k]);
	log_l = log_none(w);
	rescale(s, w->tested_count + 1, log_l);
	s->none += exp(log_l - s->scale);
	if (log_l <= s->best_none)
		return;
	s->best_none = log_l;
	out->none_noise = *noise;
	out->level = centre(w, w->after, w->ones);
}

/* Drops places without commits, and scales. */
static void finish(const struct sums *s, struct culprit_fit *out)
{
	double largest = s->none;
	size_t kept = 0;

	for (size_t k = 0; k < out->segment_count; k++)
		largest = fmax(largest, s->place[k]);
	for (size_t k = 0; k < out->segment_count; k++) {
		if (out->segments[k].first > out->segments[k].last)
			continue;
		out->segments[kept] = out->segments[k];
		out->segments[kept].likelihood = s->place[k] / largest;
		if (out->segments[kept].likelihood > out->segments[out->best].likelihood)
			out->best = kept;
		kept++;
	}
	out->segment_count = kept;
	out->none = s->none / largest;
}

static void walk_noises(struct work *w, struct sums *sums, struct culprit_fit *out)
{
	for (int t = 0; t < NOISE_TAUS; t++)
		for (int d = 0; d < NOISE_DEPTHS; d++) {
			struct culprit_noise noise = noise_at(w->within, t, d, 0);

			densities(w, &noise, d == 0);
			for (int s = 0; s < NOISE_SHARES; s++) {
				noise = noise_at(w->within, t, d, s);
				add_noise(w, &noise, sums, out);
			}
		}
}

void culprit_fit(
	const struct culprit_boot *boots, size_t count, int commits, struct culprit_fit *out)
{
	struct work w = {.count = count};
	struct sums sums = {.scale = -INFINITY, .best_none = -INFINITY};

	*out = (struct culprit_fit){0};
	w.boots = xcalloc(count, sizeof(*w.boots));
	memcpy(w.boots, boots, count * sizeof(*boots));
	begin(&w);
	list_segments(&w, commits, out);
	sums.place = xcalloc(w.tested_count + 1, sizeof(double));
	sums.best = xcalloc(w.tested_count + 1, sizeof(double));
	for (size_t k = 0; k <= w.tested_count; k++)
		sums.best[k] = -INFINITY;
	walk_noises(&w, &sums, out);
	finish(&sums, out);
	free(sums.place);
	free(sums.best);
	end(&w);
}

void culprit_free(struct culprit_fit *fit)
{
	free(fit->segments);
	*fit = (struct culprit_fit){0};
}
