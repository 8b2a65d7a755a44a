/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_walk.h"
#include "stat/describe.h"

/* Of the order statistics around a boot's percentile. */
#define ORDER_CONFIDENCE 0.95

/* From the numbers that a walk has read to cells in the order that was asked for. */

/* Where each (column, boot) begins among the entries of order: a counting sort, because a million
 * entries are already in order of boot. */
static size_t *sort_entries(const struct walk *walk, bool keep_dropped, size_t *starts)
{
	size_t cells = walk->column_count * walk->boot_count;
	size_t *order = xcalloc(walk->entry_count + 1, sizeof(*order));

	for (size_t i = 0; i < walk->entry_count; i++) {
		const struct walk_entry *entry = &walk->entries[i];

		if (keep_dropped || !entry->dropped)
			starts[entry->column * walk->boot_count + entry->boot + 1]++;
	}
	for (size_t i = 1; i <= cells; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < walk->entry_count; i++) {
		const struct walk_entry *entry = &walk->entries[i];

		if (keep_dropped || !entry->dropped)
			order[starts[entry->column * walk->boot_count + entry->boot]++] = i;
	}
	/* Each start has moved to its end, which is where the next one begins. */
	memmove(starts + 1, starts, cells * sizeof(*starts));
	starts[0] = 0;
	return order;
}

static void describe(const double *values, size_t count, double *mean, double *variance)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	*mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - *mean) * (values[i] - *mean);
	*variance = count < 2 ? (double)NAN : squares / (double)(count - 1);
}

static void describe_cell(struct store_cell *cell, double *logs)
{
	bool positive = true;

	describe(cell->values, cell->runs, &cell->mean, &cell->variance);
	for (size_t i = 0; i < cell->runs; i++) {
		positive = positive && cell->values[i] > 0;
		logs[i] = positive ? log(cell->values[i]) : 0;
	}
	describe(logs, cell->runs, &cell->ln_mean, &cell->ln_variance);
	if (!positive)
		cell->ln_mean = cell->ln_variance = (double)NAN;
}

/* The observations of all runs of a cell, sorted; freed by the caller. */
static struct quantile_count *pool(
	const struct walk *walk, const size_t *entries, size_t runs, size_t *count)
{
	struct quantile_count *all;
	size_t at = 0;

	*count = 0;
	for (size_t i = 0; i < runs; i++)
		*count += walk->tails[walk->entries[entries[i]].tail - 1].count;
	all = xcalloc(*count + 1, sizeof(*all));
	for (size_t i = 0; i < runs; i++) {
		const struct walk_tail *tail = &walk->tails[walk->entries[entries[i]].tail - 1];

		memcpy(all + at, walk->observed + tail->first, tail->count * sizeof(*all));
		at += tail->count;
	}
	quantile_sort(all, *count);
	return all;
}

/* The value of a sample of n around its p-quantile, as the boot's; with the order statistics. */
static void take_quantile(struct store_cell *cell, const struct quantile_count *sorted,
	size_t count, int64_t n, double p)
{
	int64_t low, high;

	cell->order_low = cell->order_high = (double)NAN;
	if (!quantile_ranks(n, p, ORDER_CONFIDENCE, &low, &high))
		return;
	cell->order_low = quantile_value_at(sorted, count, low);
	cell->order_high = quantile_value_at(sorted, count, high);
}

static int64_t fewest_behind(const struct walk *walk, const size_t *entries, size_t runs)
{
	int64_t fewest = INT64_MAX;

	for (size_t i = 0; i < runs; i++) {
		int64_t behind = walk->tails[walk->entries[entries[i]].tail - 1].observations;

		fewest = behind < fewest ? behind : fewest;
	}
	return fewest == INT64_MAX ? 0 : fewest;
}

