/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_verdicts: how often each way of judging is wrong. Simulated experiments
 * on the model of docs/statistics.md, section 10 (ln y = drift t + tau z_boot +
 * delta [variant] + sw z_run) are judged by the rules of this program and of
 * others, on the same numbers, and false alarms, coverage, interval widths and
 * power are printed beside each other. Exits 1 when one of our figures is missed.
 *
 *   bench_verdicts [REPLICATES [SEED]]      default 20000 1
 */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/mem.h"
#include "base/num.h"
#include "stat/bracket.h"
#include "stat/describe.h"
#include "stat/peers.h"
#include "textbook.h"
#include "world.h"

/* False alarms and misses of the interval: nominal 5 % plus what a method is allowed. */
#define HELD_FALSE 0.06

static const struct row rows[] = {
	{"AB", 10, 1, 0.3, 0.3, 0, false, 1, 0, "one boot each: what is commonly published"},
	{"ABA", 9, 0, 1, 1, 0, true, 1, 0, ""},
	{"ABA", 9, 0.5, 1, 1, 0, true, 1, 0, ""},
	{"ABA", 9, 1, 1, 1, 0, true, 1, 0, ""},
	{"ABBA", 9, 0, 1, 1, 0, true, 1, 0, ""},
	{"ABBA", 9, 0.5, 1, 1, 0, true, 1, 0, ""},
	{"ABBA", 9, 1, 1, 1, 0, true, 1, 0, ""},
	{"ABBAABBA", 9, 0, 1, 1, 0, true, 1, 0, ""},
	{"ABBAABBA", 9, 0.5, 1, 1, 0, true, 1, 0, ""},
	{"ABBAABBA", 9, 1, 1, 1, 0, true, 1, 0, ""},
	{"ABBAABBAABBAABBA", 9, 1, 1, 1, 0, true, 1, 0, "8+8"},
	{"ABA", 9, 0.2, 1, 3, 0, true, 1, 0, "noisy variant"},
	{"ABBA", 9, 0.2, 1, 3, 0, true, 1, 0, "noisy variant"},
	{"ABBAABBA", 9, 0.2, 1, 3, 0, true, 1, 0, "noisy variant"},
	{"ABBAABBA", 2, 0.5, 1, 1, 0, true, 1, 0, "two runs a boot"},
	{"ABA", 2, 0.2, 1, 1, 0, true, 1, 0, "two runs a boot"},
	{"ABCDEEDCBA", 9, 0.5, 1, 1, 0, true, 1, 0, "five variants"},
	{"ABCDEEDCBAABCDEEDCBA", 9, 0.5, 1, 1, 0, true, 1, 0, "five variants"},
	{"ABCCBAABCCBA", 9, 0.2, 1, 3, 0, true, 1, 0, "B noisy, C not"},
	{"ABA", 9, 1, 1, 1, 0, true, 1, 6, "history of 6 boots"},
	{"ABA", 9, 1, 1, 1, 0, true, 1, 20, "history of 20 boots"},
	{"ABBA", 9, 0.5, 1, 1, 0, true, 1, 6, "history of 6 boots"},
	{"ABBAABBA", 9, 0.5, 1, 1, 0, true, 1, 6, "history of 6 boots"},
	{"ABBAABBA", 9, 0.5, 1, 1, 0, true, 1, 20, "history of 20 boots"},
	{"ABA", 9, 0.5, 1, 1, 0, false, 0.5, 0, "history: half of tau"},
	{"ABBAABBA", 9, 0.5, 1, 1, 0, false, 0.5, 0, "history: half of tau"},
	{"ABA", 9, 0.5, 1, 1, 0, false, 0.25, 0, "history: quarter of tau"},
	{"ABA", 9, 0.5, 1, 1, 0, false, 2, 0, "history: twice tau"},
	{"AABB", 9, 0, 1, 1, 0.3, false, 1, 0, "never do this"},
	{"AAAABBBB", 9, 0, 1, 1, 0.3, false, 1, 0, "never do this"},
	{"ABBA", 9, 0.5, 1, 1, 0.3, false, 1, 0, "drift"},
	{"ABBAABBA", 9, 0.5, 1, 1, 0.3, false, 1, 0, "drift"},
};

/* Ways of judging: first the rules of others, then ours. */
enum way {
	WELCH,
	MMTESTS,
	LKP_RUNS,
	LKP_BOOTS,
	BENCHSTAT,
	REML,
	BOOTSTRAP,
	PERMUTATION,
	BOOTS,
	HISTORY_5,
	HISTORY_10,
	WAYS
};

