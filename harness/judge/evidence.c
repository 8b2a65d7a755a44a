/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/evidence.h"

/* The walk over one experiment's boots. */
struct loader {
	const struct store_view *view;
	struct evidence_cell *cells;
	size_t cell_count;
	size_t *first; /* of each cell, its first boot in the vectors */
	size_t at;     /* the cell that the walk is in */
	struct bracket_boot *boots;
	struct evidence_boot *facts;
	size_t count, boot_capacity, fact_capacity;
	int64_t dropped;
};

static void make_cells(const struct store_view *view, struct arena *arena, struct loader *loader)
{
	size_t n = 0;

	for (size_t m = 0; m < view->machine_count; m++) {
		for (size_t c = 0; c < view->machines[m].condition_count; c++)
			n += view->machines[m].conditions[c].metric_count;
	}
	loader->cells = arena_alloc(arena, (n + 1) * sizeof(*loader->cells));
	loader->first = arena_alloc(arena, (n + 1) * sizeof(*loader->first));
	for (size_t m = 0; m < view->machine_count; m++) {
		const struct store_machine *machine = &view->machines[m];

		for (size_t c = 0; c < machine->condition_count; c++) {
			const struct store_condition *condition = &machine->conditions[c];

			for (size_t k = 0; k < condition->metric_count; k++) {
				struct evidence_cell *cell = &loader->cells[loader->cell_count++];

				cell->machine = machine;
				cell->condition = condition;
				cell->metric = &condition->metrics[k];
			}
		}
	}
}

static int arm_of(const struct store_view *view, int64_t variant_id)
{
	for (size_t i = 0; i < view->variant_count; i++) {
		if (view->variants[i].id == variant_id)
			return view->variants[i].position;
	}
	BUG("a boot of variant %lld, which the experiment does not have", (long long)variant_id);
}

/* Goes to the cell of a metric. All boots of a metric come in a row, so the walk is mostly there.
 */
static void seek(struct loader *loader, int64_t metric_id)
{
	for (size_t tried = 0; tried < loader->cell_count; tried++) {
		if (loader->cells[loader->at].metric->id == metric_id)
			return;
		loader->at = (loader->at + 1) % loader->cell_count;
	}
	BUG("metric %lld, which the experiment does not have", (long long)metric_id);
}

static double cv_of(const struct store_cell *cell)
{
	if (isfinite(cell->variance) && cell->mean != 0)
		return sqrt(cell->variance) / fabs(cell->mean);
	return sqrt(cell->ln_variance);
}

static int take_cell(void *arg, const struct store_cell *cell)
{
	struct loader *loader = arg;

	seek(loader, cell->metric_id);
	if (loader->cells[loader->at].count++ == 0)
		loader->first[loader->at] = loader->count;
	GROW(loader->boots, loader->count, loader->boot_capacity);
	GROW(loader->facts, loader->count, loader->fact_capacity);
	loader->boots[loader->count] = (struct bracket_boot){
		.arm = arm_of(loader->view, cell->variant_id),
		.block = cell->block,
		.t = cell->boot_ordinal,
		.runs = cell->runs,
		.mean_ln = cell->ln_mean,
		.var_ln = cell->ln_variance,
	};
	loader->facts[loader->count] = (struct evidence_boot){
		.mean = cell->mean,
		.cv = cv_of(cell),
		.flagged = cell->flagged,
		.dropped = cell->dropped,
		.failed = cell->failed,
		.unusable = cell->runs > 0 && !isfinite(cell->ln_mean),
		.observations = cell->observations,
		.order_low = cell->order_low,
		.order_high = cell->order_high,
	};
	loader->dropped += cell->dropped;
	loader->count++;
	return 0;
}

/* Boots of a block in the cell that have values. */
static size_t measured_in(const struct evidence_cell *cell, int block)
{
	size_t count = 0;

	for (size_t i = 0; i < cell->count; i++)
		count += cell->boots[i].block == block && cell->boots[i].runs > 0;
	return count;
}

/* True when a later block of the same purpose is whole in this cell. */
static bool is_replaced(const struct evidence_cell *cell, int number)
{
	const struct block *block = blocks_get(cell->blocks, number);
	int first = block->repeats ? block->repeats : number;

	for (size_t later = (size_t)number + 1; later < cell->blocks->count; later++) {
		const struct block *other = &cell->blocks->items[later];

		if (other->repeats == first && other->done &&
			measured_in(cell, (int)later) == other->boots)
			return true;
	}
	return false;
}

/* Whether a boot of the block counts in the cell, at a look; 0: without looks. */
static bool counts(const struct evidence_cell *cell, int number, int look)
{
	const struct block *block = blocks_get(cell->blocks, number);

	if (!block)
		return true;
	return (look == 0 || block->look <= look) && !is_replaced(cell, number);
}

/* Moves the boots that count to the front of the vectors. */
static size_t choose(const struct evidence_cell *cell, int look, struct bracket_boot *boots,
	struct evidence_boot *facts)
{
	bool *kept = xcalloc(cell->count + 1, sizeof(*kept));
	size_t count = 0;

	for (size_t i = 0; i < cell->count; i++)
		kept[i] = counts(cell, cell->boots[i].block, look);
	for (size_t i = 0; i < cell->count; i++) {
		if (!kept[i])
			continue;
		boots[count] = cell->boots[i];
		facts[count++] = cell->facts[i];
	}
	free(kept);
	return count;
}

