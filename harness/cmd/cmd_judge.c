/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket judge: computes the verdicts of experiments again from their samples. */
#include "base/base.h"

#include "base/log.h"
#include "cmd/answer.h"
#include "judge/judge.h"
#include "version.h"

struct options {
	struct global global;
	const char *experiment;
	bool all;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	{.name = "all",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, all),
		.help = "every experiment in the database"},
	GLOBAL_ROWS(options),
	OPT_END,
};

static int judge_one(struct cmd *cmd, int64_t id, struct err *err)
{
	int ret = judge_experiment(cmd->store, id, KB_VERSION, err);

	if (!ret)
		log_line(LOG_INFO, "experiment %lld is judged", (long long)id);
	return ret;
}

static int judge_all(struct cmd *cmd, struct err *err)
{
	struct store_experiment *list;
	size_t count;
	int ret = store_list(cmd->store, cmd->arena, &list, &count, err);

	for (size_t i = 0; i < count && !ret; i++)
		ret = judge_one(cmd, list[i].id, err);
	return ret;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	int64_t id;
	int ret;

	if (options->all && options->experiment)
		return err_set(err, ERR_USAGE, "give an experiment or --all, not both");
	if (options->all)
		return judge_all(cmd, err);
	ret = store_find(cmd->store, options->experiment, &id, err);
	return ret ? ret : judge_one(cmd, id, err);
}

const struct verb verb_judge = {
	.name = "judge",
	.summary = "compute verdicts again from the samples",
	.about = "Drops the verdicts of an experiment and computes them again from what is "
		 "stored. `kbracket report` does this by itself when it is needed.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
