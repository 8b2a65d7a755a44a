/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/bisect.h"
#include "report/report_form.h"
#include "sys/json_put.h"

static json_t *bisect_json(const struct bisect_record *record)
{
	json_t *object = json_object();

	json_put_int(object, "id", record->experiment_id);
	json_put_text(object, "name", record->name);
	json_put_text(object, "axis", bisect_axis_name(record->axis));
	json_put_text(object, "machine", record->machine);
	json_put_text(object, "condition", record->condition);
	json_put_text(object, "metric", record->metric);
	json_put_text(object, "unit", record->unit);
	json_put_text(object, "better", record->lower_is_better ? "lower" : "higher");
	json_put_text(object, "good", record->steps[0].name);
	json_put_text(object, "bad", record->steps[record->bad].name);
	json_put_int(object, "listed", (int64_t)record->listed);
	json_put_int(object, "confidence_pct", record->spec.confidence_pct);
	return object;
}

static json_t *interval_json(const double *interval)
{
	json_t *list = json_array();

	json_push(list, json_num(interval[0]));
	json_push(list, json_num(interval[1]));
	return list;
}

static void put_levels(json_t *object, const struct bisect_finding *finding)
{
	json_put_num(object, "good_level", finding->good_level);
	json_put(object, "good_interval", interval_json(finding->good_interval));
	json_put_num(object, "bad_level", finding->bad_level);
	json_put(object, "bad_interval", interval_json(finding->bad_interval));
	json_put_num(object, "within_boots_pct", 100 * finding->within);
	json_put_num(object, "between_boots_pct", 100 * finding->between);
	json_put_num(object, "outlying_boots_pct", 100 * finding->outlying);
}

static json_t *finding_json(const struct bisect_report *report)
{
	const struct bisect_finding *finding = report->finding;
	json_t *object = json_object(), *suspects = json_array();
	struct str text = STR_INIT;

	bisect_report_conclusion(report, &text);
	json_put_text(object, "verdict", bisect_word_name(finding->word));
	json_put_text(object, "text", str_text(&text));
	for (size_t i = 0; i < finding->suspect_count; i++)
		json_push(suspects, json_integer(finding->suspects[i]));
	json_put(object, "suspects", suspects);
	json_put_num(object, "probability", finding->probability);
	json_put_num(object, "no_change", finding->none);
	if (finding->word == FOUND_NONE)
		json_put_num(object, "improved", finding->improved);
	put_levels(object, finding);
	json_put_int(object, "boots", finding->boots);
	json_put_int(object, "runs", finding->runs);
	json_put_int(object, "kernels", finding->builds);
	if (finding->boots_left) {
		json_put_int(object, "boots_left", finding->boots_left);
		json_put_num(object, "seconds_left", finding->seconds_left);
	}
	if (finding->word == FOUND_SEARCHING)
		json_put_int(object, "next", finding->next);
	str_release(&text);
	return object;
}

static json_t *values_json(const struct bisect_event *event)
{
	json_t *list = json_array();

	for (size_t i = 0; i < event->value_count; i++)
		json_push(list, json_num(event->values[i]));
	return list;
}

/* order: of all events, so that a picture can show what came first. */
static json_t *boot_json(const struct bisect_event *event)
{
	json_t *object = json_object();
	double level = 0;

	for (size_t i = 0; i < event->value_count; i++)
		level += log(event->values[i]) / (double)event->value_count;
	json_put_int(object, "boot", event->boot_id);
	json_put_int(object, "order", event->number);
	json_put_int(object, "time_ns", event->time_ns);
	json_put_num(object, "level", exp(level));
	json_put(object, "values", values_json(event));
	return object;
}

/* A step's boots, and what else was said of it. */
static void put_events(json_t *object, const struct bisect_record *record, int position)
{
	json_t *boots = json_array();
	const char *mark = NULL;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->undone || event->position != position)
			continue;
		if (event->kind == EVENT_BOOT && event->value_count)
			json_push(boots, boot_json(event));
		if (event->kind == EVENT_GOOD || event->kind == EVENT_BAD)
			mark = bisect_event_name(event->kind);
	}
	json_put(object, "boots", boots);
	json_put_text(object, "mark", mark);
	json_put_text(object, "skipped", bisect_skipped(record, position));
}

static json_t *step_json(const struct bisect_report *report, int position)
{
	const struct bisect_record *record = report->record;
	const struct bisect_step *step = &record->steps[position];
	bool listed = position && (size_t)position <= record->listed;
	json_t *object = json_object();

	json_put_int(object, "position", position);
	json_put_bool(object, "listed", listed);
	if (listed)
		json_put_int(object, "index", (int64_t)record->listed + 1 - position);
	json_put_text(object, "name", step->name);
	json_put_text(object, "subject", step->subject);
	json_put_text(object, "author", step->author);
	json_put(object, "posterior",
		listed && report->finding->posterior
			? json_num(report->finding->posterior[position])
			: json_null());
	put_events(object, record, position);
	return object;
}

static json_t *proof_json(const struct bisect_report *report, const struct bisect_proof *proof)
{
	json_t *object = json_object();
	struct str text = STR_INIT;

	bisect_report_proof(report, proof, &text);
	json_put_text(object, "of", report->record->steps[proof->position].name);
	json_put_text(object, "against", proof->what);
	json_put_int(object, "experiment", proof->experiment_id);
	if (proof->judged)
		form_verdict_json(object, &proof->verdict);
	json_put_text(object, "text", str_text(&text));
	str_release(&text);
	return object;
}

void bisect_report_json(const struct bisect_report *report, struct str *out)
{
	static const char *const proved[] = {[PROVED_NOT_TRIED] = "not tried",
		[PROVED_YES] = "yes",
		[PROVED_NO] = "no",
		[PROVED_OPEN] = "open"};
	json_t *object = json_object(), *steps = json_array(), *proofs = json_array();

	json_put_int(object, "schema", BISECT_JSON_SCHEMA);
	json_put(object, "bisect", bisect_json(report->record));
	json_put(object, "finding", finding_json(report));
	json_put_text(object, "proved", proved[bisect_report_proved(report)]);
	for (size_t i = 0; i < report->proof_count; i++)
		json_push(proofs, proof_json(report, &report->proofs[i]));
	json_put(object, "proofs", proofs);
	for (size_t i = 0; i < report->record->step_count; i++)
		json_push(steps, step_json(report, (int)i));
	json_put(object, "steps", steps);
	json_write(object, true, out);
	str_add_char(out, '\n');
	json_decref(object);
}
