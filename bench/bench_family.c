/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_family: how often a whole table of comparisons is wrong, by p and by q
 * (docs/statistics.md, section 7). Exits 1 when a figure is missed.
 *
 *   bench_family [REPLICATES [SEED]]      default 20000 1
 */
#include "base/base.h"

#include "base/num.h"
#include "stat/fdr.h"
#include "world.h"

/* A whole table of cells that share their boots, which share half of tau^2. */
enum { CELLS = 16, REAL = 4 };

struct family {
	size_t any_raw, any_bh; /* experiments with a false alarm when nothing is real */
	double fdr;		/* mean share of false ones among what is called, REAL are real */
	size_t found;		/* of the real ones */
};

static void family_p(int real, double *p)
{
	static const struct row row = {"ABBAABBA", 9, 0.5 * M_SQRT1_2, 1, 1, 0, true, 1, 0, ""};
	static const struct history history = {
		.boots = 20, .nu0 = 5, .tau2 = 0.005 * 0.005, .sw2 = 1e-4, .sw_df = 160};
	double shared[MAX_BOOTS];
	struct world world;

	for (int i = 0; i < MAX_BOOTS; i++)
		shared[i] = row.tau * norm_rand() / 100;
	for (int cell = 0; cell < CELLS; cell++) {
		struct bracket effect;

		world_make(&row, &world);
		for (size_t i = 0; i < world.count; i++)
			world.boots[i].mean_ln += shared[i];
		if (cell < real)
			world_shift(&world, row.runs, log(1.02));
		bracket_effect(world.boots, world.count, 0, 1, &history, &effect);
		p[cell] = effect.p;
	}
}

static void family_simulate(size_t replicates, struct family *out)
{
	double p[CELLS], q[CELLS];

	*out = (struct family){0};
	for (size_t i = 0; i < replicates; i++) {
		int raw = 0, bh = 0, wrong = 0, right = 0;

		family_p(0, p);
		fdr_bh(p, CELLS, q);
		for (int cell = 0; cell < CELLS; cell++) {
			raw += p[cell] <= 0.05;
			bh += q[cell] <= 0.05;
		}
		out->any_raw += raw > 0;
		out->any_bh += bh > 0;
		family_p(REAL, p);
		fdr_bh(p, CELLS, q);
		for (int cell = 0; cell < CELLS; cell++) {
			right += cell < REAL && q[cell] <= 0.05;
			wrong += cell >= REAL && q[cell] <= 0.05;
		}
		out->found += (size_t)right;
		out->fdr += right + wrong ? (double)wrong / (right + wrong) : 0;
	}
}

static bool family_print(size_t replicates)
{
	double n = (double)replicates;
	struct family family;
	bool miss;

	family_simulate(replicates, &family);
	miss = beyond((double)family.any_bh / n, 0.05, n) || beyond(family.fdr / n, 0.05, n);
	printf("%d cells of one table (A B B A twice, 0.5 %% between boots, half of its variance "
	       "shared)\n",
		CELLS);
	printf("  none real: any called different by p %.1f %%, by q %.1f %%\n",
		100 * (double)family.any_raw / n, 100 * (double)family.any_bh / n);
	printf("  %d real, of 2 %%: false among the called %.1f %%, found %.1f %%   %s\n", REAL,
		100 * family.fdr / n, 100 * (double)family.found / n / REAL,
		miss ? "MISSED" : "met");
	return miss;
}

int main(int argc, char **argv)
{
	int64_t replicates = 20000, seed = 1;
	struct err err = ERR_INIT;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &replicates, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &seed, &err))) {
		fprintf(stderr, "bench_family: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	return family_print((size_t)replicates);
}
