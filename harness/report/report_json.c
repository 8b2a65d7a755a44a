/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "report/report_notes.h"
#include "sys/json.h"

enum { STORED_JSON_MAX_BYTES = 1 << 20 };

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		BUG("member '%s' could not be added", key);
}

static void put_text(json_t *object, const char *key, const char *text)
{
	put(object, key, json_text(text));
}

static void put_int(json_t *object, const char *key, int64_t value)
{
	put(object, key, json_integer(value));
}

static void put_num(json_t *object, const char *key, double value)
{
	put(object, key, json_num(value));
}

static void append(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) != 0)
		BUG("an item could not be added");
}

/* JSON that was stored as text: parsed, or null when there is none. */
static json_t *stored(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (!*text || json_parse(text, strlen(text), STORED_JSON_MAX_BYTES, &value, &err))
		return json_null();
	return value;
}

static const char *variant_name(const struct report *report, int64_t id)
{
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (report->view.variants[v].id == id)
			return report->view.variants[v].name;
	return NULL;
}

static json_t *json_of_experiment(const struct store_experiment *head)
{
	json_t *out = json_object();

	put_int(out, "id", head->id);
	put_text(out, "name", head->name);
	put_text(out, "kind", store_kind_name(head->kind));
	put_text(out, "state", store_state_name(head->state));
	put_int(out, "created_ns", head->created_ns);
	put_text(out, "design", head->design);
	put_int(out, "seed", head->seed);
	put_num(out, "margin_pct", head->margin_pct);
	put_num(out, "alpha_pct", head->alpha_pct);
	put_num(out, "cv_gate_pct", head->cv_pct);
	put_num(out, "drift_gate_pct", head->drift_pct);
	put(out, "means_only", json_boolean(head->means_only));
	put_text(out, "config_sha256", head->spec_sha256);
	put_text(out, "kbracket", head->version);
	return out;
}

static json_t *json_of_build(const struct store_build *build)
{
	json_t *out;

	if (!build)
		return json_null();
	out = json_object();
	put_text(out, "key", build->key);
	put_text(out, "commit", build->commit);
	put_text(out, "tree", build->tree);
	put_text(out, "release", build->release);
	put_text(out, "proc_version", build->proc_version);
	put_text(out, "build_id", build->build_id);
	put_text(out, "config_sha256", build->config_sha256);
	put_text(out, "compiler", build->compiler);
	put_int(out, "seconds", build->seconds);
	return out;
}

static json_t *json_of_variant(const struct store_variant *variant)
{
	json_t *out = json_object();

	put_text(out, "name", variant->name);
	put_text(out, "about", variant->about);
	put_text(out, "against", variant->against ? variant->against->name : NULL);
	put_text(out, "state", store_state_name(variant->state));
	put_text(out, "reason", variant->reason);
	put_text(out, "ref_commit", variant->ref_commit);
	put_text(out, "ref_subject", variant->ref_subject);
	put(out, "recipe", stored(variant->recipe));
	put(out, "build", json_of_build(variant->build));
	return out;
}

static json_t *json_of_boot(const struct store_boot *boot)
{
	json_t *out = json_object(), *attempts = json_array();

	put_int(out, "boot", boot->ordinal);
	put_int(out, "block", boot->block);
	put_text(out, "variant", boot->variant->name);
	put_text(out, "state", store_state_name(boot->state));
	put_text(out, "reason", boot->reason);
	put_text(out, "detail", boot->detail);
	for (size_t a = 0; a < boot->attempt_count; a++) {
		const struct store_attempt *attempt = &boot->attempts[a];
		json_t *item = json_object();

		put_text(item, "method", attempt->method);
		put_text(item, "outcome", attempt->outcome);
		put_text(item, "reason", attempt->reason);
		put_text(item, "kernel_boot_id", attempt->kernel_boot_id);
		put(item, "weak_proof", json_boolean(attempt->weak));
		put_int(item, "started_ns", attempt->started_ns);
		put_int(item, "ended_ns", attempt->ended_ns);
		append(attempts, item);
	}
	put(out, "attempts", attempts);
	return out;
}

static json_t *json_of_machine(const struct store_machine *machine)
{
	json_t *out = json_object(), *boots = json_array();

	put_text(out, "name", machine->name);
	put_text(out, "kind", machine->kind);
	put(out, "facts", stored(machine->facts));
	for (size_t b = 0; b < machine->boot_count; b++)
		append(boots, json_of_boot(&machine->boots[b]));
	put(out, "boots", boots);
	return out;
}

