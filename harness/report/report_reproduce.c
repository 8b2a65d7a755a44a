/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "report/report_form.h"
#include "sys/json.h"

enum { FACTS_MAX_BYTES = 1 << 20 };

/* A machine that is not one of metal is to be known at a glance. */
static void add_hypervisor(struct str *out, const json_t *facts)
{
	static const struct {
		const char *signature, *words;
	} known[] = {{"TCGTCGTCGTCG", "emulated by QEMU (TCG)"}, {"KVMKVMKVM", "virtual (KVM)"},
		{"Microsoft Hv", "virtual (Hyper-V)"}, {"VMwareVMware", "virtual (VMware)"},
		{"XenVMMXenVMM", "virtual (Xen)"}};
	const char *signature = json_get_text(facts, "hypervisor", "");

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].signature, signature)) {
			str_addf(out, ", %s", known[i].words);
			return;
		}
	if (json_get_bool(facts, "virtual", false))
		str_add(out, ", virtual");
}

void form_machine(struct str *out, const struct store_machine *machine)
{
	struct err err = ERR_INIT;
	json_t *facts = NULL;
	int64_t sockets, cores, threads, llcs, memory;
	struct str text = STR_INIT;
	const char *model;

	if (!*machine->facts ||
		json_parse(machine->facts, strlen(machine->facts), FACTS_MAX_BYTES, &facts, &err))
		return;
	model = json_get_text(json_object_get(facts, "cpu"), "model", "");
	sockets = json_get_int(facts, "sockets", 0);
	cores = json_get_int(facts, "cores", 0);
	threads = json_get_int(facts, "cpus_online", 0);
	llcs = json_get_int(facts, "llc_domains", 0);
	memory = json_get_int(facts, "memory_bytes", 0);
	str_add(&text, model);
	if (sockets > 1)
		str_addf(&text, ", %lld sockets", (long long)sockets);
	if (cores > 0 && threads > 0)
		str_addf(&text, ", %lldc/%lldt", (long long)cores, (long long)threads);
	else if (threads > 0)
		str_addf(&text, ", %lld CPUs", (long long)threads);
	if (llcs > 0)
		str_addf(&text, ", %lld LLC", (long long)llcs);
	if (memory > 0) {
		str_add(&text, ", ");
		num_add_bytes(&text, memory);
	}
	add_hypervisor(&text, facts);
	str_add(out, str_text(&text) + (*model ? 0 : strspn(str_text(&text), ", ")));
	str_release(&text);
	json_decref(facts);
}

static void item(const struct layout *layout, struct str *out, const struct str *text)
{
	layout_paragraph(layout, out, 2, 6, str_text(text));
}

/* "a, b" of a list, "k=v, ..." of a mapping, or the text itself. */
static void add_value(struct str *out, json_t *value)
{
	const char *key, *comma = "";
	json_t *item;
	size_t i;

	if (json_is_string(value))
		str_addf(out, " %s", json_string_value(value));
	json_array_foreach(value, i, item)
	{
		str_addf(out, "%s %s", comma, json_is_string(item) ? json_string_value(item) : "?");
		comma = ",";
	}
	json_object_foreach(value, key, item)
	{
		str_addf(out, "%s %s=%s", comma, key,
			json_is_string(item) ? json_string_value(item) : "?");
		comma = ",";
	}
}

static bool is_empty(const json_t *value)
{
	return !value || (json_is_string(value) && !*json_string_value(value)) ||
	       (json_is_array(value) && !json_array_size(value)) ||
	       (json_is_object(value) && !json_object_size(value));
}

/* What was asked for, in the words of the kernels file. */
static void add_recipe(struct str *out, const struct store_variant *variant)
{
	static const char *const keys[] = {"ref", "revert", "pick", "patches", "prebuilt",
		"cmdline", "features", "sysctls", "scheduler"};
	struct err err = ERR_INIT;
	json_t *recipe = NULL;

	if (json_parse(variant->recipe, strlen(variant->recipe), FACTS_MAX_BYTES, &recipe, &err))
		return; /* an import has none */
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(recipe, keys[i]);

		if (is_empty(value))
			continue;
		str_addf(out, " %s", keys[i]);
		add_value(out, value);
		str_add_char(out, ';');
	}
	json_decref(recipe);
}

