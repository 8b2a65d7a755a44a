/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "judge/evidence.h"
#include "judge/others.h"
#include "model/store_cells.h"

/* The values of one boot. */
struct part {
	int64_t metric_id, variant_id;
	size_t first, count; /* among the gathered values */
	double mean;
};

struct gather {
	const struct evidence *evidence; /* which boots count */
	struct part *parts;
	size_t part_count, part_capacity;
	double *values;
	size_t value_count, value_capacity;
};

/* Boots of a block that was repeated count for nobody. */
static bool counts(const struct evidence *evidence, const struct store_cell *cell)
{
	for (size_t i = 0; i < evidence->cell_count; i++) {
		const struct evidence_cell *ours = &evidence->cells[i];

		if (ours->metric->id != cell->metric_id)
			continue;
		for (size_t b = 0; b < ours->count; b++)
			if (ours->boots[b].t == cell->boot_ordinal)
				return true;
		return false;
	}
	return false;
}

static int take_cell(void *arg, const struct store_cell *cell)
{
	struct gather *gather = arg;
	size_t count = cell->values && counts(gather->evidence, cell) ? cell->runs : 0;

	GROW(gather->parts, gather->part_count, gather->part_capacity);
	gather->parts[gather->part_count++] = (struct part){
		cell->metric_id, cell->variant_id, gather->value_count, count, cell->mean};
	for (size_t i = 0; i < count; i++) {
		GROW(gather->values, gather->value_count, gather->value_capacity);
		gather->values[gather->value_count++] = cell->values[i];
	}
	return 0;
}

/* The values that the rule looks at: all runs, or a mean for each boot. */
static double *values_of(const struct gather *gather, enum peer peer, int64_t metric_id,
	int64_t variant_id, size_t *count)
{
	double *values = xcalloc(gather->value_count + 1, sizeof(*values));

	*count = 0;
	for (size_t i = 0; i < gather->part_count; i++) {
		const struct part *part = &gather->parts[i];

		if (part->metric_id != metric_id || part->variant_id != variant_id || !part->count)
			continue;
		if (peer_takes_boots(peer)) {
			values[(*count)++] = part->mean;
			continue;
		}
		for (size_t k = 0; k < part->count; k++)
			values[(*count)++] = gather->values[part->first + k];
	}
	return values;
}

static void place_row(const struct store_view *view, struct others_row *row)
{
	for (size_t m = 0; m < view->machine_count; m++) {
		const struct store_machine *machine = &view->machines[m];

		for (size_t c = 0; c < machine->condition_count; c++)
			for (size_t k = 0; k < machine->conditions[c].metric_count; k++)
				if (machine->conditions[c].metrics[k].id == row->ours->metric_id) {
					row->machine = machine;
					row->condition = &machine->conditions[c];
					row->metric = &machine->conditions[c].metrics[k];
				}
	}
	for (size_t v = 0; v < view->variant_count; v++) {
		if (view->variants[v].id == row->ours->variant_id)
			row->variant = &view->variants[v];
		if (view->variants[v].id == row->ours->against_id)
			row->against = &view->variants[v];
	}
	if (!row->metric || !row->variant || !row->against)
		BUG("a verdict of metric %lld, which the experiment does not have",
			(long long)row->ours->metric_id);
}

static void ask_row(const struct gather *gather, enum peer peer, struct others_row *row)
{
	const struct store_verdict *ours = row->ours;
	size_t a_count, b_count;
	double *a = values_of(gather, peer, ours->metric_id, ours->against_id, &a_count);
	double *b = values_of(gather, peer, ours->metric_id, ours->variant_id, &b_count);

	peer_ask(peer, a, a_count, b, b_count, &row->theirs);
	free(a);
	free(b);
}

static void count_disagreement(const struct others_row *row, struct others *out)
{
	bool ours = row->ours->word == VERDICT_REGRESSED || row->ours->word == VERDICT_IMPROVED;

	if (!row->theirs.told || row->ours->word == VERDICT_INVALID)
		return;
	out->only_theirs += row->theirs.differs && !ours;
	out->only_ours += !row->theirs.differs && ours;
}

int others_ask(struct store *store, const struct store_view *view, enum peer peer,
	const struct store_verdict *verdicts, size_t count, struct arena *arena, struct others *out,
	struct err *err)
{
	struct evidence evidence;
	struct gather gather = {.evidence = &evidence};
	int ret = evidence_load(store, view, arena, &evidence, NULL, err);

	if (!ret)
		ret = store_each_boot_cell(store, view->head.id, NULL, take_cell, &gather, err);

	*out = (struct others){.peer = peer, .count = count};
	out->rows = arena_alloc(arena, (count + 1) * sizeof(*out->rows));
	for (size_t i = 0; i < count && !ret; i++) {
		struct others_row *row = &out->rows[i];

		*row = (struct others_row){.ours = &verdicts[i]};
		place_row(view, row);
		ask_row(&gather, peer, row);
		count_disagreement(row, out);
	}
	free(gather.parts);
	free(gather.values);
	return ret;
}
