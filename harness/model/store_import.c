/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "model/store_db.h"
#include "model/store_result.h"

/* What is known while rows are taken in. */
struct import {
	struct store *store;
	const struct store_import *what;
	int64_t experiment_id;
	bool means_only;
	/* of the last row: the next one is mostly of the same boot and condition */
	const struct store_import_row *last;
	int64_t machine_id, variant_id, boot_id, condition_id, metric_id;
	const struct store_import_row **firsts; /* the first row of each variant; NULL before */
};

static int add_experiment(struct import *import, struct err *err)
{
	const struct store_import *what = import->what;
	char sha256[SHA256_HEX_LEN + 1];
	int ret;

	sha256_of(what->about, strlen(what->about), sha256);
	ret = db_run(import->store->db, err,
		"INSERT INTO experiment (name, kind, created_ns, state, spec, spec_sha256, seed,"
		" margin_pct, alpha_pct, design, means_only, version)"
		" VALUES (?, 'import', ?, 'done', ?, ?, 0, ?, ?, 'imported', ?, ?)",
		"tittddit", what->name, clock_wall_ns(), what->about, sha256, what->margin_pct,
		what->alpha_pct, (int64_t)import->means_only, what->version);
	import->experiment_id = db_last_id(import->store->db);
	return ret ? ret : store_add_policies(import->store, import->experiment_id, NULL, err);
}

static int add_variants(struct import *import, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < argv_count(import->what->variants) && !ret; i++)
		ret = db_run(import->store->db, err,
			"INSERT INTO variant (experiment_id, position, name, about, recipe,"
			" ref_commit, ref_subject, runtime_sha256, against_id, state)"
			" SELECT ?1, ?2, ?3, '', '{}', '', '', '',"
			" (SELECT id FROM variant WHERE experiment_id = ?1 AND position = 0),"
			" 'done'",
			"iit", import->experiment_id, (int64_t)i, import->what->variants[i]);
	return ret;
}

static const char *said(const char *text)
{
	return text ? text : "";
}

/* The id of another variant of the table. */
static int find_other(
	struct import *import, const char *name, const char *what, int64_t *id, struct err *err)
{
	int ret = db_get_int(import->store->db, id, err,
		"SELECT id FROM variant WHERE experiment_id = ? AND name = ? AND id <> ?", "iti",
		import->experiment_id, name, import->variant_id);

	if (ret == ERR_NOT_FOUND)
		return err_set(err, ERR_USAGE,
			"it is %s '%s', which is no other variant of this table", what, name);
	return ret;
}

/* Another label is compared with what it is one of, and a layout with its baseline in the same. */
static int mark_variant(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	bool control = *said(row->control_of), layout = *said(row->layout_of);
	int64_t base = 0, written = 0;
	int ret = 0;

	if (!control && !layout && !import->what->has_against)
		return 0;
	if (control)
		ret = find_other(import, row->control_of, "a control of", &base, err);
	else if (*said(row->against))
		ret = find_other(import, row->against, "compared with", &base, err);
	if (!ret && layout)
		ret = find_other(import, row->layout_of, "a layout of", &written, err);
	return ret ? ret
		   : db_run(db, err,
			     "UPDATE variant SET control = ?, against_id = nullif(?, 0),"
			     " layout_of_id = nullif(?, 0) WHERE id = ?",
			     "iiii", (int64_t)control, base, written, import->variant_id);
}

/* The first row of a variant says what it counts for; the others agree. */
static int check_marks(struct import *import, const struct store_import_row *row, struct err *err)
{
	const char *const *variants = import->what->variants;
	const struct store_import_row *first;
	size_t at = 0;

	while (strcmp(variants[at], row->variant) != 0)
		at++;
	first = import->firsts[at];
	if (!first) {
		import->firsts[at] = row;
		return mark_variant(import, row, err);
	}
	if (strcmp(said(first->control_of), said(row->control_of)) != 0 ||
		strcmp(said(first->against), said(row->against)) != 0 ||
		strcmp(said(first->layout_of), said(row->layout_of)) != 0)
		return err_set(err, ERR_USAGE,
			"an earlier row of %s is compared with something else or marked otherwise",
			row->variant);
	return 0;
}

