/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "judge/gates.h"
#include "stat/drift.h"
#include "stat/quantile.h"

/* What stands between numbers and a verdict: docs/statistics.md, sections 5 and 12. */

/* Why a variant has nothing to show on this machine. */
static const char *absence(const struct store_machine *machine, const struct store_variant *variant,
	struct arena *arena)
{
	int64_t planned = 0, boots = 0;

	for (size_t i = 0; i < machine->boot_count; i++) {
		const struct store_boot *boot = &machine->boots[i];

		if (boot->variant->id != variant->id)
			continue;
		boots++;
		if (boot->state == STATE_FAILED)
			return arena_printf(arena, "no boot of '%s' was measured: %s",
				variant->name, boot->reason);
		planned += boot->state != STATE_DONE;
	}
	if (variant->state == STATE_FAILED)
		return arena_printf(arena, "'%s' was not built: %s", variant->name,
			variant->reason[0] ? variant->reason : "build-failed");
	if (boots == 0)
		return arena_printf(arena, "no boot of '%s' is planned", variant->name);
	if (planned > 0)
		return arena_printf(arena, "'%s' is not measured yet", variant->name);
	return arena_printf(arena, "no run of '%s' is valid", variant->name);
}

static const char *gate_unusable(
	const struct evidence_cell *cell, int a, int b, struct arena *arena)
{
	for (size_t i = 0; i < cell->count; i++) {
		if (!cell->facts[i].unusable ||
			(cell->boots[i].arm != a && cell->boots[i].arm != b))
			continue;
		return arena_printf(arena,
			"a value in boot %.0f is zero, negative or not finite: it has no ratio",
			cell->boots[i].t);
	}
	return NULL;
}

/* A percentile that hangs on a handful of observations. */
static const char *gate_tail(const struct evidence_cell *cell, const struct rate *rate,
	struct arena *arena, struct str *notes)
{
	const struct store_verdict *row = &rate->row;
	double p = cell->metric->percentile / 100, a = (double)row->against_observations,
	       b = (double)row->observations, least = fmin(a, b);
	bool pooled = cell->metric->pooled, unequal;
	int64_t wanted;

	if (!(p > 0) || !row->boots || !row->against_boots)
		return NULL;
	if (least == 0) {
		str_addf(notes,
			"; the program does not tell how many observations its p%g is of, so "
			"nobody "
			"knows whether they are enough",
			cell->metric->percentile);
		return NULL;
	}
	if (quantile_is_known(a, b, p))
		return NULL;
	wanted = quantile_wanted(a, b, p);
	unequal = wanted > quantile_wanted(a, a, p);
	return arena_printf(arena,
		"p%g of %.0f observations a %s has %.3g beyond it; %d are wanted%s: %lld "
		"observations, %s%.2g times %s",
		cell->metric->percentile, least, pooled ? "boot" : "run", least * fmin(p, 1 - p),
		unequal ? QUANTILE_MIN_BEYOND_UNEQUAL : QUANTILE_MIN_BEYOND,
		unequal ? ", for one side has many more than the other" : "", (long long)wanted,
		pooled ? "from runs " : "so runs ", (double)wanted / least,
		pooled ? "as many or as long" : "as long");
}

/* The drift of the baseline and its gate. */
static const char *gate_drift(const struct store_view *view, const struct evidence_cell *cell,
	int a, const struct history *history, struct arena *arena, struct rate *rate)
{
	const struct bracket *effect = &rate->effect;
	double run = effect->within_a, limit;
	struct drift drift;

	drift_of_arm(cell->boots, cell->count, a, &drift);
	rate->row.drift = drift.ratio;
	if (drift.blocks == 0)
		return NULL;
	if (!isfinite(run) && history && history->sw_df > 0)
		run = history->sw2;
	if (isfinite(view->head.drift_pct))
		limit = log1p(view->head.drift_pct / 100);
	else
		limit = drift_limit(
			history, run * effect->boots_a / (double)effect->runs_a, drift.blocks);
	rate->row.drift_expected = expm1(limit);
	if (!isfinite(limit) || fabs(drift.ln) <= limit)
		return NULL;
	return arena_printf(arena, "the baseline drifted %s %%, expected up to %s %%",
		num_say_pct(100 * drift.ratio, 2, false).text,
		num_say_pct(100 * expm1(limit), 2, false).text);
}

static double cv_limit(const struct store_view *view, const struct history *history, size_t runs)
{
	return isfinite(view->head.cv_pct) ? view->head.cv_pct / 100
					   : drift_cv_limit(history, runs);
}

static bool is_scattered(const struct store_view *view, const struct evidence_cell *cell, size_t i,
	const struct history *history)
{
	return cell->facts[i].cv > cv_limit(view, history, cell->boots[i].runs);
}

