/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "judge/evidence.h"
#include "judge/judge.h"
#include "judge/noise.h"
#include "model/toggle.h"
#include "stat/power.h"

/* A condition's metric with the boots that were found so far. */
struct source {
	size_t condition; /* index among the names */
	const char *metric;
	const char *program, *server; /* SHA-256 of what the boots ran; NULL before the first */
	struct history_boot *boots;
	size_t count, capacity;
	int groups;
};

struct sources {
	const char *machine;
	const char *const *conditions;
	size_t condition_count;
	struct source *items;
	size_t count, capacity;
	struct arena *arena;
};

static struct source *source_for(struct sources *sources, size_t condition, const char *metric)
{
	struct source *source;

	for (size_t i = 0; i < sources->count; i++) {
		source = &sources->items[i];
		if (source->condition == condition && strcmp(source->metric, metric) == 0)
			return source;
	}
	GROW(sources->items, sources->count, sources->capacity);
	source = &sources->items[sources->count++];
	*source = (struct source){
		.condition = condition, .metric = arena_strdup(sources->arena, metric)};
	return source;
}

/* Boots of one variant are one group. */
static void add_arm(struct source *source, const struct evidence_cell *cell, int arm)
{
	size_t before = source->count;

	for (size_t i = 0; i < cell->count; i++) {
		const struct bracket_boot *boot = &cell->boots[i];

		if (boot->arm != arm || !boot->runs)
			continue;
		GROW(source->boots, source->count, source->capacity);
		source->boots[source->count++] = (struct history_boot){
			source->groups, boot->runs, boot->mean_ln, boot->var_ln};
	}
	source->groups += source->count > before;
}

/* What another binary of the benchmark does says nothing about this one. */
static bool is_same_program(
	struct sources *sources, struct source *source, const struct store_condition *condition)
{
	if (source->count)
		return strcmp(source->program, condition->program_sha256) == 0 &&
		       strcmp(source->server, condition->server_sha256) == 0;
	source->program = arena_strdup(sources->arena, condition->program_sha256);
	source->server = arena_strdup(sources->arena, condition->server_sha256);
	return true;
}

static void add_cell(
	struct sources *sources, const struct store_view *view, const struct evidence_cell *cell)
{
	if (strcmp(cell->machine->name, sources->machine) != 0)
		return;
	for (size_t c = 0; c < sources->condition_count; c++) {
		struct source *source;

		if (strcmp(cell->condition->name, sources->conditions[c]) != 0)
			continue;
		source = source_for(sources, c, cell->metric->name);
		if (source->count >= JUDGE_HISTORY_BOOTS ||
			!is_same_program(sources, source, cell->condition))
			return;
		for (size_t v = 0; v < view->variant_count; v++)
			add_arm(source, cell, view->variants[v].position);
		return;
	}
}

static bool has_machine(const struct store_view *view, const char *name)
{
	for (size_t m = 0; m < view->machine_count; m++)
		if (strcmp(view->machines[m].name, name) == 0)
			return true;
	return false;
}

static bool has_enough(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i].count < JUDGE_HISTORY_BOOTS)
			return false;
	return sources->count >= sources->condition_count;
}

static int add_experiment(
	struct store *store, int64_t experiment_id, struct sources *sources, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct evidence evidence = {0};
	struct store_view view;
	int ret = store_load(store, experiment_id, &arena, &view, err);

	if (!ret && !view.head.means_only && !toggle_seen(&view) &&
		has_machine(&view, sources->machine)) {
		ret = evidence_load(store, &view, &arena, &evidence, NULL, err);
		for (size_t i = 0; i < evidence.cell_count && !ret; i++)
			add_cell(sources, &view, &evidence.cells[i]);
	}
	arena_release(&arena);
	return ret;
}

static void finish(struct sources *sources, struct noise **out, size_t *count)
{
	*out = arena_alloc(sources->arena, (sources->count + 1) * sizeof(**out));
	*count = 0;
	for (size_t c = 0; c < sources->condition_count; c++)
		for (size_t i = 0; i < sources->count; i++) {
			const struct source *source = &sources->items[i];
			struct noise *noise;

			if (source->condition != c)
				continue;
			noise = &(*out)[(*count)++];
			noise->condition = sources->conditions[c];
			noise->metric = source->metric;
			history_from_boots(source->boots, source->count, &noise->history);
		}
}

int noise_load(struct store *store, const char *machine, const char *const *conditions,
	size_t condition_count, struct arena *arena, struct noise **out, size_t *count,
	struct err *err)
{
	struct sources sources = {.machine = machine,
		.conditions = conditions,
		.condition_count = condition_count,
		.arena = arena};
	struct store_experiment *list;
	size_t experiments;
	int ret = store_list(store, arena, &list, &experiments, err);

	for (size_t i = 0; !ret && i < experiments && !has_enough(&sources); i++)
		ret = add_experiment(store, list[i].id, &sources, err);
	if (!ret)
		finish(&sources, out, count);
	for (size_t i = 0; i < sources.count; i++)
		free(sources.items[i].boots);
	free(sources.items);
	return ret;
}

int noise_boots_to_detect(
	const struct noise *noise, int64_t runs, double level, double d, double power)
{
	const struct history *history = &noise->history;
	double variance = history->tau2 + history->sw2 / (double)runs;
	const struct power seen = {variance, variance, 0, history->df};

	if (!(history->nu0 > 0) || runs < 1)
		return 0;
	return power_boots_to_detect(&seen, level, d, power);
}
