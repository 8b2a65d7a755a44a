/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "report/bisect.h"
#include "report/report_form.h"

enum { BAR_COLUMNS = 20 };
static const double shown_from = 0.001; /* posterior */

static const struct bisect_step *step_at(const struct bisect_report *report, int position)
{
	return &report->record->steps[position];
}

/* Positions in published lists count from the newest. */
static size_t list_number(const struct bisect_report *report, int position)
{
	return report->record->listed + 1 - (size_t)position;
}

static void add_levels(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	if (isnan(finding->good_level) || isnan(finding->bad_level))
		return;
	str_add(out, " The level goes from ");
	form_value(out, finding->good_level);
	str_add(out, " to ");
	form_value(out, finding->bad_level);
	str_addf(out, " %s (%s %%).", report->record->unit,
		num_say_pct(100 * (finding->bad_level / finding->good_level - 1), 1, true).text);
}

static void write_head(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;
	char *number = record->experiment_id
			       ? xasprintf("bisect %lld", (long long)record->experiment_id)
			       : xstrdup(record->name);
	char *left = xasprintf("kbracket %s: %s%s%s", number, record->condition,
		record->condition[0] ? ", " : "", record->metric);
	char *right = xasprintf("%s%s better", record->unit[0] ? record->unit : "",
		record->lower_is_better ? ", lower is" : ", higher is");
	struct str about = STR_INIT;

	layout_ends(layout, out, left, right);
	str_addf(&about, "%zu %s%s%s, from ", record->listed, bisect_axis_name(record->axis),
		record->machine[0] ? " on " : "", record->machine);
	str_addf(&about, "%.12s (good) to %.12s (bad); %lld boots, %lld runs, %lld kernels.",
		record->steps[0].name, record->steps[record->bad].name,
		(long long)report->finding->boots, (long long)report->finding->runs,
		(long long)report->finding->builds);
	layout_paragraph(layout, out, 0, 0, str_text(&about));
	str_release(&about);
	free(number);
	free(left);
	free(right);
}

static void write_findings(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	bisect_report_conclusion(report, &text);
	add_levels(report, &text);
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 0, str_text(&text));
	for (size_t i = 0; i < report->proof_count; i++) {
		str_reset(&text);
		bisect_report_proof(report, &report->proofs[i], &text);
		layout_paragraph(layout, out, 0, 0, str_text(&text));
	}
	for (size_t i = 0; i < report->record->event_count; i++) {
		const struct bisect_event *event = &report->record->events[i];

		if (event->kind == EVENT_NOTE && !event->undone)
			layout_paragraph(layout, out, 0, 0, event->text);
	}
	str_release(&text);
}

static void write_authors(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	if (finding->word != FOUND_CULPRIT && finding->word != FOUND_SEVERAL)
		return;
	for (size_t i = 0; i < finding->suspect_count; i++) {
		const char *author = step_at(report, finding->suspects[i])->author;
		char *line = xasprintf("Cc: %s", author);

		if (author[0])
			layout_paragraph(layout, out, 0, 4, line);
		free(line);
	}
}

static void add_bar(const struct layout *layout, struct str *out, double probability)
{
	int length = (int)(probability * BAR_COLUMNS + 0.5);

	for (int i = 0; i < BAR_COLUMNS; i++)
		str_add(out, i < length ? layout->utf8 ? "█" : "#" : " ");
	str_addf(out, " %5.1f %%", 100 * probability);
}

/* The samples of each boot of a step on a line of their own. */
static void write_samples(const struct bisect_report *report, int position,
	const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;
	struct str line = STR_INIT;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind != EVENT_BOOT || event->position != position || event->undone ||
			!event->value_count)
			continue;
		str_reset(&line);
		str_addf(&line, "%s:", record->metric);
		for (size_t k = 0; k < event->value_count; k++)
			str_addf(&line, " %.*f", fabs(event->values[k]) < 100 ? 4 : 2,
				event->values[k]);
		layout_paragraph(layout, out, 9, 11, str_text(&line));
	}
	str_release(&line);
}

static bool is_known(const struct bisect_report *report, int position)
{
	const struct bisect_record *record = report->record;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (!event->undone && event->position == position &&
			(event->kind == EVENT_BOOT || event->kind == EVENT_SKIP ||
				event->kind == EVENT_GOOD || event->kind == EVENT_BAD))
			return true;
	}
	return report->finding->posterior && report->finding->posterior[position] >= shown_from;
}

static void write_marks(const struct bisect_report *report, int position,
	const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];
		char *line;

		if (event->undone || event->position != position ||
			(event->kind != EVENT_SKIP && event->kind != EVENT_GOOD &&
				event->kind != EVENT_BAD))
			continue;
		line = event->kind == EVENT_SKIP
			       ? xasprintf("skipped: %.300s", event->text)
			       : xasprintf("marked %s", bisect_event_name(event->kind));
		layout_paragraph(layout, out, 9, 11, line);
		free(line);
	}
}

static void write_step(const struct bisect_report *report, const char *number, int position,
	const struct layout *layout, struct str *out)
{
	const struct bisect_step *step = step_at(report, position);
	double probability =
		report->finding->posterior && position && (size_t)position <= report->record->listed
			? report->finding->posterior[position]
			: (double)NAN;
	char *line = xasprintf("%6s  %.12s  %s", number, step->name, step->subject);

	layout_paragraph(layout, out, 0, 9, line);
	free(line);
	if (probability >= shown_from) {
		str_add(out, "         ");
		add_bar(layout, out, probability);
		str_add_char(out, '\n');
	}
	write_marks(report, position, layout, out);
	write_samples(report, position, layout, out);
}

static void write_gap(size_t *hidden, struct str *out)
{
	if (*hidden)
		str_addf(out, "         (%zu more that were not measured, below %.1f %% each)\n",
			*hidden, 100 * shown_from);
	*hidden = 0;
}

static void write_list(
	const struct bisect_report *report, bool all, const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;
	size_t hidden = 0;

	str_add_char(out, '\n');
	for (size_t i = record->step_count; i-- > record->listed + 1;)
		if (is_known(report, (int)i))
			write_step(report, "-", (int)i, layout, out);
	for (size_t i = record->listed; i > 0; i--) {
		char number[24];

		if (!all && !is_known(report, (int)i)) {
			hidden++;
			continue;
		}
		write_gap(&hidden, out);
		(void)snprintf(number, sizeof(number), "%zu", list_number(report, (int)i));
		write_step(report, number, (int)i, layout, out);
	}
	write_gap(&hidden, out);
	write_step(report, "good", 0, layout, out);
}

void bisect_report_text(
	const struct bisect_report *report, bool all, const struct layout *layout, struct str *out)
{
	write_head(report, layout, out);
	write_findings(report, layout, out);
	write_authors(report, layout, out);
	write_list(report, all, layout, out);
}
