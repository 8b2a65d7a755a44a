/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket report: tells what an experiment found, judging it first when that is needed. */
#include "base/base.h"

#include "cmd/answer.h"
#include "cmd/bisect.h"

struct options {
	struct global global;
	const char *experiment;
	bool allow_inconclusive;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	ALLOW_INCONCLUSIVE_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct bisect_job job;
	bool is_bisect;
	int64_t id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	if (!ret)
		ret = store_bisect_is(cmd->store, id, &is_bisect, err);
	if (ret || !is_bisect)
		return ret ? ret : answer_report(cmd, id, options->allow_inconclusive, err);
	ret = bisect_open(cmd, id, &job, err);
	if (!ret)
		ret = bisect_answer(&job, &(struct bisect_form){0}, err);
	bisect_close(&job);
	return ret;
}

const struct verb verb_report = {
	.name = "report",
	.summary = "what an experiment found",
	.about = "Writes the report of an experiment: what moved and by how much, tables of "
		 "effects with their intervals and verdicts, what went wrong, and how to do "
		 "it again. Verdicts are computed first when there are none or they are "
		 "older than what is stored. Exits 0 when nothing is wrong, 1 for a "
		 "regression, 3 when failed builds or boots left something open, 4 when "
		 "something is inconclusive or invalid.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
