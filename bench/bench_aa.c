/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_aa: counts the false alarms in experiments that measured one kernel under two names
 * (configs/aa-guest.yaml, run by bench/aa). Every comparison is judged by the boots of its own
 * experiment alone, by those with the earlier experiments as history, and by the rules of others.
 *
 *   bench_aa DATABASE            the table
 *   bench_aa DATABASE --count    how many experiments are finished
 */
#include "base/base.h"

#include <math.h>
#include <unistd.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "judge/evidence.h"
#include "judge/judge.h"
#include "judge/others.h"
#include "model/store_rows.h"
#include "stat/fdr.h"
#include "must.h"

#define EXPERIMENT "aa-guest"
#define ALPHA 0.05

enum { MAX_CELLS = 256, MAX_RULES = PEER_COUNT + 2 };

/* A way of judging, and what it called different. */
struct rule {
	const char *name;
	int told[MAX_CELLS], called[MAX_CELLS]; /* by cell, over the experiments */
	int experiments, any; /* experiments with an answer; with any cell called */
};

struct tally {
	struct rule rules[MAX_RULES];
	const char *cells[MAX_CELLS];
	size_t cell_count;
	int boots;
	double taus[MAX_CELLS]; /* sum of the variances between boots, by cell */
};

enum { ALONE, WITH_HISTORY, FIRST_PEER };

static void take(struct rule *rule, size_t cell, bool told, bool called)
{
	rule->told[cell] += told;
	rule->called[cell] += told && called;
}

/* Whether the whole table would have been held against the kernel: by q, as a report does. */
static void take_table(struct rule *rule, const double *p, size_t count)
{
	double q[MAX_CELLS];
	bool any = false, told = false;

	fdr_bh(p, count, q);
	for (size_t i = 0; i < count; i++) {
		told |= isfinite(q[i]);
		any |= q[i] <= ALPHA;
	}
	rule->experiments += told;
	rule->any += any;
}

/* Our judgement, the canary kept out of the table as a report keeps it. */
static void take_ours(const struct evidence *evidence, bool with_history, int64_t baseline,
	struct tally *tally, struct rule *rule)
{
	double p[MAX_CELLS] = {0};

	for (size_t i = 0; i < evidence->cell_count; i++) {
		const struct evidence_cell *cell = &evidence->cells[i];
		const struct history *history =
			with_history ? evidence_history(evidence, cell->metric->id, baseline)
				     : NULL;
		struct bracket effect;

		bracket_effect(cell->boots, cell->count, 0, 1, history, &effect);
		take(rule, i, effect.testable && isfinite(effect.p), effect.p <= ALPHA);
		p[i] = cell->condition->control || !effect.testable ? NAN : effect.p;
		if (!with_history && isfinite(effect.between))
			tally->taus[i] += effect.between;
	}
	take_table(rule, p, evidence->cell_count);
}

static void take_peer(struct store *store, const struct store_view *view, enum peer peer,
	struct arena *arena, struct rule *rule)
{
	struct store_verdict *verdicts;
	struct others others;
	bool any = false;
	size_t count;

	MUST(store_verdicts_load(store, view->head.id, arena, &verdicts, &count, &err));
	MUST(others_ask(store, view, peer, verdicts, count, arena, &others, &err));
	for (size_t i = 0; i < others.count; i++) {
		const struct others_row *row = &others.rows[i];

		take(rule, i, row->theirs.told, row->theirs.differs);
		any |= row->theirs.told && row->theirs.differs && !row->condition->control;
	}
	rule->experiments++;
	rule->any += any;
}

static void name_cells(const struct evidence *evidence, struct arena *arena, struct tally *tally)
{
	if (evidence->cell_count > MAX_CELLS)
		BUG("more than %d cells in the experiment " EXPERIMENT, MAX_CELLS);
	tally->cell_count = evidence->cell_count;
	for (size_t i = 0; i < evidence->cell_count; i++)
		tally->cells[i] = arena_printf(arena, "%s %s", evidence->cells[i].condition->name,
			evidence->cells[i].metric->name);
}

static void take_experiment(
	struct store *store, int64_t id, struct arena *arena, struct tally *tally)
{
	struct evidence evidence;
	struct store_view view;

