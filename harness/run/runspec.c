/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "run/profiling.h"
#include "run/runspec.h"
#include "run/warmth.h"

/* The machine is watched this long before the start: what others use then is reported. */
#define SETTLE_NS (100 * NS_PER_MS)

/* Attaching perf and taking it off, on an emulated machine. */
#define COUNTING_NS (120 * NS_PER_S)

enum {
	RESULT_BYTES = 2 << 20,	   /* of everything but stdout and stderr */
	COUNTING_BYTES = 64 << 20, /* of what the agent reads in /proc and from the tracer */
};

static const struct condition *condition_of(const struct rig *rig, const struct store_run *run)
{
	return &rig->plan->conditions[run->condition_position];
}

static json_t *text_list(const char *const *items, const char *first)
{
	json_t *list = json_array();

	for (size_t i = 0; i < argv_count(items); i++)
		json_array_append_new(list, json_text(i == 0 && first ? first : items[i]));
	return list;
}

/* The program and its arguments, behind what looks at it. */
static json_t *argv_list(const struct condition *condition, const struct runspec_places *places)
{
	json_t *all = json_array(), *own = text_list(condition->argv, places->program);

	for (size_t i = 0; places->before && places->before[i]; i++)
		json_array_append_new(all, json_text(places->before[i]));
	json_array_extend(all, own);
	json_decref(own);
	return all;
}

/* The suite's files by their names, in the folder that the program starts in. */
static json_t *links(const struct pairs *names, const char *const *paths)
{
	json_t *map = json_object();

	for (size_t i = 0; i < names->count; i++)
		json_object_set_new(map, names->items[i].key, json_text(paths[i]));
	return map;
}

/* A command of a set-up, a server or a tear-down. */
static json_t *command(const struct runspec_places *places, const char *const *argv)
{
	const char *name = argv[0];

	return text_list(
		argv, strchr(name, '/') || !places->find ? NULL : places->find(places->arg, name));
}

static json_t *commands(const struct runspec_places *places, const struct command_list *list)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(all, command(places, list->items[i]));
	return all;
}

static void add_around(
	json_t *o, const struct condition *condition, const struct runspec_places *places)
{
	json_object_set_new(o, "setup", commands(places, &condition->setup));
	json_object_set_new(o, "teardown", commands(places, &condition->teardown));
	json_object_set_new(o, "step_ns", json_integer(condition->suite->step_ns));
	if (*condition->server)
		json_object_set_new(o, "server", command(places, condition->server));
	if (*condition->ready)
		json_object_set_new(o, "ready", command(places, condition->ready));
	if (*condition->server)
		json_object_set_new(o, "ready_port", json_integer(condition->suite->ready_port));
}

static void add_counting(
	json_t *o, const struct condition *condition, const struct runspec_places *places)
{
	const struct counting *counting = places->counting;
	enum counter_threads threads = counting->threads == THREADS_SUITE
					       ? condition->suite->counter_threads
					       : counting->threads;

	if (argv_count(counting->events)) {
		json_object_set_new(o, "perf", json_text(places->perf));
		json_object_set_new(o, "events", text_list(counting->events, NULL));
		json_object_set_new(o, "main_thread", json_boolean(threads == THREADS_MAIN));
	}
	json_object_set_new(o, "functions", text_list(counting->functions, NULL));
}

static void add_temperature(json_t *o, const struct runspec_places *places)
{
	const struct temperature_spec *spec = places->temperature;

	json_object_set_new(o, "heat_mc", json_integer(places->first_mc));
	json_object_set_new(o, "heat_within_mc", json_integer((json_int_t)(spec->within_c * 1000)));
	json_object_set_new(o, "heat_wait_ns", json_integer(spec->wait_ns));
}

char *runspec_condition(const struct condition *condition, const struct runspec_places *places,
	const char *id, int64_t kmsg_after)
{
	const struct pairs *names = &condition->suite->files;
	json_t *o = json_object();
	struct str text = STR_INIT;

	json_object_set_new(o, "id", json_text(id));
	json_object_set_new(o, "argv", argv_list(condition, places));
	json_object_set_new(o, "env", text_list(condition->env, NULL));
	if (names->count)
		json_object_set_new(o, "links", links(names, places->files));
	json_object_set_new(o, "timeout_ns", json_integer(condition->spec->timeout_ns));
	json_object_set_new(o, "output_bytes", json_integer(condition->suite->output_bytes));
	json_object_set_new(o, "settle_ns", json_integer(SETTLE_NS));
	json_object_set_new(o, "on_second", json_boolean(condition->suite->on_second));
	json_object_set_new(o, "kmsg_after", json_integer(kmsg_after));
	if (places->temperature)
		add_temperature(o, places);
	add_around(o, condition, places);
	if (places->counting)
		add_counting(o, condition, places);
	json_write(o, false, &text);
	json_decref(o);
	return str_take(&text);
}

static const char *find_there(const void *arg, const char *name)
{
	const struct rig *rig = arg;

	return rig->remote.ops->program_path(rig->remote.machine, name);
}

char *runspec_json(struct rig *rig, const struct store_run *run, int64_t kmsg_after)
{
	const struct condition *condition = condition_of(rig, run);
	const struct suite *suite = condition->suite;
	const char **files = xcalloc(suite->files.count + 1, sizeof(*files));
	const struct runspec_places places = {
		.program = rig->program_paths[suite - rig->engine->experiment->suites],
		.before = profiling_wants(rig, run) ? profiling_prefix(rig) : NULL,
		.files = (const char *const *)files,
		.find = find_there,
		.arg = rig,
		.counting = run->kind == RUN_COUNTED ? &rig->engine->experiment->counting : NULL,
		.perf = rig->perf_path,
		.temperature = warmth_wanted(rig),
		.first_mc = rig->first_mc};
	char id[64], *text;

	for (size_t i = 0; i < suite->files.count; i++)
		files[i] = rig->remote.ops->program_path(rig->remote.machine,
			suite_file_name(&rig->engine->arena, suite, suite->files.items[i].key));
	(void)snprintf(id, sizeof(id), "run %lld", (long long)run->id);
	text = runspec_condition(condition, &places, id, kmsg_after);
	free(files);
	return text;
}

int64_t runspec_condition_deadline_ns(const struct condition *condition)
{
	int64_t steps = (int64_t)(condition->setup.count + condition->teardown.count) +
			(*condition->server != NULL);

	return condition->spec->timeout_ns + RUNSPEC_SLACK_NS + steps * condition->suite->step_ns;
}

int64_t runspec_deadline_ns(const struct rig *rig, const struct store_run *run)
{
	return runspec_condition_deadline_ns(condition_of(rig, run)) +
	       (run->kind == RUN_COUNTED ? COUNTING_NS : 0) +
	       (warmth_wanted(rig) ? warmth_wanted(rig)->wait_ns : 0);
}

size_t runspec_condition_bytes(const struct condition *condition)
{
	return 2 * (size_t)condition->suite->output_bytes + RESULT_BYTES;
}

size_t runspec_reply_bytes(const struct rig *rig, const struct store_run *run)
{
	return runspec_condition_bytes(condition_of(rig, run)) +
	       (run->kind == RUN_COUNTED ? COUNTING_BYTES : 0);
}
