/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "sys/db_int.h"

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

int db_error(struct db *db, int rc, const char *doing, struct err *err)
{
	const char *hint = hint_for(db, rc);

	if (!db->handle)
		return err_set(err, ERR_INFRA, "database %s: %s: it is not open", db->path, doing);
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

static int open_handle(struct db *db, struct err *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
		    (db->mode == DB_READ_ONLY ? SQLITE_OPEN_READONLY
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
	return set_pragmas(db, db->mode, err);
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
	db->mode = mode;
	ret = open_handle(db, err);
	if (ret)
		db_close(db);
	else
		*out = db;
	return ret;
}

void db_free_statement(struct db_rows *statement)
{
	(void)sqlite3_finalize(statement->stmt); /* repeats the error of its last step */
	free(statement->sql);
	free(statement);
}

void db_disconnect(struct db *db)
{
	for (size_t i = 0; i < db->count; i++)
		db_free_statement(db->statements[i]);
	free(db->statements);
	db->statements = NULL;
	db->count = db->capacity = 0;
	if (sqlite3_close(db->handle) != SQLITE_OK)
		BUG("database %s is still in use", db->path);
	db->handle = NULL;
}

int db_reconnect(struct db *db, struct err *err)
{
	int ret = open_handle(db, err);

	if (ret)
		db_disconnect(db);
	return ret;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	db_disconnect(db);
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
