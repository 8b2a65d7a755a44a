/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_SEQUENTIAL_H
#define KB_STAT_SEQUENTIAL_H

#include "base/base.h"

/*
 * Looks at growing data with valid error control: a group-sequential test after each of K equal
 * parts. Lan and DeMets' spending function of Pocock's kind, alpha ln(1 + (e - 1) k / K), says how
 * much of alpha may be used up to look k; docs/statistics.md, section 12.
 */
enum { SEQUENTIAL_LOOKS_MAX = 100 };

/* The share of alpha that a spending function has used at a share of the looks, both 0..1 and 1 at
 * 1; rising. */
typedef double sequential_spending(double alpha, double share);
double sequential_pocock(double alpha, double share);

/* levels[k - 1] is the two-sided level of look k, at which a test whose p is at most that has used
 * up what it may (Armitage, McPherson and Rowe's recursion over normal sums). 0 < alpha < 1;
 * 1 <= looks <= SEQUENTIAL_LOOKS_MAX. */
void sequential_levels(sequential_spending *spending, double alpha, int looks, double *levels);

/* The levels of one design at many alpha, so that p of any look can be turned into one p. */
struct sequential;

/* Pocock's spending. Freed by sequential_free. */
struct sequential *sequential_new(double alpha, int looks);
void sequential_free(struct sequential *sequential);

/* The level of look k (from 1) at the design's alpha. */
double sequential_level(const struct sequential *sequential, int look);

/*
 * The smallest alpha at which a test with a p of that size at look k stops there: at most the
 * design's alpha exactly when p is at most the look's level. Its smallest value over the looks
 * taken so far is a p-value, whenever one stops, also for Benjamini and Hochberg's q. NAN for NAN.
 */
double sequential_p(const struct sequential *sequential, int look, double p);

#endif
