/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_RATE_H
#define KB_JUDGE_RATE_H

#include "base/base.h"

#include "judge/evidence.h"
#include "model/store_rows.h"
#include "stat/verdict.h"

/*
 * One comparison: a variant against its baseline in one cell. First rate_effect for all cells of a
 * family, then the family's q, then rate_decide.
 */
struct rate {
	const struct evidence_cell *cell;
	const struct store_variant *variant, *against; /* as they are named in the row */
	struct bracket effect;
	enum verdict_why gate; /* what is wrong with the runs; VERDICT_WHY_NONE: nothing */
	const char *gate_text; /* with numbers; NULL when gate is NONE */
	const char *notes;     /* what else a reader has to know; "" */
	bool same_kernel;      /* both are one kernel and only one of them was booted */
	/* The boots that fail the CV gate, one for each boot of the cell; NULL: none does, or their
	 * scatter is the kernel's doing. */
	const bool *disturbed;
	struct store_verdict row;
};

/* Fills in everything but q, family and the word. history may be NULL. The texts live in the
 * arena. */
void rate_effect(const struct store_view *view, const struct evidence_cell *cell,
	const struct store_variant *variant, const struct store_variant *against,
	const struct history *history, struct arena *arena, struct rate *out);

/* The comparison as one look sees it: intervals at the look's level (they hold at all looks
 * together), look and level in the row. After rate_effect, before rate_decide. */
void rate_set_look(struct rate *rate, int look, double level);

/* True when the comparison is one of its family: those that q is computed over. */
bool rate_in_family(const struct rate *rate);

/* Decides by q: fills in the word, the reason and the number of further boots. */
void rate_decide(const struct store_view *view, double q, int64_t family, struct arena *arena,
	struct rate *rate);

#endif
