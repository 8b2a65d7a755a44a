/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_verdicts: how often each way of judging is wrong. Simulated experiments
 * on the model of docs/statistics.md, section 10 (ln y = drift t + tau z_boot +
 * delta [variant] + sw z_run) are judged by the rules of this program and by
 * Welch's test on runs, on the same numbers, and false alarms, interval widths
 * and power are printed side by side. Exits 1 when one of our figures is missed.
 *
 *   bench_verdicts [REPLICATES [SEED]]      default 4000 1
 */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/mem.h"
#include "base/num.h"
#include "stat/accum.h"
#include "stat/bracket.h"
#include "stat/describe.h"

enum { MAX_BOOTS = 32, MAX_RUNS = 16 };

/* Upper bounds for false alarms: nominal 5 % plus what the method is allowed. */
#define HELD_FALSE 0.06

struct row {
	const char *order; /* one letter a boot; A is the baseline, B is judged */
	int runs;
	double tau, sw, sw_b, drift; /* in percent */
	bool judged;		     /* a drift-free palindromic row, held to HELD_FALSE */
	double hist;		     /* tau of the history / true tau */
	int earlier;		     /* boots the history is estimated from; 0: it is known */
	const char *note;
};

static const struct row rows[] = {
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

enum way { WELCH, BOOTS, HISTORY_5, HISTORY_10, WAYS };
static const char *const way_names[] = {
	[WELCH] = "Welch, runs",
	[BOOTS] = "boots",
	[HISTORY_5] = "history, nu0 5",
	[HISTORY_10] = "history, nu0 10",
};

struct tally {
	size_t tests, false_alarms, found;
	double *half;
};

/* The simulated runs of one experiment on the log scale. */
struct world {
	struct bracket_boot boots[MAX_BOOTS];
	size_t count;
	double y[MAX_BOOTS][MAX_RUNS];
};

static void world_make(const struct row *row, struct world *world)
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

static void world_shift(struct world *world, int runs, double delta)
{
	for (size_t i = 0; i < world->count; i++) {
		if (world->boots[i].arm != 1)
			continue;
		world->boots[i].mean_ln += delta;
		for (int r = 0; r < runs; r++)
			world->y[i][r] += delta;
	}
}

/* Welch's test with every run as independent: what is commonly done. */
static void welch(const struct world *world, int runs, double *p, double *half)
{
	struct accum arms[2] = {{0}, {0}};
	double a, b, se, df;

	for (size_t i = 0; i < world->count; i++) {
		for (int r = 0; r < runs && world->boots[i].arm < 2; r++)
			accum_add(&arms[world->boots[i].arm], world->y[i][r]);
	}
	a = accum_variance(&arms[0]) / (double)arms[0].n;
	b = accum_variance(&arms[1]) / (double)arms[1].n;
	se = sqrt(a + b);
	df = (a + b) * (a + b) /
	     (a * a / (double)(arms[0].n - 1) + b * b / (double)(arms[1].n - 1));
	*p = 2 * pt(-fabs(arms[1].mean - arms[0].mean) / se, df, 1, 0);
	*half = qt(0.975, df, 1, 0) * se;
}

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

static void ask(enum way way, const struct row *row, const struct world *world,
	const struct history *known, double *p, double *half)
{
	struct history history = *known;
	struct bracket effect;

	if (way == WELCH) {
		welch(world, row->runs, p, half);
		return;
	}
	if (way == HISTORY_10)
		history.nu0 = 10;
	bracket_effect(world->boots, world->count, 0, 1, way == BOOTS ? NULL : &history, &effect);
	*p = effect.p;
	*half = effect.hi - effect.d;
}

static void simulate(const struct row *row, size_t replicates, struct tally *tallies)
{
	struct history history;
	struct world world;
	double p, half;

	for (size_t i = 0; i < replicates; i++) {
		world_make(row, &world);
		history_make(row, &history);
		for (int way = 0; way < WAYS; way++) {
			ask((enum way)way, row, &world, &history, &p, &half);
			tallies[way].false_alarms += p <= 0.05;
			tallies[way].half[tallies[way].tests++] = half;
		}
		world_shift(&world, row->runs, log(1.02));
		for (int way = 0; way < WAYS; way++) {
			ask((enum way)way, row, &world, &history, &p, &half);
			tallies[way].found += p <= 0.05;
		}
	}
}

/* Prints a row; returns the number of our figures that it misses. */
static int row_print(const struct row *row, const struct tally *tallies)
{
	int missed = 0;

	printf("%-21s %d %4.1f %3.0f %3.0f %3.1f", row->order, row->runs, row->tau, row->sw,
		row->sw_b, row->drift);
	for (int way = 0; way < WAYS; way++) {
		const struct tally *tally = &tallies[way];
		double n = (double)tally->tests, rate = (double)tally->false_alarms / n;
		/* A miss is one that chance does not explain. */
		double slack = 2.58 * sqrt(HELD_FALSE * (1 - HELD_FALSE) / n);
		bool held = way == BOOTS || way == HISTORY_5;
		bool miss = row->judged && held && rate > HELD_FALSE + slack;

		missed += miss;
		printf("  | %5.1f%s %5.2f %4.0f", 100 * rate, miss ? "!" : " ",
			describe_pct_of_ln(describe_median(tally->half, tally->tests)),
			100 * (double)tally->found / n);
	}
	printf("  %s\n", row->note);
	return missed;
}

static int run(size_t replicates)
{
	struct tally tallies[WAYS];
	int missed = 0;

	printf("%-42s", "");
	for (int way = 0; way < WAYS; way++)
		printf("  | %-17s", way_names[way]);
	printf("\n%-21s n  tau  sw swB dft", "order (sd and drift in %)");
	for (int way = 0; way < WAYS; way++)
		printf("  | false  half  pow.");
	printf("\n");
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
	int64_t replicates = 4000, seed = 1;
	struct err err = ERR_INIT;
	int missed;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &replicates, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &seed, &err))) {
		fprintf(stderr, "bench_verdicts: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	missed = run((size_t)replicates);
	printf("%d figures missed of the held ones (false alarms at most 6 %% in drift-free "
	       "brackets)\n",
		missed);
	return missed > 0;
}
