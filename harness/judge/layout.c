/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "judge/layout.h"
#include "stat/describe.h"

static bool is_change(const struct rate *rate)
{
	return rate->row.word == VERDICT_REGRESSED || rate->row.word == VERDICT_IMPROVED;
}

static bool is_layout_of(const struct rate *other, const struct rate *rate)
{
	return other->variant->layout_of == rate->variant &&
	       other->cell->machine == rate->cell->machine &&
	       other->cell->metric->id == rate->cell->metric->id;
}

/* Its own effect is another one; false when that is not known. */
static bool lies_apart(const struct rate *other, const struct rate *rate)
{
	return other->gate == VERDICT_WHY_NONE && other->effect.testable &&
	       !other->effect.no_spread &&
	       (other->row.effect_low > rate->row.effect_high ||
		       other->row.effect_high < rate->row.effect_low);
}

static bool is_gone(const struct rate *other, const struct rate *rate)
{
	return other->row.word == VERDICT_EQUIVALENT ||
	       (is_change(other) && other->row.word != rate->row.word) || lies_apart(other, rate);
}

static void tag(struct rate *rate, const struct rate *rates, size_t count, struct arena *arena)
{
	size_t layouts = 0, gone = 0, held = 0;
	struct str seen = STR_INIT;

	for (size_t i = 0; i < count; i++) {
		const struct rate *other = &rates[i];

		if (!is_layout_of(other, rate))
			continue;
		layouts++;
		gone += is_gone(other, rate);
		held += other->row.word == rate->row.word && !is_gone(other, rate);
		str_addf(&seen, "%s%s is %s", layouts > 1 ? ", " : "", other->variant->name,
			verdict_word_name(other->row.word));
		if (other->effect.method != BRACKET_NONE)
			str_addf(&seen, " (%s %%)",
				num_say_pct(describe_pct_of_ln(other->row.effect), 2, true).text);
	}
	if (layouts) {
		rate->row.layout = gone ? "suspect" : held == layouts ? "held" : "open";
		rate->row.reason = arena_printf(arena, "%s%s%s: %s", rate->row.reason,
			*rate->row.reason ? "; " : "",
			gone		  ? "layout suspect"
			: held == layouts ? "in other layouts, too"
					  : "in other layouts not known",
			str_text(&seen));
	}
	str_release(&seen);
}

void layout_tag(struct rate *rates, size_t count, struct arena *arena)
{
	for (size_t i = 0; i < count; i++)
		if (is_change(&rates[i]) && !rates[i].variant->layout_of)
			tag(&rates[i], rates, count, arena);
}
