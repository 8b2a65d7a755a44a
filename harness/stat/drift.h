/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_DRIFT_H
#define KB_STAT_DRIFT_H

#include "base/base.h"
#include "stat/bracket.h"
#include "stat/history.h"

/*
 * The baseline's own movement between its boots, and the two gates that say
 * when a measurement was disturbed. docs/statistics.md, section 5.
 */
struct drift {
	int blocks;   /* blocks with two or more boots of the arm */
	double ratio; /* mean over these of (last / first - 1), a fraction; NAN without any */
	double ln;    /* mean over these of ln(last / first); NAN without any */
};

/*
 * Drift of one arm. boots are in time order; within a block the arm's first and
 * last boot count, others are looked at only by the effect. For A B A this is
 * A2 / A1 - 1. Boots without runs or with a mean that is not finite are left out.
 */
void drift_of_arm(const struct bracket_boot *boots, size_t count, int arm, struct drift *out);

/*
 * How far |drift.ln| goes by chance in 99 % of the cases:
 * 2.58 sqrt(2 (tau0^2 + run_variance) / blocks), run_variance = sw^2 / n of one
 * boot's mean. NAN without history or blocks: then nothing is known to compare with.
 */
double drift_limit(const struct history *history, double run_variance, int blocks);

/*
 * The largest coefficient of variation (a fraction) that a boot of n runs shows
 * in 99.9 % of the cases when nothing disturbed it:
 * CV0 sqrt(qchisq(.999, n - 1) / (n - 1)), CV0 = sqrt(history->sw2).
 * NAN without history of run noise, or below two runs.
 */
double drift_cv_limit(const struct history *history, size_t runs);

#endif
