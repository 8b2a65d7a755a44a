/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/sha256.h"
#include "base/strv.h"
#include "run/identity.h"
#include "run/programs.h"
#include "sys/proc.h"

static const char *named_path(const struct machine_spec *machine, const char *name)
{
	for (size_t i = 0; i < machine->programs.count; i++)
		if (!strcmp(machine->programs.items[i].key, name))
			return machine->programs.items[i].value;
	return NULL;
}

/* A guest is made of this host's programs. */
static const char *installed_path(struct rig *rig, const char *name)
{
	char *found = proc_find_program(name);
	const char *path = found ? arena_strdup(&rig->engine->arena, found) : NULL;

	free(found);
	return path;
}

static const char *path_here(struct rig *rig, const struct suite *suite)
{
	const char *path = named_path(rig->plan->machine, suite->program);

	if (!path && suite->native)
		path = arena_printf(&rig->engine->arena, "%s/%s", rig->engine->options->native_dir,
			suite->program);
	if (!path && rig->plan->machine->kind == MACHINE_QEMU)
		path = installed_path(rig, suite->program);
	return path;
}

static bool is_listed(const struct rig *rig, const char *name)
{
	for (size_t i = 0; i < rig->env.program_count; i++)
		if (!strcmp(rig->programs[i].name, name))
			return true;
	return false;
}

/* A file that is not there is told by the machine, which has to copy it. */
static void list(struct rig *rig, const char *name, const char *path, bool is_data)
{
	struct machine_program *program = &rig->programs[rig->env.program_count];
	char sha256[SHA256_HEX_LEN + 1] = "";

	if (is_listed(rig, name))
		return;
	program->name = name;
	program->path = path;
	program->is_data = is_data;
	if (path && sha256_of_file(path, sha256, NULL))
		sha256[0] = '\0';
	program->sha256 = arena_strdup(&rig->engine->arena, sha256);
	rig->env.program_count++;
}

/* What a set-up, a server or a tear-down calls is there, or comes from here. */
static void list_command(struct rig *rig, const char *const *argv)
{
	const char *path;

	if (!argv_count(argv) || strchr(argv[0], '/'))
		return;
	path = named_path(rig->plan->machine, argv[0]);
	if (!path && rig->plan->machine->kind == MACHINE_QEMU)
		path = installed_path(rig, argv[0]);
	if (path)
		list(rig, argv[0], path, false);
}

static void list_around(struct rig *rig, const struct suite *suite)
{
	for (size_t i = 0; i < suite->setup.count; i++)
		list_command(rig, suite->setup.items[i]);
	for (size_t i = 0; i < suite->teardown.count; i++)
		list_command(rig, suite->teardown.items[i]);
	list_command(rig, suite->server);
	list_command(rig, suite->server_version);
	list_command(rig, suite->ready);
}

static const char perf_name[] = "perf";

/* As with what a set-up calls: it is there, or comes from here. */
static bool needs_perf(const struct rig *rig)
{
	const struct experiment *experiment = rig->engine->experiment;

	return experiment->profile_hz || argv_count(experiment->counting.events);
}

void programs_list(struct rig *rig)
{
	const struct experiment *experiment = rig->engine->experiment;
	struct arena *arena = &rig->engine->arena;

	size_t most = 2; /* perf, and the end */

	for (size_t i = 0; i < experiment->suite_count; i++)
		most += 4 + experiment->suites[i].files.count + experiment->suites[i].setup.count +
			experiment->suites[i].teardown.count;
	most += experiment->variant_count;
	rig->programs = arena_alloc(arena, most * sizeof(*rig->programs));
	for (size_t i = 0; i < experiment->suite_count; i++) {
		const struct suite *suite = &experiment->suites[i];

		list(rig, suite->program, path_here(rig, suite), false);
		for (size_t k = 0; k < suite->files.count; k++)
			list(rig, suite_file_name(arena, suite, suite->files.items[k].key),
				suite->files.items[k].value, true);
		list_around(rig, suite);
	}
	for (size_t i = 0; i < experiment->variant_count; i++)
		list_command(rig, experiment->variants[i]->scheduler);
	if (needs_perf(rig))
		list_command(rig, (const char *const[]){perf_name, NULL});
	rig->env.programs = rig->programs;
}

/* What serves a suite's conditions: the same program in all of them. False when nothing does. */
static bool server_of(const struct rig *rig, const struct suite *suite, struct identity *out)
{
	static const char *const not_known[] = {NULL};

	for (size_t i = 0; *suite->server && i < rig->plan->condition_count; i++) {
		const struct condition *condition = &rig->plan->conditions[i];
		const char *const *version = condition->server_version;

		if (condition->suite != suite)
			continue;
		*out = (struct identity){.name = *version ? version[0] : condition->server[0],
			.version = *version ? version : not_known};
		return true;
	}
	return false;
}

static int missing(struct rig *rig, const struct suite *suite, const char *name, struct err *err)
{
	if (suite->optional) {
		engine_note(rig->engine, 0, "no-program", "suite '%s' is left out on machine '%s'",
			suite->name, rig->plan->machine->name);
		return 0;
	}
	return err_set(err, ERR_USAGE,
		"suite '%s': there is no program '%s' on machine '%s'; install it there, "
		"or give its path here under programs: in the machine's file%s%s",
		suite->name, name, rig->plan->machine->name,
		suite->homepage[0] ? "; where to get it: " : "", suite->homepage);
}

/* A changed program is another measurement, and never a change of the kernel. */
static int check_same(const struct rig *rig, const struct suite *suite,
	const struct identity *found, const char *before, struct err *err)
{
	if (!*before || !strcmp(before, found->sha256))
		return 0;
	return err_set(err, ERR_USAGE,
		"suite '%s': the program '%s' on machine '%s' is not the one that earlier boots of "
		"this experiment were measured with (SHA-256 %.12s, now %.12s); put that one back, "
		"or run the experiment anew",
		suite->name, found->name, rig->plan->machine->name, before,
		*found->sha256 ? found->sha256 : "none");
}

