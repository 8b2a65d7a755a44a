/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_counter.h"
#include "model/store_db.h"

int store_add_counters(struct store *store, int64_t run_id, int64_t reading,
	const struct store_counter *counters, size_t count, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = db_run(store->db, err,
			"INSERT INTO counter VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "iiittdddt",
			run_id, reading, (int64_t)i + 1, counters[i].name, counters[i].unit,
			counters[i].total, counters[i].value, counters[i].counted_pct,
			counters[i].reason);
	return ret;
}

/* The table's columns from name on, and the reading, from one column on. */
static struct store_counter read_counter(struct db_rows *rows, int first)
{
	return (struct store_counter){
		.name = db_text(rows, first),
		.unit = db_text(rows, first + 1),
		.total = db_double(rows, first + 2),
		.value = db_double(rows, first + 3),
		.counted_pct = db_double(rows, first + 4),
		.reason = db_text(rows, first + 5),
		.reading = (int)db_int(rows, first + 6),
	};
}

int store_load_counters(struct store *store, int64_t run_id, struct arena *arena,
	struct store_counter **out, size_t *count, struct err *err)
{
	struct store_counter *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT name, unit, total, value, counted_pct, reason, reading FROM counter"
		" WHERE run_id = ? ORDER BY reading, position",
		"i", run_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n] = read_counter(rows, 0);
		items[n].name = store_arena_text(arena, rows, 0);
		items[n].unit = store_arena_text(arena, rows, 1);
		items[n].reason = store_arena_text(arena, rows, 5);
		n++;
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}

int store_each_counter(struct store *store, int64_t experiment_id, store_counter_fn *fn, void *arg,
	struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT machine.name, variant.name, boot.ordinal, boot.block, suite.name,"
		" condition.name, saturation_pct, workers, cpus, run.ordinal,"
		" (SELECT group_concat(reason, ' ') FROM flag WHERE flag.run_id = run.id),"
		" counter.name, counter.unit, total, value, counted_pct, counter.reason,"
		" counter.reading," STORE_MARK_COLUMNS " FROM boot"
		" CROSS JOIN run ON run.boot_id = boot.id"
		" CROSS JOIN counter ON counter.run_id = run.id AND counter.reading = run.reading"
		" CROSS JOIN condition ON condition.id = run.condition_id"
		" CROSS JOIN suite ON suite.id = suite_id"
		" CROSS JOIN variant ON variant.id = boot.variant_id"
		" CROSS JOIN machine ON machine.id = boot.machine_id"
		" WHERE boot.experiment_id = ? AND run.state = 'done'"
		" ORDER BY boot.id, run.position, run.try, counter.position",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		const char *flags = db_text(rows, 10);
		const struct store_counter_row row = {
			.machine = db_text(rows, 0),
			.variant = db_text(rows, 1),
			.boot = (int)db_int(rows, 2),
			.block = (int)db_int(rows, 3),
			.suite = db_text(rows, 4),
			.condition = db_text(rows, 5),
			.saturation_pct = db_double(rows, 6),
			.workers = db_int(rows, 7),
			.cpus = db_int(rows, 8),
			.run = (int)db_int(rows, 9),
			.flags = flags ? flags : "",
			.counter = read_counter(rows, 11),
			.marks = store_read_marks(rows, 18),
		};

		ret = fn(arg, &row);
		if (ret)
			break;
	}
	db_end(rows);
	return ret;
}

/* Means of boots first, so that a boot with more runs weighs no more. */
static const char means_sql[] =
	"WITH counted AS (SELECT boot.machine_id, run.condition_id, boot.variant_id, boot.id AS "
	"boot,"
	"  counter.name, counter.unit, counter.position, avg(counter.value) AS mean,"
	"  min(iif(counter.value IS NULL, 100, counted_pct)) AS pct, max(counter.reason) AS reason"
	"  FROM boot JOIN run ON run.boot_id = boot.id"
	"  JOIN counter ON counter.run_id = run.id AND counter.reading = run.reading"
	"  WHERE boot.experiment_id = ?1 AND run.state = 'done' AND NOT EXISTS"
	"  (SELECT 1 FROM flag JOIN policy ON policy.reason = flag.reason"
	"   AND policy.experiment_id = ?1 AND policy = 'drop' WHERE flag.run_id = run.id)"
	"  GROUP BY boot.id, run.condition_id, counter.name, counter.unit)"
	" SELECT counted.machine_id, condition_id, variant_id, counted.name, unit, avg(mean),"
	"  count(mean), min(pct), max(counted.reason) FROM counted"
	" JOIN condition ON condition.id = condition_id JOIN variant ON variant.id = variant_id"
	" GROUP BY counted.machine_id, condition_id, variant_id, counted.name, unit"
	" ORDER BY counted.machine_id, condition.position, min(counted.position), counted.name,"
	"  variant.position";

int store_load_counter_means(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_counter_mean **out, size_t *count, struct err *err)
{
	struct store_counter_mean *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, means_sql, "i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_counter_mean){
			.machine_id = db_int(rows, 0),
			.condition_id = db_int(rows, 1),
			.variant_id = db_int(rows, 2),
			.name = store_arena_text(arena, rows, 3),
			.unit = store_arena_text(arena, rows, 4),
			.value = db_double(rows, 5),
			.boots = (int)db_int(rows, 6),
			.counted_pct = db_double(rows, 7),
			.reason = store_arena_text(arena, rows, 8),
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