/* Of the experiments, as many are judged by ways that draw a lot of numbers. */
enum { SLOW = 10 };

typedef struct textbook textbook_fn(const struct world *world, int runs);

static const struct way_about {
	const char *name;
	bool ours;
	bool interval; /* has one: its coverage and half-width are printed */
	bool held;     /* to HELD_FALSE */
	bool of_boots; /* a rule of others whose values are boot means */
	enum peer peer;
	textbook_fn *textbook; /* NULL: not one of these */
	bool slow;	       /* one experiment in SLOW */
} ways[] = {
	[WELCH] = {"Welch, runs", false, true, false, false, PEER_WELCH, NULL, false},
	[MMTESTS] = {"MMTests", false, false, false, false, PEER_MMTESTS, NULL, false},
	[LKP_RUNS] = {"LKP, runs", false, false, false, false, PEER_LKP, NULL, false},
	[LKP_BOOTS] = {"LKP, boots", false, false, false, true, PEER_LKP, NULL, false},
	[BENCHSTAT] = {"benchstat", false, false, false, false, PEER_BENCHSTAT, NULL, false},
	[REML] = {"mixed model, REML", false, true, false, false, PEER_COUNT, textbook_reml, false},
	[BOOTSTRAP] = {"cluster bootstrap", false, true, false, false, PEER_COUNT,
		textbook_bootstrap, true},
	[PERMUTATION] = {"permutation of boots", false, false, false, false, PEER_COUNT,
		textbook_permutation, true},
	[BOOTS] = {"kbracket, boots alone", true, true, true, false, PEER_COUNT, NULL, false},
	[HISTORY_5] = {"with history (default)", true, true, true, false, PEER_COUNT, NULL, false},
	[HISTORY_10] = {"history for 10 df", true, true, false, false, PEER_COUNT, NULL, false},
};

/* What one way says of one experiment. Lengths are of ln y. */
struct answer {
	bool told, differs;
	double d, half;
};

struct tally {
	size_t tests, told, false_alarms, found, covered;
	double *half;
};

/* What is known of the machine: exactly, wrongly, or from earlier boots. */
static void history_make(const struct row *row, struct history *history)
{
	double tau = row->hist * row->tau / 100;
	struct history_boot boots[MAX_BOOTS];

	*history = (struct history){.boots = 20,
		.nu0 = 5,
		.tau2 = fmax(tau * tau, HISTORY_MIN_TAU * HISTORY_MIN_TAU),
		.sw2 = row->sw * row->sw / 1e4,
		.sw_df = 20.0 * (row->runs - 1)};
	for (int i = 0; i < row->earlier; i++) {
		double level = row->tau * norm_rand();
		struct accum runs = {0};

		for (int r = 0; r < row->runs; r++)
			accum_add(&runs, (level + row->sw * norm_rand()) / 100);
		boots[i] = (struct history_boot){0, runs.n, runs.mean, accum_variance(&runs)};
	}
	if (row->earlier > 0)
		history_from_boots(boots, (size_t)row->earlier, history);
}

/* The values of one side as a rule of others sees them; returns how many. */
static size_t values_of(const struct world *world, int runs, int arm, bool of_boots, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < world->count; i++) {
		double sum = 0;

		if (world->boots[i].arm != arm)
			continue;
		for (int r = 0; r < runs; r++) {
			double y = exp(world->y[i][r]);

			sum += y;
			if (!of_boots)
				values[count++] = y;
		}
		if (of_boots)
			values[count++] = sum / runs;
	}
	return count;
}

static struct answer ask_others(
	const struct way_about *way, const struct row *row, const struct world *world)
{
	double a[MAX_BOOTS * MAX_RUNS], b[MAX_BOOTS * MAX_RUNS];
	size_t a_count = values_of(world, row->runs, 0, way->of_boots, a);
	size_t b_count = values_of(world, row->runs, 1, way->of_boots, b);
	struct peer_answer answer;

	peer_ask(way->peer, a, a_count, b, b_count, &answer);
	return (struct answer){
		answer.told, answer.told && answer.differs, log1p(answer.change), answer.half};
}

static struct answer ask(
	enum way way, const struct row *row, const struct world *world, const struct history *known)
{
	struct history history = *known;
	struct bracket effect;

