/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/culprit_work.h"

/* Sums over noises and over pairs of places k1 < k2, divided by exp(scale). */
struct pairs {
	size_t places;
	double *sum; /* k1 * places + k2; each commit of a place counts */
	double scale;
	double best;
	size_t first, second; /* of the largest term */
};

/* Commits that a place between two tested ones holds. */
static double size_of(const struct work *w, size_t place)
{
	return w->tested[place] - w->tested[place - 1];
}

static void add_pair(const struct work *w, struct pairs *p, size_t k1, size_t k2, double log_l)
{
	log_l += log(size_of(w, k1) * size_of(w, k2));
	if (log_l > p->scale) {
		double by = exp(p->scale - log_l);

		for (size_t i = 0; i < p->places * p->places; i++)
			p->sum[i] *= by;
		p->scale = log_l;
	}
	p->sum[k1 * p->places + k2] += exp(log_l - p->scale);
	if (log_l <= p->best)
		return;
	p->best = log_l;
	p->first = k1;
	p->second = k2;
}

/* All pairs for one noise. The middle level is weighted by the prior from above as the low one. */
static void add_noise(const struct work *w, struct pairs *p)
{
	size_t n = w->grid.count;
	double *middle = w->scratch + n, *low = w->scratch + 2 * n;

	for (size_t k1 = 1; k1 < w->tested_count; k1++) {
		double scale = w->log_before[k1];

		work_fall(w, w->before + k1 * n, middle);
		for (size_t k2 = k1 + 1; k2 < w->tested_count; k2++) {
			scale += work_multiply(middle, w->factor + (k2 - 1) * n, middle, n);
			work_fall(w, middle, low);
			add_pair(w, p, k1, k2,
				log(work_dot(low, w->after + k2 * n, n) + 1e-300) + scale +
					w->log_after[k2]);
		}
	}
}

/* Mean of the boots of the tested commits from one to another: good enough for a step's size. */
static double level(const struct work *w, size_t from, size_t to)
{
	double sum = 0, boots = 0;

	for (size_t i = 0; i < w->count; i++)
		if (w->row[i] >= from && w->row[i] < to) {
			sum += w->boots[i].mean_ln;
			boots++;
		}
	return sum / boots;
}

static void conclude(const struct work *w, const struct pairs *p, const struct culprit_fit *fit,
	int commits, struct culprit_two *out)
{
	const size_t at[2] = {p->first, p->second};
	double total = 0, with[2] = {0, 0}, all = 0.5 * commits * (commits - 1.0);
	double middle = level(w, p->first, p->second);

	for (size_t k1 = 0; k1 < p->places; k1++)
		for (size_t k2 = 0; k2 < p->places; k2++) {
			double sum = p->sum[k1 * p->places + k2];

			total += sum;
			with[0] += k1 == p->first ? sum : 0;
			with[1] += k2 == p->second ? sum : 0;
		}
	for (int i = 0; i < 2; i++) {
		out->first[i] = w->tested[at[i] - 1] + 1;
		out->last[i] = w->tested[at[i]];
		out->share[i] = with[i] / total;
	}
	out->step[0] = level(w, 0, p->first) - middle;
	out->step[1] = middle - level(w, p->second, w->tested_count);
	out->likelihood = exp(log(total) + p->scale - fit->scale -
			      log(all * w->pairs * w->pairs / (double)w->grid.count));
}

void culprit_fit_two(const struct culprit_boot *boots, size_t count, int commits,
	const struct culprit_fit *fit, struct culprit_two *out)
{
	struct pairs pairs = {.scale = -INFINITY, .best = -INFINITY};
	struct work w;

	work_begin(&w, boots, count);
	pairs.places = w.tested_count;
	pairs.sum = xcalloc(pairs.places * pairs.places, sizeof(double));
	for (int i = 0; i < NOISE_TAUS * NOISE_DEPTHS * NOISE_SHARES; i++) {
		int share = i % NOISE_SHARES, depth = i / NOISE_SHARES % NOISE_DEPTHS;
		struct culprit_noise noise =
			noise_at(w.within, i / NOISE_SHARES / NOISE_DEPTHS, depth, share);

		if (share == 0)
			work_densities(&w, &noise, depth == 0);
		work_multiply_out(&w, noise.share);
		add_noise(&w, &pairs);
	}
	conclude(&w, &pairs, fit, commits, out);
	free(pairs.sum);
	work_end(&w);
}