/* The boots of one side that scatter beyond the gate; *worst is one of them. */
static int64_t scattered(const struct store_view *view, const struct evidence_cell *cell, int arm,
	const struct history *history, size_t *worst)
{
	int64_t count = 0;

	for (size_t i = 0; i < cell->count; i++) {
		if (cell->boots[i].arm != arm || !is_scattered(view, cell, i, history))
			continue;
		if (count == 0 || cell->facts[i].cv > cell->facts[*worst].cv)
			*worst = i;
		count++;
	}
	return count;
}

static const bool *disturbed_boots(const struct store_view *view, const struct evidence_cell *cell,
	int a, int b, const struct history *history, struct arena *arena)
{
	bool *disturbed = arena_alloc(arena, (cell->count + 1) * sizeof(*disturbed));

	for (size_t i = 0; i < cell->count; i++)
		disturbed[i] = (cell->boots[i].arm == a || cell->boots[i].arm == b) &&
			       is_scattered(view, cell, i, history);
	return disturbed;
}

/* How often the block of a boot was tried again already. */
static const char *repeats_text(const struct evidence_cell *cell, size_t boot, struct arena *arena)
{
	const struct block *block =
		cell->blocks ? blocks_get(cell->blocks, cell->boots[boot].block) : NULL;

	if (block && block->repeats)
		block = blocks_get(cell->blocks, block->repeats);
	if (!block || !block->repeated)
		return "";
	return arena_printf(
		arena, "; its block was repeated %s", block->repeated == 1 ? "once" : "twice");
}

/* A boot that scatters was disturbed; a kernel all of whose boots do, beside a quiet baseline, has
 * been found out: that goes to the notes. */
static const char *gate_cv(const struct store_view *view, const struct evidence_cell *cell, int a,
	int b, const struct history *history, struct arena *arena, struct rate *rate,
	struct str *notes)
{
	size_t worst_a = 0, worst_b = 0, worst;
	int64_t count_a = scattered(view, cell, a, history, &worst_a);
	int64_t count_b = scattered(view, cell, b, history, &worst_b);

	if (count_a + count_b == 0)
		return NULL;
	if (count_a == 0 && count_b == rate->row.boots) {
		str_addf(notes, "; its runs scatter by %s %%, the baseline's by %s %%",
			num_say_pct(rate->row.cv_pct, 2, false).text,
			num_say_pct(rate->row.against_cv_pct, 2, false).text);
		return NULL;
	}
	worst = count_b == 0 || (count_a > 0 && cell->facts[worst_a].cv > cell->facts[worst_b].cv)
			? worst_a
			: worst_b;
	rate->disturbed = disturbed_boots(view, cell, a, b, history, arena);
	return arena_printf(arena, "runs of boot %.0f scatter by %s %%, expected up to %s %%%s",
		cell->boots[worst].t, num_say_pct(100 * cell->facts[worst].cv, 2, false).text,
		num_say_pct(100 * cv_limit(view, history, cell->boots[worst].runs), 2, false).text,
		repeats_text(cell, worst, arena));
}

void gates_find(const struct store_view *view, const struct evidence_cell *cell, int a, int b,
	const struct history *history, struct arena *arena, struct rate *rate, struct str *notes)
{
	const char *drift = gate_drift(view, cell, a, history, arena, rate);
	const char *cv = gate_cv(view, cell, a, b, history, arena, rate, notes);
	const char *tail = gate_tail(cell, rate, arena, notes);
	const struct {
		enum verdict_why why;
		const char *text;
	} gates[] = {
		{VERDICT_WHY_UNUSABLE, gate_unusable(cell, a, b, arena)},
		{VERDICT_WHY_MEANS_ONLY, view->head.means_only ? "boot means without runs: an "
								 "estimate, no verdict"
							       : NULL},
		{VERDICT_WHY_FEW_OBSERVATIONS, tail},
		{VERDICT_WHY_DRIFT, drift},
		{VERDICT_WHY_CV, cv},
	};

	for (size_t i = 0; i < ARRAY_SIZE(gates) && rate->gate == VERDICT_WHY_NONE; i++) {
		if (gates[i].text) {
			rate->gate = gates[i].why;
			rate->gate_text = gates[i].text;
		}
	}
	if (rate->gate == VERDICT_WHY_NONE && rate->effect.method == BRACKET_NONE) {
		const struct store_variant *absent =
			rate->effect.boots_b == 0 ? rate->variant : rate->against;

		rate->gate = VERDICT_WHY_NO_RUNS;
		rate->gate_text = absence(cell->machine, absent, arena);
	}
}
