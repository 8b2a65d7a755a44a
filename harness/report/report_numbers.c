/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/report_form.h"

static void add_number(struct str *out, const char *name, double value, const char *unit)
{
	if (!isnan(value))
		str_addf(out, ", %s %.3g%s", name, value, unit);
}

static void add_verdict(const struct layout *layout, const struct report_column *column,
	const struct store_variant *variant, const struct store_verdict *verdict, struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s, %s, %s: %s", variant->name, column->condition->name,
		column->metric->name, verdict->method);
	str_addf(&text, " v%lld, %lld and %lld boots, %lld and %lld runs",
		(long long)verdict->method_version, (long long)verdict->boots,
		(long long)verdict->against_boots, (long long)verdict->runs,
		(long long)verdict->against_runs);
	add_number(&text, "between boots", 100 * verdict->between_sd, " %");
	add_number(&text, "within boots", 100 * verdict->within_sd, " %");
	add_number(&text, "standard error", 100 * verdict->se, " %");
	add_number(&text, "df", verdict->df, "");
	add_number(&text, "p", verdict->p, "");
	add_number(&text, "q", verdict->q, "");
	if (verdict->family)
		str_addf(&text, " of %lld", (long long)verdict->family);
	if (verdict->look)
		str_addf(&text, ", look %d at %.3g %%", verdict->look, 100 * verdict->level);
	layout_paragraph(layout, out, 2, 4, str_text(&text));
	str_release(&text);
}

void report_write_numbers(const struct report *report, const struct layout *layout, struct str *out)
{
	str_add_char(out, '\n');
	layout_add_coloured(layout, out, COLOUR_TITLE, "Behind the verdicts");
	str_add_char(out, '\n');
	for (size_t b = 0; b < report->block_count; b++)
		for (size_t c = 0; c < report->blocks[b].count; c++) {
			const struct report_column *column = &report->blocks[b].columns[c];

			for (size_t v = 0; v < report->view.variant_count; v++)
				if (column->cells[v])
					add_verdict(layout, column, &report->view.variants[v],
						column->cells[v], out);
		}
}