static int find_variant(struct import *import, const struct store_import_row *row, struct err *err)
{
	int ret = db_get_int(import->store->db, &import->variant_id, err,
		"SELECT id FROM variant WHERE experiment_id = ? AND name = ?", "it",
		import->experiment_id, row->variant);

	if (ret == ERR_NOT_FOUND)
		return err_set(
			err, ERR_USAGE, "variant '%s' is not among those named", row->variant);
	return ret ? ret : check_marks(import, row, err);
}

/* After INSERT OR IGNORE: the row's id, when it agrees with what the present line says. */
static int agreed(int ret, const char *what, struct err *err)
{
	if (ret == ERR_NOT_FOUND)
		return err_set(
			err, ERR_USAGE, "its %s differs from what an earlier row said", what);
	return ret;
}

static const char *start_of(const struct store_import_row *row)
{
	return row->start ? row->start : "";
}

static int find_boot(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	const char *start = start_of(row);
	int ret = db_run(db, err,
		"INSERT OR IGNORE INTO boot (experiment_id, machine_id, ordinal, block, variant_id,"
		" start, state) VALUES (?, ?, ?, ?, ?, ?, 'done')",
		"iiiiit", import->experiment_id, import->machine_id, (int64_t)row->boot,
		(int64_t)row->block, import->variant_id, start);

	if (ret)
		return ret;
	ret = db_get_int(db, &import->boot_id, err,
		"SELECT id FROM boot WHERE experiment_id = ? AND machine_id = ? AND ordinal = ?"
		" AND block = ? AND variant_id = ? AND start = ?",
		"iiiiit", import->experiment_id, import->machine_id, (int64_t)row->boot,
		(int64_t)row->block, import->variant_id, start);
	return agreed(ret, "block, variant or start", err);
}

static int64_t decides(const struct store_import_row *row)
{
	return !row->control && !row->undeciding;
}

static int find_condition(
	struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	char sha256[SHA256_HEX_LEN + 1];
	int64_t suite_id;
	int ret;

	sha256_of("", 0, sha256);
	ret = store_suite_id(import->store, row->suite, sha256, "", &suite_id, err);
	if (!ret)
		ret = db_run(db, err,
			"INSERT OR IGNORE INTO condition (experiment_id, machine_id, position,"
			" suite_id, name, saturation_pct, effective_pct, workers, tasks, cpus,"
			" argv, env, merged, control, decides)"
			" SELECT ?1, ?2, count(*), ?3, ?4, ?5, ?6, ?7, ?7, ?8, '[]', '[]', '', ?9,"
			" ?10"
			" FROM condition WHERE experiment_id = ?1 AND machine_id = ?2",
			"iiitddiiii", import->experiment_id, import->machine_id, suite_id,
			row->condition, row->saturation_pct,
			row->cpus > 0 ? 100.0 * (double)row->workers / (double)row->cpus : 0,
			row->workers, row->cpus, (int64_t)row->control, decides(row));
	if (!ret)
		ret = agreed(db_get_int(db, &import->condition_id, err,
				     "SELECT id FROM condition WHERE experiment_id = ?"
				     " AND machine_id = ? AND name = ? AND suite_id = ?"
				     " AND saturation_pct = ? AND workers = ? AND cpus = ?"
				     " AND control = ? AND decides = ?",
				     "iitidiiii", import->experiment_id, import->machine_id,
				     row->condition, suite_id, row->saturation_pct, row->workers,
				     row->cpus, (int64_t)row->control, decides(row)),
			"suite, saturation, workers, CPUs or marks", err);
	return ret;
}

