/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "cmd/beside.h"
#include "report/report.h"
#include "report/report_form.h"
#include "sys/json_put.h"

static const char *word_of(const struct peer_answer *answer)
{
	if (!answer->told)
		return "no answer";
	return answer->differs ? "different" : "not different";
}

static void write_ours(
	const struct layout *layout, struct table *table, const struct store_verdict *verdict)
{
	struct str text = STR_INIT;

	if (!isnan(verdict->effect)) {
		form_effect(layout, &text, verdict);
		table_piece(table, 0, COLOUR_NONE, true, "%s", str_text(&text));
	}
	str_reset(&text);
	form_interval(&text, verdict);
	if (text.len)
		table_piece(table, 0, COLOUR_NONE, true, "%s", str_text(&text));
	str_reset(&text);
	form_verdict(&text, verdict, 0);
	table_piece(table, 0, form_word_colour(verdict->word), false, "%s", str_text(&text));
	str_release(&text);
}

static void write_theirs(struct table *table, const struct peer_answer *answer)
{
	if (!isnan(answer->change))
		table_piece(table, 1, COLOUR_NONE, true, "%s%%",
			num_say_pct(100 * answer->change, 2, true).text);
	table_piece(table, 1, answer->differs ? COLOUR_OPEN : COLOUR_NONE, false, "%s",
		word_of(answer));
	if (!isnan(answer->p))
		table_piece(table, 1, COLOUR_NONE, true, "p %.2g", answer->p);
	if (*answer->why)
		table_piece(table, 1, COLOUR_NONE, false, "%s", answer->why);
}

static bool in_group(const struct others_row *row, const struct others_row *head)
{
	return row->machine == head->machine && row->variant == head->variant;
}

/* Verdicts of one machine and variant make a table. */
static void write_group(
	const struct others *others, size_t first, const struct layout *layout, struct str *out)
{
	const struct others_row *head = &others->rows[first];
	struct table *table;
	struct str text = STR_INIT;

	for (size_t i = 0; i < first; i++)
		if (in_group(&others->rows[i], head))
			return;
	str_addf(&text, "%s against %s on %s", head->variant->name, head->against->name,
		head->machine->name);
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	table = table_new(layout, 2);
	table_row(table, "");
	table_piece(table, 0, COLOUR_NONE, false, "kbracket");
	table_piece(table, 1, COLOUR_NONE, false, "as %s", peer_name(others->peer));
	for (size_t i = first; i < others->count; i++) {
		const struct others_row *row = &others->rows[i];

		if (!in_group(row, head))
			continue;
		str_reset(&text);
		str_addf(&text, "%s, %s", row->condition->name, row->metric->name);
		table_row(table, str_text(&text));
		write_ours(layout, table, row->ours);
		write_theirs(table, &row->theirs);
	}
	table_write(table, out);
	table_free(table);
	str_release(&text);
}

void beside_write_text(const struct others *others, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "As %s: %s.", peer_name(others->peer), peer_about(others->peer));
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	for (size_t i = 0; i < others->count; i++)
		write_group(others, i, layout, out);
	str_reset(&text);
	str_addf(&text,
		"Of %zu comparison%s, called different by %s only: %zu; regressed or improved by "
		"kbracket only: %zu.",
		others->count, others->count == 1 ? "" : "s", peer_name(others->peer),
		others->only_theirs, others->only_ours);
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	str_release(&text);
}

static json_t *row_json(const struct others_row *row)
{
	const struct store_verdict *ours = row->ours;
	json_t *out = json_object(), *theirs = json_object();

	json_put_text(out, "machine", row->machine->name);
	json_put_text(out, "condition", row->condition->name);
	json_put_text(out, "metric", row->metric->name);
	json_put_text(out, "variant", row->variant->name);
	json_put_text(out, "against", row->against->name);
	form_verdict_json(out, ours);
	json_put_text(out, "method", ours->method);
	json_put_int(out, "method_version", ours->method_version);
	json_put_bool(theirs, "told", row->theirs.told);
	json_put_bool(theirs, "different", row->theirs.differs);
	json_put_num(theirs, "change_pct", 100 * row->theirs.change);
	json_put_num(theirs, "p", row->theirs.p);
	json_put_text(theirs, "why", row->theirs.why);
	json_put(out, "theirs", theirs);
	return out;
}

void beside_write_json(const struct others *others, struct str *out)
{
	json_t *root = json_object(), *rows = json_array();

	json_put_int(root, "schema", REPORT_JSON_SCHEMA);
	json_put_text(root, "as", peer_name(others->peer));
	json_put_text(root, "rule", peer_about(others->peer));
	json_put_int(root, "only_theirs", (int64_t)others->only_theirs);
	json_put_int(root, "only_ours", (int64_t)others->only_ours);
	for (size_t i = 0; i < others->count; i++)
		json_push(rows, row_json(&others->rows[i]));
	json_put(root, "rows", rows);
	json_write(root, true, out);
	str_add_char(out, '\n');
	json_decref(root);
}