	if (ways[way].textbook) {
		struct textbook seen = ways[way].textbook(world, row->runs);

		return (struct answer){seen.told, seen.differs, seen.d, seen.half};
	}
	if (!ways[way].ours)
		return ask_others(&ways[way], row, world);
	if (way == HISTORY_10)
		history.nu0 = 10;
	bracket_effect(world->boots, world->count, 0, 1, way == BOOTS ? NULL : &history, &effect);
	return (struct answer){effect.testable, effect.p <= 0.05, effect.d, effect.hi - effect.d};
}

static bool is_asked(int way, size_t experiment)
{
	return !ways[way].slow || experiment % SLOW == 0;
}

static void simulate(const struct row *row, size_t replicates, struct tally *tallies)
{
	const double shift = log(1.02);
	struct history history;
	struct world world;

	for (size_t i = 0; i < replicates; i++) {
		world_make(row, &world);
		history_make(row, &history);
		for (int way = 0; way < WAYS; way++) {
			struct answer answer;

			if (!is_asked(way, i))
				continue;
			answer = ask((enum way)way, row, &world, &history);
			tallies[way].told += answer.told;
			tallies[way].false_alarms += answer.differs;
			tallies[way].half[tallies[way].tests++] = answer.half;
		}
		world_shift(&world, row->runs, shift);
		for (int way = 0; way < WAYS; way++) {
			struct answer answer;

			if (!is_asked(way, i))
				continue;
			answer = ask((enum way)way, row, &world, &history);
			tallies[way].found += answer.differs;
			tallies[way].covered += fabs(answer.d - shift) <= answer.half;
		}
	}
}

/* One line for a design and a way; returns whether a figure that it is held to is missed. */
static bool way_print(const struct row *row, const struct way_about *way, const struct tally *tally)
{
	double n = (double)tally->tests, rate = (double)tally->false_alarms / n;
	double covered = (double)tally->covered / n;
	bool held = way->held && row->judged;
	bool miss = held && (beyond(rate, HELD_FALSE, n) || beyond(1 - covered, HELD_FALSE, n));

	printf("  %-24s %6.1f", way->name, 100 * rate);
	if (way->interval)
		printf("  %6.1f  %6.2f", 100 * covered,
			describe_pct_of_ln(describe_median(tally->half, tally->tests)));
	else
		printf("  %6s  %6s", "-", "-");
	printf("  %5.0f  %s%s\n", 100 * (double)tally->found / n,
		!held  ? ""
		: miss ? "MISSED"
		       : "met",
		tally->told ? ""
		: way->ours ? "  never a verdict"
			    : "  no answer");
	return miss;
}

/* Prints a design; returns the number of our figures that it misses. */
static int row_print(const struct row *row, const struct tally *tallies)
{
	int missed = 0;

	printf("\n%s: %zu boots, %d runs a boot, sd between boots %g %%, within %g %%", row->order,
		strlen(row->order), row->runs, row->tau, row->sw);
	if (row->sw_b != row->sw)
		printf(" (B %g %%)", row->sw_b);
	if (row->drift != 0)
		printf(", drift %g %% a boot", row->drift);
	printf("%s%s\n", *row->note ? "; " : "", row->note);
	printf("  %-24s %6s  %6s  %6s  %5s  %s\n", "in %", "false", "cover", "half", "power",
		"aim");
	for (int way = 0; way < WAYS; way++)
		missed += way_print(row, &ways[way], &tallies[way]);
	return missed;
}

static int run(size_t replicates)
{
	struct tally tallies[WAYS];
	int missed = 0;

	printf("Equal kernels called different (false), intervals that hold a true 2 %% (cover), "
	       "median\nhalf-width (half), true 2 %% called different (power); %zu experiments "
	       "each.\n",
		replicates);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(tallies, 0, sizeof(tallies));
		for (int way = 0; way < WAYS; way++)
			tallies[way].half = xcalloc(replicates, sizeof(double));
		simulate(&rows[i], replicates, tallies);
		missed += row_print(&rows[i], tallies);
		for (int way = 0; way < WAYS; way++)
			free(tallies[way].half);
		fflush(stdout);
	}
	return missed;
}

int main(int argc, char **argv)
{
	int64_t replicates = 20000, seed = 1;
	struct err err = ERR_INIT;
	int missed;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &replicates, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &seed, &err))) {
		fprintf(stderr, "bench_verdicts: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	missed = run((size_t)replicates);
	printf("\n%d figures missed of the held ones (in drift-free brackets: false alarms at most "
	       "6 %%, coverage\nat least 94 %%), beyond what chance explains\n",
		missed);
	return missed > 0;
}
