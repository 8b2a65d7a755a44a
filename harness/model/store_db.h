/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_DB_H
#define KB_MODEL_STORE_DB_H

#include "base/base.h"

#include "base/mem.h"
#include "model/store_counter.h"
#include "model/store_rows.h"
#include "model/store.h"
#include "model/store_plan.h"
#include "sys/db.h"

/* For store_*.c only: what is behind struct store. */
struct store {
	struct db *db;
	char *folder;
};

/* The state of a name that store_check has seen; an unknown one is a BUG. */
enum store_state store_state_parse(const char *name);
enum store_kind store_kind_parse(const char *name);

/* Refuse (ERR_INFRA) rows that no longer fit together since another program changed them: the rows
 * of experiments themselves (of one; 0: all), or everything of one experiment but its samples. */
KB_MUST_CHECK int store_check_heads(struct store *store, int64_t experiment_id, struct err *err);
KB_MUST_CHECK int store_check(struct store *store, int64_t experiment_id, struct err *err);

/* A column's text in the arena; NULL becomes "". */
const char *store_arena_text(struct arena *arena, struct db_rows *rows, int column);
/* Of struct store_marks, from the joined tables boot, variant and condition. */
#define STORE_MARK_COLUMNS                                                             \
	" iif(variant.control, (SELECT name FROM variant base WHERE base.id = "        \
	"variant.against_id), ''), condition.control, decides,"                        \
	" (SELECT name FROM variant base WHERE base.id = variant.against_id),"         \
	" (SELECT name FROM variant written WHERE written.id = variant.layout_of_id)," \
	" boot.start"
struct store_marks store_read_marks(struct db_rows *rows, int at);
/* A column's integer, or fallback when it is NULL. */
int64_t store_int_or(struct db_rows *rows, int column, int64_t fallback);

/* Get-or-create rows that experiments share. */
KB_MUST_CHECK int store_machine_id(
	struct store *store, const char *name, const char *kind, int64_t *id, struct err *err);
KB_MUST_CHECK int store_suite_id(struct store *store, const char *name, const char *sha256,
	const char *text, int64_t *id, struct err *err);
/* The policy of every validity reason; that of the experiment, or the default when it is NULL. */
KB_MUST_CHECK int store_add_policies(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, struct err *err);
/* Whose boots are planned: ids of variants and conditions by their positions. */
struct store_boots {
	int64_t experiment_id, machine_id;
	const int64_t *variant_ids, *condition_ids;
};
/* The plan's boots and their runs, from boot first (an index) on. */
KB_MUST_CHECK int store_add_boots(struct store *store, const struct store_boots *whose,
	const struct plan *plan, size_t first, struct err *err);
/* Rows for files of an owner: a run, an attempt or a build, by the column that names it. */
KB_MUST_CHECK int store_add_counters(struct store *store, int64_t run_id, int64_t reading,
	const struct store_counter *counters, size_t count, struct err *err);
KB_MUST_CHECK int store_add_raws(struct store *store, const char *owner, int64_t owner_id,
	const struct store_raw *raws, size_t count, struct err *err);
/* ERR_USAGE unless the UPDATE before met exactly one row: the journal moves forward only. */
KB_MUST_CHECK int store_moved(struct store *store, const char *what, int64_t id, struct err *err);
/* A NULL-ended list as a JSON list; freed by the caller. */
char *store_json_list(const char *const *items);

#endif
