/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/evidence.h"
#include "judge/judge.h"
#include "judge/layout.h"
#include "judge/looks.h"
#include "judge/rate.h"
#include "judge/wishes.h"
#include "stat/fdr.h"

/* Comparisons on the way to rows. */
struct bench {
	struct store *store;
	const struct store_view *view;
	struct evidence evidence;
	struct arena *arena;
	struct sequential *levels; /* of an experiment that goes on until its verdicts are known */
	struct rate *rates;
	size_t count, capacity;
};

/* Decides the rates from first on, which are one family, by all boots that count. Those outside
 * it, canaries and controls, are held to their own p. */
static void decide_family(struct bench *bench, size_t first)
{
	size_t n = bench->count - first;
	double *q = xcalloc(n + 1, sizeof(*q));
	int64_t family = 0;

	for (size_t i = 0; i < n; i++) {
		bool member = rate_in_family(&bench->rates[first + i]);

		q[i] = member ? bench->rates[first + i].effect.p : NAN;
		family += member;
	}
	fdr_bh(q, n, q);
	for (size_t i = 0; i < n; i++) {
		struct rate *rate = &bench->rates[first + i];
		bool control = rate->cell->condition->control;

		if (bench->view->head.looks) {
			rate->row.look = looks_of_cell(rate->cell);
			rate->row.level = bench->view->head.alpha_pct / 100;
		}
		rate_decide(bench->view, control ? rate->effect.p : q[i],
			rate_in_family(rate) ? family : 0, bench->arena, rate);
	}
	free(q);
}

static void decide(struct bench *bench, size_t first)
{
	if (bench->levels)
		looks_decide(bench->view, &bench->evidence, bench->levels, bench->rates + first,
			bench->count - first, bench->arena);
	else
		decide_family(bench, first);
}

/* All cells of one variant against another: one family for each machine. */
static void judge_pair(struct bench *bench, const struct store_variant *variant,
	const struct store_variant *against)
{
	const struct evidence *evidence = &bench->evidence;
	size_t first = bench->count;

	for (size_t i = 0; i < evidence->cell_count; i++) {
		const struct evidence_cell *cell = &evidence->cells[i];

		if (i > 0 && cell->machine != evidence->cells[i - 1].machine) {
			decide(bench, first);
			first = bench->count;
		}
		if (*cell->condition->skipped)
			continue;
		GROW(bench->rates, bench->count, bench->capacity);
		rate_effect(bench->view, cell, variant, against,
			evidence_history(evidence, cell->metric->id, against->id), bench->arena,
			&bench->rates[bench->count++]);
	}
	decide(bench, first);
}

static void judge_all(struct bench *bench)
{
	for (size_t i = 0; i < bench->view->variant_count; i++) {
		const struct store_variant *variant = &bench->view->variants[i];

		if (variant->against)
			judge_pair(bench, variant, variant->against);
	}
	layout_tag(bench->rates, bench->count, bench->arena);
}

static void rows_of(const struct bench *bench, struct store_verdict *rows)
{
	for (size_t i = 0; i < bench->count; i++)
		rows[i] = bench->rates[i].row;
}

