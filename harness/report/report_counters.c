/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/report_form.h"
#include "report/report_notes.h"
#include "sys/json_put.h"

/* Counts per operation: they say how a difference comes about, and are no verdicts. */

/* The means of one condition: from first on, up to but not including end. */
struct stretch {
	size_t first, end;
};

static struct stretch next_condition(const struct report *report, size_t first)
{
	const struct store_counter_mean *all = report->counters;
	struct stretch stretch = {first, first + 1};

	while (stretch.end < report->counter_count &&
		all[stretch.end].machine_id == all[first].machine_id &&
		all[stretch.end].condition_id == all[first].condition_id)
		stretch.end++;
	return stretch;
}

static const struct store_counter_mean *find(const struct report *report, struct stretch stretch,
	const struct store_counter_mean *like, int64_t variant_id)
{
	for (size_t i = stretch.first; i < stretch.end; i++)
		if (report->counters[i].variant_id == variant_id &&
			strcmp(report->counters[i].name, like->name) == 0 &&
			strcmp(report->counters[i].unit, like->unit) == 0)
			return &report->counters[i];
	return NULL;
}

/* Of a counter's value to its baseline's; NaN when there is no such ratio. */
static double ratio(const struct store_counter_mean *mean, const struct store_counter_mean *base)
{
	if (!mean || !base || isnan(mean->value) || !(base->value > 0))
		return (double)NAN;
	return mean->value / base->value;
}

/* Where perf counted for a part of the time only. */
static void add_share(struct table *table, size_t column, const struct store_counter_mean *mean)
{
	if (mean->counted_pct < 100)
		table_piece(table, column, COLOUR_NONE, true, "(%.3g %% of the time)",
			mean->counted_pct);
}

static void add_value(struct table *table, size_t column, const struct store_counter_mean *mean)
{
	struct str text = STR_INIT;

	if (mean->value > 0)
		form_value(&text, mean->value);
	else
		str_add_char(&text, '0');
	table_piece(table, column, COLOUR_NONE, true, "%s %s", str_text(&text), mean->unit);
	add_share(table, column, mean);
	str_release(&text);
}

static void add_cell(const struct layout *layout, struct table *table, size_t column,
	const struct store_counter_mean *mean, const struct store_counter_mean *base)
{
	double times = ratio(mean, base);

	if (!mean)
		table_piece(table, column, COLOUR_NONE, true, "-");
	else if (isnan(mean->value))
		table_piece(table, column, COLOUR_NONE, false, "%s",
			base && strcmp(base->reason, mean->reason) == 0 ? "-" : mean->reason);
	else if (isnan(times))
		add_value(table, column, mean);
	else {
		if (times >= 2 || times <= 0.5) {
			struct str text = STR_INIT;

			form_value(&text, times);
			table_piece(table, column, COLOUR_NONE, true, "%s%s", layout_times(layout),
				str_text(&text));
			str_release(&text);
		} else
			table_piece(table, column, COLOUR_NONE, true, "%+.3g%%", 100 * (times - 1));
		add_share(table, column, mean);
	}
}

static void add_row(const struct report *report, const struct layout *layout,
	struct stretch stretch, const struct store_counter_mean *counter, struct table *table)
{
	table_row(table, counter->name);
	for (size_t v = 0; v < report->view.variant_count; v++) {
		const struct store_variant *variant = &report->view.variants[v];
		const struct store_counter_mean *base =
			variant->against ? find(report, stretch, counter, variant->against->id)
					 : NULL;

		add_cell(layout, table, v, find(report, stretch, counter, variant->id), base);
	}
}

/* Counters that a variant has first are told once, in the order in which they stand. */
static bool is_first(
	const struct report *report, struct stretch stretch, const struct store_counter_mean *mean)
{
	for (size_t i = stretch.first; &report->counters[i] < mean; i++)
		if (strcmp(report->counters[i].name, mean->name) == 0 &&
			strcmp(report->counters[i].unit, mean->unit) == 0)
			return false;
	return true;
}

static void add_boots(const struct report *report, struct stretch stretch, struct table *table)
{
	table_row(table, "boots");
	for (size_t v = 0; v < report->view.variant_count; v++) {
		int most = 0;

		for (size_t i = stretch.first; i < stretch.end; i++)
			if (report->counters[i].variant_id == report->view.variants[v].id &&
				report->counters[i].boots > most)
				most = report->counters[i].boots;
		table_piece(table, v, COLOUR_NONE, true, "%d", most);
	}
}

static void write_condition(const struct report *report, const struct layout *layout,
	struct stretch stretch, struct str *out)
{
	struct table *table = table_new(layout, report->view.variant_count);
	const struct store_machine *machine = NULL;
	const struct store_condition *condition =
		report_condition(report, report->counters[stretch.first].condition_id, &machine);
	struct str title = STR_INIT;

	str_addf(&title, "%s", condition ? condition->name : "");
	if (machine && report->view.machine_count > 1)
		str_addf(&title, " on %s", machine->name);
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 2, str_text(&title));
	table_row(table, "");
	for (size_t v = 0; v < report->view.variant_count; v++)
		table_piece(table, v, COLOUR_TITLE, true, "%s", report->view.variants[v].name);
	for (size_t i = stretch.first; i < stretch.end; i++)
		if (is_first(report, stretch, &report->counters[i]))
			add_row(report, layout, stretch, &report->counters[i], table);
	add_boots(report, stretch, table);
	table_write(table, out);
	table_free(table);
	str_release(&title);
}

void report_counters(const struct report *report, const struct layout *layout, struct str *out)
{
	if (!report->counter_count)
		return;
	str_add_char(out, '\n');
	layout_add_coloured(layout, out, COLOUR_TITLE, "Counters per operation");
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 0,
		"From runs of their own, which no verdict uses; means over boots. Others are told "
		"as changes against their baseline.");
	for (size_t i = 0; i < report->counter_count;) {
		struct stretch stretch = next_condition(report, i);

		write_condition(report, layout, stretch, out);
		i = stretch.end;
	}
}

static json_t *json_of_mean(
	const struct report *report, struct stretch stretch, const struct store_counter_mean *mean)
{
	const struct store_variant *variant = NULL;
	const struct store_machine *machine = NULL;
	const struct store_condition *condition =
		report_condition(report, mean->condition_id, &machine);
	json_t *out;
	double times;

	for (size_t v = 0; v < report->view.variant_count; v++)
		if (report->view.variants[v].id == mean->variant_id)
			variant = &report->view.variants[v];
	if (!variant || !condition)
		return NULL;
	times = variant->against ? ratio(mean, find(report, stretch, mean, variant->against->id))
				 : (double)NAN;
	out = json_object();
	json_put_text(out, "machine", machine->name);
	json_put_text(out, "condition", condition->name);
	json_put_text(out, "variant", variant->name);
	json_put_text(out, "against", variant->against ? variant->against->name : NULL);
	json_put_text(out, "counter", mean->name);
	json_put_text(out, "unit", mean->unit);
	json_put_num(out, "value", mean->value);
	json_put_num(out, "change_pct", 100 * (times - 1));
	json_put_num(out, "counted_pct", mean->counted_pct);
	json_put_int(out, "boots", mean->boots);
	json_put_text(out, "reason", mean->reason);
	return out;
}

json_t *report_counters_json(const struct report *report)
{
	json_t *out = json_array();

	for (size_t i = 0; i < report->counter_count;) {
		struct stretch stretch = next_condition(report, i);

		for (; i < stretch.end; i++) {
			json_t *item = json_of_mean(report, stretch, &report->counters[i]);

			if (item)
				json_push(out, item);
		}
	}
	return out;
}