/* Against what the conditions of the suite were measured with so far; server NULL: there is none.
 */
static int check_unchanged(const struct rig *rig, const struct suite *suite,
	const struct identity *program, const struct identity *server, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < rig->rows->condition_count && !ret; i++) {
		const struct store_condition *condition = &rig->rows->conditions[i];

		if (strcmp(condition->suite, suite->name) != 0)
			continue;
		ret = check_same(rig, suite, program, condition->program_sha256, err);
		if (!ret && server)
			ret = check_same(rig, suite, server, condition->server_sha256, err);
	}
	return ret;
}

static void remember(struct rig *rig, const struct suite *suite, const struct identity *found)
{
	if (!rig->remote.ops->program_path(rig->remote.machine, found->name))
		rig->own_programs[rig->own_count++] =
			(struct own_program){suite, found->name, found->path, found->sha256};
}

static int find(struct rig *rig, size_t index, struct err *err)
{
	const struct suite *suite = &rig->engine->experiment->suites[index];
	struct identity program = {.name = suite->program, .version = suite->version}, server;
	bool served = server_of(rig, suite, &server);
	int ret = identity_find(rig, &program, err);

	if (!ret && served)
		ret = identity_find(rig, &server, err);
	if (ret)
		return ret;
	if (!program.path || (served && !server.path))
		return missing(rig, suite, program.path ? server.name : program.name, err);
	rig->program_paths[index] = program.path;
	remember(rig, suite, &program);
	if (served)
		remember(rig, suite, &server);
	ret = check_unchanged(rig, suite, &program, served ? &server : NULL, err);
	if (ret)
		return ret;
	ret = identity_store(rig, &program, &rig->program_ids[index], err);
	if (!ret && served)
		ret = identity_store(rig, &server, &rig->server_ids[index], err);
	return ret;
}

/* perf, for what is counted or profiled. */
static int find_perf(struct rig *rig, struct err *err)
{
	static const char *const version[] = {perf_name, "--version", NULL};
	struct identity perf = {.name = perf_name, .version = version};
	struct str said = STR_INIT;
	int ret = needs_perf(rig) ? identity_find(rig, &perf, err) : 0;

	if (ret || !needs_perf(rig))
		return ret;
	if (!perf.path)
		return err_set(err, ERR_USAGE,
			"%s: there is no program 'perf' on machine '%s'; install it there "
			"(linux-perf), or give its path here under programs: in the machine's file",
			rig->engine->experiment->profile_hz ? "profile" : "counters",
			rig->plan->machine->name);
	rig->perf_path = perf.path;
	identity_ask_version(rig, &perf, &said);
	engine_note(rig->engine, 0, "perf", "on machine '%s': %s, %.12s", rig->plan->machine->name,
		str_text(&said), perf.sha256);
	str_release(&said);
	return 0;
}

/* What is copied to the machine must be what the experiment was planned with. */
static int check_files(struct rig *rig, const struct suite *suite, struct err *err)
{
	for (size_t i = 0; i < suite->files.count; i++) {
		const char *name =
			suite_file_name(&rig->engine->arena, suite, suite->files.items[i].key);
		size_t at = 0;

		while (strcmp(rig->programs[at].name, name) != 0)
			at++;
		if (strcmp(rig->programs[at].sha256, suite->files_sha256.items[i].value) != 0)
			return err_set(err, ERR_USAGE,
				"suite '%s': the file %.300s is not what it was when the "
				"experiment was planned",
				suite->name, suite->files.items[i].value);
	}
	return 0;
}

int programs_find(struct rig *rig, struct err *err)
{
	size_t count = rig->engine->experiment->suite_count;
	int ret = 0;

	rig->program_paths =
		arena_alloc(&rig->engine->arena, (count + 1) * sizeof(*rig->program_paths));
	rig->program_ids =
		arena_alloc(&rig->engine->arena, (count + 1) * sizeof(*rig->program_ids));
	rig->server_ids = arena_alloc(&rig->engine->arena, (count + 1) * sizeof(*rig->server_ids));
	rig->own_programs =
		arena_alloc(&rig->engine->arena, (2 * count + 1) * sizeof(*rig->own_programs));
	rig->own_count = 0;
	for (size_t i = 0; i < count && !ret; i++) {
		ret = check_files(rig, &rig->engine->experiment->suites[i], err);
		if (!ret)
			ret = find(rig, i, err);
	}
	return ret ? ret : find_perf(rig, err);
}

/* The digests are in the order that was asked for. */
static int check_digests(const struct rig *rig, const json_t *digests, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < rig->own_count && !ret; i++) {
		const struct own_program *own = &rig->own_programs[i];
		const struct identity now = {.name = own->name,
			.sha256 = json_get_text(json_array_get(digests, i), "sha256", "")};

		ret = check_same(rig, own->suite, &now, own->sha256, err);
	}
	return ret;
}

int programs_check(struct rig *rig, struct err *err)
{
	struct strv arguments = STRV_INIT;
	json_t *digests = NULL;
	int ret = 0;

	strv_add(&arguments, "digest");
	for (size_t i = 0; i < rig->own_count; i++)
		strv_add(&arguments, rig->own_programs[i].path);
	if (rig->own_count)
		ret = remote_json(&rig->remote, strv_argv(&arguments), &digests, err);
	if (rig->own_count && !ret)
		ret = check_digests(rig, digests, err);
	json_decref(digests);
	strv_release(&arguments);
	return ret;
}
