/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/report_form.h"
#include "sys/json_put.h"

static void add_line(const struct report *report, const struct layout *layout,
	const struct suite_mean *mean, struct str *out)
{
	/* What the forms of numbers need of a verdict. */
	const struct store_verdict numbers = {.effect = mean->effect,
		.effect_low = mean->effect_low,
		.effect_high = mean->effect_high};
	struct str text = STR_INIT;

	str_addf(&text, "%s", mean->variant->name);
	if (report->view.machine_count > 1)
		str_addf(&text, " on %s", mean->machine->name);
	str_addf(&text, ", %s %s, %lld conditions: ", mean->suite, mean->metric,
		(long long)mean->conditions);
	form_effect(layout, &text, &numbers);
	str_add_char(&text, ' ');
	form_interval(&text, &numbers);
	while (text.len && text.text[text.len - 1] == ' ')
		text.text[--text.len] = 0;
	str_addf(&text, " (%s is better)", mean->lower_is_better ? "lower" : "higher");
	if (isnan(mean->effect_low))
		str_add(&text, ", an estimate only");
	layout_paragraph(layout, out, 2, 4, str_text(&text));
	str_release(&text);
}

void report_suites(const struct report *report, const struct layout *layout, struct str *out)
{
	if (!report->suite_count)
		return;
	str_add_char(out, '\n');
	layout_add_coloured(layout, out, COLOUR_TITLE, "Geometric means over a suite's conditions");
	str_add_char(out, '\n');
	for (size_t i = 0; i < report->suite_count; i++)
		add_line(report, layout, &report->suites[i], out);
}

json_t *report_suites_json(const struct report *report)
{
	json_t *out = json_array();

	for (size_t i = 0; i < report->suite_count; i++) {
		const struct suite_mean *mean = &report->suites[i];
		json_t *item = json_object();

		json_put_text(item, "machine", mean->machine->name);
		json_put_text(item, "suite", mean->suite);
		json_put_text(item, "metric", mean->metric);
		json_put_text(item, "unit", mean->unit);
		json_put_text(item, "better", mean->lower_is_better ? "lower" : "higher");
		json_put_text(item, "variant", mean->variant->name);
		json_put_text(item, "against", mean->against->name);
		json_put_int(item, "conditions", mean->conditions);
		json_put_int(item, "boots", mean->boots);
		json_put_int(item, "against_boots", mean->against_boots);
		json_put_num(item, "effect_pct", report_pct(mean->effect));
		json_put_num(item, "effect_low_pct", report_pct(mean->effect_low));
		json_put_num(item, "effect_high_pct", report_pct(mean->effect_high));
		json_put_num(item, "p", mean->p);
		json_push(out, item);
	}
	return out;
}
