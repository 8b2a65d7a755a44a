/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "base/str.h"
#include "judge/gates.h"
#include "judge/judge.h"
#include "judge/rate.h"
#include "model/toggle.h"
#include "stat/describe.h"
#include "stat/toggle_effect.h"

/* A slope is worth a word below this p. */
#define SLOPE_P 0.01

/* One side of the comparison, over its boots in the cell. */
struct side {
	int64_t boots, runs;
	double mean, cv; /* mean of the boot means; root mean square of their CVs */
	double place;	 /* mean place in time */
	int64_t flagged, dropped;
	/* of a percentile: the fewest behind a boot's, 0 when one is not known; the order
	 * statistics around the boots' values, geometric means over boots */
	int64_t observations;
	double ln_low, ln_high;
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
		if (side->boots == 1 || fact->observations < side->observations)
			side->observations = fact->observations;
		side->ln_low += (log(fact->order_low) - side->ln_low) / (double)side->boots;
		side->ln_high += (log(fact->order_high) - side->ln_high) / (double)side->boots;
		if (isfinite(fact->cv)) {
			squares += fact->cv * fact->cv;
			with_cv++;
		}
	}
	if (with_cv > 0 && isfinite(squares))
		side->cv = sqrt(squares / (double)with_cv);
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
		str_addf(notes, "; a slope of %s %% a boot was taken out",
			num_say_pct(describe_pct_of_ln(effect->slope), 3, true).text);
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
	bool tail = cell->metric->percentile > 0;

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
		.observations = b->observations,
		.against_observations = a->observations,
		.order_low = tail && b->boots ? exp(b->ln_low) : (double)NAN,
		.order_high = tail && b->boots ? exp(b->ln_high) : (double)NAN,
		.against_order_low = tail && a->boots ? exp(a->ln_low) : (double)NAN,
		.against_order_high = tail && a->boots ? exp(a->ln_high) : (double)NAN,
		.dropped = a->dropped + b->dropped,
		.flagged = a->flagged + b->flagged,
		.word_kept = "",
		.layout = "",
		.headline = cell->condition->decides && !cell->condition->control &&
			    !rate->variant->control && !rate->variant->layout_of,
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
	if (toggle_seen(view))
		toggle_effect(
			cell->boots, cell->count, base->position, booted->position, &out->effect);
	else
		bracket_effect(cell->boots, cell->count, base->position, booted->position, history,
			&out->effect);
	fill_row(cell, &a, &b, out);
	gates_find(view, cell, base->position, booted->position, history, arena, out, &notes);
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
	else if (verdict->why == VERDICT_WHY_NOISE && rate->effect.method == BRACKET_RUNS)
		main = "more runs are needed";
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
	if (verdict.further_boots > 0)
		row->further_boots = verdict.further_boots;
}
