/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "model/store.h"
#include "model/store_db.h"

/* Columns of struct store_experiment after id and spec, in the order that read_head takes them. */
#define HEAD                                                                               \
	"name, kind, state, created_ns, spec_sha256, seed, margin_pct, alpha_pct, cv_pct," \
	" drift_pct, design, means_only, version, looks, until_pct"

static void read_head(struct arena *arena, struct db_rows *rows, struct store_experiment *out)
{
	*out = (struct store_experiment){
		.id = db_int(rows, 0),
		.spec = store_arena_text(arena, rows, 1),
		.name = store_arena_text(arena, rows, 2),
		.kind = store_kind_parse(db_text(rows, 3)),
		.state = store_state_parse(db_text(rows, 4)),
		.created_ns = db_int(rows, 5),
		.spec_sha256 = store_arena_text(arena, rows, 6),
		.seed = db_int(rows, 7),
		.margin_pct = db_double(rows, 8),
		.alpha_pct = db_double(rows, 9),
		.cv_pct = db_double(rows, 10),
		.drift_pct = db_double(rows, 11),
		.design = store_arena_text(arena, rows, 12),
		.means_only = db_int(rows, 13),
		.version = store_arena_text(arena, rows, 14),
		.looks = (int)db_int(rows, 15),
		.until_pct = db_double(rows, 16),
	};
}

int store_load_head(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_experiment *out, struct err *err)
{
	struct db_rows *rows;
	int ret = store_check_heads(store, experiment_id, err);

	if (!ret)
		ret = db_query(store->db, &rows, err,
			"SELECT id, spec, " HEAD " FROM experiment WHERE id = ?", "i",
			experiment_id);
	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 1)
		read_head(arena, rows, out);
	db_end(rows);
	if (ret == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no experiment %lld",
			(long long)experiment_id);
	return ret < 0 ? ret : 0;
}

int store_list(struct store *store, struct arena *arena, struct store_experiment **out,
	size_t *count, struct err *err)
{
	struct store_experiment *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = store_check_heads(store, 0, err);

	if (!ret)
		ret = db_query(store->db, &rows, err,
			"SELECT id, '', " HEAD " FROM experiment ORDER BY id DESC", "");
	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		read_head(arena, rows, &items[n++]);
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}

/* The experiment name that is nearest to what was asked for; NULL when none is near. */
static char *nearest_name(struct store *store, const char *name)
{
	size_t best = strlen(name) / 2 + 1;
	char *found = NULL;
	struct db_rows *rows;

	if (db_query(store->db, &rows, NULL, "SELECT DISTINCT name FROM experiment", ""))
		return NULL;
	while (db_next(rows, NULL) == 1) {
		size_t distance = str_distance(name, db_text(rows, 0));

		if (distance >= best)
			continue;
		best = distance;
		free(found);
		found = xstrdup(db_text(rows, 0));
	}
	db_end(rows);
	return found;
}

static int not_found(struct store *store, const char *name, struct err *err)
{
	char *near = nearest_name(store, name);

	if (near)
		err_set(err, ERR_NOT_FOUND, "there is no experiment '%s'; the nearest name is '%s'",
			name, near);
	else
		err_set(err, ERR_NOT_FOUND,
			"there is no experiment '%s'; `kbracket show` lists them", name);
	free(near);
	return ERR_NOT_FOUND;
}

int store_find(struct store *store, const char *name_or_id, int64_t *id, struct err *err)
{
	int64_t number;
	int ret;

	if (!name_or_id) {
		ret = db_get_int(store->db, id, err,
			"SELECT id FROM experiment ORDER BY id DESC LIMIT 1", "");
		return ret == ERR_NOT_FOUND ? err_set(err, ret,
						      "there is no experiment yet; `kbracket run` "
						      "makes one")
					    : ret;
	}
	if (!num_int(name_or_id, 1, INT64_MAX, &number, NULL))
		ret = db_get_int(
			store->db, id, err, "SELECT id FROM experiment WHERE id = ?", "i", number);
	else
		ret = db_get_int(store->db, id, err,
			"SELECT id FROM experiment WHERE name = ? ORDER BY id DESC LIMIT 1", "t",
			name_or_id);
	return ret == ERR_NOT_FOUND ? not_found(store, name_or_id, err) : ret;
}

static int count_states(struct store *store, const char *sql, int64_t experiment_id,
	int64_t counts[5], struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, sql, "i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		counts[store_state_parse(db_text(rows, 0))] = db_int(rows, 1);
	db_end(rows);
	return ret;
}

int store_progress(
	struct store *store, int64_t experiment_id, struct store_progress *out, struct err *err)
{
	struct store_progress p = {0};
	int ret = store_check(store, experiment_id, err);

	if (!ret)
		ret = count_states(store,
			"SELECT state, count(*) FROM boot WHERE experiment_id = ? GROUP BY state",
			experiment_id, p.boots, err);
	if (!ret)
		ret = count_states(store,
			"SELECT state, count(*) FROM (SELECT run.state, max(run.try) FROM run"
			" JOIN boot ON boot.id = run.boot_id WHERE boot.experiment_id = ?"
			" GROUP BY run.boot_id, run.position) GROUP BY state",
			experiment_id, p.runs, err);
	if (!ret)
		ret = db_get_int(store->db, &p.current_boot, err,
			"SELECT coalesce(min(ordinal), 0) FROM boot"
			" WHERE experiment_id = ? AND state = 'started'",
			"i", experiment_id);
	if (!ret)
		ret = db_get_int(store->db, &p.last_ns, err,
			"SELECT coalesce(max(at), 0) FROM ("
			" SELECT max(run.stored_ns) AS at FROM run JOIN boot ON boot.id = "
			"run.boot_id"
			"  WHERE boot.experiment_id = ?1"
			" UNION ALL SELECT max(coalesce(ended_ns, started_ns)) FROM attempt"
			"  JOIN boot ON boot.id = attempt.boot_id WHERE boot.experiment_id = ?1"
			" UNION ALL SELECT max(time_ns) FROM event WHERE experiment_id = ?1)",
			"i", experiment_id);
	if (!ret)
		*out = p;
	return ret;
}
