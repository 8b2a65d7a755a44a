/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/str.h"
#include "judge/judge.h"
#include "judge/rate.h"
#include "stat/describe.h"
#include "stat/drift.h"

/* A slope is worth a word below this p. */
#define SLOPE_P 0.01

/* One side of the comparison, over its boots in the cell. */
struct side {
	int64_t boots, runs;
	double mean, cv; /* mean of the boot means; root mean square of their CVs */
	double place;	 /* mean place in time */
	int64_t flagged, dropped;
};

static void side_sum(const struct evidence_cell *cell, int arm, struct side *side)
{
	double squares = 0;
	int64_t with_cv = 0;

	*side = (struct side){.mean = NAN, .cv = NAN};
	for (size_t i = 0; i < cell->count; i++) {
		const struct evidence_boot *fact = &cell->facts[i];

		if (cell->boots[i].arm != arm)
			continue;
		side->flagged += fact->flagged;
		side->dropped += fact->dropped;
		if (cell->boots[i].runs == 0)
			continue;
		side->boots++;
		side->runs += (int64_t)cell->boots[i].runs;
		side->mean = side->boots == 1
				     ? fact->mean
				     : side->mean + (fact->mean - side->mean) / (double)side->boots;
		side->place += (cell->boots[i].t - side->place) / (double)side->boots;
		if (isfinite(fact->cv)) {
			squares += fact->cv * fact->cv;
			with_cv++;
		}
	}
	if (with_cv > 0)
		side->cv = sqrt(squares / (double)with_cv);
}

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
	return arena_printf(arena, "the baseline drifted %.2f %%, expected up to %.2f %%",
		100 * drift.ratio, 100 * expm1(limit));
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
		str_addf(notes, "; its runs scatter by %.2f %%, the baseline's by %.2f %%",
			rate->row.cv_pct, rate->row.against_cv_pct);
		return NULL;
	}
	worst = count_b == 0 || (count_a > 0 && cell->facts[worst_a].cv > cell->facts[worst_b].cv)
			? worst_a
			: worst_b;
	rate->disturbed = disturbed_boots(view, cell, a, b, history, arena);
	return arena_printf(arena, "runs of boot %.0f scatter by %.2f %%, expected up to %.2f %%%s",
		cell->boots[worst].t, 100 * cell->facts[worst].cv,
		100 * cv_limit(view, history, cell->boots[worst].runs),
		repeats_text(cell, worst, arena));
}

static void note_method(
	const struct bracket *effect, const struct side *a, const struct side *b, struct str *notes)
{
	if (effect->history_dropped)
		str_addf(notes,
			"; boots differ more than this machine's history allows (p %.2g): "
			"history not used",
			effect->history_p);
	if (effect->slope_p < SLOPE_P)
		str_addf(notes, "; a slope of %+.3f %% a boot was taken out",
			describe_pct_of_ln(effect->slope));
	if (!isfinite(effect->slope) && effect->method != BRACKET_NONE &&
		fabs(a->place - b->place) > 0.01)
		str_add(notes, "; the order of the boots does not cancel drift");
}

static double sd_of_two(double a, double b)
{
	if (!isfinite(a) || !isfinite(b))
		return sqrt(isfinite(a) ? a : b);
	return sqrt((a + b) / 2);
}

static void fill_row(const struct evidence_cell *cell, const struct side *a, const struct side *b,
	struct rate *rate)
{
	const struct bracket *effect = &rate->effect;
	struct store_verdict *row = &rate->row;

	*row = (struct store_verdict){
		.machine_id = cell->machine->id,
		.condition_id = cell->condition->id,
		.metric_id = cell->metric->id,
		.variant_id = rate->variant->id,
		.against_id = rate->against->id,
		.reason = "",
		.further_boots = -1,
		.effect = effect->d,
		.effect_low = effect->lo,
		.effect_high = effect->hi,
		.se = effect->se,
		.df = effect->df,
		.p = effect->p,
		.q = NAN,
		.method = bracket_method_name(effect->method),
		.method_version = JUDGE_VERSION,
		.boots = b->boots,
		.runs = b->runs,
		.against_boots = a->boots,
		.against_runs = a->runs,
		.mean = b->mean,
		.cv_pct = 100 * b->cv,
		.against_mean = a->mean,
		.against_cv_pct = 100 * a->cv,
		.within_sd = sd_of_two(effect->within_a, effect->within_b),
		.between_sd = sqrt(effect->between),
		.drift = NAN,
		.drift_expected = NAN,
		.level = NAN,
		.dropped = a->dropped + b->dropped,
		.flagged = a->flagged + b->flagged,
		.word_kept = "",
		.headline = cell->condition->decides && !cell->condition->control &&
			    !rate->variant->control,
	};
}