/* Histories of every variant that others are compared with. */
static int load_histories(struct bench *bench, struct err *err)
{
	const struct store_view *view = bench->view;

	for (size_t i = 0; i < view->variant_count; i++) {
		bool is_baseline = false;
		int ret;

		for (size_t k = 0; k < view->variant_count; k++)
			is_baseline |= view->variants[k].against == &view->variants[i];
		if (!is_baseline)
			continue;
		ret = evidence_load_histories(bench->store, view, &view->variants[i],
			JUDGE_HISTORY_BOOTS, bench->arena, &bench->evidence, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* Says what each verdict would be if the runs that were left out were kept. */
static void judge_kept(
	const struct bench *bench, const struct evidence *evidence, struct store_verdict *rows)
{
	struct bench kept = {.store = bench->store,
		.view = bench->view,
		.arena = bench->arena,
		.levels = bench->levels,
		.evidence = *evidence};

	kept.evidence.histories = bench->evidence.histories;
	kept.evidence.history_count = bench->evidence.history_count;
	judge_all(&kept);
	for (size_t i = 0; i < kept.count; i++) {
		if (kept.rates[i].row.word != rows[i].word)
			rows[i].word_kept = verdict_word_name(kept.rates[i].row.word);
	}
	free(kept.rates);
}

/* Everything that judging starts from; ended by bench_release. */
static int bench_load(struct bench *bench, struct evidence *kept, struct err *err)
{
	const struct store_experiment *head = &bench->view->head;

	if (head->looks && isnan(head->until_pct))
		bench->levels = sequential_new(head->alpha_pct / 100, head->looks);
	return evidence_load(bench->store, bench->view, bench->arena, &bench->evidence, kept, err);
}

static void bench_release(struct bench *bench)
{
	sequential_free(bench->levels);
	free(bench->rates);
}

static int judge_view(struct bench *bench, struct store_verdict **rows, struct err *err)
{
	struct evidence kept;
	int ret = bench_load(bench, &kept, err);

	if (ret == 0)
		ret = load_histories(bench, err);
	if (ret)
		return ret;
	judge_all(bench);
	*rows = arena_alloc(bench->arena, (bench->count + 1) * sizeof(**rows));
	rows_of(bench, *rows);
	if (bench->evidence.dropped > 0)
		judge_kept(bench, &kept, *rows);
	return 0;
}

int judge_experiment(
	struct store *store, int64_t experiment_id, const char *version, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct store_view view;
	struct bench bench = {.store = store, .view = &view, .arena = &arena};
	struct store_verdict *rows = NULL;
	int ret = store_load(store, experiment_id, &arena, &view, err);

	if (ret == 0)
		ret = judge_view(&bench, &rows, err);
	if (ret == 0)
		ret = store_verdicts_replace(store, experiment_id, rows, bench.count, version, err);
	bench_release(&bench);
	arena_release(&arena);
	return ret;
}

/* Leaves the view one of its machines. */
static int keep_machine(struct store_view *view, const char *machine, struct err *err)
{
	for (size_t m = 0; m < view->machine_count; m++) {
		if (strcmp(view->machines[m].name, machine) != 0)
			continue;
		view->machines += m;
		view->machine_count = 1;
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "experiment %lld has no machine '%s'",
		(long long)view->head.id, machine);
}

int judge_next(struct store *store, int64_t experiment_id, const char *machine, struct arena *arena,
	struct judge_wish **out, size_t *count, struct err *err)
{
	struct store_view view;
	struct bench bench = {.store = store, .view = &view, .arena = arena};
	int ret = store_load(store, experiment_id, arena, &view, err);

	if (ret == 0)
		ret = keep_machine(&view, machine, err);
	if (ret == 0)
		ret = bench_load(&bench, NULL, err);
	if (ret == 0)
		ret = load_histories(&bench, err);
	if (ret == 0) {
		judge_all(&bench);
		*out = wishes_of(&view, &bench.evidence, bench.rates, bench.count, arena, count);
	}
	bench_release(&bench);
	return ret;
}

int judge_compare(struct store *store, const struct store_view *view,
	const struct store_variant *variant, const struct store_variant *against,
	struct arena *arena, struct store_verdict **out, size_t *count, struct err *err)
{
	struct bench bench = {.store = store, .view = view, .arena = arena};
	int ret = bench_load(&bench, NULL, err);

	if (ret == 0)
		ret = evidence_load_histories(
			store, view, against, JUDGE_HISTORY_BOOTS, arena, &bench.evidence, err);
	if (ret == 0) {
		judge_pair(&bench, variant, against);
		*out = arena_alloc(arena, (bench.count + 1) * sizeof(**out));
		rows_of(&bench, *out);
		*count = bench.count;
	}
	bench_release(&bench);
	return ret;
}
