/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strv.h"
#include "cmd/bisect_boot.h"
#include "sys/gitrepo.h"
#include "sys/proc.h"

#define CHECK_TIMEOUT_NS (3600 * NS_PER_S)
#define BUILD_ROOM_BYTES ((int64_t)4 << 30)

/* One boot whose runs were all unfit may have been the machine's fault. */
enum { EMPTY_BOOTS = 2 };

static int skip(
	struct bisect_job *job, int position, const char *why, const char *detail, struct err *err)
{
	char *text = xasprintf("%s: %.1000s", why, detail);
	int ret = bisect_note(job,
		&(struct bisect_event){.kind = EVENT_SKIP, .position = position, .text = text},
		err);

	if (!ret)
		log_line(LOG_INFO, "%.12s is skipped from now on: %s",
			job->record.steps[position].name, text);
	free(text);
	return ret;
}

static const struct bisect_event *built_event(const struct bisect_record *record, int position)
{
	for (size_t i = 0; i < record->event_count; i++)
		if (record->events[i].kind == EVENT_BUILT &&
			record->events[i].position == position && !record->events[i].undone)
			return &record->events[i];
	return NULL;
}

/* The person's command says whether a kernel is worth a boot. */
static int run_check(struct bisect_job *job, int position, const struct build *build, bool *good,
	struct str *why, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT, env = STRV_INIT;
	int ret = proc_split_words(job->record.spec.check, &argv, err);

	strv_add_all(&env, (const char *const *)environ);
	strv_addf(&env, "KBRACKET_COMMIT=%s", job->record.steps[position].name);
	strv_addf(&env, "KBRACKET_IMAGE=%s", build->image);
	strv_addf(&env, "KBRACKET_CONFIG=%s", build->config);
	if (!ret)
		ret = proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
				       .env = strv_argv(&env),
				       .timeout_ns = CHECK_TIMEOUT_NS},
			&result, err);
	*good = !ret && !result.timed_out && !result.signal && !result.exit_code;
	if (!ret && !*good)
		proc_describe(&result, why);
	proc_result_release(&result);
	strv_release(&argv);
	strv_release(&env);
	return ret;
}

static void on_line(void *arg KB_UNUSED, const char *line)
{
	log_line(LOG_PROGRESS, "%s", line);
}

static int call_builder(
	struct bisect_job *job, const struct variant *variant, struct build *build, struct err *err)
{
	const struct engine_options *engine = &job->study.engine;
	struct build_env env = {
		.cache_dir = engine->build_cache, .jobs = engine->jobs, .progress = on_line};
	int ret;

	ret = engine->ops->builder_for(variant)->build(&env, variant, job->cmd->arena, build, err);
	log_line(LOG_PROGRESS, "%s", "");
	return ret;
}

static int note_built(
	struct bisect_job *job, int position, const struct build *build, struct err *err)
{
	return bisect_note(job,
		&(struct bisect_event){.kind = EVENT_BUILT,
			.position = position,
			.other = (int)build->seconds,
			.text = build->code_sha256[0] ? build->code_sha256 : build->key},
		err);
}

/* A full disk says nothing about a commit. */
static int check_room(const struct bisect_job *job, struct err *err)
{
	const char *cache = job->study.engine.build_cache;
	int64_t left = file_free_bytes(cache);

	if (left < 0 || left >= BUILD_ROOM_BYTES)
		return 0;
	return err_set(err, ERR_INFRA,
		"%s has less than 4 GiB free, too little for a build: make room, then `kbracket "
		"resume %lld`",
		cache, (long long)job->id);
}

static int keep_build(
	struct bisect_job *job, int position, const struct variant *variant, struct err *err)
{
	struct build build = {0};
	struct err why = ERR_INIT;
	struct str said = STR_INIT;
	bool good = true;
	int ret;

	log_line(LOG_INFO, "building %.12s (\"%.60s\")", job->record.steps[position].name,
		job->record.steps[position].subject);
	ret = call_builder(job, variant, &build, &why);
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", why.text);
	if (ret) {
		ret = check_room(job, err);
		return ret ? ret : skip(job, position, "does not build", why.text, err);
	}
	if (job->record.spec.check)
		ret = run_check(job, position, &build, &good, &said, err);
	if (!ret)
		ret = good ? note_built(job, position, &build, err)
			   : skip(job, position, "--check says no", str_text(&said), err);
	str_release(&said);
	return ret;
}

/* A repository that went, or lost the commit, blames none either. */
static int check_source(
	const struct bisect_job *job, const struct variant *variant, struct err *err)
{
	struct gitrepo *repo = NULL;
	struct err why = ERR_INIT;
	struct gitid id;
	int ret;

	if (!variant->tree || variant->is_prebuilt)
		return 0;
	ret = gitrepo_open(variant->tree, &repo, &why);
	if (!ret)
		ret = gitrepo_resolve(repo, variant->ref, &id, NULL, &why);
	gitrepo_free(repo);
	return !ret ? 0
		    : err_set(err, ERR_INFRA,
			      "the source of %s is gone, which blames no commit; bring it back, "
			      "then `kbracket resume %lld`: %s",
			      variant->name, (long long)job->id, why.text);
}

