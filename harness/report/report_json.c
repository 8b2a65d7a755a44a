/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/report_form.h"
#include "report/report_notes.h"
#include "sys/json_put.h"

enum { STORED_JSON_MAX_BYTES = 1 << 20 };

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

	json_put_int(out, "id", head->id);
	json_put_text(out, "name", head->name);
	json_put_text(out, "kind", store_kind_name(head->kind));
	json_put_text(out, "state", store_state_name(head->state));
	json_put_int(out, "created_ns", head->created_ns);
	json_put_text(out, "design", head->design);
	json_put_int(out, "seed", head->seed);
	json_put_num(out, "margin_pct", head->margin_pct);
	json_put_num(out, "alpha_pct", head->alpha_pct);
	json_put_num(out, "cv_gate_pct", head->cv_pct);
	json_put_num(out, "drift_gate_pct", head->drift_pct);
	json_put_bool(out, "means_only", head->means_only);
	json_put_int(out, "looks", head->looks);
	json_put_num(out, "until_pct", head->until_pct);
	json_put_text(out, "config_sha256", head->spec_sha256);
	json_put_text(out, "kbracket", head->version);
	return out;
}

static json_t *json_of_build(const struct store_build *build)
{
	json_t *out;

	if (!build)
		return json_null();
	out = json_object();
	json_put_text(out, "key", build->key);
	json_put_text(out, "commit", build->commit);
	json_put_text(out, "tree", build->tree);
	json_put_text(out, "release", build->release);
	json_put_text(out, "proc_version", build->proc_version);
	json_put_text(out, "build_id", build->build_id);
	json_put_text(out, "config_sha256", build->config_sha256);
	json_put_text(out, "compiler", build->compiler);
	json_put_int(out, "seconds", build->seconds);
	return out;
}

static json_t *json_of_variant(const struct store_variant *variant)
{
	json_t *out = json_object();

	json_put_text(out, "name", variant->name);
	json_put_text(out, "about", variant->about);
	json_put_text(out, "against", variant->against ? variant->against->name : NULL);
	json_put_bool(out, "control", variant->control);
	json_put_text(out, "layout_of", variant->layout_of ? variant->layout_of->name : NULL);
	json_put_text(out, "state", store_state_name(variant->state));
	json_put_text(out, "reason", variant->reason);
	json_put_text(out, "ref_commit", variant->ref_commit);
	json_put_text(out, "ref_subject", variant->ref_subject);
	json_put(out, "recipe", stored(variant->recipe));
	json_put(out, "build", json_of_build(variant->build));
	return out;
}

static json_t *json_of_boot(const struct store_boot *boot)
{
	json_t *out = json_object(), *attempts = json_array();

	json_put_int(out, "boot", boot->ordinal);
	json_put_int(out, "block", boot->block);
	json_put_text(out, "variant", boot->variant->name);
	json_put_text(out, "state", store_state_name(boot->state));
	json_put_text(out, "reason", boot->reason);
	json_put_text(out, "detail", boot->detail);
	for (size_t a = 0; a < boot->attempt_count; a++) {
		const struct store_attempt *attempt = &boot->attempts[a];
		json_t *item = json_object();

		json_put_text(item, "method", attempt->method);
		json_put_text(item, "outcome", attempt->outcome);
		json_put_text(item, "reason", attempt->reason);
		json_put_text(item, "kernel_boot_id", attempt->kernel_boot_id);
		json_put_bool(item, "weak_proof", attempt->weak);
		json_put_int(item, "started_ns", attempt->started_ns);
		json_put_int(item, "ended_ns", attempt->ended_ns);
		json_push(attempts, item);
	}
	json_put(out, "attempts", attempts);
	return out;
}

static void put_count(json_t *out, enum report_outcome outcome, const struct report_count *count)
{
	json_put_text(out, "outcome", report_outcome_name(outcome));
	for (int word = VERDICT_REGRESSED; word <= VERDICT_INVALID; word++)
		json_put_int(out, verdict_word_name((enum verdict_word)word), count->words[word]);
	json_put_int(out, "not_measured", count->missing);
}

/* What the headline set says on one machine. */
static json_t *summary_on(const struct report *report, size_t m)
{
	json_t *out = json_object();

	put_count(out, report_outcome_on(report, m), &report->machines[m]);
	json_put_text(out, "parked", report->parked[m]);
	return out;
}

