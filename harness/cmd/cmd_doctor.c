/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket doctor: what this host, or a machine, lacks, and what makes it noisy. */
#include "base/base.h"

#include "backend/machine.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/answer.h"
#include "cmd/doctor.h"
#include "cmd/places.h"
#include "report/report_form.h"
#include "sys/json_put.h"

enum { FACTS_MAX_BYTES = 1 << 20 };
static const int64_t facts_timeout_ns = 60 * NS_PER_S;

struct options {
	struct global global;
	const char *machine;
};

static const struct opt rows[] = {
	{.name = "MACHINE",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, machine),
		.help = "a file, or the name of one in configs/machines; this host when left out"},
	GLOBAL_ROWS(options),
	OPT_END,
};

static int parse_facts(const struct str *text, json_t **facts, struct err *err)
{
	int ret = json_parse(str_text(text), text->len, FACTS_MAX_BYTES, facts, err);

	return ret ? err_wrap(err, "kbracket-agent facts") : 0;
}

static int host_facts(struct cmd *cmd, json_t **facts, struct err *err)
{
	const char *agent = places_agent(cmd->arena);
	const char *const argv[] = {agent, "facts", NULL};
	const struct proc_spec spec = {.argv = argv, .timeout_ns = facts_timeout_ns};
	struct str text = STR_INIT;
	int ret = proc_check(&spec, &text, err);

	if (!ret)
		ret = parse_facts(&text, facts, err);
	str_release(&text);
	return ret;
}

/* Makes contact as an experiment would, and asks the agent there. */
static int machine_facts(
	struct cmd *cmd, const struct machine_spec *spec, json_t **facts, struct err *err)
{
	struct machine_env env = {
		.cache_dir = places_cache(cmd->arena), .agent = places_agent(cmd->arena)};
	struct machine *machine = NULL;
	struct proc_result result = PROC_RESULT_INIT;
	int ret = machine_open(spec, &env, &machine, err);

	if (!ret)
		ret = machine_start(machine, NULL, err);
	if (!ret) {
		const char *const argv[] = {machine_agent(machine), "facts", NULL};
		const struct proc_spec call = {.argv = argv, .timeout_ns = facts_timeout_ns};

		ret = machine_exec(machine, &call, &result, err);
	}
	if (!ret)
		ret = parse_facts(&result.out, facts, err);
	proc_result_release(&result);
	machine_close(machine);
	return ret;
}

static const char *const level_names[] = {
	[DOCTOR_OK] = "ok", [DOCTOR_NOISE] = "noise", [DOCTOR_MISSING] = "missing"};

static void write_text(const struct doctor_findings *findings, const char *about)
{
	static const enum colour colours[] = {[DOCTOR_OK] = COLOUR_GOOD,
		[DOCTOR_NOISE] = COLOUR_OPEN,
		[DOCTOR_MISSING] = COLOUR_BAD};
	struct layout layout = answer_layout();
	struct str out = STR_INIT;

	layout_paragraph(&layout, &out, 0, 2, about);
	for (int level = DOCTOR_MISSING; level >= DOCTOR_OK; level--)
		for (size_t i = 0; i < findings->count; i++) {
			const struct doctor_finding *finding = &findings->items[i];
			char *text;

			if ((int)finding->level != level)
				continue;
			text = xasprintf("%s: %s", finding->what, finding->text);
			layout_add_coloured(&layout, &out, colours[level], level_names[level]);
			str_addf(&out, "%*s", 9 - (int)strlen(level_names[level]), "");
			layout.columns -= 9;
			layout_paragraph(&layout, &out, 0, 9, text);
			layout.columns += 9;
			free(text);
		}
	ui_write_text(&out);
	str_release(&out);
}

static void write_json(const struct doctor_findings *findings, const json_t *facts)
{
	json_t *out = json_object(), *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		json_t *item = json_object();

		json_put_text(item, "level", level_names[findings->items[i].level]);
		json_put_text(item, "what", findings->items[i].what);
		json_put_text(item, "text", findings->items[i].text);
		json_push(list, item);
	}
	json_put(out, "findings", list);
	json_put(out, "facts", json_deep_copy(facts));
	answer_json(out);
}

static int tell(
	struct cmd *cmd, struct doctor_findings *findings, const json_t *facts, const char *name)
{
	struct store_machine machine = {.facts = ""};
	struct str about = STR_INIT, text = STR_INIT;
	int status = STATUS_FINE;

	doctor_facts(findings, facts);
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].level == DOCTOR_MISSING)
			status = STATUS_INFRA;
	json_write(facts, false, &text);
	machine.facts = str_text(&text);
	str_addf(&about, "%s: ", name);
	form_machine(&about, &machine);
	if (cmd->global->json)
		write_json(findings, facts);
	else
		write_text(findings, str_text(&about));
	str_release(&about);
	str_release(&text);
	return status;
}

/* A guest is there only while an experiment runs it: what it needs of this host is told. */
static int tell_guest(
	struct cmd *cmd, const struct machine_spec *spec, struct doctor_findings *findings)
{
	json_t *facts = json_object();
	int status;

	doctor_guest(findings, spec->qemu.program);
	json_put_int(facts, "cpus_online", spec->qemu.cpus);
	json_put_int(facts, "llc_domains", spec->qemu.llcs);
	json_put_int(facts, "memory_bytes", spec->qemu.memory_bytes);
	json_put_bool(facts, "virtual", true);
	status = tell(cmd, findings, facts, spec->name);
	json_decref(facts);
	return status;
}

static int examine_machine(
	struct cmd *cmd, const char *name, struct doctor_findings *findings, struct err *err)
{
	struct machine_spec spec;
	json_t *facts = NULL;
	int ret = places_machine(cmd->arena, name, &spec, err);

	if (!ret && spec.kind == MACHINE_QEMU)
		return tell_guest(cmd, &spec, findings);
	if (!ret)
		ret = machine_facts(cmd, &spec, &facts, err);
	if (!ret)
		ret = tell(cmd, findings, facts, spec.name);
	json_decref(facts);
	return ret;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct doctor_findings findings = {.arena = cmd->arena};
	json_t *facts = NULL;
	int ret;

	if (options->machine) {
		ret = examine_machine(cmd, options->machine, &findings, err);
	} else {
		doctor_programs(&findings);
		ret = host_facts(cmd, &facts, err);
		if (!ret)
			ret = tell(cmd, &findings, facts, "this host");
		json_decref(facts);
	}
	doctor_release(&findings);
	return ret;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "what a host or machine lacks, and what makes it noisy",
	.about = "Without a machine: which programs are missing here and what they would be "
		 "for. With one: makes contact as an experiment would, and tells what is "
		 "known of it. In both cases what will make measurements scatter. Exits 3 "
		 "when something is missing.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
