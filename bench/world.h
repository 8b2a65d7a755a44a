/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_WORLD_H
#define KB_BENCH_WORLD_H

#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/accum.h"
#include "stat/bracket.h"

/* Simulated experiments: ln y = drift t + tau z_boot + delta [variant] + sw z_run. */
enum { MAX_BOOTS = 32, MAX_RUNS = 16 };

struct row {
	const char *order; /* one letter a boot; A is the baseline, B is judged */
	int runs;
	double tau, sw, sw_b, drift; /* in percent */
	bool judged;		     /* a drift-free palindromic row, held to HELD_FALSE */
	double hist;		     /* tau of the history / true tau */
	int earlier;		     /* boots the history is estimated from; 0: it is known */
	const char *note;
};

/* The simulated runs of one experiment on the log scale. */
struct world {
	struct bracket_boot boots[MAX_BOOTS];
	size_t count;
	double y[MAX_BOOTS][MAX_RUNS];
};

static inline void world_make(const struct row *row, struct world *world)
{
	world->count = strlen(row->order);
	for (size_t i = 0; i < world->count; i++) {
		int arm = row->order[i] - 'A';
		double sw = arm == 1 ? row->sw_b : row->sw;
		double level = row->drift * (double)i + row->tau * norm_rand();
		struct accum runs = {0};

		for (int r = 0; r < row->runs; r++) {
			world->y[i][r] = (level + sw * norm_rand()) / 100;
			accum_add(&runs, world->y[i][r]);
		}
		world->boots[i] = (struct bracket_boot){.arm = arm,
			.block = 0,
			.t = (double)i,
			.runs = (size_t)row->runs,
			.mean_ln = accum_mean(&runs),
			.var_ln = accum_variance(&runs)};
	}
}

static inline void world_shift(struct world *world, int runs, double delta)
{
	for (size_t i = 0; i < world->count; i++) {
		if (world->boots[i].arm != 1)
			continue;
		world->boots[i].mean_ln += delta;
		for (int r = 0; r < runs; r++)
			world->y[i][r] += delta;
	}
}

/* True when chance does not explain that a rate of n trials is above what it is held to. */
static inline bool beyond(double rate, double held, double n)
{
	return rate > held + 2.58 * sqrt(held * (1 - held) / n);
}

#endif
