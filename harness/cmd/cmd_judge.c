/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket judge: computes the verdicts of experiments again from their samples. */
#include "base/base.h"

#include "base/log.h"
#include "cmd/answer.h"
#include "cmd/beside.h"
#include "judge/judge.h"
#include "judge/others.h"
#include "version.h"

struct options {
	struct global global;
	const char *experiment;
	int as; /* 0: nobody's rule, else enum peer + 1 */
	bool all;
};

static const char *const rules[] = {"kbracket", "welch", "mmtests", "lkp", "benchstat", NULL};

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
	{.name = "as",
		.type = OPT_CHOICE,
		.offset = offsetof(struct options, as),
		.def = "kbracket",
		.choices = rules,
		.arg = "RULE",
		.help = "print what another program's rule says of the same runs, beside ours"},
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

/* Judges, and puts another rule's answers beside the verdicts. */
static int judge_beside(struct cmd *cmd, int64_t id, enum peer peer, struct err *err)
{
	struct layout layout = answer_layout();
	struct store_verdict *verdicts;
	struct str out = STR_INIT;
	struct store_view view;
	struct others others;
	size_t count;
	int ret = judge_one(cmd, id, err);

	if (!ret)
		ret = store_load(cmd->store, id, cmd->arena, &view, err);
	if (!ret)
		ret = store_verdicts_load(cmd->store, id, cmd->arena, &verdicts, &count, err);
	if (!ret)
		ret = others_ask(
			cmd->store, &view, peer, verdicts, count, cmd->arena, &others, err);
	if (ret)
		return ret;
	if (cmd->global->json)
		beside_write_json(&others, &out);
	else
		beside_write_text(&others, &layout, &out);
	ui_write_text(&out);
	str_release(&out);
	return STATUS_FINE;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	int64_t id;
	int ret;

	if (options->all && options->experiment)
		return err_set(err, ERR_USAGE, "give an experiment or --all, not both");
	if (options->all && options->as)
		return err_set(err, ERR_USAGE, "--as is for one experiment at a time");
	if (options->all)
		return judge_all(cmd, err);
	ret = store_find(cmd->store, options->experiment, &id, err);
	if (ret)
		return ret;
	return options->as ? judge_beside(cmd, id, (enum peer)(options->as - 1), err)
			   : judge_one(cmd, id, err);
}

const struct verb verb_judge = {
	.name = "judge",
	.summary = "compute verdicts again from the samples",
	.about = "Drops the verdicts of an experiment and computes them again from what is "
		 "stored. `kbracket report` does this by itself when it is needed. With --as it "
		 "also prints, verdict by verdict, what another program's rule says of the same "
		 "runs; exit codes and stored verdicts stay ours.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
