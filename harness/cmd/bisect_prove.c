/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proof of a culprit: experiments of their own, bracketed and judged as any other. */
#include "base/base.h"

#include "base/log.h"
#include "base/strv.h"
#include "cmd/answer.h"
#include "cmd/bisect.h"
#include "cmd/bisect_boot.h"
#include "sys/gitrepo_walk.h"

static const struct bisect_event *proof_event(
	const struct bisect_record *record, int position, const char *what)
{
	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind == EVENT_PROOF && !event->undone && event->position == position &&
			!strcmp(event->text, what))
			return event;
	}
	return NULL;
}

/* Appends the brackets A B B A of an experiment with two variants. */
static int append_blocks(struct bisect_job *job, struct study *study, int64_t id, struct err *err)
{
	static const size_t order[] = {0, 1, 1, 0};
	struct plan *plan = &study->plans[0];
	size_t condition = bisect_condition(plan, job->record.condition);
	int ret = 0;

	for (int64_t i = 0; i < job->record.spec.proof_boots / 2 && !ret; i++) {
		struct plan_extension block = {.block = plan_next_block(plan),
			.variants = order,
			.boot_count = ARRAY_SIZE(order),
			.conditions = &condition,
			.condition_count = 1,
			.runs = job->record.spec.runs,
			.warmup = job->record.spec.warmup,
			.reason = "proof of a bisect"};

		ret = study_append(job->cmd, study, id, 0, &block, err);
	}
	return ret;
}

static int store_proof(struct bisect_job *job, struct study *study, int culprit, const char *what,
	int64_t *id, struct err *err)
{
	int ret = study_create(job->cmd, study, KIND_EXPERIMENT, id, err);

	if (!ret)
		ret = append_blocks(job, study, *id, err);
	if (!ret)
		ret = store_bisect_event(job->cmd->store, job->id,
			&(struct bisect_event){.kind = EVENT_PROOF,
				.position = culprit,
				.experiment_id = *id,
				.text = what},
			err);
	return ret;
}

/* A machine that was named by a path is one in the stored experiment. */
static int begin_proof(struct bisect_job *job, int culprit, const char *what,
	const struct variant pair[2], struct study *study, int64_t *id, struct err *err)
{
	struct arena *arena = job->cmd->arena;
	const char *name =
		arena_printf(arena, "proof-%.12s-%s", job->record.steps[culprit].name, what);
	struct experiment e = job->study.experiment;
	const struct variant *variants[] = {&pair[0], &pair[1]};
	char *text;
	int ret;

	e.name = name;
	e.variants = variants;
	e.variant_count = e.listed_count = ARRAY_SIZE(variants);
	text = experiment_dump(&e);
	ret = study_read_text(job->cmd, NULL, "proof", arena_strdup(arena, text), study, err);
	free(text);
	study->engine.jobs = job->study.engine.jobs;
	if (!ret)
		ret = study_plan(job->cmd, study, true, err);
	if (!ret)
		ret = study_resolve(job->cmd, study, err);
	if (!ret)
		ret = store_begin(job->cmd->store, err);
	if (!ret)
		ret = store_finish(
			job->cmd->store, store_proof(job, study, culprit, what, id, err), err);
	return ret ? ret : bisect_reload(job, err);
}

static int load_proof(
	struct bisect_job *job, int64_t id, struct study *study, bool *done, struct err *err)
{
	struct store_experiment head;
	int ret = store_load_head(job->cmd->store, id, job->cmd->arena, &head, err);

	*done = !ret && head.state == STATE_DONE;
	if (!ret && !*done)
		ret = study_read_stored(job->cmd, &head, study, err);
	study->engine.jobs = job->study.engine.jobs;
	if (!ret && !*done)
		ret = study_plan_stored(job->cmd, study, id, err);
	return ret;
}

/* Begins the proof, or goes on with it. */
static int prove(struct bisect_job *job, int culprit, const char *what,
	const struct variant pair[2], struct err *err)
{
	const struct bisect_event *event = proof_event(&job->record, culprit, what);
	struct study study = {0};
	bool done = false;
	int64_t id = event ? event->experiment_id : 0;
	int ret = event ? load_proof(job, id, &study, &done, err)
			: begin_proof(job, culprit, what, pair, &study, &id, err);

	if (ret || done)
		return ret;
	log_line(LOG_INFO, "proof: %s against %s", pair[1].name, pair[0].name);
	ret = study_walk(job->cmd, &study, id, err);
	if (!ret)
		ret = store_experiment_move(job->cmd->store, id, STATE_DONE, err);
	return ret ? ret : answer_judge(job->cmd, id, err);
}

