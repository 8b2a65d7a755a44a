/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket prune: removes experiments with their samples and raw output. */
#include "base/base.h"

#include "base/file.h"
#include "base/num.h"
#include "cmd/answer.h"
#include "model/store_result.h"
#include "run/engine.h"
#include "sys/json_put.h"

struct options {
	struct global global;
	const char *const *experiments;
	bool yes;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.required = true,
		.type = OPT_LIST,
		.offset = offsetof(struct options, experiments),
		.help = "numbers or names"},
	{.name = "yes",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, yes),
		.help = "remove what is listed; without it nothing is changed"},
	GLOBAL_ROWS(options),
	OPT_END,
};

struct pruning {
	struct cmd *cmd;
	bool yes;
	int64_t files, bytes;
	json_t *list;
};

/* Only what lies below the folder of the database is ours. */
static bool is_below(const char *path)
{
	return path[0] != '/' && !str_starts(path, "../") && !strstr(path, "/../") &&
	       !str_ends(path, "/..") && strcmp(path, "..") != 0;
}

static int remove_files(
	struct pruning *pruning, const char *const *paths, size_t count, struct err *err)
{
	const char *folder = store_folder(pruning->cmd->store);
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		char *path = path_join(folder, paths[i]);
		int64_t bytes = is_below(paths[i]) ? file_size(path) : -1;

		if (bytes >= 0) {
			pruning->files++;
			pruning->bytes += bytes;
			if (pruning->yes)
				ret = file_remove_tree(path, err);
		}
		free(path);
	}
	return ret;
}

static void tell(struct pruning *pruning, const struct store_experiment *head,
	const struct store_progress *progress, size_t files)
{
	long long boots = 0, runs = 0;
	struct str out = STR_INIT;

	for (int i = STATE_PLANNED; i <= STATE_INTERRUPTED; i++) {
		boots += progress->boots[i];
		runs += progress->runs[i];
	}
	if (pruning->list) {
		json_t *item = json_object();

		json_put_int(item, "experiment", head->id);
		json_put_text(item, "name", head->name);
		json_put_int(item, "boots", boots);
		json_put_int(item, "runs", runs);
		json_put_int(item, "files", (int64_t)files);
		json_push(pruning->list, item);
		return;
	}
	str_addf(&out, "%s experiment %lld, ", pruning->yes ? "removing" : "would remove",
		(long long)head->id);
	str_add_safe(&out, head->name, strlen(head->name));
	str_addf(&out, ": %lld boot%s, %lld run%s, %zu file%s\n", boots, boots == 1 ? "" : "s",
		runs, runs == 1 ? "" : "s", files, files == 1 ? "" : "s");
	ui_write_text(&out);
	str_release(&out);
}

/* Deletes the rows in a transaction of its own, which is rolled back when this is only a rehearsal:
 * so what is told is what is done. Files go after the commit. */
static int remove_rows(struct pruning *pruning, int64_t id, struct err *err)
{
	struct store *store = pruning->cmd->store;
	struct store_experiment head;
	struct store_progress progress;
	const char **paths = NULL;
	size_t count = 0;
	int ret = store_load_head(store, id, pruning->cmd->arena, &head, err);

	if (!ret)
		ret = store_progress(store, id, &progress, err);
	if (!ret)
		ret = store_begin(store, err);
	if (ret)
		return ret;
	ret = store_prune(store, id, pruning->cmd->arena, &paths, &count, err);
	if (!ret)
		tell(pruning, &head, &progress, count);
	if (ret || pruning->yes)
		ret = store_finish(store, ret, err);
	else if (store_finish(store, ERR_USAGE, err) != ERR_USAGE) /* back to how it was */
		ret = ERR_INFRA;
	return ret ? ret : remove_files(pruning, (const char *const *)paths, count, err);
}

/* Not while somebody works on it. */
static int prune_one(struct pruning *pruning, int64_t id, struct err *err)
{
	struct file_lock lock = FILE_LOCK_INIT;
	int ret = engine_lock(pruning->cmd->store, id, &lock, err);

	if (ret)
		return err_wrap(err, "experiment %lld", (long long)id);
	ret = remove_rows(pruning, id, err);
	file_lock_release(&lock);
	return ret;
}

/* All names are looked up before anything is removed. */
static int prune_all(struct pruning *pruning, const char *const *names, struct err *err)
{
	int64_t *ids = arena_alloc(pruning->cmd->arena, (argv_count(names) + 1) * sizeof(*ids));
	int ret = 0;

	for (size_t i = 0; names[i] && !ret; i++)
		ret = store_find(pruning->cmd->store, names[i], &ids[i], err);
	for (size_t i = 0; names[i] && !ret; i++) {
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again = again || ids[k] == ids[i];
		if (!again)
			ret = prune_one(pruning, ids[i], err);
	}
	return ret;
}

static void write_json(const struct pruning *pruning)
{
	json_t *answer = json_object();

	json_put_bool(answer, "done", pruning->yes);
	json_put_int(answer, "file_bytes", pruning->bytes);
	json_put(answer, "experiments", json_incref(pruning->list));
	answer_json(answer);
}

static void write_sum(const struct pruning *pruning)
{
	struct str out = STR_INIT;

	str_addf(&out, "%lld files, ", (long long)pruning->files);
	num_add_bytes(&out, pruning->bytes);
	str_add(&out,
		pruning->yes ? " removed\n" : " on disk; nothing was changed, --yes does it\n");
	ui_write_text(&out);
	str_release(&out);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct pruning pruning = {
		.cmd = cmd, .yes = options->yes, .list = cmd->global->json ? json_array() : NULL};
	int ret = prune_all(&pruning, options->experiments, err);

	if (!ret && pruning.list)
		write_json(&pruning);
	else if (!ret)
		write_sum(&pruning);
	json_decref(pruning.list);
	return ret;
}

const struct verb verb_prune = {
	.name = "prune",
	.summary = "remove experiments and their raw output",
	.about = "Lists what would be removed: the experiments' rows, samples, verdicts, and "
		 "raw files that nothing else names. With --yes it is removed. Nothing else "
		 "in kbracket ever deletes samples or raw output.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
