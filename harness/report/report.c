/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_cells.h"
#include "model/store_status.h"
#include "report/report.h"
#include "report/report_notes.h"

double report_pct(double ln_ratio)
{
	return 100 * expm1(ln_ratio);
}

void *report_grown(struct arena *arena, void *items, size_t count, size_t *capacity, size_t bytes)
{
	void *more;

	if (count < *capacity)
		return items;
	*capacity = *capacity ? 2 * *capacity : 8;
	more = arena_alloc(arena, *capacity * bytes);
	if (count)
		memcpy(more, items, count * bytes);
	return more;
}

void report_note(struct report *report, enum report_note_kind kind, const char *text)
{
	report->notes = report_grown(report->arena, report->notes, report->note_count,
		&report->note_capacity, sizeof(*report->notes));
	report->notes[report->note_count++] =
		(struct report_note){kind, arena_strdup(report->arena, text)};
}

/* "hackbench/pairs" of "hackbench/pairs 31.25%": conditions that differ in saturation only share a
 * table; those of a suite without saturation do too. */
static const char *block_title(struct arena *arena, const struct store_condition *condition,
	const struct store_metric *metric)
{
	const char *blank = strrchr(condition->name, ' ');
	int stem = (int)strlen(condition->name);

	if (!(condition->saturation_pct > 0))
		return arena_printf(arena, "%s: %s", condition->suite, metric->name);
	if (blank && str_ends(blank, "%"))
		stem = (int)(blank - condition->name);
	return arena_printf(arena, "%.*s: %s", stem, condition->name, metric->name);
}

static bool same_percentile(const struct store_metric *a, const struct store_metric *b)
{
	return a->pooled == b->pooled &&
	       (a->percentile == b->percentile || (!(a->percentile > 0) && !(b->percentile > 0)));
}

static bool tells_of(
	const struct report_block *block, const char *title, const struct store_metric *metric)
{
	return strcmp(block->title, title) == 0 && strcmp(block->unit, metric->unit) == 0 &&
	       same_percentile(block->columns[0].metric, metric) &&
	       block->lower_is_better == metric->lower_is_better;
}

bool report_same_metric(const struct report_block *a, const struct report_block *b)
{
	return tells_of(a, b->title, b->columns[0].metric);
}

static struct report_block *block_for(struct report *report, const struct store_machine *machine,
	const struct store_condition *condition, const struct store_metric *metric)
{
	const char *title = block_title(report->arena, condition, metric);
	struct report_block *block;

	for (size_t i = 0; i < report->block_count; i++) {
		block = &report->blocks[i];
		if (block->machine == machine && tells_of(block, title, metric))
			return block;
	}
	report->blocks = report_grown(report->arena, report->blocks, report->block_count,
		&report->block_capacity, sizeof(*report->blocks));
	block = &report->blocks[report->block_count++];
	*block = (struct report_block){.machine = machine,
		.title = title,
		.unit = metric->unit,
		.lower_is_better = metric->lower_is_better};
	return block;
}

static int variant_position(const struct report *report, int64_t id)
{
	for (size_t i = 0; i < report->view.variant_count; i++)
		if (report->view.variants[i].id == id)
			return (int)i;
	return -1;
}

/* Verdicts come in the order of machine, condition, metric, variant: *next walks along. */
static void add_column(struct report *report, const struct store_machine *machine,
	const struct store_condition *condition, const struct store_metric *metric, size_t *next)
{
	struct report_block *block = block_for(report, machine, condition, metric);
	struct report_column *column;

	block->columns = report_grown(report->arena, block->columns, block->count, &block->capacity,
		sizeof(*block->columns));
	column = &block->columns[block->count++];
	column->condition = condition;
	column->metric = metric;
	column->cells = arena_alloc(
		report->arena, (report->view.variant_count + 1) * sizeof(*column->cells));
	column->cell_count = report->view.variant_count;
	while (*next < report->verdict_count && report->verdicts[*next].metric_id == metric->id) {
		const struct store_verdict *verdict = &report->verdicts[(*next)++];
		int at = variant_position(report, verdict->variant_id);

		if (at >= 0)
			column->cells[at] = verdict;
	}
}

