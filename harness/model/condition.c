/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"
#include "model/suite.h"
#include "model/template.h"

/* A suite on a machine: its conditions with saturations filled in. */

enum { TASKS_MAX = 100000000 };

int64_t saturation_workers(int64_t cpus, double pct)
{
	/* the small term puts percentages that a double cannot hold, such as 14.3, on the side of
	 * the half where a person puts them */
	double workers = floor((double)cpus * pct / 100 + 0.5 + 1e-9);

	return workers < 1 ? 1 : (int64_t)workers;
}

struct expansion {
	struct arena *arena;
	const struct suite *suite;
	int64_t cpus;
	struct condition *conditions;
	size_t count;
	struct err *err;
};

static int expand_list(const struct expansion *e, const char *const *texts,
	const struct template_values *values, const char *const **out)
{
	const char **list = arena_alloc(e->arena, (argv_count(texts) + 1) * sizeof(*list));

	for (size_t i = 0; texts[i]; i++) {
		int ret = template_expand(e->arena, texts[i], values, &list[i], e->err);

		if (ret)
			return ret;
	}
	*out = list;
	return 0;
}

static int expand_commands(const struct expansion *e, const struct command_list *commands,
	const struct template_values *values, struct command_list *out)
{
	int ret = 0;

	out->items = arena_alloc(e->arena, (commands->count + 1) * sizeof(*out->items));
	for (out->count = 0; out->count < commands->count && !ret; out->count++)
		ret = expand_list(e, commands->items[out->count], values, &out->items[out->count]);
	return ret;
}

/* What is around a run of it. */
static int expand_around(
	const struct expansion *e, const struct template_values *values, struct condition *out)
{
	const struct suite *suite = e->suite;
	int ret = expand_commands(e, &suite->setup, values, &out->setup);

	if (!ret)
		ret = expand_commands(e, &suite->teardown, values, &out->teardown);
	if (!ret)
		ret = expand_list(e, suite->server, values, &out->server);
	if (!ret)
		ret = expand_list(e, suite->server_version, values, &out->server_version);
	if (!ret)
		ret = expand_list(e, suite->ready, values, &out->ready);
	return ret;
}

/* NAME=VALUE for each entry; LC_ALL=C unless the suite says otherwise. */
static int expand_env(
	const struct expansion *e, const struct template_values *values, const char *const **out)
{
	const struct pairs *env = &e->suite->env;
	const char **list = arena_alloc(e->arena, (env->count + 2) * sizeof(*list));
	size_t count = 0;

	list[count++] = "LC_ALL=C";
	for (size_t i = 0; i < env->count; i++) {
		const char *value;
		int ret = template_expand(e->arena, env->items[i].value, values, &value, e->err);
		bool locale = strcmp(env->items[i].key, "LC_ALL") == 0;

		if (ret)
			return ret;
		list[locale ? 0 : count++] =
			arena_printf(e->arena, "%s=%s", env->items[i].key, value);
	}
	*out = list;
	return 0;
}

static int expand_echoes(
	const struct expansion *e, const struct template_values *values, const char *const **out)
{
	const char **texts = arena_alloc(e->arena, (e->suite->echo_count + 1) * sizeof(*texts));

	for (size_t i = 0; i < e->suite->echo_count; i++)
		texts[i] = e->suite->echoes[i].expect;
	return expand_list(e, texts, values, out);
}

/* The number of tasks where a template tells it. */
static int expand_tasks(
	const struct expansion *e, const struct template_values *values, int64_t *tasks)
{
	const char *text;
	int ret;

	if (!*e->suite->tasks)
		return 0;
	ret = template_expand(e->arena, e->suite->tasks, values, &text, e->err);
	if (!ret)
		ret = num_int(text, 1, TASKS_MAX, tasks, e->err);
	return ret ? err_wrap(e->err, "tasks") : 0;
}