/* A variant that is the same kernel as another one need not be booted: that one speaks for it. */
static const struct store_variant *measured_as(
	const struct store_machine *machine, const struct store_variant *variant)
{
	const struct store_variant *twin = variant;

	for (size_t i = 0; i < machine->boot_count; i++) {
		const struct store_variant *other = machine->boots[i].variant;

		if (other->id == variant->id)
			return variant;
		if (variant->build && other->build && other->build->id == variant->build->id &&
			strcmp(other->runtime_sha256, variant->runtime_sha256) == 0)
			twin = other;
	}
	return twin;
}

/* Looks for what is wrong with the runs; the first that is found holds. */
static void find_gate(const struct store_view *view, const struct evidence_cell *cell, int a, int b,
	const struct history *history, struct arena *arena, struct rate *rate, struct str *notes)
{
	const char *drift = gate_drift(view, cell, a, history, arena, rate);
	const char *cv = gate_cv(view, cell, a, b, history, arena, rate, notes);
	const struct {
		enum verdict_why why;
		const char *text;
	} gates[] = {
		{VERDICT_WHY_UNUSABLE, gate_unusable(cell, a, b, arena)},
		{VERDICT_WHY_MEANS_ONLY, view->head.means_only ? "boot means without runs: an "
								 "estimate, no verdict"
							       : NULL},
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

void rate_effect(const struct store_view *view, const struct evidence_cell *cell,
	const struct store_variant *variant, const struct store_variant *against,
	const struct history *history, struct arena *arena, struct rate *out)
{
	const struct store_variant *booted = measured_as(cell->machine, variant);
	const struct store_variant *base = measured_as(cell->machine, against);
	struct str notes = STR_INIT;
	struct side a, b;

	*out = (struct rate){.cell = cell, .variant = variant, .against = against};
	out->same_kernel = booted == base;
	side_sum(cell, base->position, &a);
	side_sum(cell, booted->position, &b);
	bracket_effect(
		cell->boots, cell->count, base->position, booted->position, history, &out->effect);
	fill_row(cell, &a, &b, out);
	find_gate(view, cell, base->position, booted->position, history, arena, out, &notes);
	note_method(&out->effect, &a, &b, &notes);
	if (booted != variant)
		str_addf(&notes, "; the same kernel as '%s', measured once", booted->name);
	/* Every note begins with "; ". */
	out->notes = notes.len > 0 ? arena_strdup(arena, notes.text + 2) : "";
	str_release(&notes);
}

void rate_set_look(struct rate *rate, int look, double level)
{
	bracket_set_level(&rate->effect, level, level);
	rate->row.effect_low = rate->effect.lo;
	rate->row.effect_high = rate->effect.hi;
	rate->row.look = look;
	rate->row.level = level;
}

bool rate_in_family(const struct rate *rate)
{
	return !rate->cell->condition->control && !rate->same_kernel && rate->effect.testable &&
	       rate->gate == VERDICT_WHY_NONE && isfinite(rate->effect.p);
}

static const char *reason_of(
	const struct rate *rate, const struct verdict *verdict, struct arena *arena)
{
	const char *main = rate->gate_text ? rate->gate_text : verdict_why_text(verdict->why);

	/* The number of boots says it better. */
	if (verdict->why == VERDICT_WHY_NOISE && verdict->further_boots > 0)
		main = "";
	else if (verdict->why == VERDICT_WHY_NOISE && isfinite(rate->effect.d))
		main = "too noisy for any number of boots up to 200";
	if (!main[0] || !rate->notes[0])
		return main[0] ? main : rate->notes;
	return arena_printf(arena, "%s; %s", main, rate->notes);
}

void rate_decide(const struct store_view *view, double q, int64_t family, struct arena *arena,
	struct rate *rate)
{
	const struct verdict_rule rule = {!rate->cell->metric->lower_is_better,
		view->head.margin_pct / 100, view->head.alpha_pct / 100};
	struct store_verdict *row = &rate->row;
	struct verdict verdict;

	row->family = family;
	row->q = q;
	if (rate->same_kernel) {
		row->word = VERDICT_EQUIVALENT;
		row->effect = 0;
		row->method = "same-kernel";
		row->reason = rate->notes;
		return;
	}
	verdict_decide(&rate->effect, q, rate->gate, &rule, &verdict);
	row->word = verdict.word;
	row->reason = reason_of(rate, &verdict, arena);
	/* Published means do not get better by boots of ours. */
	if (verdict.further_boots > 0 && verdict.why != VERDICT_WHY_MEANS_ONLY)
		row->further_boots = verdict.further_boots;
}