/* The variant of a commit that need not be a step. */
static int commit_variant(
	struct bisect_job *job, const char *hex, struct variant *out, struct err *err)
{
	const struct bisect_step step = {.name = arena_strdup(job->cmd->arena, hex),
		.subject = "",
		.author = "",
		.recipe = ""};

	return bisect_steps_variant(
		job->cmd->arena, job->study.experiment.variants[0], &step, out, err);
}

static int step_variant(struct bisect_job *job, int position, struct variant *out, struct err *err)
{
	const struct bisect_step *step = &job->record.steps[position];

	if (!step->recipe[0])
		return commit_variant(job, step->name, out, err);
	return bisect_steps_variant(
		job->cmd->arena, job->study.experiment.variants[0], step, out, err);
}

/* The culprit against its own parent, which need not be listed. */
static int prove_by_parent(
	struct bisect_job *job, struct gitrepo *repo, int culprit, struct err *err)
{
	struct variant pair[2];
	struct gitid id = {""}, parent;
	int ret = 0;

	if (repo) {
		(void)snprintf(id.hex, sizeof(id.hex), "%s", job->record.steps[culprit].name);
		ret = gitwalk_parent(repo, &id, &parent, err);
		if (!ret)
			ret = commit_variant(job, parent.hex, &pair[0], err);
	} else {
		ret = step_variant(job, culprit - 1, &pair[0], err);
	}
	if (!ret)
		ret = step_variant(job, culprit, &pair[1], err);
	return ret ? ret : prove(job, culprit, "parent", pair, err);
}

/* Told once. */
static int note_no_revert(struct bisect_job *job, int culprit, const char *why, struct err *err)
{
	char *text = xasprintf("%.12s cannot be reverted from the bad end, so that is not tried: "
			       "%.600s",
		job->record.steps[culprit].name, why);
	bool told = false;
	int ret = 0;

	for (size_t i = 0; i < job->record.event_count; i++)
		told = told || (job->record.events[i].kind == EVENT_NOTE &&
				       !strcmp(job->record.events[i].text, text));
	if (!told)
		ret = bisect_note(job,
			&(struct bisect_event){
				.kind = EVENT_NOTE, .position = culprit, .text = text},
			err);
	free(text);
	return ret;
}

/* The bad end against the same with the culprit reverted, where that can be done cleanly. */
static int prove_by_revert(
	struct bisect_job *job, struct gitrepo *repo, int culprit, struct err *err)
{
	const struct bisect_record *record = &job->record;
	struct arena *arena = job->cmd->arena;
	struct git_step step = {
		.kind = GIT_STEP_REVERT, .name = record->steps[culprit].name, .note = ""};
	const char **reverts = arena_alloc(arena, 2 * sizeof(*reverts));
	struct gitid bad = {""};
	struct err why = ERR_INIT;
	struct variant pair[2];
	int ret;

	if (culprit == record->bad)
		return 0; /* that is its parent */
	(void)snprintf(bad.hex, sizeof(bad.hex), "%s", record->steps[record->bad].name);
	if (gitrepo_try(repo, &bad, &step, 1, &why))
		return note_no_revert(job, culprit, why.text, err);
	ret = step_variant(job, record->bad, &pair[0], err);
	if (ret)
		return ret;
	pair[1] = pair[0];
	pair[1].name = arena_printf(arena, "%s-reverted", pair[0].name);
	reverts[0] = arena_strdup(arena, step.name);
	pair[1].reverts = reverts;
	return prove(job, culprit, "revert", pair, err);
}

static int prove_one(struct bisect_job *job, int culprit, struct err *err)
{
	struct gitrepo *repo = NULL;
	int ret = 0;

	if (job->record.axis == AXIS_COMMITS)
		ret = gitrepo_open(job->record.tree, &repo, err);
	if (!ret)
		ret = prove_by_parent(job, repo, culprit, err);
	gitrepo_free(repo); /* gitrepo_try wants one of its own */
	repo = NULL;
	if (ret || job->record.axis != AXIS_COMMITS)
		return ret;
	ret = gitrepo_open(job->record.tree, &repo, err);
	if (!ret)
		ret = prove_by_revert(job, repo, culprit, err);
	gitrepo_free(repo);
	return ret;
}

int bisect_prove(struct bisect_job *job, const struct bisect_finding *finding, struct err *err)
{
	int culprits[8], ret = 0;
	size_t count = 0;

	if (!job->record.spec.proof_boots ||
		(finding->word != FOUND_CULPRIT && finding->word != FOUND_SEVERAL))
		return 0;
	/* the finding lives in the record's arena, which goes with each event */
	for (; count < finding->suspect_count && count < ARRAY_SIZE(culprits); count++)
		culprits[count] = finding->suspects[count];
	for (size_t i = 0; i < count && !ret; i++)
		ret = prove_one(job, culprits[i], err);
	return ret;
}