static int fill_in(const struct expansion *e, struct condition *condition)
{
	const struct condition_spec *spec = condition->spec;
	const struct template_values values = {.workers = condition->workers,
		.cpus = e->cpus,
		.saturation_pct = condition->saturation_pct,
		.seconds = (double)spec->duration_ns / (double)NS_PER_S,
		.params = &spec->params};
	int ret = expand_list(e, spec->argv, &values, &condition->argv);

	if (ret == 0)
		ret = expand_env(e, &values, &condition->env);
	if (ret == 0)
		ret = expand_echoes(e, &values, &condition->expects);
	if (ret == 0)
		ret = expand_around(e, &values, condition);
	if (ret == 0)
		ret = template_expand(
			e->arena, e->suite->operations, &values, &condition->operations, e->err);
	if (ret == 0)
		ret = expand_tasks(e, &values, &condition->tasks);
	return ret ? err_wrap(e->err, "condition %s", condition->name) : 0;
}

/* "31.25%"; the shortest form. */
static const char *pct_text(struct arena *arena, double pct)
{
	struct str s = STR_INIT;
	const char *text;

	opt_add_pct(&s, pct);
	text = arena_strdup(arena, str_text(&s));
	str_release(&s);
	return text;
}

/* The condition of the same spec with as many workers, from index first on; NULL when none. */
static struct condition *find_equal(const struct expansion *e, size_t first, int64_t workers)
{
	for (size_t i = first; i < e->count; i++)
		if (e->conditions[i].workers == workers)
			return &e->conditions[i];
	return NULL;
}

static int add_saturation(
	struct expansion *e, const struct condition_spec *spec, size_t first, double pct)
{
	int64_t workers = saturation_workers(e->cpus, pct);
	struct condition *equal = find_equal(e, first, workers);
	const char *text = pct_text(e->arena, pct);
	struct condition *condition;

	if (equal) {
		equal->merged = equal->merged
					? arena_printf(e->arena, "%s, %s", equal->merged, text)
					: text;
		return 0;
	}
	condition = &e->conditions[e->count++];
	*condition = (struct condition){.suite = e->suite,
		.spec = spec,
		.name = arena_printf(e->arena, "%s/%s %s", e->suite->name, spec->name, text),
		.saturation_pct = pct,
		.effective_pct = 100.0 * (double)workers / (double)e->cpus,
		.workers = workers,
		.tasks = workers * e->suite->tasks_per_worker + e->suite->extra_tasks,
		.cpus = e->cpus};
	return fill_in(e, condition);
}

static int add_plain(struct expansion *e, const struct condition_spec *spec)
{
	struct condition *condition = &e->conditions[e->count++];

	*condition = (struct condition){.suite = e->suite,
		.spec = spec,
		.name = arena_printf(e->arena, "%s/%s", e->suite->name, spec->name),
		.tasks = e->suite->extra_tasks,
		.cpus = e->cpus};
	return fill_in(e, condition);
}

int suite_expand(struct arena *arena, const struct suite *suite, int64_t cpus,
	const double *saturations_pct, size_t saturation_count, struct condition **out,
	size_t *count, struct err *err)
{
	struct expansion e = {.arena = arena, .suite = suite, .cpus = cpus, .err = err};
	int ret = 0;

	if (cpus < 1)
		return err_set(err, ERR_USAGE, "the number of CPUs is not known");
	e.conditions = arena_alloc(
		arena, suite->condition_count * (saturation_count + 1) * sizeof(*e.conditions) + 1);
	for (size_t i = 0; i < suite->condition_count && ret == 0; i++) {
		const struct condition_spec *spec = &suite->conditions[i];
		size_t first = e.count;

		if (!spec->by_saturation)
			ret = add_plain(&e, spec);
		for (size_t k = 0; spec->by_saturation && k < saturation_count && ret == 0; k++)
			ret = add_saturation(&e, spec, first, saturations_pct[k]);
	}
	if (ret)
		return ret;
	*out = e.conditions;
	*count = e.count;
	return 0;
}
