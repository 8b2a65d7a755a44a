/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_sequential: what it saves to look after every A B B A and to stop when the answer is clear,
 * and how often that is wrong (docs/statistics.md, section 12). until: verdict with eight and with
 * four looks, until: 1 %, and beside them the more cautious spending function of O'Brien and
 * Fleming's kind, an e-process that needs neither history nor a number of looks, stopping at
 * p <= 5 % at any look, and no look. Then whole tables: how often q over looks is wrong. Columns in
 * parentheses are figures to reach, from another program's simulations, with 10 degrees of freedom
 * of history where the default has 5. Exits 1 when a figure is missed.
 *
 *   bench_sequential [REPLICATES [SEED]]      default 20000 1
 */
#include "base/base.h"

#include "base/mem.h"
#include "base/num.h"
#include "stat/equivalence.h"
#include "stat/fdr.h"
#include "stat/sequential.h"
#include "world.h"

enum { LOOKS = 8, FEW_LOOKS = 4, BLOCK = 4 };

#define ALPHA 0.05
#define MARGIN 0.01
#define TAU 0.005
#define WIDTH 0.01
/* e at which an e-process has shown a change at 5 %. */
#define E_ENOUGH 20
/* False alarms that are allowed: the nominal 5 %, and what a history of 5 df may cost. */
#define HELD_FALSE 0.06
/* Printed intervals that may miss the truth. */
#define HELD_MISSED 0.06

static const struct history known = {
	.boots = 20, .nu0 = 5, .tau2 = TAU * TAU, .sw2 = 1e-4, .sw_df = 160};

static double obrien_fleming(double alpha, double share)
{
	return 2 * pnorm(qnorm(alpha / 2, 0, 1, 0, 0) / sqrt(share), 0, 1, 0, 0);
}

enum rule { SPENDING_8, SPENDING_4, BOOTS_8, CAUTIOUS, E_PROCESS, PEEKING, UNTIL_1, FIXED, RULES };

static const struct rule_about {
	const char *name;
	int looks;
	bool ours; /* false alarms are held to HELD_FALSE, intervals to HELD_MISSED */
} rules[] = {
	[SPENDING_8] = {"until: verdict, 8 looks", LOOKS, true},
	[SPENDING_4] = {"until: verdict, 4 looks", FEW_LOOKS, true},
	[BOOTS_8] = {"the same without history", LOOKS, true},
	[CAUTIOUS] = {"O'Brien-Fleming, 8 looks", LOOKS, false},
	[E_PROCESS] = {"e-process, no history", LOOKS, false},
	[PEEKING] = {"peeking at 5 %", LOOKS, false},
	[UNTIL_1] = {"until: 1 %, 8 looks", LOOKS, true},
	[FIXED] = {"no look", LOOKS, false},
};

static const double changes_pct[] = {0, 0.5, 1, 2, 5};
enum { CHANGES = ARRAY_SIZE(changes_pct) };

/* What the other program found for each of these changes, in percent; all 0: it was not asked.
 * -1: that was not told. */
static const struct aim {
	double changed, no_change, boots;
} aims[RULES][CHANGES] = {
	[SPENDING_8] = {{3.9, 94.7, 18.8}, {45.9, 44.6, 21.0}, {97.5, 1.5, 13.7}, {100, 0, 5.8},
		{100, 0, 4}},
	[CAUTIOUS] = {{3.1, 96.8, 20.7}, {50.1, 48.5, 23.0}, {98.5, 1.5, 17.5}, {100, 0, 10.7},
		{100, 0, 7.9}},
	[E_PROCESS] = {{0.8, -1, 32}, {14.4, -1, 31.4}, {69.4, -1, 28.4}, {100, -1, 22.5},
		{100, -1, 20}},
	[PEEKING] = {{16.6, -1, 29.0}, {72.8, -1, 20.3}, {99.8, -1, 9.5}, {100, -1, 4.6},
		{100, -1, 4}},
	[UNTIL_1] = {{-1, -1, 8.5}, {-1, -1, 8.5}, {-1, -1, 8.5}, {-1, -1, 8.5}, {-1, -1, 8.5}},
};

