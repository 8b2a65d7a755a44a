/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"

/*
 * The schema's own checks hold only for programs that leave them on, and the sqlite3 shell leaves
 * foreign keys off. Rows that another program changed are found here, before they are relied on.
 */

#define STATES "('planned', 'started', 'done', 'failed')"

static const char heads[] =
	"SELECT 'experiment', id FROM experiment WHERE (?1 = 0 OR id = ?1) AND NOT"
	" (state IN ('planned', 'started', 'done', 'interrupted')"
	"  AND kind IN ('experiment', 'calibration', 'import')"
	"  AND looks BETWEEN 0 AND 100) LIMIT 1";

static const char *const parts[] = {
	"SELECT 'variant', variant.id FROM variant"
	" LEFT JOIN build ON build.id = variant.build_id"
	" LEFT JOIN variant other ON other.id = variant.against_id"
	"  AND other.experiment_id = variant.experiment_id"
	" WHERE variant.experiment_id = ?1 AND (variant.state NOT IN " STATES
	"  OR (variant.build_id IS NOT NULL AND build.id IS NULL)"
	"  OR (variant.against_id IS NOT NULL AND other.id IS NULL)) LIMIT 1",
	"SELECT 'policy', 0 FROM policy WHERE experiment_id = ?1"
	" AND policy NOT IN ('ignore', 'flag', 'drop') LIMIT 1",
	"SELECT 'condition', condition.id FROM condition"
	" LEFT JOIN suite ON suite.id = suite_id LEFT JOIN machine ON machine.id = machine_id"
	" WHERE experiment_id = ?1 AND (suite.id IS NULL OR machine.id IS NULL) LIMIT 1",
	"SELECT 'boot', boot.id FROM boot"
	" LEFT JOIN variant ON variant.id = variant_id"
	"  AND variant.experiment_id = boot.experiment_id"
	" LEFT JOIN machine ON machine.id = machine_id"
	" WHERE boot.experiment_id = ?1"
	"  AND (boot.state NOT IN " STATES " OR variant.id IS NULL OR machine.id IS NULL) LIMIT 1",
	"SELECT 'extension', number FROM extension"
	" LEFT JOIN machine ON machine.id = machine_id"
	" WHERE experiment_id = ?1 AND (machine.id IS NULL OR block < 1 OR block > 1000000"
	"  OR repeats < 0 OR repeats >= block OR runs < 1 OR runs > 1000 OR warmup < 0"
	"  OR warmup > 100) LIMIT 1",
	"SELECT 'run', run.id FROM boot JOIN run ON run.boot_id = boot.id"
	" LEFT JOIN condition ON condition.id = condition_id"
	"  AND condition.experiment_id = boot.experiment_id"
	"  AND condition.machine_id = boot.machine_id"
	" WHERE boot.experiment_id = ?1 AND (condition.id IS NULL"
	"  OR run.kind NOT IN (0, 1, 2)"
	"  OR run.state NOT IN ('planned', 'started', 'done', 'failed', 'interrupted')) LIMIT 1",
};

static int refuse_first(
	struct store *store, const char *sql, int64_t experiment_id, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err, sql, "i", experiment_id);

	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 1)
		ret = err_set(err, ERR_INFRA,
			"the database %s is damaged: the %s with the id %lld does not fit the rows "
			"around it; was it changed by another program? Use a copy from before",
			db_path(store->db), db_text(rows, 0), (long long)db_int(rows, 1));
	db_end(rows);
	return ret;
}

int store_check_heads(struct store *store, int64_t experiment_id, struct err *err)
{
	return refuse_first(store, heads, experiment_id, err);
}

int store_check(struct store *store, int64_t experiment_id, struct err *err)
{
	int ret = store_check_heads(store, experiment_id, err);

	for (size_t i = 0; i < ARRAY_SIZE(parts) && !ret; i++)
		ret = refuse_first(store, parts[i], experiment_id, err);
	return ret;
}