	MUST(judge_experiment(store, id, "bench", &err));
	MUST(store_load(store, id, arena, &view, &err));
	MUST(evidence_load(store, &view, arena, &evidence, NULL, &err));
	MUST(evidence_load_histories(
		store, &view, view.variants, JUDGE_HISTORY_BOOTS, arena, &evidence, &err));
	name_cells(&evidence, arena, tally);
	tally->boots += (int)view.machines[0].boot_count;
	take_ours(&evidence, false, view.variants[0].id, tally, &tally->rules[ALONE]);
	take_ours(&evidence, true, view.variants[0].id, tally, &tally->rules[WITH_HISTORY]);
	for (int i = 0; i < PEER_COUNT; i++)
		take_peer(store, &view, (enum peer)i, arena, &tally->rules[FIRST_PEER + i]);
}

/* "3 of 24, 12.5 % (2.7 to 32.4)": the interval is Clopper and Pearson's. */
static void print_share(int called, int told)
{
	double low = called > 0 ? qbeta(0.025, called, told - called + 1, 1, 0) : 0;
	double high = called < told ? qbeta(0.975, called + 1, told - called, 1, 0) : 1;

	if (told == 0)
		printf("%28s", "no answer");
	else
		printf("%4d of %3d %5.1f %% (%4.1f-%5.1f)", called, told, 100.0 * called / told,
			100 * low, 100 * high);
}

static void print_rule(const struct tally *tally, const struct rule *rule)
{
	int told = 0, called = 0;

	for (size_t i = 0; i < tally->cell_count; i++) {
		told += rule->told[i];
		called += rule->called[i];
	}
	printf("%-22s", rule->name);
	print_share(rule->any, rule->experiments);
	printf("   %4d of %4d %5.1f %%\n", called, told, told ? 100.0 * called / told : NAN);
}

static void print_cells(const struct tally *tally, int experiments)
{
	printf("\n%-36s %-28s %s\n", "by cell, p <= 5 %", "alone", "sd between boots");
	for (size_t i = 0; i < tally->cell_count; i++) {
		printf("%-36s ", tally->cells[i]);
		print_share(tally->rules[ALONE].called[i], tally->rules[ALONE].told[i]);
		printf("   %.2f %%\n", 100 * sqrt(tally->taus[i] / experiments));
	}
}

static void print_tally(const struct tally *tally, int experiments)
{
	printf("%d boots of one kernel, %d experiments A B B A, nominal 5 %%\n\n", tally->boots,
		experiments);
	printf("%-22s%-32s   %s\n", "rule", "any cell called (95 % interval)",
		"cells called, p <= 5 %");
	for (int i = 0; i < MAX_RULES; i++)
		print_rule(tally, &tally->rules[i]);
	printf("\nkbracket's tables are decided by q, the others' cell by cell, as they are "
	       "used.\nThe cells of an experiment share their boots: their sum has no exact "
	       "interval.\n");
	print_cells(tally, experiments);
}

static bool finished(const struct store_experiment *head)
{
	return head->state == STATE_DONE && strcmp(head->name, EXPERIMENT) == 0;
}

int main(int argc, char **argv)
{
	struct tally tally = {
		.rules = {{.name = "kbracket, no history"}, {.name = "kbracket, history"}}};
	struct store_experiment *list = NULL;
	struct arena arena = ARENA_INIT;
	struct store *store = NULL;
	int experiments = 0;
	size_t count = 0;

	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "--count") != 0)) {
		fputs("usage: bench_aa DATABASE [--count]\n", stderr);
		return 2;
	}
	for (int i = 0; i < PEER_COUNT; i++)
		tally.rules[FIRST_PEER + i].name = peer_name((enum peer)i);
	MUST(store_open(argv[1], STORE_WRITE, &store, &err));
	MUST(store_list(store, &arena, &list, &count, &err));
	for (size_t i = count; i-- > 0;) {
		experiments += finished(&list[i]);
		if (argc == 2 && finished(&list[i]))
			take_experiment(store, list[i].id, &arena, &tally);
	}
	if (argc == 3)
		printf("%d\n", experiments);
	else
		print_tally(&tally, experiments);
	store_close(store);
	arena_release(&arena);
	return 0;
}