/* The percentile of everything that was observed in the boot. */
static void pool_runs(
	const struct walk *walk, const size_t *entries, double p, struct store_cell *cell)
{
	size_t count;
	struct quantile_count *all = pool(walk, entries, cell->runs, &count);

	cell->observations = 0;
	for (size_t i = 0; i < count; i++)
		cell->observations += all[i].times;
	cell->mean = quantile_of_counts(all, count, p);
	take_quantile(cell, all, count, cell->observations, p);
	free(all);
}

/* The median of the runs' percentiles. */
static void median_of_runs(const struct walk *walk, const size_t *entries, struct store_cell *cell)
{
	struct quantile_count *runs = xcalloc(cell->runs + 1, sizeof(*runs));

	for (size_t i = 0; i < cell->runs; i++)
		runs[i] = (struct quantile_count){cell->values[i], 1};
	quantile_sort(runs, cell->runs);
	cell->observations = fewest_behind(walk, entries, cell->runs);
	cell->mean = describe_median(cell->values, cell->runs);
	take_quantile(cell, runs, cell->runs, (int64_t)cell->runs, 0.5);
	free(runs);
}

static void describe_tail(const struct walk *walk, const struct walk_column *column,
	const size_t *entries, struct store_cell *cell)
{
	if (isnan(column->percentile) || !cell->runs)
		return;
	if (column->pooled)
		pool_runs(walk, entries, column->percentile, cell);
	else
		median_of_runs(walk, entries, cell);
	if (isfinite(cell->ln_mean))
		cell->ln_mean = log(cell->mean);
}

static void fill_cell(const struct walk *walk, size_t column, size_t boot, struct store_cell *cell)
{
	const struct walk_boot *b = &walk->boots[boot];
	const struct walk_column *c = &walk->columns[column];
	const struct walk_counts *n = &walk->counts[boot * walk->condition_count + c->condition];

	*cell = (struct store_cell){
		.machine_id = walk->machine_id,
		.condition_id = c->condition_id,
		.metric_id = c->metric_id,
		.boot_id = b->id,
		.variant_id = b->variant_id,
		.experiment_id = b->experiment_id,
		.build_id = b->build_id,
		.boot_ordinal = b->ordinal,
		.block = b->block,
		.time_ns = b->time_ns,
		.flagged = n->flagged,
		.dropped = n->dropped,
		.failed = n->failed,
		.order_low = (double)NAN,
		.order_high = (double)NAN,
	};
}

static int tell_cells(const struct walk *walk, const double *values, const size_t *order,
	const size_t *starts, double *logs, store_cell_fn *fn, void *arg)
{
	int ret = 0;

	for (size_t column = 0; column < walk->column_count && !ret; column++) {
		for (size_t boot = 0; boot < walk->boot_count && !ret; boot++) {
			size_t at = column * walk->boot_count + boot;
			struct store_cell cell;

			fill_cell(walk, column, boot, &cell);
			cell.values = values + starts[at];
			cell.runs = starts[at + 1] - starts[at];
			describe_cell(&cell, logs);
			describe_tail(walk, &walk->columns[column], order + starts[at], &cell);
			if (cell.runs || cell.dropped || cell.failed)
				ret = fn(arg, &cell);
		}
	}
	return ret;
}

int walk_tell(const struct walk *walk, bool keep_dropped, store_cell_fn *fn, void *arg)
{
	size_t cells = walk->column_count * walk->boot_count;
	size_t *starts = xcalloc(cells + 2, sizeof(*starts));
	size_t *order = sort_entries(walk, keep_dropped, starts);
	double *values = xcalloc(walk->entry_count + 1, sizeof(*values));
	double *logs = xcalloc(walk->entry_count + 1, sizeof(*logs));
	int ret;

	for (size_t i = 0; i < starts[cells]; i++)
		values[i] = walk->entries[order[i]].value;
	ret = tell_cells(walk, values, order, starts, logs, fn, arg);

	free(logs);
	free(values);
	free(order);
	free(starts);
	return ret;
}
