/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "stat/describe.h"
#include "report/report_form.h"

/*
 * One table for each metric of a suite's workload over its saturations. Of an experiment on several
 * machines it holds all of them, each as a group of columns.
 */

/* A column of a table. */
struct slot {
	const struct report_block *block;
	const struct report_column *column;
};

struct sheet {
	struct slot *slots;
	size_t count, capacity;
};

/* Reasons that are too long for a table, numbered in the order of their first use. */
struct feet {
	const char **texts;
	int count;
	size_t capacity;
};

/* The number of the footnote that tells why; 0: none is needed. */
static int footnote(struct feet *feet, const struct store_verdict *verdict)
{
	if (!form_needs_footnote(verdict))
		return 0;
	for (int i = 0; i < feet->count; i++)
		if (strcmp(feet->texts[i], verdict->reason) == 0)
			return i + 1;
	GROW(feet->texts, (size_t)feet->count, feet->capacity);
	feet->texts[feet->count++] = verdict->reason;
	return feet->count;
}

static void write_feet(const struct layout *layout, const struct feet *feet, struct str *out)
{
	if (feet->count)
		str_add_char(out, '\n');
	for (int i = 0; i < feet->count; i++) {
		char *text = xasprintf("[%d] %s", i + 1, feet->texts[i]);

		layout_paragraph(layout, out, 0, 4, text);
		free(text);
	}
}

/* What stands behind the suite's name: "groups 20", or the workers when that says it all. */
static const char *condition_rest(const struct store_condition *condition)
{
	size_t suite = strlen(condition->suite);

	if (strncmp(condition->name, condition->suite, suite) == 0 && condition->name[suite])
		return condition->name + suite + 1;
	return condition->name;
}

/* True when the condition's own name begins with the number of workers. */
static bool names_workers(const struct store_condition *condition)
{
	char *end;

	return strtoll(condition_rest(condition), &end, 10) == condition->workers && end;
}

/* "3 (31.25%)", "37.5% in effect", "6 tasks" */
static void write_head_cell(struct table *table, size_t c, const struct report_column *column)
{
	const struct store_condition *condition = column->condition;

	if (condition->saturation_pct > 0)
		table_piece(table, c, COLOUR_NONE, true, "%lld (%g%%)",
			(long long)condition->workers, condition->saturation_pct);
	else
		table_piece(table, c, COLOUR_NONE, false, "%s", condition_rest(condition));
	if (condition->saturation_pct > 0 &&
		fabs(condition->effective_pct - condition->saturation_pct) > 0.005)
		table_piece(table, c, COLOUR_NONE, false, "eff. %.4g%%", condition->effective_pct);
	if (condition->tasks > 0 && condition->tasks != condition->workers)
		table_piece(table, c, COLOUR_NONE, true, "%lld tasks", (long long)condition->tasks);
	if (!(condition->saturation_pct > 0) && condition->workers > 0 && !names_workers(condition))
		table_piece(
			table, c, COLOUR_NONE, true, "%lld workers", (long long)condition->workers);
}

/* Numbers of a baseline come with any verdict against it. */
static const struct store_verdict *verdict_against(const struct report *report,
	const struct report_column *column, const struct store_variant *base)
{
	const struct store_verdict *any = NULL;

	for (size_t v = 0; v < report->view.variant_count; v++) {
		const struct store_verdict *verdict = column->cells[v];

		if (!verdict || verdict->against_id != base->id)
			continue;
		if (!isnan(verdict->against_mean))
			return verdict;
		any = verdict;
	}
	return any;
}

static void write_base_row(const struct report *report, const struct sheet *sheet,
	const struct store_variant *base, struct table *table)
{
	table_row(table, base->name);
	for (size_t c = 0; c < sheet->count; c++) {
		const struct store_verdict *verdict =
			verdict_against(report, sheet->slots[c].column, base);
		struct str value = STR_INIT;

		if (!verdict || isnan(verdict->against_mean)) {
			table_piece(table, c, COLOUR_INVALID, false, "no data");
			continue;
		}
		form_value(&value, verdict->against_mean);
		table_piece(table, c, COLOUR_NONE, true, "%s", str_text(&value));
		if (!isnan(verdict->against_cv_pct))
			table_piece(table, c, COLOUR_NONE, true, "cv %s%%",
				num_say_pct(verdict->against_cv_pct, 1, false).text);
		str_release(&value);
	}
}

/* The boots that most cells of the block have; others are marked. */
static int64_t usual_boots(const struct report_block *block, size_t variant)
{
	int64_t most = 0;

	for (size_t c = 0; c < block->count; c++) {
		const struct store_verdict *verdict = block->columns[c].cells[variant];

		if (verdict && verdict->boots > most)
			most = verdict->boots;
	}
	return most;
}

