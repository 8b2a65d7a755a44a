/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/culprit_work.h"

/* Of the prior on the two levels: the least change that counts, and how it falls off. */
#define LEAST_STEP 0.01
#define STEP_SCALE 0.08
/* The grid of levels reaches this far beyond the boots' means. */
#define GRID_MARGIN 0.02
#define GRID_FINENESS 0.4 /* of a boot's error, where few enough points allow it */

enum { GRID_MIN = 61, GRID_MAX = 401 };

/* A gap between boots that is wider is far beyond what noise explains, and is taken for this: the
 * grid would be too coarse otherwise. */
#define GAP_MAX 0.6

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
void work_fall(const struct work *w, const double *in, double *out)
{
	double sum = 0;

	for (size_t i = w->grid.count; i-- > 0;) {
		sum *= w->decay;
		if (i + w->least < w->grid.count)
			sum += w->nearest * in[i + w->least];
		out[i] = sum;
	}
}

double work_dot(const double *a, const double *b, size_t count)
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
	work_fall(w, w->ones, w->scratch);
	w->pairs = work_dot(w->scratch, w->ones, w->grid.count);
}

void work_begin(struct work *w, const struct culprit_boot *boots, size_t count)
{
	size_t n, places;

	*w = (struct work){.count = count};
	w->boots = xcalloc(count, sizeof(*boots));
	memcpy(w->boots, boots, count * sizeof(*boots));
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

void work_end(struct work *w)
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

double work_multiply(const double *a, const double *b, double *out, size_t n)
{
	double largest = 1e-300, by;

	for (size_t i = 0; i < n; i++) {
		out[i] = a[i] * b[i];
		largest = out[i] > largest ? out[i] : largest;
	}
	by = 1 / largest;
	for (size_t i = 0; i < n; i++)
		out[i] *= by;
	return log(largest);
}

/* Products over the tested commits left and right of every place for one noise. */
void work_multiply_out(struct work *w, double share)
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
			w->log_before[k] + work_multiply(w->before + k * n, w->factor + k * n,
						   w->before + (k + 1) * n, n);
	for (size_t k = last; k-- > 0;)
		w->log_after[k] =
			w->log_after[k + 1] + work_multiply(w->after + (k + 1) * n,
						      w->factor + k * n, w->after + k * n, n);
}

/* The level under weights. */
struct culprit_level work_centre(const struct work *w, const double *a, const double *b)
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

void work_densities(struct work *w, const struct culprit_noise *noise, bool all)
{
	size_t n = w->grid.count;

	for (size_t b = 0; b < w->count; b++) {
		if (all)
			noise_main(&w->grid, &w->boots[b], noise, w->main + b * n);
		noise_outlying(&w->grid, &w->boots[b], noise, w->outlying + b * n);
	}
}