static json_t *json_of_machine(const struct report *report, size_t m)
{
	const struct store_machine *machine = &report->view.machines[m];
	struct report_cost cost;
	json_t *out = json_object(), *boots = json_array();

	json_put_text(out, "name", machine->name);
	json_put_text(out, "kind", machine->kind);
	json_put(out, "summary", summary_on(report, m));
	json_put(out, "facts", stored(machine->facts));
	for (size_t b = 0; b < machine->boot_count; b++)
		json_push(boots, json_of_boot(&machine->boots[b]));
	json_put(out, "boots", boots);
	report_cost_of(report, machine, &cost);
	json_put_int(out, "boot_ns", cost.boot_ns);
	json_put_int(out, "further_boots", cost.further_boots);
	report_looks_json(report, machine, out);
	json_put_int(out, "further_ns", cost.further_boots * cost.kernels * cost.boot_ns);
	return out;
}

static json_t *json_of_verdict(const struct report *report, const struct store_verdict *verdict)
{
	json_t *out = json_object();

	json_put_text(out, "variant", variant_name(report, verdict->variant_id));
	json_put_text(out, "against", variant_name(report, verdict->against_id));
	json_put_text(out, "verdict", verdict_word_name(verdict->word));
	json_put_text(out, "reason", verdict->reason);
	json_put(out, "further_boots",
		verdict->further_boots > 0 ? json_integer(verdict->further_boots) : json_null());
	json_put_num(out, "effect_pct", report_pct(verdict->effect));
	json_put_num(out, "effect_low_pct", report_pct(verdict->effect_low));
	json_put_num(out, "effect_high_pct", report_pct(verdict->effect_high));
	json_put_num(out, "effect_ln", verdict->effect);
	json_put_num(out, "se_ln", verdict->se);
	json_put_num(out, "df", verdict->df);
	json_put_num(out, "p", verdict->p);
	json_put_num(out, "q", verdict->q);
	json_put_text(out, "method", verdict->method);
	json_put_int(out, "method_version", verdict->method_version);
	json_put_int(out, "boots", verdict->boots);
	json_put_int(out, "runs", verdict->runs);
	json_put_num(out, "mean", verdict->mean);
	json_put_num(out, "cv_pct", verdict->cv_pct);
	json_put_int(out, "against_boots", verdict->against_boots);
	json_put_int(out, "against_runs", verdict->against_runs);
	json_put_num(out, "against_mean", verdict->against_mean);
	json_put_num(out, "against_cv_pct", verdict->against_cv_pct);
	json_put_num(out, "within_sd_ln", verdict->within_sd);
	json_put_num(out, "between_sd_ln", verdict->between_sd);
	json_put_num(out, "drift_pct", 100 * verdict->drift);
	json_put_num(out, "drift_expected_pct", 100 * verdict->drift_expected);
	json_put(out, "observations",
		verdict->observations ? json_integer(verdict->observations) : json_null());
	json_put(out, "against_observations",
		verdict->against_observations ? json_integer(verdict->against_observations)
					      : json_null());
	json_put_num(out, "order_low", verdict->order_low);
	json_put_num(out, "order_high", verdict->order_high);
	json_put_num(out, "against_order_low", verdict->against_order_low);
	json_put_num(out, "against_order_high", verdict->against_order_high);
	json_put_text(out, "layout", verdict->layout ? verdict->layout : "");
	json_put_int(out, "dropped_runs", verdict->dropped);
	json_put_int(out, "flagged_runs", verdict->flagged);
	json_put_text(out, "verdict_if_dropped_kept",
		*verdict->word_kept ? verdict->word_kept : verdict_word_name(verdict->word));
	json_put(out, "look", verdict->look ? json_integer(verdict->look) : json_null());
	json_put_num(out, "level", verdict->look ? verdict->level : (double)NAN);
	json_put_int(out, "family", verdict->family);
	json_put_bool(out, "headline", verdict->headline);
	return out;
}

static json_t *json_of_means(const struct report *report, const struct store_machine *machine,
	const struct store_metric *metric)
{
	json_t *out = json_array();

	for (size_t b = 0; b < machine->boot_count; b++)
		for (size_t i = 0; i < report->mean_count; i++) {
			const struct report_mean *mean = &report->means[i];
			json_t *item;

			if (mean->boot_id != machine->boots[b].id || mean->metric_id != metric->id)
				continue;
			item = json_object();
			json_put_int(item, "boot", machine->boots[b].ordinal);
			json_put_int(item, "runs", mean->runs);
			json_put_num(item, "mean", mean->mean);
			json_put_num(item, "cv_pct", mean->cv_pct);
			json_push(out, item);
		}
	return out;
}