static int find_metric(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	const char *better = row->lower_is_better ? "lower" : "higher";
	int ret = db_run(db, err,
		"INSERT OR IGNORE INTO metric (condition_id, position, name, unit, better,"
		" percentile, pooled) SELECT ?1, count(*), ?2, ?3, ?4, nullif(?5, 0), ?6"
		" FROM metric WHERE condition_id = ?1",
		"itttdi", import->condition_id, row->metric, row->unit, better, row->percentile,
		(int64_t)row->pooled);

	if (ret)
		return ret;
	ret = db_get_int(db, &import->metric_id, err,
		"SELECT id FROM metric WHERE condition_id = ? AND name = ? AND unit = ?"
		" AND better = ? AND ifnull(percentile, 0) = ? AND pooled = ?",
		"itttdi", import->condition_id, row->metric, row->unit, better, row->percentile,
		(int64_t)row->pooled);
	return agreed(ret, "unit, better direction or percentile", err);
}

static int add_flags(struct import *import, int64_t run_id, const char *flags, struct err *err)
{
	int ret = 0;

	while (*flags && !ret) {
		size_t len = strcspn(flags, " ");
		char *reason = xstrndup(flags, len);

		if (validity_find(reason))
			ret = db_run(import->store->db, err,
				"INSERT OR IGNORE INTO flag VALUES (?, ?, '')", "it", run_id,
				reason);
		else
			ret = err_set(err, ERR_USAGE, "'%.60s' is not a reason", reason);
		free(reason);
		flags += len + strspn(flags + len, " ");
	}
	return ret;
}

static int add_sample(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	int64_t run_id;
	int ret = db_run(db, err,
		"INSERT OR IGNORE INTO run (boot_id, position, condition_id, kind, ordinal, try,"
		" state, reading) SELECT ?1, ifnull(max(position), 0) + 1, ?2, ?3, ?4, 1, 'done', 1"
		" FROM run WHERE boot_id = ?1",
		"iiii", import->boot_id, import->condition_id, (int64_t)row->warmup, row->run);

	if (!ret)
		ret = db_get_int(db, &run_id, err,
			"SELECT id FROM run WHERE boot_id = ? AND condition_id = ?"
			" AND kind = ? AND ordinal = ?",
			"iiii", import->boot_id, import->condition_id, (int64_t)row->warmup,
			row->run);
	if (!ret)
		ret = db_run(db, err,
			"INSERT OR IGNORE INTO sample VALUES (?, 1, ?, ?, ?, nullif(?, 0))",
			"iiidi", run_id, import->metric_id, (int64_t)row->ordinal, row->value,
			row->observations);
	if (!ret && db_changes(db) != 1)
		return err_set(err, ERR_USAGE, "the same sample was given before");
	return ret ? ret : add_flags(import, run_id, row->flags ? row->flags : "", err);
}

/* A run of its kind, in which nothing but counters is taken in. */
static int add_counter(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	bool absent = isnan(row->value);
	int64_t run_id;
	int ret = db_run(db, err,
		"INSERT OR IGNORE INTO run (boot_id, position, condition_id, kind, ordinal, try,"
		" state, reading) SELECT ?1, ifnull(max(position), 0) + 1, ?2, 2, ?3, 1, 'done', 1"
		" FROM run WHERE boot_id = ?1",
		"iii", import->boot_id, import->condition_id, row->run);

	if (!ret)
		ret = db_get_int(db, &run_id, err,
			"SELECT id FROM run WHERE boot_id = ? AND condition_id = ?"
			" AND kind = 2 AND ordinal = ?",
			"iii", import->boot_id, import->condition_id, row->run);
	if (!ret)
		ret = db_run(db, err,
			"INSERT INTO counter SELECT ?1, 1, count(*) + 1, ?2, ?3, ?4, ?5, ?6, ?7"
			" FROM counter WHERE run_id = ?1 HAVING total(name = ?2) = 0",
			"ittdddt", run_id, row->counter, row->unit, row->total, row->value,
			row->counted_pct, absent ? row->flags : "");
	if (!ret && db_changes(db) != 1)
		return err_set(err, ERR_USAGE, "the same counter was given before");
	return ret || absent ? ret : add_flags(import, run_id, row->flags, err);
}

