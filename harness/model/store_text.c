/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_view.h"

/* Larger texts that a view only names by id. */

static int one_text(struct store *store, const char *sql, int64_t id, const char *what,
	struct arena *arena, const char **text, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, sql, "i", id);

	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 1)
		*text = store_arena_text(arena, rows, 0);
	db_end(rows);
	if (ret == 0)
		return err_set(err, ERR_NOT_FOUND, "there are no %s %lld", what, (long long)id);
	return ret < 0 ? ret : 0;
}

int store_load_facts(struct store *store, int64_t facts_id, struct arena *arena, const char **json,
	struct err *err)
{
	return one_text(store, "SELECT json FROM facts WHERE id = ?", facts_id, "machine facts",
		arena, json, err);
}

int store_load_config(struct store *store, int64_t build_row_id, struct arena *arena,
	const char **text, struct err *err)
{
	return one_text(store, "SELECT config FROM build WHERE id = ?", build_row_id,
		"kernel builds with number", arena, text, err);
}

int store_load_events(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_event_row **out, size_t *count, struct err *err)
{
	struct store_event_row *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT time_ns, boot_id, kind, text FROM event WHERE experiment_id = ?"
		" ORDER BY id",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_event_row){
			.time_ns = db_int(rows, 0),
			.boot_id = store_int_or(rows, 1, 0),
			.kind = store_arena_text(arena, rows, 2),
			.text = store_arena_text(arena, rows, 3),
		};
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}