void evidence_at_look(
	const struct evidence_cell *cell, int look, struct arena *arena, struct evidence_cell *out)
{
	*out = *cell;
	out->boots = arena_alloc(arena, (cell->count + 1) * sizeof(*out->boots));
	out->facts = arena_alloc(arena, (cell->count + 1) * sizeof(*out->facts));
	out->count = choose(cell, look, out->boots, out->facts);
}

/* A plan that was never extended and has no looks is taken as it is. */
static void choose_boots(const struct store_view *view, struct evidence_cell *cell)
{
	bool looks = view->head.looks > 0;

	if (!looks && cell->machine->extension_count == 0)
		return;
	if (looks && cell->blocks->looks == 0)
		cell->count = 0;
	else
		cell->count =
			choose(cell, looks ? cell->blocks->looks : 0, cell->boots, cell->facts);
}

static void finish(struct loader *loader, struct arena *arena, struct evidence *out)
{
	struct bracket_boot *boots =
		arena_copy(arena, loader->boots, loader->count, sizeof(*boots));
	struct evidence_boot *facts =
		arena_copy(arena, loader->facts, loader->count, sizeof(*facts));

	*out = (struct evidence){.cells = loader->cells,
		.cell_count = loader->cell_count,
		.dropped = loader->dropped};
	out->blocks = arena_alloc(arena, (loader->view->machine_count + 1) * sizeof(*out->blocks));
	for (size_t m = 0; m < loader->view->machine_count; m++)
		blocks_of(&loader->view->machines[m], arena, &out->blocks[m]);
	for (size_t i = 0; i < loader->cell_count; i++) {
		struct evidence_cell *cell = &loader->cells[i];

		cell->blocks = &out->blocks[cell->machine - loader->view->machines];
		if (cell->count == 0)
			continue;
		cell->boots = boots + loader->first[i];
		cell->facts = facts + loader->first[i];
		choose_boots(loader->view, cell);
	}
}

int evidence_load(struct store *store, const struct store_view *view, struct arena *arena,
	struct evidence *out, struct evidence *kept, struct err *err)
{
	struct loader loader = {.view = view}, kept_loader = {.view = view};
	const struct store_cell_options options = {
		.kept = kept ? take_cell : NULL,
		.kept_arg = &kept_loader,
		.machine_id = view->machine_count == 1 ? view->machines[0].id : 0,
	};
	int ret;

	make_cells(view, arena, &loader);
	make_cells(view, arena, &kept_loader);
	ret = store_each_boot_cell(store, view->head.id, &options, take_cell, &loader, err);
	if (ret == 0)
		finish(&loader, arena, out);
	if (ret == 0 && kept)
		finish(&kept_loader, arena, kept);
	free(loader.boots);
	free(loader.facts);
	free(kept_loader.boots);
	free(kept_loader.facts);
	return ret;
}

/* The walk over earlier boots: one metric after the other. */
struct historian {
	int64_t metric_id, variant_id;
	struct history_boot *boots; /* of metric_id */
	size_t count, capacity;
	struct evidence_history *histories;
	size_t history_count, history_capacity;
};

static void finish_metric(struct historian *historian)
{
	struct evidence_history *entry;

	if (historian->count == 0)
		return;
	GROW(historian->histories, historian->history_count, historian->history_capacity);
	entry = &historian->histories[historian->history_count++];
	entry->metric_id = historian->metric_id;
	entry->variant_id = historian->variant_id;
	history_from_boots(historian->boots, historian->count, &entry->history);
	historian->count = 0;
}

static int take_history(void *arg, const struct store_cell *cell)
{
	struct historian *historian = arg;

	if (cell->metric_id != historian->metric_id)
		finish_metric(historian);
	historian->metric_id = cell->metric_id;
	GROW(historian->boots, historian->count, historian->capacity);
	/* Boots of one experiment ran the same kernel in one session. */
	historian->boots[historian->count++] = (struct history_boot){
		.group = (int)cell->experiment_id,
		.runs = cell->runs,
		.mean_ln = cell->ln_mean,
		.var_ln = cell->ln_variance,
	};
	return 0;
}

int evidence_load_histories(struct store *store, const struct store_view *view,
	const struct store_variant *variant, size_t max_boots, struct arena *arena,
	struct evidence *out, struct err *err)
{
	struct historian historian = {.variant_id = variant->id};
	int ret = 0;

	for (size_t i = 0; i < out->history_count; i++) {
		GROW(historian.histories, historian.history_count, historian.history_capacity);
		historian.histories[historian.history_count++] = out->histories[i];
	}
	for (size_t m = 0; m < view->machine_count && ret == 0; m++) {
		historian.metric_id = 0;
		ret = store_each_history_cell(store, view->head.id, view->machines[m].id,
			variant->id, max_boots, take_history, &historian, err);
		finish_metric(&historian);
	}
	if (ret == 0) {
		out->histories = arena_copy(arena, historian.histories, historian.history_count,
			sizeof(*out->histories));
		out->history_count = historian.history_count;
	}
	free(historian.boots);
	free(historian.histories);
	return ret;
}

const struct history *evidence_history(
	const struct evidence *evidence, int64_t metric_id, int64_t variant_id)
{
	for (size_t i = 0; i < evidence->history_count; i++) {
		const struct evidence_history *entry = &evidence->histories[i];

		if (entry->metric_id == metric_id && entry->variant_id == variant_id)
			return &entry->history;
	}
	return NULL;
}