static void write_variant_row(const struct report *report, const struct layout *layout,
	const struct sheet *sheet, size_t v, struct feet *feet, struct table *table)
{
	table_row(table, report->view.variants[v].name);
	for (size_t c = 0; c < sheet->count; c++) {
		const struct store_verdict *verdict = sheet->slots[c].column->cells[v];
		int64_t boots = usual_boots(sheet->slots[c].block, v);
		struct str effect = STR_INIT, interval = STR_INIT, word = STR_INIT;

		if (!verdict) {
			table_piece(table, c, COLOUR_NONE, false,
				report->view.variants[v].state == STATE_FAILED ? "not built"
									       : "not measured");
			continue;
		}
		form_effect(layout, &effect, verdict);
		form_interval(&interval, verdict);
		form_verdict(&word, verdict, footnote(feet, verdict));
		if (!isnan(verdict->effect))
			table_piece(table, c, COLOUR_NONE, true, "%s", str_text(&effect));
		if (interval.len)
			table_piece(table, c, COLOUR_NONE, true, "%s", str_text(&interval));
		table_piece(
			table, c, form_word_colour(verdict->word), false, "%s", str_text(&word));
		if (verdict->look && verdict->boots < boots)
			table_piece(table, c, COLOUR_NONE, false, "look %d, %lld boot%s",
				verdict->look, (long long)verdict->boots,
				verdict->boots == 1 ? "" : "s");
		else if (verdict->boots > 0 && verdict->boots < boots)
			table_piece(table, c, COLOUR_OPEN, false, "%lld boot%s",
				(long long)verdict->boots, verdict->boots == 1 ? "" : "s");
		str_release(&effect);
		str_release(&interval);
		str_release(&word);
	}
}

/* The baseline's own movement, and how much of it the machine's history lets expect. */
static void write_drift_rows(const struct report *report, const struct sheet *sheet,
	const struct store_variant *base, struct table *table)
{
	bool expected = false;

	table_row(table, "drift");
	for (size_t c = 0; c < sheet->count; c++) {
		const struct store_verdict *verdict =
			verdict_against(report, sheet->slots[c].column, base);
		bool beyond;

		if (!verdict || isnan(verdict->drift)) {
			table_piece(table, c, COLOUR_NONE, false, "-");
			continue;
		}
		beyond = fabs(verdict->drift) > verdict->drift_expected;
		expected = expected || !isnan(verdict->drift_expected);
		table_piece(table, c, beyond ? COLOUR_OPEN : COLOUR_NONE, true, "%s%%",
			num_say_pct(100 * verdict->drift, fabs(verdict->drift) < 0.1 ? 2 : 1, false)
				.text);
	}
	if (!expected)
		return;
	table_row(table, "  expected");
	for (size_t c = 0; c < sheet->count; c++) {
		const struct store_verdict *verdict =
			verdict_against(report, sheet->slots[c].column, base);

		if (verdict && !isnan(verdict->drift_expected))
			table_piece(table, c, COLOUR_NONE, true, "up to %s%%",
				num_say_pct(100 * verdict->drift_expected, 2, false).text);
	}
}

static void write_boot_mean(const struct report *report, const struct store_boot *boot,
	const struct store_metric *metric, size_t column, struct table *table)
{
	struct str value = STR_INIT;
	bool found = false;

	for (size_t i = 0; i < report->mean_count; i++) {
		const struct report_mean *mean = &report->means[i];

		if (mean->boot_id != boot->id || mean->metric_id != metric->id)
			continue;
		found = true;
		form_value(&value, mean->mean);
		table_piece(table, column, COLOUR_NONE, true, "%s", str_text(&value));
		if (!isnan(mean->cv_pct))
			table_piece(table, column, COLOUR_NONE, true, "cv %s%%",
				num_say_pct(mean->cv_pct, 1, false).text);
	}
	if (!found)
		table_piece(table, column, COLOUR_INVALID, false, "no data");
	str_release(&value);
}

/* By how much the boots of a calibration differ from each other. */
static void write_between(
	const struct report *report, const struct report_block *block, struct table *table)
{
	double *means = xcalloc(report->mean_count + 1, sizeof(*means));

	table_row(table, "  between boots");
	for (size_t c = 0; c < block->count; c++) {
		size_t count = 0;

		for (size_t i = 0; i < report->mean_count; i++)
			if (report->means[i].metric_id == block->columns[c].metric->id)
				means[count++] = report->means[i].mean;
		if (count > 1)
			table_piece(table, c, COLOUR_NONE, true, "cv %s%%",
				num_say_pct(100 * describe_cv(means, count), 2, false).text);
		else
			table_piece(table, c, COLOUR_NONE, false, "-");
	}
	free(means);
}

