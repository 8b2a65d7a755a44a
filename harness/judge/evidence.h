/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_EVIDENCE_H
#define KB_JUDGE_EVIDENCE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "judge/blocks.h"
#include "model/store_cells.h"
#include "model/store_view.h"
#include "stat/bracket.h"
#include "stat/history.h"

/*
 * What an experiment's boots showed, as the numbers that the statistics need. One cell is one
 * metric of one condition on one machine with the boots of all variants. Values are folded into
 * means while the store is walked, so that a million samples need no memory here.
 */
struct evidence_boot {
	double mean, cv; /* of the runs; cv a fraction, NaN when unknown */
	int64_t flagged, dropped, failed;
	bool unusable; /* it has values, and one of them has no logarithm */
	/* of a percentile, as in struct store_cell */
	int64_t observations;
	double order_low, order_high;
};

struct evidence_cell {
	const struct store_machine *machine;
	const struct store_condition *condition;
	const struct store_metric *metric;
	/* In boot order, both of the same length. arm is the variant's position. */
	struct bracket_boot *boots;
	struct evidence_boot *facts;
	size_t count;
	const struct blocks *blocks; /* of the machine; NULL: none is known */
};

/* What is known of a machine's noise in one cell from earlier boots of one variant. */
struct evidence_history {
	int64_t metric_id, variant_id;
	struct history history;
};

struct evidence {
	struct evidence_cell *cells; /* in order of machine, condition and metric */
	size_t cell_count;
	struct evidence_history *histories;
	size_t history_count;
	struct blocks *blocks; /* one for each machine of the view */
	int64_t dropped;       /* runs left out by policy, in all cells */
};

/* The cell with those of its boots that count at a look: of blocks up to that look's. Arrays are
 * the arena's. */
void evidence_at_look(
	const struct evidence_cell *cell, int look, struct arena *arena, struct evidence_cell *out);

/* A cell for every machine, condition and metric of the view, empty ones too. *kept (may be NULL)
 * is the same with the runs counted that policy leaves out; empty for an import of means.
 * Where a block was repeated, and every boot of the repeat has values in a cell, the repeat stands
 * there in the place of the block, for all variants; the block's own boots are left out. In an
 * experiment with looks, boots of a look that cannot be taken yet are left out too.
 * Everything lives in the arena, and points into the view. */
KB_MUST_CHECK int evidence_load(struct store *store, const struct store_view *view,
	struct arena *arena, struct evidence *out, struct evidence *kept, struct err *err);

/* Adds the histories of one variant on every machine, from at most max_boots earlier boots. */
KB_MUST_CHECK int evidence_load_histories(struct store *store, const struct store_view *view,
	const struct store_variant *variant, size_t max_boots, struct arena *arena,
	struct evidence *out, struct err *err);

/* The history of a metric for a variant; NULL when there is none. */
const struct history *evidence_history(
	const struct evidence *evidence, int64_t metric_id, int64_t variant_id);

#endif
