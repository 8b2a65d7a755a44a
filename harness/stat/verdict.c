/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/equivalence.h"
#include "stat/power.h"
#include "stat/verdict.h"

static const char *const words[] = {
	[VERDICT_INVALID] = "invalid",
	[VERDICT_EQUIVALENT] = "equivalent",
	[VERDICT_REGRESSED] = "regressed",
	[VERDICT_IMPROVED] = "improved",
	[VERDICT_INCONCLUSIVE] = "inconclusive",
};

static const struct {
	enum verdict_word word;
	const char *text;
} reasons[] = {
	[VERDICT_WHY_NONE] = {VERDICT_INCONCLUSIVE, ""},
	[VERDICT_WHY_NO_RUNS] = {VERDICT_INVALID, "no valid runs"},
	[VERDICT_WHY_UNUSABLE] = {VERDICT_INVALID, "zero, negative or not finite values"},
	[VERDICT_WHY_DRIFT] = {VERDICT_INVALID, "the baseline drifted beyond its gate"},
	[VERDICT_WHY_CV] = {VERDICT_INCONCLUSIVE, "runs of a boot scatter beyond the CV gate"},
	[VERDICT_WHY_MEANS_ONLY] = {VERDICT_INCONCLUSIVE, "means only, no runs to judge"},
	[VERDICT_WHY_FEW_OBSERVATIONS] = {VERDICT_INCONCLUSIVE,
		"too few observations beyond the percentile"},
	[VERDICT_WHY_FEW_BOOTS] = {VERDICT_INCONCLUSIVE, "too few boots and no history"},
	[VERDICT_WHY_NO_SPREAD] = {VERDICT_INCONCLUSIVE,
		"values never vary: is the output rounded?"},
	[VERDICT_WHY_NOISE] = {VERDICT_INCONCLUSIVE, "more boots are needed"},
};

const char *verdict_word_name(enum verdict_word word)
{
	return words[word];
}

int verdict_word_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(name, words[i]) == 0)
			return (int)i;
	}
	return -1;
}

const char *verdict_why_text(enum verdict_why why)
{
	return reasons[why].text;
}

/* More boots of the same kind help against noise and fewness, not against what is wrong with the
 * boots or the values that there are. */
static bool boots_help(enum verdict_why why)
{
	return why == VERDICT_WHY_NOISE || why == VERDICT_WHY_FEW_BOOTS;
}

/* What the effect's own p has to reach for its q to reach alpha, while its place among the others
 * of the family is what it is. */
static double own_level(const struct bracket *effect, double q, double alpha)
{
	return q > effect->p && effect->p > 0 ? alpha * effect->p / q : alpha;
}

static struct verdict because(const struct bracket *effect, double q, enum verdict_why why,
	const struct verdict_rule *rule)
{
	struct verdict verdict = {reasons[why].word, why, 0};

	if (boots_help(why))
		verdict.further_boots = power_boots_to_settle(
			effect, rule->margin, own_level(effect, q, rule->alpha));
	if (verdict.further_boots > 0) {
		/* What is asked for is what is still missing. */
		int have = effect->boots_a > effect->boots_b ? effect->boots_a : effect->boots_b;

		verdict.further_boots -= have;
	}
	return verdict;
}

static enum verdict_word changed(const struct bracket *effect, const struct verdict_rule *rule)
{
	return (effect->d > 0) == rule->higher_is_better ? VERDICT_IMPROVED : VERDICT_REGRESSED;
}

void verdict_decide(const struct bracket *effect, double q, enum verdict_why gate,
	const struct verdict_rule *rule, struct verdict *out)
{
	enum verdict_why why = gate;

	if (why == VERDICT_WHY_NONE && effect->method == BRACKET_NONE)
		why = VERDICT_WHY_NO_RUNS;
	if (why == VERDICT_WHY_NONE && !effect->testable)
		why = VERDICT_WHY_FEW_BOOTS;
	/* what hides behind a last digit could be anything up to one of it */
	if (why == VERDICT_WHY_NONE && effect->no_spread)
		why = VERDICT_WHY_NO_SPREAD;
	if (why != VERDICT_WHY_NONE)
		*out = because(effect, q, why, rule);
	else if (equivalence_shown(effect, rule->margin))
		*out = (struct verdict){VERDICT_EQUIVALENT, VERDICT_WHY_NONE, 0};
	else if (q <= rule->alpha)
		*out = (struct verdict){changed(effect, rule), VERDICT_WHY_NONE, 0};
	else
		*out = because(effect, q, VERDICT_WHY_NOISE, rule);
}
