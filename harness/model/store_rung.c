/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_rung.h"

int store_rung_add(struct store *store, int64_t experiment_id, int64_t machine_id, int64_t boot_id,
	const struct store_rung *rung, struct err *err)
{
	return db_run(store->db, err,
		"INSERT INTO rung (experiment_id, machine_id, boot_id, began_ns, kind, limit_ns,"
		" took_ns, found, detail) VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?)",
		"iiiitiitt", experiment_id, machine_id, boot_id, rung->began_ns, rung->kind,
		rung->limit_ns, rung->took_ns, rung->found, rung->detail);
}

int store_load_rungs(struct store *store, int64_t experiment_id, int64_t machine_id,
	int64_t boot_id, struct arena *arena, struct store_rung **out, size_t *count,
	struct err *err)
{
	struct store_rung *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT kind, began_ns, limit_ns, took_ns, found, detail FROM rung"
		" WHERE experiment_id = ? AND machine_id = ? AND coalesce(boot_id, 0) = ?"
		" ORDER BY id",
		"iii", experiment_id, machine_id, boot_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_rung){
			.kind = store_arena_text(arena, rows, 0),
			.began_ns = db_int(rows, 1),
			.limit_ns = db_int(rows, 2),
			.took_ns = db_int(rows, 3),
			.found = store_arena_text(arena, rows, 4),
			.detail = store_arena_text(arena, rows, 5),
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
