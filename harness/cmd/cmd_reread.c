/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket reread: reads kept raw output again with the present suite files. */
#include "base/base.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/answer.h"
#include "cmd/study.h"
#include "judge/judge.h"
#include "run/reread.h"
#include "sys/json_put.h"
#include "version.h"

struct options {
	struct global global;
	const char *experiment, *suites;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	{.name = "suites",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, suites),
		.arg = "DIR",
		.help = "folder of the suite files, instead of the lab's"},
	GLOBAL_ROWS(options),
	OPT_END,
};

/* The file of a suite: in the folder that was asked for, in the lab, or what kbracket brings. */
static const char *suite_file(
	struct cmd *cmd, const struct options *options, const struct lab *lab, const char *name)
{
	const char *folders[] = {options->suites,
		!options->suites && lab->root ? arena_printf(cmd->arena, "%s/suites", lab->root)
					      : NULL,
		!options->suites && lab->share ? arena_printf(cmd->arena, "%s/suites", lab->share)
					       : NULL};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const char *path =
			folders[i] ? arena_printf(cmd->arena, "%s/%s.yaml", folders[i], name)
				   : NULL;

		if (path && file_exists(path))
			return path;
	}
	return NULL;
}

static int read_suites(struct cmd *cmd, const struct options *options, const struct study *study,
	struct suite *suites, size_t *count, struct err *err)
{
	for (size_t s = 0; s < study->experiment.suite_count; s++) {
		const char *name = study->experiment.suites[s].name;
		const char *path = suite_file(cmd, options, &study->lab, name);
		struct diag diag = DIAG_INIT;

		if (!path)
			log_line(LOG_WARN,
				"there is no file of the suite %s; its runs stay as they "
				"are",
				name);
		else if (suite_read(cmd->arena, path, &suites[*count], &diag))
			return study_tell_mistakes(&diag, err);
		else
			(*count)++;
		diag_release(&diag);
	}
	/* as when they were run: what programs print is compared with it, and rates multiplied */
	for (size_t s = 0; study->experiment.duration_ns && s < *count; s++)
		suite_set_duration(cmd->arena, &suites[s], study->experiment.duration_ns);
	return *count ? 0 : err_set(err, ERR_USAGE, "no suite file was found; --suites says where");
}

static void tell(struct cmd *cmd, const struct reread_count *count)
{
	struct str out = STR_INIT;

	if (cmd->global->json) {
		json_t *object = json_object();

		json_put_int(object, "read", count->read);
		json_put_int(object, "changed", count->changed);
		json_put_int(object, "gained", count->gained);
		json_put_int(object, "lost", count->lost);
		json_put_int(object, "unknown_metrics", count->unknown);
		answer_json(object);
		return;
	}
	str_addf(&out,
		"%lld runs read again: %lld with other values, %lld that could not be read "
		"before, %lld that can't be read any more\n",
		(long long)count->read, (long long)count->changed, (long long)count->gained,
		(long long)count->lost);
	if (count->unknown)
		log_line(LOG_WARN,
			"%lld values of metrics that the experiment was not planned with "
			"were left out",
			(long long)count->unknown);
	ui_write_text(&out);
	str_release(&out);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct store_experiment head;
	struct reread_count count;
	struct study study = {0};
	struct suite *suites = NULL;
	size_t suite_count = 0;
	int64_t id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	if (!ret)
		ret = store_load_head(cmd->store, id, cmd->arena, &head, err);
	if (!ret)
		ret = study_read_stored(cmd, &head, &study, err);
	if (!ret) {
		suites = arena_alloc(
			cmd->arena, (study.experiment.suite_count + 1) * sizeof(*suites));
		ret = read_suites(cmd, options, &study, suites, &suite_count, err);
	}
	if (!ret)
		ret = reread_experiment(
			cmd->store, id, &study.experiment, suites, suite_count, &count, err);
	if (!ret)
		ret = judge_experiment(cmd->store, id, KB_VERSION, err);
	if (!ret)
		tell(cmd, &count);
	return ret;
}

const struct verb verb_reread = {
	.name = "reread",
	.summary = "read kept raw output again with mended suites",
	.about = "Reads the raw output of every run again with the present suite files. "
		 "Where that gives other samples they become the ones that count; the old "
		 "ones stay. Then the experiment is judged again.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
