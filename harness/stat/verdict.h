/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_VERDICT_H
#define KB_STAT_VERDICT_H

#include "base/base.h"
#include "stat/bracket.h"

/*
 * From numbers to one of five words. docs/statistics.md, section 8.
 */
enum verdict_word {
	VERDICT_REGRESSED,
	VERDICT_IMPROVED,
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_INVALID,
};

/* Why a verdict is invalid or inconclusive. */
enum verdict_why {
	VERDICT_WHY_NONE,
	/* invalid */
	VERDICT_WHY_NO_RUNS,  /* a variant has no valid run */
	VERDICT_WHY_UNUSABLE, /* values that have no logarithm */
	VERDICT_WHY_DRIFT,    /* the drift gate */
	/* inconclusive */
	VERDICT_WHY_CV,		      /* the CV gate */
	VERDICT_WHY_MEANS_ONLY,	      /* boot means without runs */
	VERDICT_WHY_FEW_OBSERVATIONS, /* a percentile with too little beyond it */
	VERDICT_WHY_FEW_BOOTS,	      /* too few boots, and no history to stand in */
	VERDICT_WHY_NO_SPREAD,	      /* values that never vary, yet differ */
	VERDICT_WHY_NOISE,	      /* neither a change nor its absence is shown */
};

struct verdict_rule {
	bool higher_is_better;
	double margin; /* of equivalence, a fraction */
	double alpha;  /* level that q is held to, a fraction */
};

struct verdict {
	enum verdict_word word;
	enum verdict_why why;
	int further_boots; /* of either variant, that would decide it; 0: no number known */
};

/* "regressed", ...; and back: -1 when there is no such word. */
const char *verdict_word_name(enum verdict_word word);
int verdict_word_parse(const char *name);

/* A clause that explains a reason; "" for none. */
const char *verdict_why_text(enum verdict_why why);

/*
 * Decides; the first that applies holds:
 *   invalid      gate is one of the invalid reasons, or a variant has no boot
 *   inconclusive gate is one of the inconclusive reasons, or the effect is an
 *                estimate without a usable error
 *   equivalent   the 90 % interval lies within the margin, also when the effect
 *                differs from zero
 *   inconclusive no boot differs from its fellows but the variants do
 *   regressed, improved   q <= alpha, by the effect's sign
 *   inconclusive
 * gate is what the caller found wrong with the runs, VERDICT_WHY_NONE for
 * nothing. q is the effect's p after correction for the whole family (fdr.h).
 * Always fills *out.
 */
void verdict_decide(const struct bracket *effect, double q, enum verdict_why gate,
	const struct verdict_rule *rule, struct verdict *out);

#endif