static void make_blocks(struct report *report)
{
	size_t next = 0;

	for (size_t m = 0; m < report->view.machine_count; m++) {
		const struct store_machine *machine = &report->view.machines[m];

		for (size_t c = 0; c < machine->condition_count; c++)
			for (size_t k = 0; k < machine->conditions[c].metric_count &&
					   !*machine->conditions[c].skipped;
				k++)
				add_column(report, machine, &machine->conditions[c],
					&machine->conditions[c].metrics[k], &next);
	}
}

/* Every variant that has a baseline should have a verdict on every deciding metric. */
static void count_column(
	const struct report *report, const struct report_column *column, struct report_count *count)
{
	for (size_t v = 0; v < report->view.variant_count; v++) {
		const struct store_verdict *verdict = column->cells[v];

		if (verdict && verdict->headline)
			count->words[verdict->word]++;
		else if (!verdict && report->view.variants[v].against &&
			 column->condition->decides && !report->view.variants[v].control &&
			 !report->view.variants[v].layout_of)
			count->missing++;
	}
}

static void count_words(struct report *report)
{
	report->machines = arena_alloc(
		report->arena, (report->view.machine_count + 1) * sizeof(*report->machines));
	for (size_t b = 0; b < report->block_count; b++)
		for (size_t c = 0; c < report->blocks[b].count; c++) {
			const struct report_block *block = &report->blocks[b];

			count_column(report, &block->columns[c], &report->count);
			count_column(report, &block->columns[c],
				&report->machines[block->machine - report->view.machines]);
		}
}

bool report_moved(const struct store_verdict *verdict)
{
	return verdict->word == VERDICT_REGRESSED || verdict->word == VERDICT_IMPROVED;
}

static void count_controls(struct report *report)
{
	for (size_t i = 0; i < report->verdict_count; i++) {
		const struct store_verdict *verdict = &report->verdicts[i];
		const struct store_condition *condition =
			report_condition(report, verdict->condition_id, NULL);
		int at = variant_position(report, verdict->variant_id);

		if (at < 0 || !report->view.variants[at].control || !condition ||
			condition->control)
			continue;
		if (verdict->family)
			report->control_tested++;
		else
			report->control_untested++;
		report->control_different += report_moved(verdict);
	}
}

static int add_mean(void *arg, const struct store_cell *cell)
{
	struct report *report = arg;

	if (!cell->runs)
		return 0;
	report->means = report_grown(report->arena, report->means, report->mean_count,
		&report->mean_capacity, sizeof(*report->means));
	report->means[report->mean_count++] = (struct report_mean){
		.metric_id = cell->metric_id,
		.boot_id = cell->boot_id,
		.runs = (int64_t)cell->runs,
		.mean = cell->mean,
		.cv_pct = 100 * sqrt(cell->variance) / cell->mean,
	};
	return 0;
}

static bool compares(const struct report *report)
{
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (report->view.variants[v].against)
			return true;
	return false;
}

static size_t boots_left(const struct store_machine *machine)
{
	size_t left = 0;

	for (size_t b = 0; b < machine->boot_count; b++)
		left += machine->boots[b].state != STATE_DONE &&
			machine->boots[b].state != STATE_FAILED;
	return left;
}

/* A machine that was found unusable and not begun with since, and has boots left. */
static int find_parked(struct report *report, struct store *store, struct err *err)
{
	struct store_machine_status *all;
	size_t count;
	int ret = store_load_status(store, report->view.head.id, report->arena, &all, &count, err);

	report->parked = arena_alloc(
		report->arena, (report->view.machine_count + 1) * sizeof(*report->parked));
	for (size_t m = 0; !ret && m < report->view.machine_count; m++)
		for (size_t i = 0; i < count; i++)
			if (!strcmp(all[i].name, report->view.machines[m].name) &&
				all[i].parked_ns && all[i].parked_ns >= all[i].last_ns &&
				boots_left(&report->view.machines[m]))
				report->parked[m] = all[i].parked;
	return ret;
}

