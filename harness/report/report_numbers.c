/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/report_form.h"

static void add_number(struct str *out, const char *name, double value, const char *unit)
{
	if (!isnan(value))
		str_addf(out, ", %s %.3g%s", name, value, unit);
}

/* Where the order statistics say that a boot's percentile lies. */
static void add_order(struct str *out, const struct store_verdict *verdict)
{
	if (verdict->observations)
		str_addf(out, ", percentile of %lld and %lld observations or more",
			(long long)verdict->observations, (long long)verdict->against_observations);
	if (!isnan(verdict->order_low) && !isnan(verdict->against_order_low))
		str_addf(out,
			", a boot's known by order statistics to [%.4g, %.4g] and [%.4g, %.4g]",
			verdict->order_low, verdict->order_high, verdict->against_order_low,
			verdict->against_order_high);
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
	add_order(&text, verdict);
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
