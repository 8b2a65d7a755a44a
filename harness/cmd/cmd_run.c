/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket run: builds the kernels of an experiment, boots and measures them, and reports. */
#include "base/base.h"

#include "cmd/study.h"

struct options {
	struct global global;
	const char *file;
	bool allow_inconclusive;
	int64_t jobs;
};

static const struct opt rows[] = {
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, file),
		.help = "the experiment, as YAML"},
	JOBS_ROW(options),
	ALLOW_INCONCLUSIVE_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct study study = {0};
	int64_t id;
	int ret = study_read(cmd, options->file, &study, err);

	study.engine.jobs = options->jobs;
	if (!ret)
		ret = study_plan(cmd, &study, true, err);
	if (!ret)
		ret = study_resolve(cmd, &study, err);
	if (!ret)
		ret = study_open_store(cmd, &study, STORE_WRITE, err);
	if (!ret)
		ret = study_create(cmd, &study, KIND_EXPERIMENT, &id, err);
	return ret ? ret : study_run(cmd, &study, id, options->allow_inconclusive, err);
}

const struct verb verb_run = {
	.name = "run",
	.summary = "build, boot, measure, judge and report an experiment",
	.about = "Reads the experiment, stores its plan, builds its kernels, boots them in "
		 "the planned order, runs the workloads, and ends with the report and its "
		 "exit status. It can be stopped at any time; `kbracket resume` goes on.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
