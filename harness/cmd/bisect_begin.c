/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisect on its way from the command line, or from the database, to its walk. */
#include "base/base.h"

#include "base/file.h"
#include "base/log.h"
#include "base/strv.h"
#include "cmd/bisect.h"
#include "model/name.h"
#include "sys/gitrepo.h"
#include "sys/json_put.h"

/* The only kernels file of a lab. */
static int only_kernels_file(
	struct arena *arena, const struct lab *lab, const char **out, struct err *err)
{
	char *folder = arena_printf(arena, "%s/kernels", lab->root);
	struct strv names = STRV_INIT;
	const char *found = NULL;
	size_t count = 0;

	if (file_list(folder, &names, err))
		names.count = 0; /* none, which is told */
	for (size_t i = 0; i < names.count; i++)
		if (str_ends(names.items[i], ".yaml")) {
			found = arena_printf(arena, "%s/%s", folder, names.items[i]);
			count++;
		}
	strv_release(&names);
	if (count != 1)
		return err_set(err, ERR_USAGE,
			"--kernels is missing, and there are %zu kernels files in %s: it says "
			"which repository and configuration the kernels are built from",
			count, folder);
	*out = found;
	return 0;
}

static int find_recipe(struct cmd *cmd, const struct bisect_spec *spec, struct kernels *kernels,
	const struct variant **recipe, struct err *err)
{
	struct diag diag = DIAG_INIT;
	struct nearest nearest;

	if (kernels_read(cmd->arena, spec->kernels, kernels, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	*recipe = spec->variant ? kernels_find(kernels, spec->variant) : &kernels->variants[0];
	if (*recipe)
		return 0;
	nearest_init(&nearest, spec->variant);
	for (size_t i = 0; i < kernels->count; i++)
		nearest_try(&nearest, kernels->variants[i].name);
	return err_set(err, ERR_USAGE, "there is no variant '%s' in %s%s", spec->variant,
		spec->kernels, nearest_hint(&nearest));
}

/* The suite's name in "SUITE/CONDITION". */
static const char *suite_of(struct arena *arena, const char *condition)
{
	return arena_strndup(arena, condition, strcspn(condition, "/"));
}

static void put_list(json_t *object, const char *key, const char *item)
{
	json_t *list = json_array();

	json_push(list, json_text(item));
	json_put(object, key, list);
}

static void put_design(json_t *object, const struct bisect_spec *spec)
{
	json_t *design = json_object();

	json_put_text(design, "order", "adaptive");
	json_put_int(design, "runs", spec->runs);
	json_put_int(design, "warmup", spec->warmup);
	json_put(object, "design", design);
}

const char *bisect_experiment_text(struct arena *arena, const struct bisect_spec *spec,
	const char *name, const struct variant *variants, size_t count)
{
	const char *suite = suite_of(arena, spec->condition);
	const struct opt_ctx here = {arena, NULL, NULL};
	json_t *object = json_object(), *more = json_array();
	struct str text = STR_INIT;
	const char *kept;

	json_put_text(object, "experiment", name);
	put_list(object, "machines",
		strchr(spec->machine, '/') ? opt_path(&here, spec->machine) : spec->machine);
	json_put(object, "kernels", kernels_json(variants, count));
	json_put_text(object, "baseline", variants[0].name);
	for (size_t i = 1; i < count; i++)
		json_push(more, json_text(variants[i].name));
	json_put(object, "variants", more);
	put_list(object, "suites", suite);
	str_addf(&text, "%.10g%%", spec->saturation_pct);
	put_list(object, "saturation", str_text(&text));
	str_reset(&text);
	if (spec->duration_ns) {
		opt_add_duration(&text, spec->duration_ns);
		json_put_text(object, "duration", str_text(&text));
		str_reset(&text);
	}
	put_design(object, spec);
	opt_write_yaml(object, &text);
	kept = arena_strdup(arena, str_text(&text));
	json_decref(object);
	str_release(&text);
	return kept;
}

/* The condition that is meant, by its full name in the plan. */
static int find_condition(
	const struct bisect_spec *spec, const struct plan *plan, const char **name, struct err *err)
{
	const char *wanted = strchr(spec->condition, '/');
	struct nearest nearest;

	nearest_init(&nearest, wanted ? wanted + 1 : "");
	for (size_t i = 0; i < plan->condition_count; i++) {
		const struct condition *condition = &plan->conditions[i];

		if (!wanted || !strcmp(wanted + 1, condition->spec->name)) {
			*name = condition->name;
			return 0;
		}
		nearest_try(&nearest, condition->spec->name);
	}
	return err_set(err, ERR_USAGE, "--condition: the suite %s has no condition '%s'%s",
		plan->conditions[0].suite->name, wanted + 1, nearest_hint(&nearest));
}

static const char *metric_of(const struct bisect_spec *spec, const struct study *study)
{
	return spec->metric ? spec->metric : study->experiment.suites[0].metrics[0].name;
}

static int store_all(struct bisect_job *job, const struct bisect_spec *spec,
	const struct bisect_steps *steps, const char *condition, struct err *err)
{
	char *dump = bisect_spec_dump(spec), *chain = bisect_chain_json(&steps->chain);
	struct store *store = job->cmd->store;
	int ret = study_create(job->cmd, &job->study, KIND_EXPERIMENT, &job->id, err);

	if (!ret)
		ret = store_bisect_create(store,
			&(struct store_bisect_new){.experiment_id = job->id,
				.axis = steps->axis,
				.spec = dump,
				.tree = steps->tree,
				.condition = condition,
				.metric = metric_of(spec, &job->study),
				.steps = steps->items,
				.step_count = steps->count,
				.listed = steps->listed},
			err);
	if (!ret)
		ret = store_bisect_event(store, job->id,
			&(struct bisect_event){.kind = EVENT_STAGE, .text = chain}, err);
	free(dump);
	free(chain);
	return ret;
}

/* A branch may be rebased and its old commits cleaned up before the bisect ends. */
static void keep_commits(const struct bisect_record *record)
{
	struct gitrepo *repo = NULL;
	struct err err = ERR_INIT;
	struct gitid bad = {""};
	int ret = gitrepo_open(record->tree, &repo, &err);

	(void)snprintf(bad.hex, sizeof(bad.hex), "%s", record->steps[record->bad].name);
	if (!ret)
		ret = gitrepo_keep(repo, &bad, &err);
	if (ret)
		log_line(LOG_INFO, "keep the commits of this bisect in the repository: %s",
			err.text);
	gitrepo_free(repo);
}

static int store_new_bisect(struct bisect_job *job, const struct bisect_spec *spec,
	const struct bisect_steps *steps, struct err *err)
{
	const char *condition = NULL;
	int ret = find_condition(spec, &job->study.plans[0], &condition, err);

	if (!ret)
		ret = study_open_store(job->cmd, &job->study, STORE_WRITE, err);
	if (!ret)
		ret = store_begin(job->cmd->store, err);
	if (ret)
		return ret;
	ret = store_finish(job->cmd->store, store_all(job, spec, steps, condition, err), err);
	if (!ret)
		ret = bisect_reload(job, err);
	if (!ret && steps->axis == AXIS_COMMITS)
		keep_commits(&job->record);
	return ret;
}

static int check_given(const struct bisect_spec *spec, struct err *err)
{
	enum bisect_axis axis;
	int ret = bisect_spec_check(spec, &axis, err);

	if (!ret && !spec->machine)
		ret = err_set(
			err, ERR_USAGE, "--machine is missing: what the kernels are booted on");
	if (!ret && !spec->condition)
		ret = err_set(err, ERR_USAGE,
			"--condition is missing: what is measured, such as hackbench/pairs");
	return ret;
}

int bisect_begin(struct cmd *cmd, const struct bisect_spec *given, int64_t jobs,
	struct bisect_job *out, struct err *err)
{
	struct bisect_spec spec = *given;
	struct bisect_steps steps;
	const struct variant *recipe;
	struct kernels kernels;
	struct lab lab;
	int ret = check_given(&spec, err);

	*out = (struct bisect_job){.cmd = cmd};
	if (!ret)
		ret = lab_find(cmd->arena, NULL, &lab, err);
	if (!ret && !spec.kernels)
		ret = only_kernels_file(cmd->arena, &lab, &spec.kernels, err);
	if (!ret)
		ret = find_recipe(cmd, &spec, &kernels, &recipe, err);
	if (!ret)
		ret = bisect_steps_list(cmd->arena, &spec, recipe, lab.cache, &steps, err);
	if (!ret)
		ret = study_read_text(cmd, NULL, "bisect",
			bisect_experiment_text(cmd->arena, &spec,
				arena_printf(cmd->arena, "bisect-%.50s",
					suite_of(cmd->arena, spec.condition)),
				&steps.good, 1),
			&out->study, err);
	out->study.engine.jobs = jobs;
	if (!ret)
		ret = study_plan(cmd, &out->study, true, err);
	if (!ret)
		ret = study_resolve(cmd, &out->study, err);
	return ret ? ret : store_new_bisect(out, &spec, &steps, err);
}

int bisect_open(struct cmd *cmd, int64_t id, struct bisect_job *out, struct err *err)
{
	*out = (struct bisect_job){.cmd = cmd, .id = id};
	return bisect_reload(out, err);
}

int bisect_prepare(struct bisect_job *job, int64_t jobs, struct err *err)
{
	struct store_experiment head;
	int ret = store_load_head(job->cmd->store, job->id, job->cmd->arena, &head, err);

	if (!ret)
		ret = study_read_stored(job->cmd, &head, &job->study, err);
	job->study.engine.jobs = jobs;
	return ret ? ret : study_plan_stored(job->cmd, &job->study, job->id, err);
}

int bisect_reload(struct bisect_job *job, struct err *err)
{
	int ret;

	arena_release(&job->arena);
	ret = store_bisect_load(job->cmd->store, job->id, &job->arena, &job->record, err);
	job->record.one_step = job->one_step;
	return ret;
}

void bisect_close(struct bisect_job *job)
{
	arena_release(&job->arena);
}

int bisect_note(struct bisect_job *job, const struct bisect_event *event, struct err *err)
{
	int ret = store_bisect_event(job->cmd->store, job->id, event, err);

	return ret ? ret : bisect_reload(job, err);
}
