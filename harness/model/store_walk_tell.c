/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_walk.h"

/* From the numbers that a walk has read to cells in the order that was asked for. */

/* Where each (column, boot) begins among the sorted values: a counting sort, because a million
 * entries are already in order of boot. */
static double *sort_values(const struct walk *walk, bool keep_dropped, size_t *starts)
{
	size_t cells = walk->column_count * walk->boot_count;
	double *values = xcalloc(walk->entry_count + 1, sizeof(*values));

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
			values[starts[entry->column * walk->boot_count + entry->boot]++] =
				entry->value;
	}
	/* Each start has moved to its end, which is where the next one begins. */
	memmove(starts + 1, starts, cells * sizeof(*starts));
	starts[0] = 0;
	return values;
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
	};
}

static int tell_cells(const struct walk *walk, const double *values, const size_t *starts,
	double *logs, store_cell_fn *fn, void *arg)
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
	double *values = sort_values(walk, keep_dropped, starts);
	double *logs = xcalloc(walk->entry_count + 1, sizeof(*logs));
	int ret = tell_cells(walk, values, starts, logs, fn, arg);

	free(logs);
	free(values);
	free(starts);
	return ret;
}