static int assemble(struct report *report, struct store *store, struct err *err)
{
	int ret = store_load_tallies(store, report->view.head.id, report->arena, &report->tallies,
		&report->tally_count, err);

	if (!ret)
		ret = store_load_counter_means(store, report->view.head.id, report->arena,
			&report->counters, &report->counter_count, err);
	if (!ret)
		ret = find_parked(report, store, err);
	if (!ret && !compares(report))
		ret = store_each_boot_cell(
			store, report->view.head.id, NULL, add_mean, report, err);
	if (ret)
		return ret;
	make_blocks(report);
	count_words(report);
	count_controls(report);
	return report_make_notes(report, store, err);
}

int report_load(struct store *store, int64_t experiment_id, struct arena *arena, struct report *out,
	struct err *err)
{
	struct report report = {.arena = arena, .subject = ""};
	int ret = store_load(store, experiment_id, arena, &report.view, err);

	if (!ret)
		ret = store_verdicts_load(
			store, experiment_id, arena, &report.verdicts, &report.verdict_count, err);
	if (!ret)
		ret = assemble(&report, store, err);
	if (!ret)
		*out = report;
	return ret;
}

int report_load_pair(struct store *store, const struct store_view *view,
	const struct store_variant *variant, const struct store_variant *against,
	struct store_verdict *rows, size_t count, struct arena *arena, struct report *out,
	struct err *err)
{
	struct report report = {
		.arena = arena, .view = *view, .verdicts = rows, .verdict_count = count};
	struct store_variant *pair = arena_alloc(arena, 2 * sizeof(*pair));
	int ret;

	pair[0] = *against;
	pair[0].against = NULL;
	pair[1] = *variant;
	pair[1].against = &pair[0];
	report.view.variants = pair;
	report.view.variant_count = 2;
	report.subject = arena_printf(arena, ", %s against %s", variant->name, against->name);
	ret = assemble(&report, store, err);
	if (!ret)
		*out = report;
	return ret;
}

/* Every suite was left out: that is no answer. */
static bool nothing_left(const struct report *report)
{
	size_t skipped = 0;

	for (size_t m = 0; m < report->view.machine_count; m++)
		for (size_t c = 0; c < report->view.machines[m].condition_count; c++)
			skipped += *report->view.machines[m].conditions[c].skipped != '\0';
	return skipped && !report->block_count;
}

static bool is_open(const struct report_count *count)
{
	return count->words[VERDICT_INCONCLUSIVE] || count->words[VERDICT_INVALID] ||
	       count->missing;
}

enum report_outcome report_outcome(const struct report *report)
{
	if (report->count.words[VERDICT_REGRESSED])
		return OUTCOME_REGRESSED;
	return is_open(&report->count) || nothing_left(report) ? OUTCOME_OPEN : OUTCOME_FINE;
}

enum report_outcome report_outcome_on(const struct report *report, size_t machine)
{
	const struct report_count *count = &report->machines[machine];

	if (count->words[VERDICT_REGRESSED])
		return OUTCOME_REGRESSED;
	return is_open(count) || report->parked[machine] ? OUTCOME_OPEN : OUTCOME_FINE;
}

const char *report_outcome_name(enum report_outcome outcome)
{
	static const char *const names[] = {[OUTCOME_FINE] = "fine",
		[OUTCOME_REGRESSED] = "regressed",
		[OUTCOME_OPEN] = "open"};

	return names[outcome];
}

/* Reasons of failed runs that say nothing about the kernel or the program. */
static bool is_infrastructure(const char *reason)
{
	static const char *const reasons[] = {"agent", "lost", "not-started"};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (strcmp(reason, reasons[i]) == 0)
			return true;
	return false;
}

bool report_infra_failed(const struct report *report)
{
	bool failed = false;

	for (size_t v = 0; v < report->view.variant_count; v++)
		failed |= report->view.variants[v].state == STATE_FAILED;
	for (size_t m = 0; m < report->view.machine_count; m++) {
		failed |= report->parked[m] != NULL;
		for (size_t b = 0; b < report->view.machines[m].boot_count; b++)
			failed |= report->view.machines[m].boots[b].state == STATE_FAILED;
	}
	for (size_t t = 0; t < report->tally_count; t++)
		failed |= report->tallies[t].failed && !report->tallies[t].counted &&
			  is_infrastructure(report->tallies[t].reason);
	return failed && report_outcome(report) == OUTCOME_OPEN;
}
