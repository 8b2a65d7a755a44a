/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/compare.h"
#include "report/report_form.h"
#include "sys/json_put.h"

static const char *const words[] = {
	[COMPARE_APART] = "intervals apart",
	[COMPARE_OVERLAP] = "intervals overlap",
	[COMPARE_UNKNOWN] = "not comparable",
};

static void write_cell(const struct layout *layout, struct table *table, size_t column,
	const struct store_verdict *verdict)
{
	struct str effect = STR_INIT, interval = STR_INIT, word = STR_INIT;

	form_effect(layout, &effect, verdict);
	form_interval(&interval, verdict);
	form_verdict(&word, verdict, 0);
	if (!isnan(verdict->effect))
		table_piece(table, column, COLOUR_NONE, true, "%s", str_text(&effect));
	if (interval.len)
		table_piece(table, column, COLOUR_NONE, true, "%s", str_text(&interval));
	table_piece(table, column, form_word_colour(verdict->word), false, "%s", str_text(&word));
	str_release(&effect);
	str_release(&interval);
	str_release(&word);
}

static void write_row(
	const struct layout *layout, struct table *table, const struct compare_row *row)
{
	enum compare_word word = compare_word_of(row);
	struct str label = STR_INIT;

	str_addf(&label, "%s, %s", row->condition, row->metric);
	table_row(table, str_text(&label));
	write_cell(layout, table, 0, row->a);
	write_cell(layout, table, 1, row->b);
	table_piece(table, 2, word == COMPARE_APART ? COLOUR_OPEN : COLOUR_NONE, false, "%s",
		*row->obstacle ? row->obstacle : words[word]);
	str_release(&label);
}

static void write_head(struct table *table, const struct compare *compare)
{
	const struct store_experiment *a = &compare->a->view.head, *b = &compare->b->view.head;

	table_row(table, "");
	table_piece(table, 0, COLOUR_NONE, false, "A: %s", a->name);
	table_piece(table, 1, COLOUR_NONE, false, "B: %s", b->name);
	table_piece(table, 2, COLOUR_NONE, false, "A and B");
}

/* Rows of one machine and variant make a table; they stand together in the order of the report,
 * which is by condition, so each pair of machine and variant is collected. */
static void write_group(
	const struct compare *compare, const struct layout *layout, size_t first, struct str *out)
{
	const struct compare_row *head = &compare->rows[first];
	struct table *table;
	struct str title = STR_INIT;

	for (size_t i = 0; i < first; i++)
		if (strcmp(compare->rows[i].machine, head->machine) == 0 &&
			strcmp(compare->rows[i].variant, head->variant) == 0)
			return;
	table = table_new(layout, 3);
	write_head(table, compare);
	for (size_t i = first; i < compare->count; i++)
		if (strcmp(compare->rows[i].machine, head->machine) == 0 &&
			strcmp(compare->rows[i].variant, head->variant) == 0)
			write_row(layout, table, &compare->rows[i]);
	str_addf(&title, "%s against %s on %s", head->variant, head->against, head->machine);
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 2, str_text(&title));
	table_write(table, out);
	table_free(table);
	str_release(&title);
}

static void add_experiment(struct str *out, char letter, const struct report *report)
{
	const struct store_experiment *head = &report->view.head;

	str_addf(out, "%c is experiment %lld, %s (%s)", letter, (long long)head->id, head->name,
		head->design);
}

void compare_write_text(const struct compare *compare, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	str_add(&text, "kbracket compare: ");
	add_experiment(&text, 'A', compare->a);
	str_add(&text, "; ");
	add_experiment(&text, 'B', compare->b);
	str_add(&text,
		". Effects are compared, each against its own baseline boots; levels are not: "
		"they were taken at different times.");
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	for (size_t i = 0; i < compare->count; i++)
		write_group(compare, layout, i, out);
	str_reset(&text);
	str_addf(&text, "In both: %zu. Only in A: %zu. Only in B: %zu.", compare->count,
		compare->only_a, compare->only_b);
	if (!compare->count)
		str_add(&text, " Nothing is comparable: that takes the same machine, condition, "
			       "metric, variant and baseline by name.");
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	for (size_t i = 0; i < compare->note_count; i++)
		layout_paragraph(layout, out, 0, 2, compare->notes[i].text);
	str_release(&text);
}

static json_t *side_json(const struct store_verdict *verdict)
{
	json_t *out = json_object();

	form_verdict_json(out, verdict);
	json_put_int(out, "boots", verdict->boots);
	json_put_num(out, "against_mean", verdict->against_mean);
	return out;
}

static json_t *row_json(const struct compare_row *row)
{
	json_t *out = json_object();

	json_put_text(out, "machine", row->machine);
	json_put_text(out, "condition", row->condition);
	json_put_text(out, "metric", row->metric);
	json_put_text(out, "unit", row->unit);
	json_put_text(out, "variant", row->variant);
	json_put_text(out, "against", row->against);
	json_put(out, "a", side_json(row->a));
	json_put(out, "b", side_json(row->b));
	json_put_text(out, "result", words[compare_word_of(row)]);
	json_put_text(out, "obstacle", row->obstacle);
	return out;
}

void compare_write_json(const struct compare *compare, struct str *out)
{
	json_t *root = json_object(), *rows = json_array(), *notes = json_array();

	json_put_int(root, "schema", REPORT_JSON_SCHEMA);
	json_put_int(root, "a", compare->a->view.head.id);
	json_put_int(root, "b", compare->b->view.head.id);
	for (size_t i = 0; i < compare->count; i++)
		json_push(rows, row_json(&compare->rows[i]));
	json_put(root, "rows", rows);
	json_put_int(root, "only_a", (int64_t)compare->only_a);
	json_put_int(root, "only_b", (int64_t)compare->only_b);
	for (size_t i = 0; i < compare->note_count; i++)
		json_push(notes, json_text(compare->notes[i].text));
	json_put(root, "notes", notes);
	json_write(root, true, out);
	str_add_char(out, '\n');
	json_decref(root);
}