static void write_variant(
	const struct layout *layout, struct str *out, const struct store_variant *variant)
{
	const struct store_build *build = variant->build;
	struct str text = STR_INIT;

	str_addf(&text, "%s:", variant->name);
	add_recipe(&text, variant);
	if (*variant->ref_commit)
		str_addf(&text, " commit %.12s", variant->ref_commit);
	if (*variant->ref_subject)
		str_addf(&text, " (\"%s\")", variant->ref_subject);
	if (build && *build->commit && strcmp(build->commit, variant->ref_commit) != 0)
		str_addf(&text, ", built commit %.12s", build->commit);
	if (build)
		str_addf(&text, "%s build %.12s, release %s, build-id %.12s, config %.12s",
			*variant->ref_commit || *variant->ref_subject ? "," : "", build->key,
			build->release, *build->build_id ? build->build_id : "unknown",
			build->config_sha256);
	else
		str_add(&text, *variant->ref_commit ? " no build" : " the kernel that runs there");
	item(layout, out, &text);
	str_release(&text);
}

static void add_program(struct str *out, const char *what, const char *name, const char *version,
	const char *sha256, const char *built)
{
	str_addf(out, "%s %s", what, name);
	if (*version)
		str_addf(out, " %s", version);
	if (*sha256)
		str_addf(out, ", sha256 %.12s", sha256);
	if (*built)
		str_addf(out, ", built by %s", built);
}

static void write_programs(
	const struct layout *layout, struct str *out, const struct store_machine *machine)
{
	for (size_t c = 0; c < machine->condition_count; c++) {
		const struct store_condition *condition = &machine->conditions[c];
		struct str text = STR_INIT;
		bool told = !*condition->program;

		for (size_t o = 0; o < c && !told; o++)
			told = strcmp(machine->conditions[o].program, condition->program) == 0 &&
			       strcmp(machine->conditions[o].program_sha256,
				       condition->program_sha256) == 0;
		if (told)
			continue;
		add_program(&text, "program", condition->program, condition->program_version,
			condition->program_sha256, condition->program_built);
		if (*condition->server)
			add_program(&text, "; server", condition->server, condition->server_version,
				condition->server_sha256, condition->server_built);
		str_addf(&text, "; suite %s, sha256 %.12s", condition->suite,
			condition->suite_sha256);
		item(layout, out, &text);
		str_release(&text);
	}
}

static void write_machine(
	const struct layout *layout, struct str *out, const struct store_machine *machine)
{
	struct str text = STR_INIT;

	str_addf(&text, "machine %s (%s): ", machine->name, machine->kind);
	form_machine(&text, machine);
	if (str_ends(str_text(&text), ": "))
		str_add(&text, "no facts");
	item(layout, out, &text);
	str_release(&text);
	write_programs(layout, out, machine);
}

/* The commands that do it again; an import has none. */
static void write_commands(
	const struct report *report, const struct layout *layout, struct str *out)
{
	const struct store_experiment *head = &report->view.head;
	struct str text = STR_INIT;

	str_addf(&text, "experiment %lld, ", (long long)head->id);
	clock_add_utc(&text, head->created_ns);
	str_addf(&text, ", seed %lld, config sha256 %.12s, kbracket %s", (long long)head->seed,
		head->spec_sha256, head->version);
	item(layout, out, &text);
	str_reset(&text);
	if (head->kind != KIND_IMPORT) {
		str_addf(
			&text, "  $ kbracket show %lld --spec > again.yaml\n", (long long)head->id);
		str_add(&text, "  $ kbracket run again.yaml\n");
		str_add(out, str_text(&text));
	}
	str_release(&text);
}

void report_reproduce(const struct report *report, const struct layout *layout, struct str *out)
{
	const struct store_experiment *head = &report->view.head;

	str_add_char(out, '\n');
	layout_add_coloured(layout, out, COLOUR_TITLE, "Reproduce");
	str_add_char(out, '\n');
	for (size_t v = 0; v < report->view.variant_count && head->kind != KIND_IMPORT; v++)
		write_variant(layout, out, &report->view.variants[v]);
	for (size_t m = 0; m < report->view.machine_count; m++)
		write_machine(layout, out, &report->view.machines[m]);
	write_commands(report, layout, out);
}
