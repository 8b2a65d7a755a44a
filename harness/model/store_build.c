/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "model/store_db.h"
#include "model/store_plan.h"

/* Variants and their builds in the journal. */

int store_variant_started(struct store *store, int64_t variant_id, struct err *err)
{
	return db_run(store->db, err,
		"UPDATE variant SET state = 'started' WHERE id = ? AND state = 'planned'", "i",
		variant_id);
}

static int keep_build(struct store *store, const struct store_build *build,
	const struct store_raw *raws, size_t raw_count, int64_t *id, struct err *err)
{
	int ret = db_run(store->db, err,
		"INSERT OR IGNORE INTO build (key, commit_hex, tree_hex, release, proc_version,"
		" build_id, config_sha256, config, compiler, seconds, made_ns, version)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"tttttttttiit", build->key, build->commit, build->tree, build->release,
		build->proc_version, build->build_id, build->config_sha256, build->config,
		build->compiler, build->seconds, clock_wall_ns(), build->version);
	bool is_new;

	if (ret)
		return ret;
	is_new = db_changes(store->db) == 1;
	ret = db_get_int(store->db, id, err, "SELECT id FROM build WHERE key = ?", "t", build->key);
	if (!ret && is_new)
		ret = store_add_raws(store, "build_id", *id, raws, raw_count, err);
	return ret;
}

int store_variant_built(struct store *store, int64_t variant_id, const struct store_build *build,
	const struct store_raw *raws, size_t raw_count, struct err *err)
{
	int64_t build_id;
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	ret = keep_build(store, build, raws, raw_count, &build_id, err);
	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE variant SET state = 'done', build_id = ? WHERE id = ?"
			" AND state IN ('planned', 'started')",
			"ii", build_id, variant_id);
	if (!ret)
		ret = store_moved(store, "variant", variant_id, err);
	return db_finish(store->db, ret, err);
}

static int fail_variant(
	struct store *store, int64_t variant_id, const char *detail, struct err *err)
{
	int ret = db_run(store->db, err,
		"UPDATE variant SET state = 'failed', reason = ? WHERE id = ?"
		" AND state IN ('planned', 'started')",
		"ti", detail, variant_id);

	if (!ret)
		ret = store_moved(store, "variant", variant_id, err);
	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE run SET state = 'failed', reason = 'build-failed' WHERE boot_id IN"
			" (SELECT id FROM boot WHERE variant_id = ? AND state <> 'done')"
			" AND state IN ('planned', 'started')",
			"i", variant_id);
	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE boot SET state = 'failed', reason = 'build-failed', detail = ?"
			" WHERE variant_id = ? AND state IN ('planned', 'started')",
			"ti", detail, variant_id);
	return ret;
}

int store_variant_failed(
	struct store *store, int64_t variant_id, const char *detail, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	return db_finish(store->db, fail_variant(store, variant_id, detail, err), err);
}

/* A mean over at most some rows; NaN when there are none. */
static int mean_of(struct db_rows *rows, double *mean, struct err *err)
{
	int ret = db_next(rows, err);

	if (ret == 1)
		*mean = db_double(rows, 0);
	db_end(rows);
	return ret < 0 ? ret : 0;
}

int store_run_seconds(struct store *store, const char *machine, const char *condition,
	double *seconds, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT avg(ns) / 1e9 FROM (SELECT run.stored_ns - run.begun_ns AS ns"
		" FROM condition JOIN machine ON machine.id = condition.machine_id"
		" JOIN boot ON boot.experiment_id = condition.experiment_id"
		"  AND boot.machine_id = condition.machine_id"
		" JOIN run ON run.boot_id = boot.id AND run.condition_id = condition.id"
		" WHERE machine.name = ? AND condition.name = ? AND run.state = 'done'"
		" ORDER BY run.id DESC LIMIT 20)",
		"tt", machine, condition);

	return ret ? ret : mean_of(rows, seconds, err);
}

int store_boot_seconds(struct store *store, const char *machine, double *seconds, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT avg(ns) / 1e9 FROM (SELECT ended_ns - started_ns AS ns FROM attempt"
		" JOIN boot ON boot.id = boot_id JOIN machine ON machine.id = boot.machine_id"
		" WHERE machine.name = ? AND outcome = 'proved' ORDER BY attempt.id DESC LIMIT 20)",
		"t", machine);

	return ret ? ret : mean_of(rows, seconds, err);
}

int store_build_seconds(struct store *store, double *seconds, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT avg(seconds) FROM (SELECT seconds FROM build WHERE commit_hex <> ''"
		" ORDER BY id DESC LIMIT 5)",
		"");

	return ret ? ret : mean_of(rows, seconds, err);
}
