/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/mem.h"
#include "sys/db_int.h"

enum { STATEMENTS_MAX = 256 }; /* kept prepared */

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
	db_free_statement(db->statements[oldest]);
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
