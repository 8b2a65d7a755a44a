/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_tally.h"

/* Failed runs by why, then finished ones by what their flags say; the newest try of each counts. */
static const char tally_sql[] =
	"SELECT b.machine_id, b.variant_id, r.condition_id, 1 AS failed, r.reason AS why,"
	"  min(r.detail), count(*), r.kind = 2 AS counted, c.position AS place,"
	"  v.position AS kernel"
	" FROM boot b JOIN run r ON r.boot_id = b.id JOIN condition c ON c.id = r.condition_id"
	"  JOIN variant v ON v.id = b.variant_id"
	" WHERE b.experiment_id = ?1 AND r.state = 'failed' AND r.attempt_id IS NOT NULL"
	" GROUP BY b.machine_id, b.variant_id, r.condition_id, r.reason, r.kind = 2"
	" UNION ALL "
	"SELECT b.machine_id, b.variant_id, r.condition_id, 0, f.reason,"
	"  min(f.detail), count(*), 0, c.position, v.position"
	" FROM boot b JOIN run r ON r.boot_id = b.id JOIN flag f ON f.run_id = r.id"
	"  JOIN condition c ON c.id = r.condition_id JOIN variant v ON v.id = b.variant_id"
	" WHERE b.experiment_id = ?1 AND r.state = 'done' AND r.kind = 0"
	" GROUP BY b.machine_id, b.variant_id, r.condition_id, f.reason"
	" ORDER BY 1, place, kernel, failed DESC, why, counted";

int store_load_tallies(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_tally **out, size_t *count, struct err *err)
{
	struct store_tally *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, tally_sql, "i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_tally){
			.machine_id = db_int(rows, 0),
			.variant_id = db_int(rows, 1),
			.condition_id = db_int(rows, 2),
			.failed = db_int(rows, 3),
			.reason = store_arena_text(arena, rows, 4),
			.detail = store_arena_text(arena, rows, 5),
			.runs = db_int(rows, 6),
			.counted = db_int(rows, 7),
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

/* Every kernel start leaves an attempt; an import only its experiment. */
static const char age_sql[] =
	"SELECT (SELECT ifnull(min(judged_ns), 0) FROM verdict WHERE experiment_id = ?1),"
	"  (SELECT version FROM verdict WHERE experiment_id = ?1 LIMIT 1),"
	"  max((SELECT ifnull(max(ifnull(ended_ns, started_ns)), 0) FROM attempt),"
	"    (SELECT max(created_ns) FROM experiment))";

int store_verdict_age(
	struct store *store, int64_t experiment_id, struct store_age *out, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, age_sql, "i", experiment_id);

	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 1) {
		const char *version = db_text(rows, 1);

		out->judged_ns = db_int(rows, 0);
		out->evidence_ns = db_int(rows, 2);
		(void)snprintf(out->version, sizeof(out->version), "%s", version ? version : "");
		ret = 0;
	}
	db_end(rows);
	return ret;
}
