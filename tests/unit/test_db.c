/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "sys/db.h"
#include "sys/proc.h"

static const char schema[] = "CREATE TABLE t (id INTEGER PRIMARY KEY, d REAL, s TEXT, b BLOB);"
			     "CREATE TABLE child (t INTEGER NOT NULL REFERENCES t (id))";

struct place {
	char folder[32];
	char *path;
	struct db *db;
};

static int set_up(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));
	struct err err = ERR_INIT;

	(void)snprintf(place->folder, sizeof(place->folder), "/tmp/kb-test-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	place->path = xasprintf("%s/test.db", place->folder);
	assert_int_equal(db_open(place->path, DB_READ_WRITE, &place->db, &err), 0);
	assert_int_equal(db_script(place->db, schema, &err), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	struct err err = ERR_INIT;

	db_close(place->db);
	assert_int_equal(file_remove_tree(place->folder, &err), 0);
	free(place->path);
	free(place);
	return 0;
}

static int64_t count_rows(struct db *db)
{
	struct err err = ERR_INIT;
	int64_t count = -1;

	assert_int_equal(db_get_int(db, &count, &err, "SELECT count(*) FROM t", ""), 0);
	return count;
}

static int insert(struct db *db, int64_t id, struct err *err)
{
	return db_run(db, err, "INSERT INTO t (id) VALUES (?)", "i", id);
}

static void every_type_comes_back(void **state)
{
	struct db *db = ((struct place *)*state)->db;
	struct db_rows *rows = NULL;
	struct err err = ERR_INIT;
	char text[] = "h\xc3\xa9";
	size_t len;

	assert_int_equal(db_run(db, &err, "INSERT INTO t VALUES (?, ?, ?, ?)", "idtb", INT64_MAX,
				 1.5, text, "a\0b", (size_t)3),
		0);
	assert_int_equal(db_last_id(db), INT64_MAX);
	assert_int_equal(db_changes(db), 1);
	assert_int_equal(db_run(db, &err, "INSERT INTO t VALUES (?, ?, ?, ?)", "idtb", INT64_C(1),
				 nan(""), NULL, NULL, (size_t)0),
		0);
	assert_int_equal(db_query(db, &rows, &err, "SELECT * FROM t WHERE id > ? ORDER BY id DESC",
				 "i", INT64_C(0)),
		0);
	assert_int_equal(db_next(rows, &err), 1);
	assert_int_equal(db_int(rows, 0), INT64_MAX);
	assert_true(db_double(rows, 1) == 1.5);
	assert_string_equal(db_text(rows, 2), text);
	assert_memory_equal(db_blob(rows, 3, &len), "a\0b", 3);
	assert_int_equal(len, 3);
	assert_false(db_is_null(rows, 3));
	assert_int_equal(db_next(rows, &err), 1);
	assert_true(isnan(db_double(rows, 1)));
	assert_null(db_text(rows, 2));
	assert_true(db_is_null(rows, 2));
	assert_null(db_blob(rows, 3, &len));
	assert_int_equal(len, 0);
	assert_int_equal(db_next(rows, &err), 0);
	assert_int_equal(db_next(rows, &err), 0);
	db_end(rows);
	db_end(NULL);
}

static void parameters_outlive_the_call(void **state)
{
	struct db *db = ((struct place *)*state)->db;
	struct db_rows *rows = NULL;
	struct err err = ERR_INIT;
	char text[] = "abc";

	assert_int_equal(db_query(db, &rows, &err, "SELECT ?", "t", text), 0);
	text[0] = 'x';
	assert_int_equal(db_next(rows, &err), 1);
	assert_string_equal(db_text(rows, 0), "abc");
	db_end(rows);
}

static void settings_are_as_promised(void **state)
{
	struct place *place = *state;
	struct db_rows *rows = NULL;
	struct err err = ERR_INIT;
	int64_t value = -1;

	assert_int_equal(db_get_int(place->db, &value, &err, "PRAGMA synchronous", ""), 0);
	assert_int_equal(value, 2);
	assert_int_equal(db_get_int(place->db, &value, &err, "PRAGMA foreign_keys", ""), 0);
	assert_int_equal(value, 1);
	assert_int_equal(db_query(place->db, &rows, &err, "PRAGMA journal_mode", ""), 0);
	assert_int_equal(db_next(rows, &err), 1);
	assert_string_equal(db_text(rows, 0), "wal");
	db_end(rows);
	assert_int_equal(db_run(place->db, &err, "INSERT INTO child VALUES (?)", "i", INT64_C(77)),
		ERR_INFRA);
	assert_non_null(strstr(err.text, "FOREIGN KEY"));
	assert_string_equal(db_path(place->db), place->path);
}

static void wrong_sql_is_told(void **state)
{
	struct db *db = ((struct place *)*state)->db;
	struct err err = ERR_INIT;
	int64_t value = 7;

	assert_int_equal(db_run(db, &err, "INSERT INTO nowhere VALUES (1)", ""), ERR_INFRA);
	assert_non_null(strstr(err.text, "nowhere"));
	assert_int_equal(db_run(db, &err, "SELECT \"text\"", ""), ERR_INFRA);
	assert_int_equal(db_script(db, "CREATE TABLE u (a); BROKEN", &err), ERR_INFRA);
	assert_int_equal(
		db_get_int(db, &value, &err, "SELECT id FROM t WHERE id = 99", ""), ERR_NOT_FOUND);
	assert_int_equal(value, 7);
}

static void transactions_nest(void **state)
{
	struct db *db = ((struct place *)*state)->db;
	struct err err = ERR_INIT;

	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(insert(db, 1, &err), 0);
	assert_int_equal(db_commit(db, &err), 0);
	db_rollback(db);
	assert_int_equal(count_rows(db), 0);

	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(insert(db, 1, &err), 0);
	assert_int_equal(db_begin(db, &err), 0);
	db_rollback(db);
	assert_int_equal(db_commit(db, &err), ERR_INFRA);
	assert_int_equal(count_rows(db), 0);

	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(insert(db, 1, &err), 0);
	assert_int_equal(db_finish(db, 0, &err), 0);
	assert_int_equal(count_rows(db), 1);

	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(insert(db, 2, &err), 0);
	(void)err_set(&err, ERR_INVALID, "the first failure");
	assert_int_equal(db_finish(db, ERR_INVALID, &err), ERR_INVALID);
	assert_string_equal(err.text, "the first failure");
	assert_int_equal(count_rows(db), 1);
}

static void many_texts_stay_usable(void **state)
{
	struct db *db = ((struct place *)*state)->db;
	struct db_rows *first = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(db_query(db, &first, &err, "SELECT 1 UNION SELECT 2", ""), 0);
	assert_int_equal(db_next(first, &err), 1);
	for (int i = 0; i < 1000; i++) {
		char *sql = xasprintf("SELECT %d", i);
		int64_t value = -1;

		assert_int_equal(db_get_int(db, &value, &err, sql, ""), 0);
		assert_int_equal(value, i);
		free(sql);
	}
	assert_int_equal(db_next(first, &err), 1);
	assert_int_equal(db_int(first, 0), 2);
	assert_int_equal(db_next(first, &err), 0);
}

/*
 * SQLite must not be carried through a fork, so other processes run this program again:
 * test_db insert PATH | hang PATH | open PATH
 */
static int as_other_process(const char *role, const char *path)
{
	struct db *db = NULL;
	struct err err = ERR_INIT;
	char byte;
	int ret;

	if (strcmp(role, "open") == 0)
		(void)!read(0, &byte, 1); /* all go when it closes */
	ret = db_open(path, DB_READ_WRITE, &db, &err);
	if (strcmp(role, "open") != 0 && ret == 0)
		ret = insert(db, 2, &err);
	if (strcmp(role, "hang") == 0 && ret == 0) {
		ret = db_begin(db, &err);
		for (int64_t id = 3; id < 5000 && ret == 0; id++)
			ret = insert(db, id, &err);
		(void)!write(1, ret ? "" : "ready", ret ? 0 : 5);
		pause();
	}
	if (ret)
		fprintf(stderr, "%s\n", err.text);
	db_close(db);
	return ret != 0;
}

static struct proc *start_other(const char *role, const char *path, int input_fd, int output_fd)
{
	struct proc_spec spec = {.argv = (const char *const[]){"/proc/self/exe", role, path, NULL},
		.input_fd = input_fd,
		.output_fd = output_fd > 0 ? output_fd : 2};
	struct proc *proc = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(proc_start(&spec, &proc, &err), 0);
	return proc;
}

static int exit_code_of(struct proc *proc)
{
	struct proc_result result = PROC_RESULT_INIT;

	for (int i = 0; i < 6000 && proc_alive(proc, &result); i++)
		clock_sleep_ns(10 * NS_PER_MS);
	assert_false(proc_alive(proc, &result));
	proc_free(proc);
	return result.exit_code;
}

static void a_second_connection_waits_and_sees_only_what_is_committed(void **state)
{
	struct place *place = *state;
	struct db *reader = NULL;
	struct proc *writer;
	struct err err = ERR_INIT;

	assert_int_equal(db_begin(place->db, &err), 0);
	assert_int_equal(insert(place->db, 1, &err), 0);
	writer = start_other("insert", place->path, 0, 0);
	assert_int_equal(db_open(place->path, DB_READ_ONLY, &reader, &err), 0);
	assert_int_equal(count_rows(reader), 0);
	assert_int_equal(insert(reader, 3, &err), ERR_INFRA);
	clock_sleep_ns(100 * NS_PER_MS);
	assert_true(proc_alive(writer, NULL));
	assert_int_equal(db_commit(place->db, &err), 0);
	assert_int_equal(exit_code_of(writer), 0);
	assert_int_equal(count_rows(reader), 2);
	db_close(reader);
}

static void a_kill_inside_a_transaction_leaves_nothing(void **state)
{
	struct place *place = *state;
	struct proc *writer;
	struct err err = ERR_INIT;
	char ready[8] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	writer = start_other("hang", place->path, 0, ends[1]);
	assert_int_equal(read(ends[0], ready, sizeof(ready)), 5);
	assert_int_equal(count_rows(place->db), 1);
	assert_int_equal(kill(proc_pid(writer), SIGKILL), 0);
	assert_int_equal(exit_code_of(writer), -1);
	assert_int_equal(count_rows(place->db), 1);
	assert_int_equal(insert(place->db, 3, &err), 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void many_processes_may_create_it_at_once(void **state)
{
	enum { PROCESSES = 8, ROUNDS = 10 };
	struct place *place = *state;
	struct proc *procs[PROCESSES];
	int gate[2];

	for (int round = 0; round < ROUNDS; round++) {
		char *path = xasprintf("%s/new%d.db", place->folder, round);

		assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
		for (int i = 0; i < PROCESSES; i++)
			procs[i] = start_other("open", path, gate[0], 0);
		(void)close(gate[0]);
		(void)close(gate[1]);
		for (int i = 0; i < PROCESSES; i++)
			assert_int_equal(exit_code_of(procs[i]), 0);
		free(path);
	}
}

static void closing_rolls_back(void **state)
{
	struct place *place = *state;
	struct db *other = NULL;
	struct db_rows *rows = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(db_open(place->path, DB_READ_WRITE, &other, &err), 0);
	assert_int_equal(db_begin(other, &err), 0);
	assert_int_equal(insert(other, 1, &err), 0);
	assert_int_equal(db_query(other, &rows, &err, "SELECT id FROM t", ""), 0);
	assert_int_equal(db_next(rows, &err), 1);
	db_close(other);
	assert_int_equal(count_rows(place->db), 0);
	db_close(NULL);
}

static void what_cannot_be_opened_says_why(void **state)
{
	struct place *place = *state;
	char *path = xasprintf("%s/other", place->folder);
	struct db *db = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(db_open(path, DB_READ_ONLY, &db, &err), ERR_NOT_FOUND);
	assert_int_equal(db_open("/proc/kb/x.db", DB_READ_WRITE, &db, &err), ERR_INFRA);
	assert_int_equal(file_write_atomic(path, "this is not a database, but long enough to look",
				 47, 0644, &err),
		0);
	assert_int_equal(db_open(path, DB_READ_WRITE, &db, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, path));
	assert_null(db);
	free(path);
}

int main(int argc, char **argv)
{
#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		DB_TEST(every_type_comes_back),
		DB_TEST(parameters_outlive_the_call),
		DB_TEST(settings_are_as_promised),
		DB_TEST(wrong_sql_is_told),
		DB_TEST(transactions_nest),
		DB_TEST(many_texts_stay_usable),
		DB_TEST(a_second_connection_waits_and_sees_only_what_is_committed),
		DB_TEST(a_kill_inside_a_transaction_leaves_nothing),
		DB_TEST(many_processes_may_create_it_at_once),
		DB_TEST(closing_rolls_back),
		DB_TEST(what_cannot_be_opened_says_why),
	};

	if (argc == 3)
		return as_other_process(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