static json_t *json_of_verdict(const struct report *report, const struct store_verdict *verdict)
{
	json_t *out = json_object();

	put_text(out, "variant", variant_name(report, verdict->variant_id));
	put_text(out, "against", variant_name(report, verdict->against_id));
	put_text(out, "verdict", verdict_word_name(verdict->word));
	put_text(out, "reason", verdict->reason);
	put(out, "further_boots",
		verdict->further_boots > 0 ? json_integer(verdict->further_boots) : json_null());
	put_num(out, "effect_pct", report_pct(verdict->effect));
	put_num(out, "effect_low_pct", report_pct(verdict->effect_low));
	put_num(out, "effect_high_pct", report_pct(verdict->effect_high));
	put_num(out, "effect_ln", verdict->effect);
	put_num(out, "se_ln", verdict->se);
	put_num(out, "df", verdict->df);
	put_num(out, "p", verdict->p);
	put_num(out, "q", verdict->q);
	put_text(out, "method", verdict->method);
	put_int(out, "method_version", verdict->method_version);
	put_int(out, "boots", verdict->boots);
	put_int(out, "runs", verdict->runs);
	put_num(out, "mean", verdict->mean);
	put_num(out, "cv_pct", verdict->cv_pct);
	put_int(out, "against_boots", verdict->against_boots);
	put_int(out, "against_runs", verdict->against_runs);
	put_num(out, "against_mean", verdict->against_mean);
	put_num(out, "against_cv_pct", verdict->against_cv_pct);
	put_num(out, "within_sd_ln", verdict->within_sd);
	put_num(out, "between_sd_ln", verdict->between_sd);
	put_num(out, "drift_pct", 100 * verdict->drift);
	put_num(out, "drift_expected_pct", 100 * verdict->drift_expected);
	put_int(out, "dropped_runs", verdict->dropped);
	put_int(out, "flagged_runs", verdict->flagged);
	put_text(out, "verdict_if_dropped_kept",
		*verdict->word_kept ? verdict->word_kept : verdict_word_name(verdict->word));
	put_int(out, "family", verdict->family);
	put(out, "headline", json_boolean(verdict->headline));
	return out;
}

static json_t *json_of_column(const struct report *report, const struct report_block *block,
	const struct report_column *column)
{
	const struct store_condition *condition = column->condition;
	json_t *out = json_object(), *verdicts = json_array();

	put_text(out, "machine", block->machine->name);
	put_text(out, "suite", condition->suite);
	put_text(out, "suite_sha256", condition->suite_sha256);
	put_text(out, "condition", condition->name);
	put_num(out, "saturation_pct", condition->saturation_pct);
	put_num(out, "effective_pct", condition->effective_pct);
	put_int(out, "workers", condition->workers);
	put_int(out, "tasks", condition->tasks);
	put_int(out, "cpus", condition->cpus);
	put_text(out, "merged", condition->merged);
	put(out, "control", json_boolean(condition->control));
	put(out, "decides", json_boolean(condition->decides));
	put(out, "argv", stored(condition->argv));
	put(out, "env", stored(condition->env));
	put_text(out, "program", condition->program);
	put_text(out, "program_sha256", condition->program_sha256);
	put_text(out, "program_version", condition->program_version);
	put_text(out, "metric", column->metric->name);
	put_text(out, "unit", column->metric->unit);
	put_text(out, "better", column->metric->lower_is_better ? "lower" : "higher");
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (column->cells[v])
			append(verdicts, json_of_verdict(report, column->cells[v]));
	put(out, "verdicts", verdicts);
	return out;
}

static json_t *json_of_tally(const struct report *report, const struct store_tally *tally)
{
	json_t *out = json_object();
	const struct store_condition *condition =
		report_condition(report, tally->condition_id, NULL);

	put_text(out, "variant", variant_name(report, tally->variant_id));
	put_text(out, "condition", condition ? condition->name : NULL);
	put_text(out, "fate", report_tally_fate(report, tally));
	put_text(out, "reason", tally->reason);
	put_text(out, "detail", tally->detail);
	put_int(out, "runs", tally->runs);
	return out;
}

static json_t *json_of_summary(const struct report *report)
{
	static const char *const outcomes[] = {[OUTCOME_FINE] = "fine",
		[OUTCOME_REGRESSED] = "regressed",
		[OUTCOME_OPEN] = "open"};
	json_t *out = json_object();

	put_text(out, "outcome", outcomes[report_outcome(report)]);
	for (int word = VERDICT_REGRESSED; word <= VERDICT_INVALID; word++)
		put_int(out, verdict_word_name((enum verdict_word)word), report->words[word]);
	put_int(out, "not_measured", report->missing);
	put(out, "infrastructure_failed", json_boolean(report_infra_failed(report)));
	return out;
}

void report_write_json(const struct report *report, struct str *out)
{
	const struct store_view *view = &report->view;
	json_t *root = json_object(), *variants = json_array(), *machines = json_array();
	json_t *results = json_array(), *runs = json_array(), *notes = json_array();

	put_int(root, "schema", REPORT_JSON_SCHEMA);
	put(root, "experiment", json_of_experiment(&view->head));
	put(root, "summary", json_of_summary(report));
	for (size_t v = 0; v < view->variant_count; v++)
		append(variants, json_of_variant(&view->variants[v]));
	put(root, "variants", variants);
	for (size_t m = 0; m < view->machine_count; m++)
		append(machines, json_of_machine(&view->machines[m]));
	put(root, "machines", machines);
	for (size_t b = 0; b < report->block_count; b++)
		for (size_t c = 0; c < report->blocks[b].count; c++)
			append(results, json_of_column(report, &report->blocks[b],
						&report->blocks[b].columns[c]));
	put(root, "results", results);
	for (size_t t = 0; t < report->tally_count; t++)
		append(runs, json_of_tally(report, &report->tallies[t]));
	put(root, "unfit_runs", runs);
	for (size_t n = 0; n < report->note_count; n++) {
		json_t *item = json_object();

		put_text(item, "kind", report_note_name(report->notes[n].kind));
		put_text(item, "text", report->notes[n].text);
		append(notes, item);
	}
	put(root, "notes", notes);
	json_write(root, true, out);
	str_add_char(out, '\n');
	json_decref(root);
}