/* Without a comparison: what each boot gave. */
static void write_boot_rows(
	const struct report *report, const struct report_block *block, struct table *table)
{
	for (size_t b = 0; b < block->machine->boot_count; b++) {
		const struct store_boot *boot = &block->machine->boots[b];
		char *label = xasprintf("boot %d, %s", boot->ordinal, boot->variant->name);

		table_row(table, label);
		free(label);
		for (size_t c = 0; c < block->count; c++)
			write_boot_mean(report, boot, block->columns[c].metric, c, table);
	}
	write_between(report, block, table);
}

/* What is the same in all columns. */
static void write_title(const struct report *report, const struct layout *layout,
	const struct sheet *sheet, struct str *out)
{
	const struct report_block *block = sheet->slots[0].block;
	struct str title = STR_INIT, rules = STR_INIT;

	str_add(&title, block->title);
	form_percentile(&title, block);
	str_addf(&title, ", %s, %s is better", block->unit,
		block->lower_is_better ? "lower" : "higher");
	if (block->columns[0].condition->control)
		str_add(&rules, "a control, not counted");
	else
		str_addf(&rules, "margin %g %%, FDR %g %%", report->view.head.margin_pct,
			report->view.head.alpha_pct);
	str_add_char(out, '\n');
	layout_ends(layout, out, str_text(&title), str_text(&rules));
	str_release(&title);
	str_release(&rules);
}

static void write_rows(const struct report *report, const struct layout *layout,
	const struct sheet *sheet, struct feet *feet, struct table *table)
{
	const struct store_view *view = &report->view;

	for (size_t b = 0; b < view->variant_count; b++) {
		if (view->variants[b].against || view->variants[b].layout_of)
			continue;
		write_base_row(report, sheet, &view->variants[b], table);
		for (size_t v = 0; v < view->variant_count; v++)
			if (view->variants[v].against == &view->variants[b] &&
				!view->variants[v].control && !view->variants[v].layout_of)
				write_variant_row(report, layout, sheet, v, feet, table);
		write_drift_rows(report, sheet, &view->variants[b], table);
	}
}

static void write_sheet(const struct report *report, const struct layout *layout,
	const struct sheet *sheet, struct feet *feet, struct str *out)
{
	struct table *table = table_new(layout, sheet->count);
	const struct store_machine *machine = NULL;

	write_title(report, layout, sheet, out);
	for (size_t c = 0; c < sheet->count && report->view.machine_count > 1; c++) {
		if (sheet->slots[c].block->machine != machine)
			table_group(table, c, sheet->slots[c].block->machine->name);
		machine = sheet->slots[c].block->machine;
	}
	table_row(table, "");
	for (size_t c = 0; c < sheet->count; c++)
		write_head_cell(table, c, sheet->slots[c].column);
	if (report->mean_count)
		write_boot_rows(report, sheet->slots[0].block, table);
	else
		write_rows(report, layout, sheet, feet, table);
	table_write(table, out);
	table_free(table);
}

static void add_block(struct sheet *sheet, const struct report_block *block)
{
	for (size_t c = 0; c < block->count; c++) {
		GROW(sheet->slots, sheet->count, sheet->capacity);
		sheet->slots[sheet->count++] = (struct slot){block, &block->columns[c]};
	}
}

/* True when an earlier machine has the same workload and metric: it is told there. Boots of
 * different machines have nothing in common, so that their means are told one after the other. */
static bool is_told(const struct report *report, size_t block)
{
	for (size_t b = 0; b < block && !report->mean_count; b++)
		if (report_same_metric(&report->blocks[b], &report->blocks[block]))
			return true;
	return false;
}

void report_tables(const struct report *report, const struct layout *layout, struct str *out)
{
	struct feet feet = {NULL, 0, 0};

	for (size_t b = 0; b < report->block_count; b++) {
		struct sheet sheet = {NULL, 0, 0};

		if (is_told(report, b))
			continue;
		add_block(&sheet, &report->blocks[b]);
		for (size_t other = b + 1; other < report->block_count && !report->mean_count;
			other++)
			if (report_same_metric(&report->blocks[b], &report->blocks[other]))
				add_block(&sheet, &report->blocks[other]);
		write_sheet(report, layout, &sheet, &feet, out);
		free(sheet.slots);
	}
	write_feet(layout, &feet, out);
	free(feet.texts);
}
