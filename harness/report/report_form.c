/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "report/report_form.h"
#include "sys/json_put.h"

/* A longer reason goes to a footnote. */
enum { REASON_BESIDE_MAX = 24 };

/* An effect with its interval in percent. */
struct effect {
	double value, low, high, half;
};

static struct effect effect_of(const struct store_verdict *verdict)
{
	struct effect effect = {report_pct(verdict->effect), report_pct(verdict->effect_low),
		report_pct(verdict->effect_high), (double)NAN};

	effect.half = (effect.high - effect.low) / 2;
	return effect;
}

static bool is_lopsided(const struct effect *effect)
{
	return !(fabs(effect->high + effect->low - 2 * effect->value) <= 0.1 * effect->half) ||
	       !isfinite(effect->half);
}

void form_effect(const struct layout *layout, struct str *out, const struct store_verdict *verdict)
{
	struct effect effect = effect_of(verdict);
	int digits = fabs(effect.value) < 10 && !(effect.half >= 10) ? 2 : 1;

	if (isnan(effect.value)) {
		str_add(out, "no effect");
		return;
	}
	str_addf(out, "%s%%", num_say_pct(effect.value, digits, true).text);
	if (!isnan(effect.half) && !is_lopsided(&effect))
		str_addf(out, " %s%s", layout_plus_minus(layout),
			num_say_pct(effect.half, digits, false).text);
}

void form_interval(struct str *out, const struct store_verdict *verdict)
{
	struct effect effect = effect_of(verdict);
	int digits = effect.half < 100 ? 1 : 0;

	if (!isnan(effect.value) && !isnan(effect.half) && is_lopsided(&effect))
		str_addf(out, "[%s, %s]", num_say_pct(effect.low, digits, true).text,
			num_say_pct(effect.high, digits, true).text);
}

void form_value(struct str *out, double value)
{
	static const struct {
		double at;
		const char *suffix;
	} scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e5, "k"}};
	double size = fabs(value), scale = 1;
	const char *suffix = "";
	int digits;

	if (!isfinite(value)) {
		str_add_char(out, '-');
		return;
	}
	if (size >= 1e15 || (size > 0 && size < 1e-3)) {
		str_addf(out, "%.3e", value);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(scales); i++)
		if (size >= scales[i].at) {
			scale = scales[i].suffix[0] == 'k' ? 1e3 : scales[i].at;
			suffix = scales[i].suffix;
			break;
		}
	size /= scale;
	digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
	str_addf(out, "%.*f%s", digits, value / scale, suffix);
}

const char *form_word(enum verdict_word word)
{
	return word == VERDICT_REGRESSED ? "REGRESSED" : verdict_word_name(word);
}

enum colour form_word_colour(enum verdict_word word)
{
	switch (word) {
	case VERDICT_REGRESSED:
		return COLOUR_BAD;
	case VERDICT_IMPROVED:
		return COLOUR_GOOD;
	case VERDICT_EQUIVALENT:
		return COLOUR_NONE;
	case VERDICT_INCONCLUSIVE:
		return COLOUR_OPEN;
	case VERDICT_INVALID:
		return COLOUR_INVALID;
	}
	BUG("no such verdict: %d", (int)word);
}

static bool asks_for_boots(const struct store_verdict *verdict)
{
	return verdict->word == VERDICT_INCONCLUSIVE && verdict->further_boots > 0;
}

bool form_needs_footnote(const struct store_verdict *verdict)
{
	bool beside = verdict->word >= VERDICT_INCONCLUSIVE && !asks_for_boots(verdict);

	return *verdict->reason && !(beside && strlen(verdict->reason) <= REASON_BESIDE_MAX);
}

void form_verdict(struct str *out, const struct store_verdict *verdict, int mark)
{
	str_add(out, form_word(verdict->word));
	if (verdict->layout && strcmp(verdict->layout, "suspect") == 0)
		str_add(out, ", layout suspect");
	if (asks_for_boots(verdict))
		str_addf(out, ": %lld more boot%s", (long long)verdict->further_boots,
			verdict->further_boots == 1 ? "" : "s");
	else if (*verdict->reason && !form_needs_footnote(verdict))
		str_addf(out, ": %s", verdict->reason);
	if (mark > 0)
		str_addf(out, " [%d]", mark);
}

/* Runs in a boot, where all of them have as many; else 0. */
static int64_t runs_a_boot(const struct report_block *block)
{
	int64_t runs = 0;

	for (size_t c = 0; c < block->count; c++)
		for (size_t v = 0; v < block->columns[c].cell_count; v++) {
			const struct store_verdict *verdict = block->columns[c].cells[v];

			if (!verdict || !verdict->boots)
				continue;
			if (verdict->runs % verdict->boots ||
				(runs && runs != verdict->runs / verdict->boots))
				return 0;
			runs = verdict->runs / verdict->boots;
		}
	return runs;
}

void form_percentile(struct str *out, const struct report_block *block)
{
	const struct store_metric *metric = block->count ? block->columns[0].metric : NULL;
	int64_t runs = runs_a_boot(block);

	if (!metric || !(metric->percentile > 0))
		return;
	if (metric->pooled)
		str_addf(out, " (p%g of all in a boot)", metric->percentile);
	else if (runs)
		str_addf(out, " (median of %lld runs' p%g)", (long long)runs, metric->percentile);
	else
		str_addf(out, " (median of the runs' p%g)", metric->percentile);
}

void form_verdict_json(json_t *out, const struct store_verdict *verdict)
{
	json_put_text(out, "verdict", verdict_word_name(verdict->word));
	json_put_text(out, "reason", verdict->reason);
	json_put_num(out, "effect_pct", report_pct(verdict->effect));
	json_put_num(out, "effect_low_pct", report_pct(verdict->effect_low));
	json_put_num(out, "effect_high_pct", report_pct(verdict->effect_high));
	json_put_num(out, "q", verdict->q);
	json_put_text(out, "layout", verdict->layout ? verdict->layout : "");
}
