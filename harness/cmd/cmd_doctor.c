/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket doctor: what this host, or a machine, lacks, and what makes it noisy. */
#include "base/base.h"

#include "backend/machine.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "cmd/answer.h"
#include "cmd/doctor.h"
#include "cmd/places.h"
#include "report/health.h"
#include "report/report_form.h"
#include "sys/json_put.h"

enum { FACTS_MAX_BYTES = 1 << 20 };
static const int64_t facts_timeout_ns = 60 * NS_PER_S;

struct options {
	struct global global;
	const char *machine;
	bool quick;
};

static const struct opt rows[] = {
	{.name = "MACHINE",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, machine),
		.help = "a file, or the name of one in configs/machines; this host when left out"},
	{.name = "quick",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, quick),
		.help = "measure nothing on the machine"},
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

static struct machine_program native(struct cmd *cmd, const char *name)
{
	char sha256[SHA256_HEX_LEN + 1] = "";
	struct machine_program program = {.name = name,
		.path = arena_printf(cmd->arena, "%s/%s", places_native(cmd->arena), name)};

	if (sha256_of_file(program.path, sha256, NULL))
		sha256[0] = '\0'; /* the copy will tell */
	program.sha256 = arena_strdup(cmd->arena, sha256);
	return program;
}

/* Nothing is looked at, and nothing disturbed, while an experiment runs there. */
static int take_lock(
	struct cmd *cmd, const struct machine_spec *spec, struct file_lock *lock, struct err *err)
{
	bool here = spec->kind == MACHINE_LOCAL;
	const char *results = places_results(cmd->arena);
	const char *path =
		here ? arena_printf(cmd->arena, "%s/lock", spec->workdir)
		     : arena_printf(cmd->arena, "%s/locks/machine-%s.lock", results, spec->name);
	int ret;

	if (!here && !file_is_folder(arena_printf(cmd->arena, "%s/locks", results)))
		return 0; /* no experiment was ever run from here */
	ret = here ? file_mkdirs(spec->workdir, 0700, err) : 0;
	if (!ret)
		ret = file_lock_take(lock, path, 0, err);
	return ret == ERR_TIMEOUT
		       ? err_wrap(err, "another kbracket works on machine '%s'", spec->name)
		       : ret;
}

/* Makes contact as an experiment would, and asks the agent there. */
static int ask_machine(struct cmd *cmd, const struct machine_spec *spec, bool quick,
	struct health *findings, json_t **facts, struct err *err)
{
	const struct machine_program programs[] = {
		native(cmd, "canary"), native(cmd, "wakefan"), native(cmd, "futexfan")};
	struct machine_env env = {.cache_dir = places_cache(cmd->arena),
		.agent = places_agent(cmd->arena),
		.programs = programs,
		.program_count = quick ? 0 : ARRAY_SIZE(programs)};
	struct machine *machine = NULL;
	struct proc_result result = PROC_RESULT_INIT;
	struct file_lock lock = FILE_LOCK_INIT;
	int ret = take_lock(cmd, spec, &lock, err);

	if (!ret)
		ret = machine_open(spec, &env, &machine, err);

	if (!ret)
		ret = machine_start(machine, NULL, err);
	if (!ret) {
		const char *const argv[] = {machine_agent(machine), "facts", NULL};
		const struct proc_spec call = {.argv = argv, .timeout_ns = facts_timeout_ns};

		ret = machine_exec(machine, &call, &result, err);
	}
	if (!ret)
		ret = parse_facts(&result.out, facts, err);
	if (!ret)
		ret = doctor_look(findings, machine, spec, *facts, err);
	if (!ret && !quick)
		ret = doctor_measure(
			findings, machine, json_get_int(*facts, "cpus_online", 1), err);
	proc_result_release(&result);
	machine_close(machine);
	file_lock_release(&lock);
	return ret;
}

static const char *const level_names[] = {[HEALTH_OK] = "ok",
	[HEALTH_NOISE] = "noise",
	[HEALTH_SPOILS] = "spoils",
	[HEALTH_MISSING] = "missing"};

