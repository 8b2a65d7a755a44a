/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_status.h"

/* One machine of one experiment, on its way to a status. */
struct looking {
	struct store *store;
	struct arena *arena;
	int64_t experiment_id, machine_id;
	struct store_machine_status *out;
};

static int count_states(
	const struct looking *looking, const char *sql, int64_t counts[5], struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(looking->store->db, &rows, err, sql, "ii", looking->experiment_id,
		looking->machine_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		counts[store_state_parse(db_text(rows, 0))] = db_int(rows, 1);
	db_end(rows);
	return ret;
}

/* The first row of a query about the machine; 1 when there is one, which db_end then ends. */
static int first_row(
	const struct looking *looking, struct db_rows **rows, const char *sql, struct err *err)
{
	int ret = db_query(looking->store->db, rows, err, sql, "ii", looking->experiment_id,
		looking->machine_id);

	if (ret)
		return ret;
	ret = db_next(*rows, err);
	if (ret != 1)
		db_end(*rows);
	return ret;
}

static int look_at_boot(const struct looking *looking, struct err *err)
{
	struct db_rows *rows = NULL;
	int ret = first_row(looking, &rows,
		"SELECT boot.ordinal, variant.name, coalesce((SELECT outcome FROM attempt"
		"  WHERE boot_id = boot.id ORDER BY number DESC LIMIT 1), '') = 'proved'"
		" FROM boot JOIN variant ON variant.id = boot.variant_id"
		" WHERE boot.experiment_id = ? AND machine_id = ? AND boot.state = 'started'"
		" ORDER BY boot.ordinal DESC LIMIT 1",
		err);

	if (ret != 1)
		return ret;
	looking->out->boot = (int)db_int(rows, 0);
	looking->out->variant = store_arena_text(looking->arena, rows, 1);
	looking->out->proved = db_int(rows, 2) != 0;
	db_end(rows);
	return 0;
}

static int look_at_run(const struct looking *looking, struct err *err)
{
	struct db_rows *rows = NULL;
	int ret = first_row(looking, &rows,
		"SELECT run.position, condition.name, run.kind,"
		"  (SELECT max(position) FROM run other WHERE other.boot_id = run.boot_id)"
		" FROM run JOIN boot ON boot.id = run.boot_id"
		" JOIN condition ON condition.id = run.condition_id"
		" WHERE boot.experiment_id = ? AND boot.machine_id = ? AND run.state = 'started'"
		" ORDER BY run.id DESC LIMIT 1",
		err);

	if (ret != 1)
		return ret;
	looking->out->run = (int)db_int(rows, 0);
	looking->out->condition = store_arena_text(looking->arena, rows, 1);
	looking->out->kind = (enum run_kind)db_int(rows, 2);
	looking->out->runs_in_boot = (int)db_int(rows, 3);
	db_end(rows);
	return 0;
}

static int look_at_times(const struct looking *looking, struct err *err)
{
	struct db_rows *rows = NULL;
	int ret = first_row(looking, &rows,
		"SELECT coalesce(sum(max(0, last - first)), 0), coalesce(max(last), 0) FROM ("
		" SELECT min(attempt.started_ns) AS first,"
		"  max(max(max(attempt.started_ns, coalesce(attempt.ended_ns, 0))),"
		"   coalesce((SELECT max(max(coalesce(begun_ns, 0), coalesce(stored_ns, 0)))"
		"    FROM run WHERE run.boot_id = boot.id), 0)) AS last"
		" FROM boot JOIN attempt ON attempt.boot_id = boot.id"
		" WHERE boot.experiment_id = ? AND boot.machine_id = ? GROUP BY boot.id)",
		err);

	if (ret != 1)
		return ret;
	looking->out->spent_ns = db_int(rows, 0);
	looking->out->last_ns = db_int(rows, 1);
	db_end(rows);
	return 0;
}

static int look_at_parking(const struct looking *looking, struct err *err)
{
	struct db_rows *rows = NULL;
	int ret = first_row(looking, &rows,
		"SELECT time_ns, text FROM event JOIN boot ON boot.id = event.boot_id"
		" WHERE event.experiment_id = ? AND boot.machine_id = ?"
		"  AND kind = '" STORE_EVENT_PARKED "'"
		" ORDER BY event.id DESC LIMIT 1",
		err);

	if (ret != 1)
		return ret;
	looking->out->parked_ns = db_int(rows, 0);
	looking->out->parked = store_arena_text(looking->arena, rows, 1);
	db_end(rows);
	return 0;
}

static int look(const struct looking *looking, struct err *err)
{
	int ret = count_states(looking,
		"SELECT state, count(*) FROM boot WHERE experiment_id = ? AND machine_id = ?"
		" GROUP BY state",
		looking->out->boots, err);

	if (!ret)
		ret = count_states(looking,
			"SELECT state, count(*) FROM (SELECT run.state, max(run.try) FROM run"
			" JOIN boot ON boot.id = run.boot_id"
			" WHERE boot.experiment_id = ? AND boot.machine_id = ?"
			" GROUP BY run.boot_id, run.position) GROUP BY state",
			looking->out->runs, err);
	if (!ret)
		ret = look_at_boot(looking, err);
	if (!ret)
		ret = look_at_run(looking, err);
	if (!ret)
		ret = look_at_times(looking, err);
	return ret ? ret : look_at_parking(looking, err);
}

static int list_machines(struct store *store, int64_t experiment_id, struct arena *arena,
	int64_t **ids, struct store_machine_status **out, size_t *count, struct err *err)
{
	struct store_machine_status *items = NULL;
	size_t n = 0, capacity = 0, id_capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT machine.id, machine.name FROM boot"
		" JOIN machine ON machine.id = boot.machine_id WHERE experiment_id = ?"
		" GROUP BY machine.id ORDER BY min(boot.id)",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		GROW(*ids, n, id_capacity);
		(*ids)[n] = db_int(rows, 0);
		items[n++] = (struct store_machine_status){
			.name = store_arena_text(arena, rows, 1),
			.variant = "",
			.condition = "",
			.parked = "",
		};
	}
	db_end(rows);
	*out = arena_copy(arena, items, n, sizeof(*items));
	*count = n;
	free(items);
	return ret;
}

int store_load_status(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_machine_status **out, size_t *count, struct err *err)
{
	struct store_machine_status *items = NULL;
	int64_t *ids = NULL;
	size_t n = 0;
	int ret = store_check(store, experiment_id, err);

	if (!ret)
		ret = list_machines(store, experiment_id, arena, &ids, &items, &n, err);
	for (size_t i = 0; i < n && !ret; i++)
		ret = look(&(struct looking){store, arena, experiment_id, ids[i], &items[i]}, err);
	free(ids);
	if (ret)
		return ret;
	*out = items;
	*count = n;
	return 0;
}
