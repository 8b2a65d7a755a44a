/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/culprit_work.h"

/* Logarithm of the likelihood of one change at a place, and of none, for one noise. */
static double log_change(const struct work *w, size_t place)
{
	size_t n = w->grid.count;

	work_fall(w, w->before + place * n, w->scratch);
	return log(work_dot(w->scratch, w->after + place * n, n) / w->pairs + 1e-300) +
	       w->log_before[place] + w->log_after[place];
}

static double log_none(const struct work *w)
{
	return log(work_dot(w->after, w->ones, w->grid.count) / (double)w->grid.count + 1e-300) +
	       w->log_after[0];
}

/* The levels on both sides of a place for the present noise. before is weighted by what comes after
 * it, and the other way round, by the same prior. */
static void find_levels(struct work *w, size_t place, struct culprit_segment *out)
{
	size_t n = w->grid.count;
	double *weights = w->scratch, *turned = w->scratch + n, *mirror = w->scratch + 2 * n;

	work_fall(w, w->before + place * n, weights);
	out->bad = work_centre(w, weights, w->after + place * n);
	for (size_t i = 0; i < n; i++)
		turned[i] = w->after[place * n + n - 1 - i];
	work_fall(w, turned, mirror);
	for (size_t i = 0; i < n; i++)
		weights[i] = mirror[n - 1 - i];
	out->good = work_centre(w, weights, w->before + place * n);
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

	work_multiply_out(w, noise->share);
	for (size_t k = 0; k <= w->tested_count; k++)
		add_place(w, k, noise, s, &out->segments[k]);
	log_l = log_none(w);
	rescale(s, w->tested_count + 1, log_l);
	s->none += exp(log_l - s->scale);
	if (log_l <= s->best_none)
		return;
	s->best_none = log_l;
	out->none_noise = *noise;
	out->level = work_centre(w, w->after, w->ones);
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
	out->scale = s->scale + log(largest);
}

static void walk_noises(struct work *w, struct sums *sums, struct culprit_fit *out)
{
	for (int t = 0; t < NOISE_TAUS; t++)
		for (int d = 0; d < NOISE_DEPTHS; d++) {
			struct culprit_noise noise = noise_at(w->within, t, d, 0);

			work_densities(w, &noise, d == 0);
			for (int s = 0; s < NOISE_SHARES; s++) {
				noise = noise_at(w->within, t, d, s);
				add_noise(w, &noise, sums, out);
			}
		}
}

void culprit_fit(
	const struct culprit_boot *boots, size_t count, int commits, struct culprit_fit *out)
{
	struct work w;
	struct sums sums = {.scale = -INFINITY, .best_none = -INFINITY};

	*out = (struct culprit_fit){0};
	work_begin(&w, boots, count);
	list_segments(&w, commits, out);
	sums.place = xcalloc(w.tested_count + 1, sizeof(double));
	sums.best = xcalloc(w.tested_count + 1, sizeof(double));
	for (size_t k = 0; k <= w.tested_count; k++)
		sums.best[k] = -INFINITY;
	walk_noises(&w, &sums, out);
	finish(&sums, out);
	free(sums.place);
	free(sums.best);
	work_end(&w);
}

void culprit_free(struct culprit_fit *fit)
{
	free(fit->segments);
	*fit = (struct culprit_fit){0};
}
