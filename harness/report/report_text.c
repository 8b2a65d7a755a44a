/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/describe.h"
#include "report/report_form.h"

static void write_header(const struct report *report, const struct layout *layout, struct str *out)
{
	const struct store_view *view = &report->view;
	struct str text = STR_INIT, machine = STR_INIT;

	str_addf(&text, "kbracket: %s%s on ", view->head.name, report->subject);
	for (size_t m = 0; m < view->machine_count; m++) {
		str_reset(&machine);
		form_machine(&machine, &view->machines[m]);
		str_addf(&text, "%s%s", m ? ", " : "", view->machines[m].name);
		if (machine.len)
			str_addf(&text, " (%s)", str_text(&machine));
	}
	str_addf(&text, ", %s", view->head.design);
	layout_paragraph(layout, out, 0, 10, str_text(&text));
	str_release(&text);
	str_release(&machine);
}

static void write_notes(const struct report *report, const struct layout *layout, struct str *out)
{
	static const char *const titles[] = {
		[NOTE_NEXT] = "Next",
		[NOTE_WARNING] = "Warnings",
		[NOTE_BUILD] = "Builds",
		[NOTE_BOOT] = "Boots",
		[NOTE_SKIPPED] = "Skipped suites",
		[NOTE_RUNS] = "Runs",
		[NOTE_MERGED] = "Merged conditions",
		[NOTE_CONFIG] = "Kernel configuration",
	};

	for (size_t kind = 0; kind < ARRAY_SIZE(titles); kind++) {
		bool titled = false;

		for (size_t n = 0; n < report->note_count; n++) {
			if (report->notes[n].kind != kind)
				continue;
			if (!titled) {
				str_add_char(out, '\n');
				layout_add_coloured(layout, out, COLOUR_TITLE, titles[kind]);
				str_add_char(out, '\n');
			}
			titled = true;
			layout_paragraph(layout, out, 2, 4, report->notes[n].text);
		}
	}
}

/* What the words and signs in the tables stand for, once. */
static void write_legend(const struct report *report, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;
	int64_t family = 0;

	if (!report->verdict_count || report->view.head.means_only)
		return;
	for (size_t i = 0; i < report->verdict_count; i++)
		if (report->verdicts[i].family > family)
			family = report->verdicts[i].family;
	str_addf(&text,
		"Effects are changes of the metric against the baseline, with half of the 95 %% "
		"interval (%s); boots are the unit, and N more boots are N of each kernel. cv: "
		"within boots. drift: last baseline boot "
		"against the first of a block, mean over blocks. eff.: workers in per cent of the "
		"CPUs.",
		layout_plus_minus(layout));
	if (report->view.head.looks && isnan(report->view.head.until_pct))
		str_add(&text, " A verdict is of the look at which it was reached; intervals and q "
			       "hold for all looks together.");
	if (family > 0)
		str_addf(&text, " q over %lld comparison%s per variant%s (Benjamini-Hochberg).",
			(long long)family, family == 1 ? "" : "s",
			report->view.machine_count > 1 ? " and machine" : "");
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 0, str_text(&text));
	str_release(&text);
}

void report_write_text(const struct report *report, const struct layout *layout, struct str *out)
{
	write_header(report, layout, out);
	str_add_char(out, '\n');
	report_headline(report, layout, out);
	report_controls(report, layout, out);
	report_machines(report, layout, out);
	report_tables(report, layout, out);
	report_suites(report, layout, out);
	report_counters(report, layout, out);
	report_looks(report, layout, out);
	report_costs(report, layout, out);
	write_legend(report, layout, out);
	write_notes(report, layout, out);
	report_reproduce(report, layout, out);
}