static json_t *json_of_column(const struct report *report, const struct report_block *block,
	const struct report_column *column)
{
	const struct store_condition *condition = column->condition;
	json_t *out = json_object(), *verdicts = json_array();

	json_put_text(out, "machine", block->machine->name);
	json_put_text(out, "suite", condition->suite);
	json_put_text(out, "suite_sha256", condition->suite_sha256);
	json_put_text(out, "condition", condition->name);
	json_put_num(out, "saturation_pct", condition->saturation_pct);
	json_put_num(out, "effective_pct", condition->effective_pct);
	json_put_int(out, "workers", condition->workers);
	json_put_int(out, "tasks", condition->tasks);
	json_put_int(out, "cpus", condition->cpus);
	json_put_text(out, "merged", condition->merged);
	json_put_bool(out, "control", condition->control);
	json_put_bool(out, "decides", condition->decides);
	json_put(out, "argv", stored(condition->argv));
	json_put(out, "env", stored(condition->env));
	json_put_text(out, "program", condition->program);
	json_put_text(out, "program_sha256", condition->program_sha256);
	json_put_text(out, "program_version", condition->program_version);
	json_put_text(out, "program_built", condition->program_built);
	if (*condition->server) {
		json_put_text(out, "server", condition->server);
		json_put_text(out, "server_sha256", condition->server_sha256);
		json_put_text(out, "server_version", condition->server_version);
		json_put_text(out, "server_built", condition->server_built);
	}
	json_put_text(out, "metric", column->metric->name);
	json_put_text(out, "unit", column->metric->unit);
	json_put_num(out, "percentile", column->metric->percentile);
	json_put_text(out, "boot_value",
		!(column->metric->percentile > 0) ? "mean of the runs"
		: column->metric->pooled	  ? "percentile of all observations"
						  : "median of the runs' percentiles");
	json_put_text(out, "better", column->metric->lower_is_better ? "lower" : "higher");
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (column->cells[v])
			json_push(verdicts, json_of_verdict(report, column->cells[v]));
	json_put(out, "verdicts", verdicts);
	if (report->mean_count)
		json_put(out, "boot_means", json_of_means(report, block->machine, column->metric));
	return out;
}

static json_t *json_of_tally(const struct report *report, const struct store_tally *tally)
{
	json_t *out = json_object();
	const struct store_condition *condition =
		report_condition(report, tally->condition_id, NULL);

	json_put_text(out, "variant", variant_name(report, tally->variant_id));
	json_put_text(out, "condition", condition ? condition->name : NULL);
	json_put_text(out, "fate", report_tally_fate(report, tally));
	json_put_text(out, "reason", tally->reason);
	json_put_text(out, "detail", tally->detail);
	json_put_int(out, "runs", tally->runs);
	json_put_bool(out, "counted", tally->counted);
	return out;
}

static json_t *json_of_controls(const struct report *report)
{
	json_t *out = json_object();

	json_put_int(out, "tested", report->control_tested);
	json_put_int(out, "called_different", report->control_different);
	json_put_int(out, "not_testable", report->control_untested);
	return out;
}

static json_t *json_of_summary(const struct report *report)
{
	json_t *out = json_object();

	put_count(out, report_outcome(report), &report->count);
	json_put(out, "controls", json_of_controls(report));
	json_put_bool(out, "infrastructure_failed", report_infra_failed(report));
	return out;
}

void report_write_json(const struct report *report, struct str *out)
{
	const struct store_view *view = &report->view;
	json_t *root = json_object(), *variants = json_array(), *machines = json_array();
	json_t *results = json_array(), *runs = json_array(), *notes = json_array();

	json_put_int(root, "schema", REPORT_JSON_SCHEMA);
	json_put(root, "experiment", json_of_experiment(&view->head));
	json_put(root, "summary", json_of_summary(report));
	for (size_t v = 0; v < view->variant_count; v++)
		json_push(variants, json_of_variant(&view->variants[v]));
	json_put(root, "variants", variants);
	for (size_t m = 0; m < view->machine_count; m++)
		json_push(machines, json_of_machine(report, m));
	json_put(root, "machines", machines);
	for (size_t b = 0; b < report->block_count; b++)
		for (size_t c = 0; c < report->blocks[b].count; c++)
			json_push(results, json_of_column(report, &report->blocks[b],
						   &report->blocks[b].columns[c]));
	json_put(root, "results", results);
	json_put(root, "suite_means", report_suites_json(report));
	json_put(root, "counters", report_counters_json(report));
	for (size_t t = 0; t < report->tally_count; t++)
		json_push(runs, json_of_tally(report, &report->tallies[t]));
	json_put(root, "unfit_runs", runs);
	for (size_t n = 0; n < report->note_count; n++) {
		json_t *item = json_object();

		json_put_text(item, "kind", report_note_name(report->notes[n].kind));
		json_put_text(item, "text", report->notes[n].text);
		json_push(notes, item);
	}
	json_put(root, "notes", notes);
	json_write(root, true, out);
	str_add_char(out, '\n');
	json_decref(root);
}
