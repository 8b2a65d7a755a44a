/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_CELLS_H
#define KB_MODEL_STORE_CELLS_H

#include "base/base.h"

#include "model/store.h"

/*
 * The numbers of a boot for one metric of one condition. A run's value is the mean of its samples
 * of that metric, or the percentile of those that are observations; warm-ups, interrupted and
 * failed runs have no part. A boot's value is the mean of its runs'; of a percentile it is their
 * median, or, where there are observations, the percentile of those of all runs.
 */
struct store_cell {
	int64_t machine_id, condition_id, metric_id, boot_id, variant_id;
	int64_t experiment_id, build_id; /* build_id 0: none (import) */
	int boot_ordinal, block;
	int64_t time_ns; /* wall time of the kernel start it was measured in */
	const double
		*values; /* one per run, in order; borrowed during the call; NULL: means only */
	size_t runs;	 /* that count; means only: as published */
	double mean, variance;	     /* the boot's value; that of the runs'; NaN below two runs */
	double ln_mean, ln_variance; /* the same of logarithms; NaN when a value is <= 0 */
	/* of a percentile: observations behind the boot's value (the fewest behind a run's, where
	 * those are all there is; 0: not told), and the order statistics around it, 95 % sure;
	 * NaN where there are too few for that */
	int64_t observations;
	double order_low, order_high;
	/* runs of the whole condition in this boot: */
	int64_t flagged; /* done, and carry a reason whose policy is flag */
	int64_t dropped; /* done, and carry a reason whose policy is drop */
	int64_t failed;
};

/* Returns 0 to go on; anything else ends the walk and is what the walk returns. */
typedef int store_cell_fn(void *arg, const struct store_cell *cell);

struct store_cell_options {
	bool unfinished;    /* boots that are not done, too */
	int64_t machine_id; /* only its cells; 0: those of all machines */
	/* Told the cells of each machine once more, as they would be if runs whose policy is drop
	 * counted after all: one reading of the samples gives both. NULL: nobody. */
	store_cell_fn *kept;
	void *kept_arg;
};

/* Every cell with at least one run that counts or one that was dropped or failed, in order of
 * machine, condition position, metric position, boot ordinal. An import of means gives its means
 * (ln_mean of the mean; ln_variance from the CV when published). options NULL: none set. */
KB_MUST_CHECK int store_each_boot_cell(struct store *store, int64_t experiment_id,
	const struct store_cell_options *options, store_cell_fn *fn, void *arg, struct err *err);

/*
 * History for calibration: cells of earlier boots (of older experiments and calibrations, never of
 * this one) on the same machine of the same kernel binary (build key) run the same way (command
 * line, features, sysctls, scheduler), for every metric of this experiment's conditions on that
 * machine: same condition name, arguments and environment, same metric name and unit, and run with
 * the same program and server, by their SHA-256; where this experiment's is not known, with those
 * that are not known either. Boots of a block that was repeated have no part. From at most the
 * newest max_boots boots. Order: this experiment's condition position, metric position, then time.
 * condition_id and metric_id are those of this experiment, experiment_id and boot_id of the older
 * one.
 */
KB_MUST_CHECK int store_each_history_cell(struct store *store, int64_t experiment_id,
	int64_t machine_id, int64_t variant_id, size_t max_boots, store_cell_fn *fn, void *arg,
	struct err *err);

#endif
