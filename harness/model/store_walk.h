/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_WALK_H
#define KB_MODEL_STORE_WALK_H

#include "base/base.h"

#include "model/store_cells.h"
#include "model/store_db.h"
#include "stat/quantile.h"

/*
 * For store_cells.c and store_walk*.c only. A walk reads the runs and samples of a list of boots in
 * the order in which they lie on disk, keeps one number per run and metric, and then tells cells
 * in the order that was asked for. Boots may belong to several experiments: `links` say which of
 * their metrics is which column.
 */
struct walk_boot {
	int64_t id, experiment_id, variant_id, build_id, time_ns;
	int ordinal, block;
};

/* One metric of one condition. */
struct walk_column {
	int64_t condition_id, metric_id;
	size_t condition;  /* index among the walk's conditions */
	double percentile; /* a fraction; NaN: it is none */
	bool pooled;
};

/* An id in the database and the index that it stands for. */
struct walk_link {
	int64_t id;
	size_t index;
};

/* What a condition is measured with: rows of the table program; 0: not known, or none. */
struct walk_binaries {
	int64_t program, server;
};

/* Runs of a condition in a boot. */
struct walk_counts {
	int64_t flagged, dropped, failed;
};

/* A run's value of one column. */
struct walk_entry {
	double value;
	uint32_t boot, column;
	int32_t position; /* of the run in its boot */
	uint32_t tail;	  /* of a percentile: one more than its place among the walk's tails */
	bool dropped;	  /* its run is left out by policy */
};

/* What is behind a run's percentile. */
struct walk_tail {
	int64_t observations; /* 0: not told */
	size_t first, count;  /* its own, among the walk's observed */
};

struct walk {
	struct store *store;
	int64_t experiment_id; /* whose policies hold */
	int64_t machine_id;
	struct walk_boot *boots;
	size_t boot_count, boot_capacity;
	struct walk_column *columns;
	size_t column_count, column_capacity;
	struct walk_link *metrics; /* metric id -> column; sorted by id */
	size_t metric_count, metric_capacity;
	struct walk_link *conditions; /* condition id -> condition index; sorted by id */
	size_t condition_link_count, condition_link_capacity;
	size_t condition_count;
	struct walk_binaries
		*binaries;	 /* of each condition, whose runs alone are read; NULL: any */
	struct walk_link *twins; /* program -> the first of the same SHA-256; sorted by id */
	size_t twin_count, twin_capacity;
	struct walk_counts *counts; /* [boot][condition] */
	struct walk_entry *entries;
	size_t entry_count, entry_capacity;
	struct walk_tail *tails;
	size_t tail_count, tail_capacity;
	struct quantile_count *observed; /* observations of pooled percentiles */
	size_t observed_count, observed_capacity;
};

void walk_release(struct walk *walk);
/* Fills columns and links with the conditions and metrics of the experiment on the machine. */
KB_MUST_CHECK int walk_load_columns(struct walk *walk, struct err *err);
/* Has only those runs read that were measured with the very program and server that the newest run
 * of the experiment's condition on the machine had. */
KB_MUST_CHECK int walk_load_binaries(struct walk *walk, struct err *err);
/* Sorts the links; to be called when all of them are there. */
void walk_sort_links(struct walk *walk);
/* Reads all boots' runs and samples. */
KB_MUST_CHECK int walk_read(struct walk *walk, struct err *err);
/* Tells the cells of what was read; with keep_dropped those runs count that policy leaves out. */
KB_MUST_CHECK int walk_tell(
	const struct walk *walk, bool keep_dropped, store_cell_fn *fn, void *arg);

#endif
