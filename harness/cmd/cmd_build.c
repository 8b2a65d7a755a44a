/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket build: builds the kernels of an experiment, or one of them, and nothing else. */
#include "base/base.h"

#include "cmd/study.h"
#include "model/name.h"

struct options {
	struct global global;
	const char *file, *variant;
	int64_t jobs;
};

static const struct opt rows[] = {
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, file),
		.help = "the experiment, as YAML"},
	{.name = "VARIANT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, variant),
		.help = "only this one"},
	JOBS_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static int keep_only(struct experiment *experiment, const char *name, struct err *err)
{
	struct nearest nearest;
	int at = experiment_variant_index(experiment, name);

	nearest_init(&nearest, name);
	for (size_t i = 0; i < experiment->variant_count; i++)
		nearest_try(&nearest, experiment->variants[i]->name);
	if (at < 0)
		return err_set(err, ERR_USAGE, "there is no variant '%s' in it%s", name,
			nearest_hint(&nearest));
	experiment->variants[0] = experiment->variants[at];
	experiment->variant_count = experiment->listed_count = 1;
	return 0;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct study study = {0};
	int failed = 0, ret = study_read(cmd, options->file, &study, err);

	study.engine.jobs = options->jobs;
	if (!ret && options->variant)
		ret = keep_only(&study.experiment, options->variant, err);
	if (!ret)
		ret = engine_build(&study.experiment, &study.engine, &failed, err);
	if (ret)
		return ret;
	return failed ? STATUS_INFRA : STATUS_FINE;
}

const struct verb verb_build = {
	.name = "build",
	.summary = "build the kernels of an experiment",
	.about = "Builds kernels into the lab's cache, where a later run finds them. Nothing "
		 "is booted and nothing is stored in the database. Exits 3 when a build "
		 "failed.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
