/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket resume: goes on with an experiment that was stopped, whatever stopped it. */
#include "base/base.h"

#include "cmd/answer.h"
#include "cmd/bisect.h"
#include "cmd/study.h"

struct options {
	struct global global;
	const char *experiment;
	bool allow_inconclusive;
	int64_t jobs;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	JOBS_ROW(options),
	ALLOW_INCONCLUSIVE_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static int resume_bisect(
	struct cmd *cmd, const struct options *options, int64_t id, struct err *err)
{
	struct bisect_job job;
	int ret = bisect_open(cmd, id, &job, err);

	if (!ret)
		ret = bisect_prepare(&job, options->jobs, err);
	if (!ret)
		ret = bisect_go(&job, &(struct bisect_form){0}, err);
	bisect_close(&job);
	return ret;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct store_experiment head;
	struct study study = {0};
	int64_t id, bisect_id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	if (!ret)
		ret = store_bisect_of(cmd->store, id, &bisect_id, err);
	if (!ret && bisect_id)
		return resume_bisect(cmd, options, bisect_id, err);
	if (!ret)
		ret = store_load_head(cmd->store, id, cmd->arena, &head, err);
	if (!ret && head.state == STATE_DONE && head.kind != KIND_IMPORT)
		return answer_report(cmd, id, options->allow_inconclusive, err);
	if (!ret)
		ret = study_read_stored(cmd, &head, &study, err);
	study.engine.jobs = options->jobs;
	if (!ret)
		ret = study_plan_stored(cmd, &study, id, err);
	return ret ? ret : study_run(cmd, &study, id, options->allow_inconclusive, err);
}

const struct verb verb_resume = {
	.name = "resume",
	.summary = "go on with an experiment that was stopped",
	.about = "Finishes the plan of an experiment after a stop, a crash or a power "
		 "failure. What is done is not done again; a run that was cut short is kept "
		 "as interrupted and repeated. An experiment that is done is only reported.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
