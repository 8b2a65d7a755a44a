/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <sqlite3.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "sys/db.h"

enum { STATEMENTS_MAX = 256 }; /* kept prepared */

/* A prepared statement, kept by its text. */
struct db_rows {
	struct db *db;
	char *sql;
	sqlite3_stmt *stmt;
	bool open; /* a query is being read */
	uint64_t used_at;
};

struct db {
	sqlite3 *handle;
	char *path;
	struct db_rows **statements;
	size_t count, capacity;
	uint64_t uses;
	int depth;   /* of transactions */
	bool broken; /* an inner transaction was rolled back */
	int64_t busy_since_ns;
};

/* What an SQLite result means to the caller. */
static enum err_code code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return stop_requested() ? ERR_INTERRUPTED : ERR_TIMEOUT;
	default:
		return ERR_INFRA;
	}
}

/* What SQLite's own words leave out; "" when there is nothing to add. */
static const char *hint_for(const struct db *db, int rc)
{
	int64_t left = file_free_bytes(db->path);

	if ((rc & 0xff) == SQLITE_BUSY)
		return " (another process is writing to it)";
	/* Its log and its shared memory want more than that. */
	if ((rc & 0xff) != SQLITE_FULL && left >= 0 && left < 1 << 20)
		return " (the disk is full)";
	return "";
}

static int db_error(struct db *db, int rc, const char *doing, struct err *err)
{
	const char *hint = hint_for(db, rc);

	return err_set(err, code_of(rc), "database %s: %s: %s%s", db->path, doing,
		sqlite3_errmsg(db->handle), hint);
}

/* Called while another connection holds the lock: 0 gives up. A stop shortens the wait, but what
 * cleans up after a stop still gets its turn. */
static int on_busy(void *arg, int times)
{
	struct db *db = arg;
	int64_t patience_ns = (stop_requested() ? 5 : 30) * NS_PER_S;

	if (times == 0)
		db->busy_since_ns = clock_now_ns();
	if (clock_now_ns() - db->busy_since_ns >= patience_ns)
		return 0;
	clock_sleep_ns((times < 10 ? 1 : 20) * NS_PER_MS);
	return 1;
}

/* SQLite does not call on_busy for the change to WAL, which needs the file alone for a moment. */
static int set_wal(struct db *db, struct err *err)
{
	struct db_rows *rows = NULL;
	int ret, times = 0;

	do {
		ret = db_query(db, &rows, err, "PRAGMA journal_mode = WAL", "");
		if (ret == 0)
			ret = db_next(rows, err);
	} while (ret == ERR_TIMEOUT && on_busy(db, times++));
	if (ret < 0)
		return ret;
	if (ret == 1 && strcmp(db_text(rows, 0), "wal") == 0)
		ret = 0;
	else
		ret = err_set(err, ERR_INFRA,
			"database %s: this file system does not support write-ahead logging",
			db->path);
	db_end(rows);
	return ret;
}

static int set_pragmas(struct db *db, enum db_mode mode, struct err *err)
{
	static const char settings[] = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
				       "PRAGMA trusted_schema = OFF;";
	int ret = db_script(db, settings, err);

	return ret || mode == DB_READ_ONLY ? ret : set_wal(db, err);
}

