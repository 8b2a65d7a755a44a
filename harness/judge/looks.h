/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_LOOKS_H
#define KB_JUDGE_LOOKS_H

#include "base/base.h"

#include "judge/rate.h"
#include "stat/sequential.h"

/*
 * Verdicts of an experiment that goes on until they are known, from all its looks. At each look the
 * p of a comparison is turned into what it amounts to over the whole design (sequential_p); the
 * smallest one so far stands for the comparison in the family's q. What is decided at a look stays
 * so: no later data changes it. docs/statistics.md, section 12.
 *
 * rates are one family with rate_effect done on all that counts; they come back decided, each with
 * the numbers of the look that it was decided at, or else of the last one.
 */
void looks_decide(const struct store_view *view, const struct evidence *evidence,
	const struct sequential *levels, struct rate *rates, size_t count, struct arena *arena);

/* The last look that the cell has boots of; 0: none. */
int looks_of_cell(const struct evidence_cell *cell);

#endif
