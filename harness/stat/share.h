/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_SHARE_H
#define KB_STAT_SHARE_H

#include "base/base.h"

/*
 * By how much a share differs between two groups of independent units (boots): the difference of
 * the means, with a 95 % interval from the pooled variance between units. Groups that stand in
 * palindromic order (A B B A) have the same mean place in time, so that a linear drift cancels.
 */
struct share_difference {
	double a, b;   /* means */
	double points; /* b - a */
	double half;   /* of the interval; NaN, as p, when a group has less than two units */
	double p;      /* of no difference; NaN also where nothing varies */
};

/* Shares in any unit. NaN means for a group without units. */
void share_difference(
	const double *a, size_t n_a, const double *b, size_t n_b, struct share_difference *out);

#endif
