/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "model/store_db.h"
#include "model/store_plan.h"

/* The moves of boots, runs and attempts. Each UPDATE names the states that it may start from, so a
 * move can't be made twice. */

int store_experiment_move(
	struct store *store, int64_t experiment_id, enum store_state state, struct err *err)
{
	return db_run(store->db, err, "UPDATE experiment SET state = ? WHERE id = ?", "ti",
		store_state_name(state), experiment_id);
}

int store_moved(struct store *store, const char *what, int64_t id, struct err *err)
{
	if (db_changes(store->db) == 1)
		return 0;
	return err_set(err, ERR_USAGE,
		"%s %lld is not in a state that allows this; was it ended by another kbracket?",
		what, (long long)id);
}

int store_load_runs(struct store *store, int64_t boot_id, struct arena *arena,
	struct store_run **out, size_t *count, struct err *err)
{
	struct store_run *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT run.id, run.position, condition_id, condition.position, run.kind, ordinal,"
		" max(try), state, begun_ns, attempt_id FROM run"
		" JOIN condition ON condition.id = condition_id WHERE boot_id = ?"
		" GROUP BY run.position ORDER BY run.position",
		"i", boot_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_run){
			.id = db_int(rows, 0),
			.boot_id = boot_id,
			.position = (int)db_int(rows, 1),
			.condition_id = db_int(rows, 2),
			.condition_position = (int)db_int(rows, 3),
			.kind = (enum run_kind)db_int(rows, 4),
			.ordinal = (int)db_int(rows, 5),
			.attempt_try = (int)db_int(rows, 6),
			.state = store_state_parse(db_text(rows, 7)),
			.begun_ns = store_int_or(rows, 8, 0),
			.attempt_id = store_int_or(rows, 9, 0),
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

static int begin_attempt(struct store *store, int64_t boot_id, const char *method,
	int64_t *attempt_id, struct err *err)
{
	int64_t now = clock_wall_ns();
	int ret = db_run(store->db, err,
		"UPDATE attempt SET outcome = 'interrupted', ended_ns = ?"
		" WHERE boot_id = ? AND outcome = 'started'",
		"ii", now, boot_id);

	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE boot SET state = 'started', start = CASE ?2 WHEN 'kexec' THEN "
			"'kexec' WHEN 'direct' THEN 'cold' WHEN 'reboot' THEN 'cold' ELSE start "
			"END WHERE id = ?1 AND state IN ('planned', 'started')",
			"it", boot_id, method);
	if (!ret)
		ret = store_moved(store, "boot", boot_id, err);
	if (!ret)
		ret = db_run(store->db, err,
			"INSERT INTO attempt (boot_id, number, method, started_ns, outcome)"
			" SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, 'started' FROM attempt"
			" WHERE boot_id = ?1",
			"iti", boot_id, method, now);
	if (!ret)
		*attempt_id = db_last_id(store->db);
	return ret;
}

int store_attempt_begin(struct store *store, int64_t boot_id, const char *method,
	int64_t *attempt_id, struct err *err)
{
	int64_t id = 0;
	int ret = db_begin(store->db, err);

	if (!ret)
		ret = db_finish(store->db, begin_attempt(store, boot_id, method, &id, err), err);
	if (!ret)
		*attempt_id = id;
	return ret;
}

int store_add_raws(struct store *store, const char *owner, int64_t owner_id,
	const struct store_raw *raws, size_t count, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		char sql[128];

		snprintf(sql, sizeof(sql),
			"INSERT INTO raw (%s, kind, path, sha256, bytes) VALUES (?, ?, ?, ?, ?)",
			owner);
		ret = db_run(store->db, err, sql, "ittti", owner_id, raws[i].kind, raws[i].path,
			raws[i].sha256, raws[i].bytes);
	}
	return ret;
}

static int facts_row(struct store *store, const char *json, int64_t *id, struct err *err)
{
	char sha256[SHA256_HEX_LEN + 1];
	int ret;

	sha256_of(json, strlen(json), sha256);
	ret = db_run(store->db, err, "INSERT OR IGNORE INTO facts (sha256, json) VALUES (?, ?)",
		"tt", sha256, json);
	if (ret)
		return ret;
	return db_get_int(store->db, id, err, "SELECT id FROM facts WHERE sha256 = ?", "t", sha256);
}

