/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_DB_H
#define KB_SYS_DB_H

#include "base/base.h"

#include "base/err.h"

/*
 * SQLite. One connection per process: WAL, synchronous=FULL, foreign keys on, busy timeout 30 s.
 * Transactions nest: only the outermost BEGIN and COMMIT reach SQLite; a rollback inside makes the
 * outermost commit fail. Prepared statements are kept by their text and reused.
 */
struct db;

enum db_mode { DB_READ_WRITE, DB_READ_ONLY };

/* Opens (with DB_READ_WRITE: creates) a database. Refuses network file systems (ERR_USAGE).
 * The caller ends with db_close. */
KB_MUST_CHECK int db_open(const char *path, enum db_mode mode, struct db **out, struct err *err);
void db_close(struct db *db); /* rolls an open transaction back; NULL is fine */
/* A connection does not live through a fork: before one it is closed (no transaction may be open),
 * afterwards each process opens its own. Between the two, and when that fails, every use of it is
 * an error. */
void db_disconnect(struct db *db);
KB_MUST_CHECK int db_reconnect(struct db *db, struct err *err);
const char *db_path(const struct db *db);

/* Runs one or more statements without parameters: a schema. */
KB_MUST_CHECK int db_script(struct db *db, const char *sql, struct err *err);

/* Runs one statement with parameters and no rows wanted. types has one letter per parameter:
 * i int64_t, d double (NaN is stored as NULL), t const char * (NULL is NULL),
 * b const void * + size_t (blob). All text is copied before the call returns. */
KB_MUST_CHECK int db_run(struct db *db, struct err *err, const char *sql, const char *types, ...);

/* Starts a query with parameters as in db_run. Rows are then had with db_next; the query ends by
 * itself after the last row, and with db_end at any time. Only one query per SQL text is open at
 * a time (a second one is a BUG). */
struct db_rows;
KB_MUST_CHECK int db_query(struct db *db, struct db_rows **out, struct err *err, const char *sql,
	const char *types, ...);
/* 1: a row is there; 0: no more; negative: an error. */
KB_MUST_CHECK int db_next(struct db_rows *rows, struct err *err);
void db_end(struct db_rows *rows); /* NULL and already ended ones are fine */

/* Columns of the present row, from 0. Text and blobs are borrowed until the next db_next. */
int64_t db_int(struct db_rows *rows, int column);
double db_double(struct db_rows *rows, int column);    /* NULL gives NaN */
const char *db_text(struct db_rows *rows, int column); /* NULL gives NULL */
const void *db_blob(struct db_rows *rows, int column, size_t *len);
bool db_is_null(struct db_rows *rows, int column);

/* One row's first column as an integer; no row gives ERR_NOT_FOUND. */
KB_MUST_CHECK int db_get_int(
	struct db *db, int64_t *out, struct err *err, const char *sql, const char *types, ...);

int64_t db_last_id(struct db *db);
int64_t db_changes(struct db *db);

KB_MUST_CHECK int db_begin(struct db *db, struct err *err); /* BEGIN IMMEDIATE */
KB_MUST_CHECK int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
/* `if (db_begin(..)) return..; ret = work(); return db_finish(db, ret, err);`: commits when ret is
 * 0, else rolls back and returns ret. */
KB_MUST_CHECK int db_finish(struct db *db, int ret, struct err *err);

#endif
