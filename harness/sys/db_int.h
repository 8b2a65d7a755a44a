/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_DB_INT_H
#define KB_SYS_DB_INT_H

/* Between db.c (the database and its transactions) and db_query.c (statements and their rows). */

#include "base/base.h"

#include <sqlite3.h>

#include "sys/db.h"

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
	enum db_mode mode;
	struct db_rows **statements;
	size_t count, capacity;
	uint64_t uses;
	int depth;   /* of transactions */
	bool broken; /* an inner transaction was rolled back */
	int64_t busy_since_ns;
};

/* Sets err from SQLite's result: a code, what was being done, SQLite's words, what to do. */
int db_error(struct db *db, int rc, const char *doing, struct err *err);
void db_free_statement(struct db_rows *statement);

#endif
