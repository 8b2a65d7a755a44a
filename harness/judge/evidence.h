/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_EVIDENCE_H
#define KB_JUDGE_EVIDENCE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
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
};

struct evidence_cell {
	const struct store_machine *machine;
	const struct store_condition *condition;
	const struct store_metric *metric;
	/* In boot order, both of the same length. arm is the variant's position. */
	struct bracket_boot *boots;
	struct evidence_boot *facts;
	size_t count;
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
	int64_t dropped; /* runs left out by policy, in all cells */
};

/* A cell for every machine, condition and metric of the view, empty ones too. *kept (may be NULL)
 * is the same with the runs counted that policy leaves out; empty for an import of means.
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
