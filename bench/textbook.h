/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_TEXTBOOK_H
#define KB_BENCH_TEXTBOOK_H

#include "base/base.h"

#include "base/mem.h"
#include "stat/describe.h"
#include "world.h"

/* Ways of judging that textbooks name for clustered measurements, in their simple forms, beside
 * those that harnesses use. Each sees variant B against A, on the log scale. */
struct textbook {
	bool told, differs;
	double d, half; /* half NaN: it has no interval */
};

/* One arm: boots and their runs. */
struct textbook_arm {
	const double *boots[MAX_BOOTS];	    /* runs of each */
	double means[MAX_BOOTS], mean, ssw; /* of the boots; squares of runs within them */
	int count;
};

static inline void textbook_arm_of(
	const struct world *world, int runs, int arm, struct textbook_arm *out)
{
	struct accum means = {0};

	*out = (struct textbook_arm){.count = 0};
	for (size_t i = 0; i < world->count; i++) {
		if (world->boots[i].arm != arm)
			continue;
		out->boots[out->count] = world->y[i];
		out->means[out->count++] = world->boots[i].mean_ln;
		out->ssw += world->boots[i].var_ln * (runs - 1);
		accum_add(&means, world->boots[i].mean_ln);
	}
	out->mean = accum_mean(&means);
}

static inline double textbook_squares(const struct textbook_arm *arm)
{
	double sum = 0;

	for (int i = 0; i < arm->count; i++)
		sum += pow(arm->means[i] - arm->mean, 2);
	return sum;
}

/*
 * REML's estimate of a boot variance common to both arms, for balanced data: where the boots differ
 * by no more than their runs explain it is 0, and then all runs count as independent.
 */
static inline struct textbook textbook_reml(const struct world *world, int runs)
{
	struct textbook_arm a, b;
	double boots, all, between, within, variance, df, d, se;

	textbook_arm_of(world, runs, 0, &a);
	textbook_arm_of(world, runs, 1, &b);
	boots = a.count + b.count - 2;
	all = (a.count + b.count) * runs - 2;
	d = b.mean - a.mean;
	within = (a.ssw + b.ssw) / (all - boots);
	between = boots > 0 ? (textbook_squares(&a) + textbook_squares(&b)) / boots : 0;
	if (between * runs > within) {
		variance = between;
		df = boots;
	} else {
		variance = (boots * between * runs + (all - boots) * within) / all / runs;
		df = all;
	}
	se = sqrt(variance * (1.0 / a.count + 1.0 / b.count));
	return (struct textbook){
		true, 2 * pt(-fabs(d) / se, df, 1, 0) <= 0.05, d, qt(0.975, df, 1, 0) * se};
}

/* The mean of an arm whose boots, and then runs in them, are drawn with replacement. */
static inline double textbook_redraw(const struct textbook_arm *arm, int runs)
{
	double sum = 0;

	for (int i = 0; i < arm->count; i++) {
		const double *boot = arm->boots[(int)(unif_rand() * arm->count)];

		for (int r = 0; r < runs; r++)
			sum += boot[(int)(unif_rand() * runs)];
	}
	return sum / arm->count / runs;
}

/* The two-stage cluster bootstrap with its percentile interval. */
static inline struct textbook textbook_bootstrap(const struct world *world, int runs)
{
	enum { DRAWS = 400 };
	double draws[DRAWS], low, high, d;
	struct textbook_arm a, b;

	textbook_arm_of(world, runs, 0, &a);
	textbook_arm_of(world, runs, 1, &b);
	d = b.mean - a.mean;
	for (int i = 0; i < DRAWS; i++)
		draws[i] = textbook_redraw(&b, runs) - textbook_redraw(&a, runs);
	low = describe_quantile(draws, DRAWS, 0.025);
	high = describe_quantile(draws, DRAWS, 0.975);
	return (struct textbook){true, low > 0 || high < 0, d, (high - low) / 2};
}

/* Boots are dealt to the arms anew: all ways when there are few, else some. p is the share of ways
 * that give at least what was seen; with fewer than 40 it cannot be 5 %. */
static inline struct textbook textbook_permutation(const struct world *world, int runs)
{
	enum { SOME = 999, ALL_UP_TO = 8 };
	struct textbook_arm a, b;
	double all[2 * MAX_BOOTS], sum = 0, d, ways = 0, extreme = 0;
	int count;

	textbook_arm_of(world, runs, 0, &a);
	textbook_arm_of(world, runs, 1, &b);
	d = b.mean - a.mean;
	count = a.count + b.count;
	if (choose(count, b.count) < 40)
		return (struct textbook){false, false, d, NAN};
	for (int i = 0; i < count; i++) {
		all[i] = i < b.count ? b.means[i] : a.means[i - b.count];
		sum += all[i];
	}
	for (unsigned deal = 0; deal < (count <= ALL_UP_TO ? 1U << count : SOME); deal++) {
		double part = 0;

		if (count <= ALL_UP_TO) {
			if (__builtin_popcount(deal) != b.count)
				continue;
			for (int i = 0; i < count; i++)
				part += deal >> i & 1 ? all[i] : 0;
		} else {
			for (int i = 0; i < b.count; i++) {
				int k = i + (int)(unif_rand() * (count - i));
				double kept = all[i];

				all[i] = all[k];
				all[k] = kept;
				part += all[i];
			}
		}
		ways++;
		extreme += fabs(part / b.count - (sum - part) / a.count) >= fabs(d) - 1e-12;
	}
	if (count > ALL_UP_TO) /* the one that was seen */
		extreme++, ways++;
	return (struct textbook){true, extreme / ways <= 0.05, d, NAN};
}

#endif