/* What a rule says at a look. */
enum answer { GO_ON, CHANGED, UNCHANGED, STOPPED };

/* An experiment as all looks see it. */
struct course {
	struct bracket effects[LOOKS], alone[LOOKS]; /* with history and without */
	double e[LOOKS];
};

/* One-sample t of the blocks' differences, as a mixture over effects with unit variance g = 1. */
static double e_value(const struct world *world, int blocks)
{
	struct accum differences = {0};
	double n = blocks, shrink = 1 / (1 + n), t2, nu = n - 1;

	if (blocks < 2)
		return 0;
	for (int b = 0; b < blocks; b++) {
		const struct bracket_boot *boot = &world->boots[BLOCK * b];

		accum_add(&differences,
			(boot[1].mean_ln + boot[2].mean_ln - boot[0].mean_ln - boot[3].mean_ln) /
				2);
	}
	t2 = n * pow(accum_mean(&differences), 2) / accum_variance(&differences);
	return sqrt(shrink) * pow((1 + t2 / nu) / (1 + shrink * t2 / nu), (nu + 1) / 2);
}

static void see(const struct world *world, struct course *out)
{
	for (int look = 1; look <= LOOKS; look++) {
		bracket_effect(
			world->boots, BLOCK * (size_t)look, 0, 1, &known, &out->effects[look - 1]);
		bracket_effect(
			world->boots, BLOCK * (size_t)look, 0, 1, NULL, &out->alone[look - 1]);
		out->e[look - 1] = e_value(world, look);
	}
}

/* First no change, then a change, as judge/looks.c has it. The intervals become the level's. */
static enum answer at_level(struct bracket *effect, double level)
{
	bracket_set_level(effect, level, level);
	if (equivalence_shown(effect, MARGIN))
		return UNCHANGED;
	return effect->p <= level ? CHANGED : GO_ON;
}

/* A single test, without looks. */
static enum answer at_end(const struct bracket *effect)
{
	if (equivalence_shown(effect, MARGIN))
		return UNCHANGED;
	return effect->p <= ALPHA ? CHANGED : GO_ON;
}

static double half_width(const struct bracket *effect)
{
	return (effect->hi - effect->lo) / 2;
}

struct levels {
	double eight[LOOKS], four[FEW_LOOKS], cautious[LOOKS];
};

/* *effect becomes what is printed, with its interval. */
static enum answer ask(enum rule rule, const struct levels *levels, const struct course *course,
	int look, struct bracket *effect)
{
	*effect = rule == BOOTS_8 ? course->alone[look - 1] : course->effects[look - 1];
	switch (rule) {
	case SPENDING_8:
	case BOOTS_8:
		return at_level(effect, levels->eight[look - 1]);
	case SPENDING_4:
		return at_level(effect, levels->four[look - 1]);
	case CAUTIOUS:
		return at_level(effect, levels->cautious[look - 1]);
	case E_PROCESS:
		return course->e[look - 1] >= E_ENOUGH ? CHANGED : GO_ON;
	case PEEKING:
		return effect->p <= ALPHA ? CHANGED : GO_ON;
	case UNTIL_1:
		return half_width(effect) <= WIDTH ? STOPPED : GO_ON;
	case FIXED:
		return look < LOOKS ? GO_ON : at_end(effect);
	case RULES:
		break;
	}
	BUG("no such rule");
}

struct tally {
	size_t changed, unchanged, covered;
	double boots;
};

static void judge(enum rule rule, const struct levels *levels, const struct course *course,
	double truth, struct tally *tally)
{
	enum answer answer = GO_ON;
	struct bracket effect;
	int look = 0;

	while (answer == GO_ON && look < rules[rule].looks)
		answer = ask(rule, levels, course, ++look, &effect);
	if (rule == UNTIL_1)
		answer = at_end(&effect);
	tally->changed += answer == CHANGED;
	tally->unchanged += answer == UNCHANGED;
	tally->covered += fabs(effect.d - truth) <= half_width(&effect);
	tally->boots += BLOCK * look;
}