static bool boots_kernels(const struct bisect_job *job)
{
	return job->study.experiment.machines[0].boot != BOOT_NONE;
}

int bisect_build(struct bisect_job *job, int position, bool *tried, struct err *err)
{
	struct variant variant;
	int ret;

	*tried = boots_kernels(job) && !bisect_skipped(&job->record, position) &&
		 !built_event(&job->record, position);
	if (!*tried)
		return 0;
	ret = check_room(job, err);
	if (!ret)
		ret = bisect_steps_variant(job->cmd->arena, job->study.experiment.variants[0],
			&job->record.steps[position], &variant, err);
	if (!ret)
		ret = check_source(job, &variant, err);
	return ret ? ret : keep_build(job, position, &variant, err);
}

/* The step as a variant of the experiment, which it becomes when it is tested first. */
static int have_variant(struct bisect_job *job, int position, size_t *index, struct err *err)
{
	struct experiment *e = &job->study.experiment;
	struct arena *arena = job->cmd->arena;
	struct variant *variant = arena_alloc(arena, sizeof(*variant));
	const struct bisect_step *step = &job->record.steps[position];
	const struct variant **grown;
	char *spec;
	int known, ret = bisect_steps_variant(arena, e->variants[0], step, variant, err);

	if (ret)
		return ret;
	variant->name = arena_strdup(arena, variant->name);
	variant->ref = variant->ref ? arena_strdup(arena, variant->ref) : NULL;
	known = experiment_variant_index(e, variant->name);
	if (known >= 0) {
		*index = (size_t)known;
		return 0;
	}
	grown = arena_alloc(arena, (e->variant_count + 2) * sizeof(*grown));
	memcpy(grown, e->variants, e->variant_count * sizeof(*grown));
	*index = e->variant_count;
	grown[e->variant_count++] = variant;
	e->listed_count = e->variant_count;
	e->variants = grown;
	spec = experiment_dump(e);
	ret = store_variant_add(job->cmd->store, job->id, e, *index,
		&(struct store_ref){step->recipe[0] ? "" : step->name, step->subject}, spec, err);
	free(spec);
	return ret;
}

size_t bisect_condition(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->condition_count; i++)
		if (!strcmp(plan->conditions[i].name, name))
			return i;
	BUG("the plan has no condition %s", name);
}

static int append(struct bisect_job *job, int position, int64_t runs, struct err *err)
{
	struct plan *plan = &job->study.plans[0];
	size_t variant, condition = bisect_condition(plan, job->record.condition);
	struct plan_extension extension = {.block = plan_next_block(plan),
		.variants = &variant,
		.boot_count = 1,
		.conditions = &condition,
		.condition_count = 1,
		.runs = runs,
		.warmup = job->record.spec.warmup,
		.reason = "bisect"};
	int64_t boot_id;
	int ret = have_variant(job, position, &variant, err);

	if (!ret)
		ret = study_append(job->cmd, &job->study, job->id, 0, &extension, err);
	if (!ret)
		ret = store_bisect_newest_boot(job->cmd->store, job->id, &boot_id, err);
	if (!ret)
		ret = store_bisect_event(job->cmd->store, job->id,
			&(struct bisect_event){.kind = EVENT_BOOT,
				.position = position,
				.boot_id = boot_id,
				.text = ""},
			err);
	return ret;
}

int bisect_boot(struct bisect_job *job, int position, int64_t runs, struct err *err)
{
	int ret = store_begin(job->cmd->store, err);

	if (!ret)
		ret = store_finish(job->cmd->store, append(job, position, runs, err), err);
	if (!ret)
		ret = bisect_reload(job, err);
	return ret ? ret : bisect_settle(job, err);
}

/* Boots of a position that ended and gave no value. */
static int empty_boots(const struct bisect_record *record, int position)
{
	int count = 0;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		count += event->kind == EVENT_BOOT && event->position == position &&
			 !event->undone && event->state == STATE_DONE && !event->value_count;
	}
	return count;
}

/* What a boot that has ended says about its step, when that cannot be measured. */
static int judge_boot(struct bisect_job *job, const struct bisect_event *event, struct err *err)
{
	char *reason;
	int position = event->position, ret = 0;

	if (event->lost || bisect_skipped(&job->record, position))
		return 0;
	reason = xstrdup(event->reason[0] ? event->reason : "no run gave a value");
	if (event->state == STATE_FAILED)
		ret = skip(job, position, "does not boot", reason, err);
	else if (empty_boots(&job->record, position) >= EMPTY_BOOTS)
		ret = skip(job, position, "the benchmark fails", reason, err);
	free(reason);
	return ret;
}

int bisect_settle(struct bisect_job *job, struct err *err)
{
	int last = bisect_last(&job->record, EVENT_BOOT), ret = 0;
	const struct bisect_event *event;

	if (last < 0)
		return 0;
	event = &job->record.events[last];
	if (event->state == STATE_PLANNED || event->state == STATE_STARTED) {
		ret = study_walk(job->cmd, &job->study, job->id, err);
		if (!ret)
			ret = bisect_reload(job, err);
		event = &job->record.events[last];
	}
	return ret ? ret : judge_boot(job, event, err);
}
