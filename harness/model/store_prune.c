/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_result.h"

/* In order, children first; ?1 is the experiment. */
static const char *const deletions[] = {
	"DELETE FROM verdict WHERE experiment_id = ?1",
	"DELETE FROM extension WHERE experiment_id = ?1",
	"DELETE FROM event WHERE experiment_id = ?1",
	"DELETE FROM rung WHERE experiment_id = ?1",
	"DELETE FROM bisect_event WHERE experiment_id = ?1",
	"DELETE FROM bisect_step WHERE experiment_id = ?1",
	"DELETE FROM bisect WHERE experiment_id = ?1",
	"DELETE FROM boot_mean WHERE boot_id IN (SELECT id FROM boot WHERE experiment_id = ?1)",
	"DELETE FROM sample WHERE run_id IN (SELECT run.id FROM run"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM counter WHERE run_id IN (SELECT run.id FROM run"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM environment WHERE run_id IN (SELECT run.id FROM run"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM flag WHERE run_id IN (SELECT run.id FROM run"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM raw WHERE run_id IN (SELECT run.id FROM run"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM raw WHERE attempt_id IN (SELECT attempt.id FROM attempt"
	" JOIN boot ON boot.id = boot_id WHERE experiment_id = ?1)",
	"DELETE FROM run WHERE boot_id IN (SELECT id FROM boot WHERE experiment_id = ?1)",
	"DELETE FROM attempt WHERE boot_id IN (SELECT id FROM boot WHERE experiment_id = ?1)",
	"DELETE FROM boot WHERE experiment_id = ?1",
	"DELETE FROM metric WHERE condition_id IN"
	" (SELECT id FROM condition WHERE experiment_id = ?1)",
	"DELETE FROM condition WHERE experiment_id = ?1",
	"UPDATE variant SET against_id = NULL, layout_of_id = NULL WHERE experiment_id = ?1",
	"DELETE FROM variant WHERE experiment_id = ?1",
	"DELETE FROM policy WHERE experiment_id = ?1",
	"DELETE FROM experiment WHERE id = ?1",
};

static int load_paths(struct store *store, int64_t experiment_id, struct arena *arena,
	const char ***paths, size_t *count, struct err *err)
{
	const char **items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT path FROM boot JOIN run ON run.boot_id = boot.id"
		" JOIN raw ON raw.run_id = run.id WHERE experiment_id = ?1 UNION"
		" SELECT path FROM boot JOIN attempt ON attempt.boot_id = boot.id"
		" JOIN raw ON raw.attempt_id = attempt.id WHERE experiment_id = ?1 ORDER BY 1",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = store_arena_text(arena, rows, 0);
	}
	db_end(rows);
	if (!ret) {
		*paths = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}

static int delete_all(struct store *store, int64_t experiment_id, struct err *err)
{
	/* Evidence lets itself be deleted only while this row stands (see the schema). */
	int ret = db_run(store->db, err, "INSERT INTO pruning VALUES (?)", "i", experiment_id);

	for (size_t i = 0; i < ARRAY_SIZE(deletions) && !ret; i++)
		ret = db_run(store->db, err, deletions[i], "i", experiment_id);
	if (!ret)
		ret = db_run(store->db, err, "DELETE FROM pruning", "");
	return ret;
}

int store_prune(struct store *store, int64_t experiment_id, struct arena *arena,
	const char ***paths, size_t *count, struct err *err)
{
	const char **found = NULL;
	size_t n = 0;
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	ret = load_paths(store, experiment_id, arena, &found, &n, err);
	if (!ret)
		ret = delete_all(store, experiment_id, err);
	ret = db_finish(store->db, ret, err);
	if (!ret) {
		*paths = found;
		*count = n;
	}
	return ret;
}
