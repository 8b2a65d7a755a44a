/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket calibrate: boots only the baseline, to learn how much a machine varies by itself. */
#include "base/base.h"

#include "cmd/study.h"

struct options {
	struct global global;
	const char *file, *machine;
	int64_t boots, jobs;
};

static const struct opt rows[] = {
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, file),
		.help = "an experiment: its baseline, suites, saturations and runs are used"},
	{.name = "MACHINE",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, machine),
		.help = "only this one of its machines"},
	{.name = "boots",
		.type = OPT_INT,
		.offset = offsetof(struct options, boots),
		.def = "6",
		.min = 2,
		.max = 200,
		.arg = "N",
		.help = "boots of the baseline; from 6 on they count as a history"},
	JOBS_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

/* The baseline alone, so many times in a row. */
static void keep_baseline(struct arena *arena, struct experiment *experiment, int64_t boots)
{
	const char **order = arena_alloc(arena, ((size_t)boots + 1) * sizeof(*order));

	for (int64_t i = 0; i < boots; i++)
		order[i] = experiment->variants[0]->name;
	experiment->variant_count = experiment->listed_count = 1;
	experiment->design.order = ORDER_EXPLICIT;
	experiment->design.explicit_order = order;
	experiment->design.boots = experiment->design.max_boots = 0;
	experiment->design.until = UNTIL_BOOTS;
	experiment->name = arena_printf(arena, "%.52s-calibrate", experiment->name);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct study study = {0};
	int64_t id;
	int ret = study_read(cmd, options->file, &study, err);

	study.engine.jobs = options->jobs;
	if (!ret && options->machine)
		ret = study_keep_machine(&study.experiment, options->machine, err);
	if (!ret)
		keep_baseline(cmd->arena, &study.experiment, options->boots);
	if (!ret)
		ret = study_plan(cmd, &study, true, err);
	if (!ret)
		ret = study_resolve(cmd, &study, err);
	if (!ret)
		ret = study_open_store(cmd, &study, STORE_WRITE, err);
	if (!ret)
		ret = study_create(cmd, &study, KIND_CALIBRATION, &id, err);
	return ret ? ret : study_run(cmd, &study, id, true, err);
}

const struct verb verb_calibrate = {
	.name = "calibrate",
	.summary = "boots of the baseline that teach a machine's variance",
	.about = "Boots the baseline of an experiment several times on a machine and "
		 "measures it as the experiment would. From these boots later judgements "
		 "know how much two boots of one kernel differ there.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