static int finish_attempt(struct store *store, int64_t attempt_id,
	const struct store_attempt_end *end, struct err *err)
{
	int64_t facts_id = 0;
	int ret = 0;

	if (end->facts)
		ret = facts_row(store, end->facts, &facts_id, err);
	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE attempt SET outcome = ?, reason = ?, detail = ?, ended_ns = ?,"
			" kernel_boot_id = ?, weak = ?, proof = ?, facts_id = nullif(?, 0)"
			" WHERE id = ? AND outcome = 'started'",
			"tttititii", end->reason ? "failed" : "proved",
			end->reason ? end->reason : "", end->detail ? end->detail : "",
			clock_wall_ns(), end->kernel_boot_id ? end->kernel_boot_id : "",
			(int64_t)end->weak, end->proof, facts_id, attempt_id);
	if (!ret)
		ret = store_moved(store, "the kernel start", attempt_id, err);
	if (!ret)
		ret = store_add_raws(
			store, "attempt_id", attempt_id, end->raws, end->raw_count, err);
	return ret;
}

int store_attempt_finish(struct store *store, int64_t attempt_id,
	const struct store_attempt_end *end, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	return db_finish(store->db, finish_attempt(store, attempt_id, end, err), err);
}

int store_attempt_raws(struct store *store, int64_t attempt_id, const struct store_raw *raws,
	size_t count, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	return db_finish(
		store->db, store_add_raws(store, "attempt_id", attempt_id, raws, count, err), err);
}

static int finish_boot(struct store *store, int64_t boot_id, const char *reason, const char *detail,
	struct err *err)
{
	int ret = db_run(store->db, err,
		"UPDATE boot SET state = ?, reason = ?, detail = ? WHERE id = ?"
		" AND state IN ('planned', 'started')",
		"ttti", reason ? "failed" : "done", reason ? reason : "", detail ? detail : "",
		boot_id);

	if (!ret)
		ret = store_moved(store, "boot", boot_id, err);
	if (!ret && reason)
		ret = db_run(store->db, err,
			"UPDATE run SET state = 'failed', reason = ? WHERE boot_id = ?"
			" AND state IN ('planned', 'started')",
			"ti", reason, boot_id);
	return ret;
}

int store_boot_finish(struct store *store, int64_t boot_id, const char *reason, const char *detail,
	struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	return db_finish(store->db, finish_boot(store, boot_id, reason, detail, err), err);
}

int store_run_begin(struct store *store, int64_t run_id, int64_t attempt_id, struct err *err)
{
	int ret = db_run(store->db, err,
		"UPDATE run SET state = 'started', attempt_id = ?, begun_ns = ? WHERE id = ?"
		" AND state = 'planned'",
		"iii", attempt_id, clock_wall_ns(), run_id);

	return ret ? ret : store_moved(store, "run", run_id, err);
}

static int plan_again(struct store *store, int64_t run_id, int64_t *again, struct err *err)
{
	int ret = db_run(store->db, err,
		"INSERT INTO run (boot_id, position, condition_id, kind, ordinal, try, state)"
		" SELECT boot_id, position, condition_id, kind, ordinal, try + 1, 'planned'"
		" FROM run WHERE id = ?",
		"i", run_id);

	if (!ret)
		*again = db_last_id(store->db);
	return ret;
}

static int interrupt_run(
	struct store *store, int64_t run_id, const char *detail, int64_t *again, struct err *err)
{
	int ret = db_run(store->db, err,
		"UPDATE run SET state = 'interrupted', reason = 'interrupted', detail = ?"
		" WHERE id = ? AND state = 'started'",
		"ti", detail, run_id);

	if (!ret)
		ret = store_moved(store, "run", run_id, err);
	return ret ? ret : plan_again(store, run_id, again, err);
}

int store_run_interrupted(
	struct store *store, int64_t run_id, const char *detail, int64_t *again, struct err *err)
{
	int64_t id = 0;
	int ret = db_begin(store->db, err);

	if (!ret)
		ret = db_finish(store->db, interrupt_run(store, run_id, detail, &id, err), err);
	if (!ret)
		*again = id;
	return ret;
}

int store_warmup_again(struct store *store, int64_t run_id, int64_t *again, struct err *err)
{
	return plan_again(store, run_id, again, err);
}