static void write_text(const struct health *findings, const char *about)
{
	static const enum colour colours[] = {[HEALTH_OK] = COLOUR_GOOD,
		[HEALTH_NOISE] = COLOUR_OPEN,
		[HEALTH_SPOILS] = COLOUR_BAD,
		[HEALTH_MISSING] = COLOUR_BAD};
	struct layout layout = answer_layout();
	struct str out = STR_INIT;

	layout_paragraph(&layout, &out, 0, 2, about);
	for (int level = HEALTH_MISSING; level >= HEALTH_OK; level--)
		for (size_t i = 0; i < findings->count; i++) {
			const struct health_finding *finding = &findings->items[i];
			char *text;

			if ((int)finding->level != level)
				continue;
			text = xasprintf("%s: %s%s%s", finding->what, finding->text,
				finding->mend ? " -> " : "", finding->mend ? finding->mend : "");
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

static void write_json(const struct health *findings, const json_t *facts)
{
	json_t *out = json_object(), *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		json_t *item = json_object();

		json_put_text(item, "level", level_names[findings->items[i].level]);
		json_put_text(item, "what", findings->items[i].what);
		json_put_text(item, "text", findings->items[i].text);
		json_put_text(item, "mend", findings->items[i].mend);
		json_push(list, item);
	}
	json_put(out, "findings", list);
	json_put(out, "facts", json_deep_copy(facts));
	answer_json(out);
}

static int tell(struct cmd *cmd, struct health *findings, const json_t *facts,
	const struct machine_spec *spec)
{
	struct store_machine machine = {.facts = ""};
	struct str about = STR_INIT, text = STR_INIT;
	int status = STATUS_FINE;

	health_facts(findings, facts, spec);
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].level == HEALTH_MISSING)
			status = STATUS_INFRA;
	json_write(facts, false, &text);
	machine.facts = str_text(&text);
	str_addf(&about, "%s: ", spec ? spec->name : "this host");
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
static int tell_guest(struct cmd *cmd, const struct machine_spec *spec, struct health *findings)
{
	json_t *facts = json_object();
	int status;

	doctor_guest(findings, spec->qemu.program);
	json_put_int(facts, "cpus_online", spec->qemu.cpus);
	json_put_int(facts, "llc_domains", spec->qemu.llcs);
	json_put_int(facts, "memory_bytes", spec->qemu.memory_bytes);
	json_put_bool(facts, "virtual", true);
	status = tell(cmd, findings, facts, spec);
	json_decref(facts);
	return status;
}

static int examine_machine(
	struct cmd *cmd, const struct options *options, struct health *findings, struct err *err)
{
	struct machine_spec spec;
	json_t *facts = NULL;
	int ret = places_machine(cmd->arena, options->machine, &spec, err);

	if (!ret && spec.kind == MACHINE_QEMU)
		return tell_guest(cmd, &spec, findings);
	if (!ret)
		ret = ask_machine(cmd, &spec, options->quick, findings, &facts, err);
	if (!ret)
		ret = tell(cmd, findings, facts, &spec);
	json_decref(facts);
	return ret;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct health findings = {.arena = cmd->arena};
	json_t *facts = NULL;
	int ret;

	if (options->machine) {
		ret = examine_machine(cmd, options, &findings, err);
	} else {
		doctor_programs(&findings);
		ret = host_facts(cmd, &facts, err);
		if (!ret)
			ret = tell(cmd, &findings, facts, NULL);
		json_decref(facts);
	}
	health_release(&findings);
	return ret;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "what a host or machine lacks, and what makes it noisy",
	.about = "Without a machine: which programs are missing here and what they would be "
		 "for. With one: makes contact as an experiment would, and tells what would "
		 "spoil a measurement there, worst first, and what mends it; then runs "
		 "workloads of kbracket's own for half a minute and tells how much their "
		 "numbers scatter. Exits 3 when something is missing.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