static void print_beside(double seen, double aim, bool told)
{
	char text[16] = "";

	if (told)
		(void)snprintf(text, sizeof(text), "(%.4g)", aim);
	printf("%6.1f %-7s", seen, text);
}

/* Returns how many figures that are held to are missed. */
static int row_print(size_t change, size_t replicates, const struct tally *tallies)
{
	double n = (double)replicates;
	int missed = 0;

	for (int rule = 0; rule < RULES; rule++) {
		const struct tally *tally = &tallies[rule];
		const struct aim *aim = &aims[rule][change];
		double changed = (double)tally->changed / n, covered = (double)tally->covered / n;
		bool null = changes_pct[change] == 0;
		bool miss = rules[rule].ours && (beyond(1 - covered, HELD_MISSED, n) ||
							(null && beyond(changed, HELD_FALSE, n)));

		printf("%4g %%  %-25s", changes_pct[change], rules[rule].name);
		print_beside(100 * changed, aim->changed, aim->boots > 0 && aim->changed >= 0);
		print_beside(100 * (double)tally->unchanged / n, aim->no_change,
			aim->boots > 0 && aim->no_change >= 0);
		print_beside(tally->boots / n, aim->boots, aim->boots > 0);
		printf("%6.1f  %s\n", 100 * covered,
			!rules[rule].ours ? ""
			: miss		  ? "MISSED"
					  : "met");
		missed += miss;
	}
	return missed;
}

static int row_simulate(size_t change, size_t replicates, const struct levels *levels)
{
	static const struct row row = {
		"ABBAABBAABBAABBAABBAABBAABBAABBA", 9, 100 * TAU, 1, 1, 0, true, 1, 0, ""};
	struct tally tallies[RULES] = {{0}};
	double truth = log1p(changes_pct[change] / 100);
	struct course course;
	struct world world;

	for (size_t i = 0; i < replicates; i++) {
		world_make(&row, &world);
		world_shift(&world, row.runs, truth);
		see(&world, &course);
		for (int rule = 0; rule < RULES; rule++)
			judge((enum rule)rule, levels, &course, truth, &tallies[rule]);
	}
	return row_print(change, replicates, tallies);
}

/* --- whole tables --- */

/* Cells that share their boots, which share half of tau^2; some of them really change. */
enum { CELLS = 16, REAL = 4 };

/* One table, decided look by look: each cell's smallest p over the looks so far, as one over the
 * whole design, goes into q; what is decided stays so and is not measured any more. */
struct table {
	struct world worlds[CELLS];
	double p[CELLS];
	enum answer answers[CELLS], plain[CELLS]; /* by q, and by each cell's own levels */
	size_t blocks;				  /* of cells that were measured */
};

static void table_make(struct table *table, int real)
{
	static const struct row row = {
		"ABBAABBAABBAABBA", 9, 0.5 * M_SQRT1_2, 1, 1, 0, true, 1, 0, ""};
	double shared[MAX_BOOTS];

	*table = (struct table){.blocks = 0};
	for (int i = 0; i < MAX_BOOTS; i++)
		shared[i] = row.tau * norm_rand() / 100;
	for (int cell = 0; cell < CELLS; cell++) {
		struct world *world = &table->worlds[cell];

		world_make(&row, world);
		for (size_t i = 0; i < world->count; i++)
			world->boots[i].mean_ln += shared[i];
		if (cell < real)
			world_shift(world, row.runs, log(1.02));
		table->p[cell] = 1;
	}
}

