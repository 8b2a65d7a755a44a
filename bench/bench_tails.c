/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_tails: which number of a boot stands for a latency percentile. Latencies with heavy tails
 * are simulated (a log-normal body, a Pareto tail from the 95th percentile on; boots and runs are
 * slower or faster as a whole), every run prints its percentile of n observations, and a boot of
 * nine runs is summed up in four ways. Each is judged as docs/statistics.md says, against boots of
 * an equal kernel and of one whose latencies are 10 % longer. Exits 1 when the ways that kbracket
 * uses have more than 6 % false alarms or less than 94 % coverage, beyond what chance explains.
 *
 *   bench_tails [REPLICATES [SEED]]      default 20000 1
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
#include "stat/quantile.h"
#include "world.h"

#define HELD_FALSE 0.06
#define BODY_SIGMA 0.4
#define TAIL_FROM 0.95
#define LONGER log(1.1)

enum { RUNS = 9 };

struct scene {
	double p;	/* of the percentile */
	double beyond;	/* observations behind it in a run: n (1 - p) */
	double ratio;	/* observations of the variant / of the baseline */
	double tail;	/* Pareto's exponent: the smaller, the heavier */
	double tau, sw; /* of boots and runs, in percent */
	double stalls;	/* share of runs whose latencies are three times as long */
	const char *note;
};

static const struct scene scenes[] = {
	{0.5, 1000, 1, 1.5, 1, 0.5, 0, ""},
	{0.99, 200, 1, 1.5, 1, 0.5, 0, ""},
	{0.99, 10, 1, 1.5, 1, 0.5, 0, ""},
	{0.99, 10, 1.5, 1.5, 1, 0.5, 0, ""},
	{0.99, 200, 1, 1.5, 1, 0.5, 0.05, "one run in 20 has tails three times as long"},
	{0.999, 100, 1, 1.5, 1, 0.5, 0, ""},
	{0.999, 10, 1, 1.5, 1, 0.5, 0, ""},
	{0.999, 10, 1.5, 0.8, 1, 0.5, 0, "a heavier tail"},
	{0.999, 30, 3, 1.5, 1, 0.5, 0, ""},
	{0.999, 30, 3, 0.8, 1, 0.5, 0, "a heavier tail"},
	{0.999, 10, 3, 1.5, 1, 0.5, 0, "too few by the rule"},
	{0.999, 10, 3, 0.8, 1, 0.5, 0, "too few by the rule, a heavier tail"},
	{0.999, 1, 3, 1.5, 1, 0.5, 0, "too few by the rule"},
	{0.999, 1, 3, 0.8, 1, 0.5, 0, "too few by the rule, a heavier tail"},
};

enum way { MEAN, GEOMETRIC, MEDIAN, POOLED, WAYS };

static const struct {
	const char *name;
	bool held; /* kbracket's */
} ways[WAYS] = {
	[MEAN] = {"mean of percentiles", false},
	[GEOMETRIC] = {"geometric mean of them", false},
	[MEDIAN] = {"median over the runs", true},
	[POOLED] = {"pooled over the runs", true},
};

struct tally {
	size_t false_alarms, covered, found;
	double *half, *d;
};

/* Observations in a run. */
static double n_of(const struct scene *scene, int arm)
{
	return rint(scene->beyond / (1 - scene->p)) * (arm == 1 ? scene->ratio : 1);
}

/* ln of the latency that a share u of all is below. */
static double ln_latency(double u, double exponent)
{
	double at = BODY_SIGMA * qnorm(fmin(u, TAIL_FROM), 0, 1, 1, 0);

	return u <= TAIL_FROM ? at : at + log((1 - TAIL_FROM) / (1 - u)) / exponent;
}

/* The share of a run's latencies below x, both on the ln scale. */
static double share_below(double x, double exponent)
{
	double edge = BODY_SIGMA * qnorm(TAIL_FROM, 0, 1, 1, 0);

	return x <= edge ? pnorm(x, 0, BODY_SIGMA, 1, 0)
			 : 1 - (1 - TAIL_FROM) * exp(-exponent * (x - edge));
}

/* The share of its latencies that the percentile of n observations leaves below: an order
 * statistic of the uniform distribution. */
static double drawn_share(const struct scene *scene, double n)
{
	double rank = ceil(n * scene->p);

	return rbeta(rank, n + 1 - rank);
}

