/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_sequential: what it would save to look after every A B B A and to stop when
 * the answer is clear, and how often that is wrong. Each look has its own level from
 * Lan and DeMets' spending function of Pocock's kind, 5 % ln(1 + (e - 1) k / K), with
 * the default method and the right history. Beside it: stopping at p <= 5 % at any
 * look, and all blocks without a look. Exits 1 when looks are wrong more often than
 * nominal. No verb of kbracket stops early.
 *
 *   bench_sequential [REPLICATES [SEED]]      default 20000 1
 */
#include "base/base.h"

#include "base/num.h"
#include "world.h"

enum { LOOKS = 8, GRID = 400 };

#define ALPHA 0.05
#define MARGIN 0.01
#define TAU 0.005
/* False alarms that are allowed: the nominal 5 %, and what a history of 5 df may cost. */
#define HELD_FALSE 0.06

/* The sub-density of the sum of k unit normals that no look has stopped yet, on
 * -edge..edge; after the first look. */
struct density {
	double edge, f[GRID + 1];
};

static double point(const struct density *density, int i)
{
	return density->edge * (2.0 * i / GRID - 1);
}

static double simpson(int i)
{
	return i == 0 || i == GRID ? 1 : i % 2 ? 4 : 2;
}

/* The probability to leave -edge..edge with the next unit normal. */
static double leaving(const struct density *density, double edge)
{
	double sum = 0, step = 2 * density->edge / GRID;

	for (int i = 0; i <= GRID; i++) {
		double s = point(density, i);

		sum += simpson(i) * density->f[i] *
		       (pnorm(-edge - s, 0, 1, 1, 0) + pnorm(edge - s, 0, 1, 0, 0));
	}
	return sum * step / 3;
}

static void advance(struct density *density, double edge)
{
	struct density next = {.edge = edge};
	double step = 2 * density->edge / GRID;

	for (int i = 0; i <= GRID; i++) {
		double sum = 0;

		for (int k = 0; k <= GRID; k++)
			sum += simpson(k) * density->f[k] *
			       dnorm(point(&next, i) - point(density, k), 0, 1, 0);
		next.f[i] = sum * step / 3;
	}
	*density = next;
}

/* The two-sided level of each look (Armitage, McPherson and Rowe's recursion). */
static void levels_make(int looks, double *levels)
{
	double spent = ALPHA * log1p((M_E - 1) / looks);
	struct density density = {.edge = qnorm(spent / 2, 0, 1, 0, 0)};

	levels[0] = spent;
	for (int i = 0; i <= GRID; i++)
		density.f[i] = dnorm(point(&density, i), 0, 1, 0);
	for (int k = 2; k <= looks; k++) {
		double total = ALPHA * log1p((M_E - 1) * k / looks), low = 0, high = 20;

		for (int n = 0; n < 40; n++) {
			double middle = (low + high) / 2;

			if (leaving(&density, middle * sqrt(k)) > total - spent)
				low = middle;
			else
				high = middle;
		}
		levels[k - 1] = 2 * pnorm(high, 0, 1, 0, 0);
		advance(&density, high * sqrt(k));
		spent = total;
	}
}

enum rule { SPENDING, PEEKING, FIXED, RULES };
static const char *const rule_names[] = {
	[SPENDING] = "looks, spending", [PEEKING] = "peeking at 5 %", [FIXED] = "no look"};

struct tally {
	size_t changed, unchanged;
	double boots;
};

/* Looks until the rule stops; first boots of the world only. */
static void judge(
	const struct world *world, enum rule rule, const double *levels, struct tally *tally)
{
	static const struct history history = {
		.boots = 20, .nu0 = 5, .tau2 = TAU * TAU, .sw2 = 1e-4, .sw_df = 160};

	for (int look = rule == FIXED ? LOOKS : 1; look <= LOOKS; look++) {
		double level = rule == SPENDING ? levels[look - 1] : ALPHA, half;
		struct bracket effect;

		bracket_effect(world->boots, 4 * (size_t)look, 0, 1, &history, &effect);
		half = qt(1 - level / 2, effect.df, 1, 0) * effect.se;
		if (effect.p <= level) {
			tally->changed++;
		} else if (rule != PEEKING && fabs(effect.d) + half <= log1p(MARGIN)) {
			tally->unchanged++;
		} else if (look < LOOKS) {
			continue;
		}
		tally->boots += 4 * look;
		return;
	}
}

static bool row_print(double change_pct, size_t replicates, const double *levels)
{
	static const struct row row = {
		"ABBAABBAABBAABBAABBAABBAABBAABBA", 9, 100 * TAU, 1, 1, 0, true, 1, 0, ""};
	struct tally tallies[RULES] = {{0}};
	double n = (double)replicates;
	struct world world;
	bool miss;

	for (size_t i = 0; i < replicates; i++) {
		world_make(&row, &world);
		world_shift(&world, row.runs, log1p(change_pct / 100));
		for (int rule = 0; rule < RULES; rule++)
			judge(&world, (enum rule)rule, levels, &tallies[rule]);
	}
	miss = change_pct == 0 && beyond((double)tallies[SPENDING].changed / n, HELD_FALSE, n);
	for (int rule = 0; rule < RULES; rule++)
		printf("%6g %%  %-16s  %7.1f  %9.1f  %10.1f  %s\n", change_pct, rule_names[rule],
			100 * (double)tallies[rule].changed / n,
			100 * (double)tallies[rule].unchanged / n, tallies[rule].boots / n,
			rule != SPENDING || change_pct != 0 ? ""
			: miss				    ? "MISSED"
							    : "met");
	return miss;
}

int main(int argc, char **argv)
{
	static const double changes[] = {0, 0.5, 1, 2, 5};
	int64_t replicates = 20000, seed = 1;
	struct err err = ERR_INIT;
	double levels[LOOKS];
	int missed = 0;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &replicates, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &seed, &err))) {
		fprintf(stderr, "bench_sequential: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	levels_make(LOOKS, levels);
	printf("\nA look after each of %d A B B A (sd 0.5 %% between boots, 1 %% within, margin 1 "
	       "%%)\nlevels:",
		LOOKS);
	for (int k = 0; k < LOOKS; k++)
		printf(" %.5f", levels[k]);
	printf("\n  true    rule              changed  no change  boots used  aim (in %%)\n");
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		missed += row_print(changes[i], (size_t)replicates, levels);
	return missed > 0;
}