static void table_look(struct table *table, const struct sequential *design, int look)
{
	double level = sequential_level(design, look), q[CELLS];
	enum answer now[CELLS];

	for (int cell = 0; cell < CELLS; cell++) {
		struct bracket effect;

		if (table->answers[cell] != GO_ON && table->plain[cell] != GO_ON)
			continue;
		bracket_effect(
			table->worlds[cell].boots, BLOCK * (size_t)look, 0, 1, &known, &effect);
		now[cell] = at_level(&effect, level);
		if (table->plain[cell] == GO_ON)
			table->plain[cell] = now[cell];
		if (table->answers[cell] != GO_ON)
			continue;
		table->blocks++;
		table->p[cell] = fmin(table->p[cell], sequential_p(design, look, effect.p));
	}
	fdr_bh(table->p, CELLS, q);
	for (int cell = 0; cell < CELLS; cell++) {
		if (table->answers[cell] != GO_ON)
			continue;
		if (now[cell] == UNCHANGED)
			table->answers[cell] = UNCHANGED;
		else if (q[cell] <= ALPHA)
			table->answers[cell] = CHANGED;
	}
}

/* How many of the cells from first on are called different. */
static int called(const enum answer *answers, int first, int end)
{
	int count = 0;

	for (int cell = first; cell < end; cell++)
		count += answers[cell] == CHANGED;
	return count;
}

static int tables_simulate(size_t replicates)
{
	struct sequential *design = sequential_new(ALPHA, FEW_LOOKS);
	double n = (double)replicates, fdr = 0, measured = 0;
	size_t any_plain = 0, any = 0, found = 0;
	struct table *table = xcalloc(1, sizeof(*table));
	bool miss;

	for (size_t i = 0; i < replicates; i++) {
		int right, wrong;

		table_make(table, 0);
		for (int look = 1; look <= FEW_LOOKS; look++)
			table_look(table, design, look);
		any_plain += called(table->plain, 0, CELLS) > 0;
		any += called(table->answers, 0, CELLS) > 0;
		table_make(table, REAL);
		for (int look = 1; look <= FEW_LOOKS; look++)
			table_look(table, design, look);
		right = called(table->answers, 0, REAL);
		wrong = called(table->answers, REAL, CELLS);
		found += (size_t)right;
		fdr += right + wrong ? (double)wrong / (right + wrong) : 0;
		measured += (double)table->blocks;
	}
	miss = beyond((double)any / n, ALPHA, n) || beyond(fdr / n, ALPHA, n);
	printf("\n%d cells of one table, %d looks, what is decided is not measured any more\n",
		CELLS, FEW_LOOKS);
	printf("  none real: any called different by its own levels %.1f %%, by q %.1f %%\n",
		100 * (double)any_plain / n, 100 * (double)any / n);
	printf("  %d real, of 2 %%: false among the called %.1f %%, found %.1f %%, runs made %.0f "
	       "%%   %s\n",
		REAL, 100 * fdr / n, 100 * (double)found / n / REAL,
		100 * measured / n / CELLS / FEW_LOOKS, miss ? "MISSED" : "met");
	sequential_free(design);
	free(table);
	return miss;
}

static void levels_print(const char *name, const double *levels, int looks)
{
	printf("%-25s", name);
	for (int k = 0; k < looks; k++)
		printf(" %.5f", levels[k]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int64_t replicates = 20000, seed = 1;
	struct err err = ERR_INIT;
	struct levels levels;
	int missed = 0;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &replicates, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &seed, &err))) {
		fprintf(stderr, "bench_sequential: %s\n", err.text);
		return 2;
	}
	set_seed((unsigned int)seed, 12345);
	sequential_levels(sequential_pocock, ALPHA, LOOKS, levels.eight);
	sequential_levels(sequential_pocock, ALPHA, FEW_LOOKS, levels.four);
	sequential_levels(obrien_fleming, ALPHA, LOOKS, levels.cautious);
	printf("\nA look after each A B B A (sd 0.5 %% between boots, 1 %% within, margin 1 %%)\n");
	levels_print("levels, 8 looks", levels.eight, LOOKS);
	levels_print("levels, 4 looks", levels.four, FEW_LOOKS);
	levels_print("O'Brien-Fleming, 8 looks", levels.cautious, LOOKS);
	printf("\n true   rule                     changed %%     no change %%   boots used    "
	       "cover %%\n");
	for (size_t i = 0; i < CHANGES; i++)
		missed += row_simulate(i, (size_t)replicates, &levels);
	missed += tables_simulate((size_t)replicates);
	return missed > 0;
}