/* The latency that a share of those of all runs is below; each run is shifted as a whole. */
static double pooled_latency(double share, const double *shifts, double exponent)
{
	double low = ln_latency(share, exponent), high = low;

	for (int r = 0; r < RUNS; r++) {
		low = fmin(low, ln_latency(share, exponent) + shifts[r]);
		high = fmax(high, ln_latency(share, exponent) + shifts[r]);
	}
	while (high - low > 1e-7) {
		double middle = (low + high) / 2, below = 0;

		for (int r = 0; r < RUNS; r++)
			below += share_below(middle - shifts[r], exponent) / RUNS;
		*(below < share ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

/* The boot's number, in the four ways; var_ln of all is that of its runs. */
static void make_boot(const struct scene *scene, int arm, double t, struct bracket_boot boots[WAYS])
{
	double n = n_of(scene, arm);
	double level = scene->tau / 100 * norm_rand(), shifts[RUNS], ln[RUNS], natural = 0;
	struct accum runs = {0};

	for (int r = 0; r < RUNS; r++) {
		bool stalls = unif_rand() < scene->stalls;

		shifts[r] = level + scene->sw / 100 * norm_rand() + (stalls ? log(3) : 0);
		ln[r] = shifts[r] + ln_latency(drawn_share(scene, n), scene->tail);
		accum_add(&runs, ln[r]);
		natural += exp(ln[r]) / RUNS;
	}
	for (int way = 0; way < WAYS; way++)
		boots[way] = (struct bracket_boot){.arm = arm,
			.t = t,
			.runs = RUNS,
			.mean_ln = way == MEAN	      ? log(natural)
				   : way == GEOMETRIC ? accum_mean(&runs)
				   : way == MEDIAN    ? describe_median(ln, RUNS)
						      : pooled_latency(drawn_share(scene, n * RUNS),
								shifts, scene->tail),
			.var_ln = accum_variance(&runs)};
}

static void simulate(const struct scene *scene, size_t replicates, struct tally *tallies)
{
	static const char order[] = "ABBAABBA";
	struct bracket_boot made[WAYS], boots[WAYS][sizeof(order) - 1];
	const size_t count = sizeof(order) - 1;

	for (size_t i = 0; i < replicates; i++) {
		for (size_t b = 0; b < count; b++) {
			make_boot(scene, order[b] - 'A', (double)b, made);
			for (int way = 0; way < WAYS; way++)
				boots[way][b] = made[way];
		}
		for (int way = 0; way < WAYS; way++) {
			struct tally *tally = &tallies[way];
			struct bracket effect;

			bracket_effect(boots[way], count, 0, 1, NULL, &effect);
			tally->false_alarms += effect.p <= 0.05;
			tally->half[i] = effect.hi - effect.d;
			tally->d[i] = effect.d;
			/* longer latencies move every way's number alike */
			tally->covered += fabs(effect.d) <= effect.hi - effect.d;
			tally->found += fabs(effect.d + LONGER) > effect.hi - effect.d;
		}
	}
}

static int scene_print(const struct scene *scene, const struct tally *tallies, size_t replicates)
{
	double n = (double)replicates;
	int missed = 0;

	printf("\np%g, %g observations beyond it in a run (variant: %g), tail exponent %g%s%s\n",
		100 * scene->p, scene->beyond, scene->beyond * scene->ratio, scene->tail,
		*scene->note ? "; " : "", scene->note);
	printf("  %-24s %6s  %6s  %6s  %6s  %5s  %s\n", "in %", "false", "cover", "bias", "half",
		"power", "aim");
	for (int way = 0; way < WAYS; way++) {
		double rate = (double)tallies[way].false_alarms / n;
		double covered = (double)tallies[way].covered / n;
		bool held = ways[way].held &&
			    quantile_is_known(n_of(scene, 0), n_of(scene, 1), scene->p);
		bool miss =
			held && (beyond(rate, HELD_FALSE, n) || beyond(1 - covered, HELD_FALSE, n));

		printf("  %-24s %6.1f  %6.1f  %+6.1f  %6.2f  %5.0f  %s\n", ways[way].name,
			100 * rate, 100 * covered,
			describe_pct_of_ln(describe_mean(tallies[way].d, replicates)),
			describe_pct_of_ln(describe_median(tallies[way].half, replicates)),
			100 * (double)tallies[way].found / n,
			!held  ? ""
			: miss ? "MISSED"
			       : "met");
		missed += miss;
	}
	return missed;
}

static int run(size_t replicates)
{
	int missed = 0;

	printf("A boot's number for a percentile: equal kernels called different (false), "
	       "intervals that hold\nthe truth (cover), mean error of the effect (bias), median "
	       "half-width (half), latencies 10 %% longer\ncalled different (power); A B B A A B B "
	       "A, 9 runs a boot, %zu experiments each.\n",
		replicates);
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		struct tally tallies[WAYS] = {{0}};

		for (int way = 0; way < WAYS; way++) {
			tallies[way].half = xcalloc(replicates, sizeof(double));
			tallies[way].d = xcalloc(replicates, sizeof(double));
		}
		simulate(&scenes[i], replicates, tallies);
		missed += scene_print(&scenes[i], tallies, replicates);
		for (int way = 0; way < WAYS; way++) {
			free(tallies[way].half);
			free(tallies[way].d);
		}
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
		fprintf(stderr, "bench_tails: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	missed = run((size_t)replicates);
	printf("\n%d figures missed of the held ones\n", missed);
	return missed > 0;
}