static int open_handle(struct db *db, enum db_mode mode, struct err *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
		    (mode == DB_READ_ONLY ? SQLITE_OPEN_READONLY
					  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	int rc = sqlite3_open_v2(db->path, &db->handle, flags, NULL);

	if (rc != SQLITE_OK)
		return err_set(err, ERR_INFRA, "cannot open the database %s: %s", db->path,
			db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc));
	(void)sqlite3_busy_handler(db->handle, on_busy, db);
	/* "text" in double quotes is an error, not a string; the schema cannot be corrupted by SQL.
	 */
	(void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	(void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	(void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return set_pragmas(db, mode, err);
}

int db_open(const char *path, enum db_mode mode, struct db **out, struct err *err)
{
	const char *kind = NULL;
	struct db *db;
	int ret;

	if (file_on_network(path, &kind))
		return err_set(err, ERR_USAGE,
			"%s is on a file system of type %s, whose locks a database cannot trust: "
			"keep results on a local disk",
			path, kind);
	if (mode == DB_READ_ONLY && !file_exists(path))
		return err_set(err, ERR_NOT_FOUND, "there is no database %s", path);
	db = xcalloc(1, sizeof(*db));
	db->path = xstrdup(path);
	ret = open_handle(db, mode, err);
	if (ret)
		db_close(db);
	else
		*out = db;
	return ret;
}

static void free_statement(struct db_rows *statement)
{
	(void)sqlite3_finalize(statement->stmt); /* repeats the error of its last step */
	free(statement->sql);
	free(statement);
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->count; i++)
		free_statement(db->statements[i]);
	free(db->statements);
	if (sqlite3_close(db->handle) != SQLITE_OK)
		BUG("database %s is still in use", db->path);
	free(db->path);
	free(db);
}

const char *db_path(const struct db *db)
{
	return db->path;
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_error(db, rc, "a script", err);
}

/* Where a new statement goes: a new slot, or that of the one that was not used for longest. */
static size_t find_slot(struct db *db)
{
	size_t oldest = SIZE_MAX;

	if (db->count < STATEMENTS_MAX) {
		GROW(db->statements, db->count, db->capacity);
		return db->count++;
	}
	for (size_t i = 0; i < db->count; i++)
		if (!db->statements[i]->open &&
			(oldest == SIZE_MAX ||
				db->statements[i]->used_at < db->statements[oldest]->used_at))
			oldest = i;
	if (oldest == SIZE_MAX)
		BUG("%zu queries are open at once", db->count);
	free_statement(db->statements[oldest]);
	return oldest;
}

/* The one found moves to the front: inserts in a loop find it at once. */
static struct db_rows *find_prepared(struct db *db, const char *sql)
{
	for (size_t i = 0; i < db->count; i++) {
		struct db_rows *found = db->statements[i];

		if (strcmp(found->sql, sql) != 0)
			continue;
		db->statements[i] = db->statements[0];
		db->statements[0] = found;
		return found;
	}
	return NULL;
}

static int prepare(struct db *db, const char *sql, struct db_rows **out, struct err *err)
{
	struct db_rows *statement = find_prepared(db, sql);
	sqlite3_stmt *stmt = NULL;
	size_t slot;
	int rc;

	if (!statement) {
		rc = sqlite3_prepare_v3(
			db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
		if (rc != SQLITE_OK || !stmt)
			return db_error(db, rc, sql, err);
		statement = xcalloc(1, sizeof(*statement));
		statement->db = db;
		statement->sql = xstrdup(sql);
		statement->stmt = stmt;
		slot = find_slot(db); /* may move the list */
		db->statements[slot] = statement;
	}
	if (statement->open)
		BUG("this query is still being read: %s", sql);
	statement->used_at = ++db->uses;
	*out = statement;
	return 0;
}

static int bind_blob(sqlite3_stmt *stmt, int at, va_list *ap)
{
	const void *bytes = va_arg(*ap, const void *);
	size_t len = va_arg(*ap, size_t);

	return sqlite3_bind_blob64(stmt, at, bytes, len, SQLITE_TRANSIENT);
}

static int bind_one(sqlite3_stmt *stmt, int at, char type, va_list *ap)
{
	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, at, va_arg(*ap, int64_t));
	case 'd':
		return sqlite3_bind_double(stmt, at, va_arg(*ap, double));
	case 't':
		return sqlite3_bind_text(stmt, at, va_arg(*ap, const char *), -1, SQLITE_TRANSIENT);
	case 'b':
		return bind_blob(stmt, at, ap);
	default:
		BUG("'%c' is not a parameter type", type);
	}
}

static int start(struct db *db, const char *sql, const char *types, va_list *ap,
	struct db_rows **out, struct err *err)
{
	struct db_rows *statement = NULL;
	int count, ret = prepare(db, sql, &statement, err);

	if (ret)
		return ret;
	count = sqlite3_bind_parameter_count(statement->stmt);
	if ((size_t)count != strlen(types))
		BUG("%d parameters, %zu given: %s", count, strlen(types), sql);
	for (int i = 0; i < count; i++) {
		int rc = bind_one(statement->stmt, i + 1, types[i], ap);

		if (rc != SQLITE_OK)
			ret = db_error(db, rc, sql, err);
	}
	statement->open = true;
	if (ret)
		db_end(statement);
	else
		*out = statement;
	return ret;
}

static int run(struct db *db, struct err *err, const char *sql, const char *types, va_list *ap)
{
	struct db_rows *rows = NULL;
	int ret = start(db, sql, types, ap, &rows, err);

	if (ret)
		return ret;
	do
		ret = db_next(rows, err);
	while (ret > 0);
	return ret;
}

int db_run(struct db *db, struct err *err, const char *sql, const char *types, ...)
{
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = run(db, err, sql, types, &ap);
	va_end(ap);
	return ret;
}

int db_query(struct db *db, struct db_rows **out, struct err *err, const char *sql,
	const char *types, ...)
{
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = start(db, sql, types, &ap, out, err);
	va_end(ap);
	return ret;
}

int db_next(struct db_rows *rows, struct err *err)
{
	int rc, ret = 0;

	if (!rows->open)
		return 0;
	rc = sqlite3_step(rows->stmt);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		ret = db_error(rows->db, rc, rows->sql, err);
	db_end(rows);
	return ret;
}

void db_end(struct db_rows *rows)
{
	if (!rows || !rows->open)
		return;
	(void)sqlite3_reset(rows->stmt); /* repeats the error of its last step */
	(void)sqlite3_clear_bindings(rows->stmt);
	rows->open = false;
}

static sqlite3_stmt *row_at(struct db_rows *rows, int column)
{
	if (!rows->open || column < 0 || column >= sqlite3_data_count(rows->stmt))
		BUG("no column %d in a row of: %s", column, rows->sql);
	return rows->stmt;
}

int64_t db_int(struct db_rows *rows, int column)
{
	return sqlite3_column_int64(row_at(rows, column), column);
}

double db_double(struct db_rows *rows, int column)
{
	sqlite3_stmt *stmt = row_at(rows, column);

	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return __builtin_nan("");
	return sqlite3_column_double(stmt, column);
}

const char *db_text(struct db_rows *rows, int column)
{
	return (const char *)sqlite3_column_text(row_at(rows, column), column);
}

const void *db_blob(struct db_rows *rows, int column, size_t *len)
{
	const void *bytes = sqlite3_column_blob(row_at(rows, column), column);

	*len = (size_t)sqlite3_column_bytes(rows->stmt, column);
	return bytes;
}

bool db_is_null(struct db_rows *rows, int column)
{
	return sqlite3_column_type(row_at(rows, column), column) == SQLITE_NULL;
}

int db_get_int(
	struct db *db, int64_t *out, struct err *err, const char *sql, const char *types, ...)
{
	struct db_rows *rows = NULL;
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = start(db, sql, types, &ap, &rows, err);
	va_end(ap);
	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 0)
		ret = err_set(err, ERR_NOT_FOUND, "database %s: no row for: %s", db->path, sql);
	if (ret > 0) {
		*out = db_int(rows, 0);
		ret = 0;
	}
	db_end(rows);
	return ret;
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t db_changes(struct db *db)
{
	return sqlite3_changes64(db->handle);
}

int db_begin(struct db *db, struct err *err)
{
	int ret = 0;

	if (db->depth == 0) {
		db->broken = false;
		ret = db_run(db, err, "BEGIN IMMEDIATE", "");
	}
	if (ret == 0)
		db->depth++;
	return ret;
}

/* Some errors (a full disk) have SQLite roll back by itself. */
static void roll_back(struct db *db)
{
	struct err ignored;

	if (!sqlite3_get_autocommit(db->handle))
		(void)!db_run(
			db, &ignored, "ROLLBACK", ""); /* a lost transaction is undone anyway */
}

int db_commit(struct db *db, struct err *err)
{
	int ret;

	if (db->depth <= 0)
		BUG("commit without a transaction");
	db->depth--;
	if (db->depth > 0)
		return 0;
	if (db->broken)
		ret = err_set(err, ERR_INFRA,
			"database %s: a step inside the transaction was undone, so all of it is",
			db->path);
	else
		ret = db_run(db, err, "COMMIT", "");
	if (ret)
		roll_back(db);
	return ret;
}

void db_rollback(struct db *db)
{
	if (db->depth <= 0)
		BUG("rollback without a transaction");
	db->depth--;
	db->broken = true;
	if (db->depth == 0)
		roll_back(db);
}

int db_finish(struct db *db, int ret, struct err *err)
{
	if (ret == 0)
		return db_commit(db, err);
	db_rollback(db);
	return ret;
}