static int add_mean(struct import *import, const struct store_import_row *row, struct err *err)
{
	struct db *db = import->store->db;
	int ret = db_run(db, err, "INSERT OR IGNORE INTO boot_mean VALUES (?, ?, ?, ?, ?)", "iiidd",
		import->boot_id, import->metric_id, row->runs, row->value, row->cv_pct);

	if (!ret && db_changes(db) != 1)
		return err_set(err, ERR_USAGE, "the same boot mean was given before");
	return ret;
}

static bool same_boot(const struct store_import_row *a, const struct store_import_row *b)
{
	return a && a->boot == b->boot && a->block == b->block &&
	       strcmp(start_of(a), start_of(b)) == 0 && strcmp(a->machine, b->machine) == 0 &&
	       strcmp(a->variant, b->variant) == 0;
}

static bool same_metric(const struct store_import_row *a, const struct store_import_row *b)
{
	return a && a->control == b->control && a->undeciding == b->undeciding &&
	       a->percentile == b->percentile && a->pooled == b->pooled &&
	       a->workers == b->workers && a->cpus == b->cpus &&
	       a->saturation_pct == b->saturation_pct && a->lower_is_better == b->lower_is_better &&
	       strcmp(a->suite, b->suite) == 0 && strcmp(a->machine, b->machine) == 0 &&
	       strcmp(a->condition, b->condition) == 0 && strcmp(a->metric, b->metric) == 0 &&
	       strcmp(a->unit, b->unit) == 0;
}

static int find_place(struct import *import, const struct store_import_row *row, struct err *err)
{
	int ret = 0;

	if (!same_boot(import->last, row)) {
		ret = store_machine_id(
			import->store, row->machine, "import", &import->machine_id, err);
		if (!ret)
			ret = find_variant(import, row, err);
		if (!ret)
			ret = find_boot(import, row, err);
	}
	if (!ret && !same_metric(import->last, row)) {
		ret = find_condition(import, row, err);
		if (!ret && !row->counter)
			ret = find_metric(import, row, err);
	}
	return ret;
}

static int add_row(struct import *import, const struct store_import_row *row, struct err *err)
{
	int ret;

	if ((row->run == 0) != import->means_only)
		return err_set(err, ERR_USAGE, "some rows are boot means and others are runs");
	if ((!isfinite(row->value) && !row->counter) || row->boot < 1 || row->block < 1 ||
		row->run < 0 || (row->run && !row->counter && row->ordinal < 1))
		return err_set(err, ERR_USAGE, "its numbers are out of range");
	ret = find_place(import, row, err);
	if (ret)
		return ret;
	import->last = row;
	if (row->counter)
		return add_counter(import, row, err);
	return import->means_only ? add_mean(import, row, err) : add_sample(import, row, err);
}

int store_import(struct store *store, const struct store_import *what, int64_t *experiment_id,
	struct err *err)
{
	struct import import = {
		.store = store,
		.what = what,
		.means_only = what->count && what->rows[0].run == 0,
	};
	int ret;

	if (!what->count)
		return err_set(err, ERR_USAGE, "there are no rows to import");
	ret = db_begin(store->db, err);
	if (ret)
		return ret;
	import.firsts = xcalloc(argv_count(what->variants) + 1, sizeof(*import.firsts));
	ret = add_experiment(&import, err);
	if (!ret)
		ret = add_variants(&import, err);
	for (size_t i = 0; i < what->count && !ret; i++) {
		ret = add_row(&import, &what->rows[i], err);
		if (ret)
			err_wrap(err, "row %zu", i + 1);
	}
	free(import.firsts);
	ret = db_finish(store->db, ret, err);
	if (!ret)
		*experiment_id = import.experiment_id;
	return ret;
}
