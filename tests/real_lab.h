/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_REAL_LAB_H
#define KB_TESTS_REAL_LAB_H

/*
 * A lab in a folder of its own, and the real kbracket in it, called as a person does: for tests
 * that boot real kernels in real guests. What happened is read from the database and from the
 * answers. With KB_KEEP set the folder stays, for looking at consoles and logs.
 */

#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strv.h"
#include "sys/db.h"
#include "sys/json.h"
#include "sys/proc.h"
#include "test_kernel.h"

struct real_lab {
	char *folder, *database;
	char *source;	     /* kbracket's own source tree */
	char *results;	     /* option; NULL: the lab's own */
	const char *program; /* in the build folder; NULL: kbracket */
	struct str answer;   /* of the last call: stdout */
	struct str chatter;
};

KB_UNUSED static void need_program(const char *name)
{
	char *path = proc_find_program(name), *reason = xasprintf("there is no %s here", name);

	if (!path)
		skip_program(reason);
	free(path);
	free(reason);
}

/* The git repository of the founding experiment, made when it is not there (that takes two
 * minutes); skips the program where Debian's kernel source cannot be had (the script's exit 3). */
KB_UNUSED static void need_kernel_tree(void)
{
	static const char *const argv[] = {"kernels/newidle-tree.sh", NULL};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	need_program("flex");
	need_program("bison");
	if (proc_run(&(struct proc_spec){.argv = argv, .timeout_ns = 3600 * NS_PER_S}, &result,
		    &err))
		fail_program(err.text);
	if (result.exit_code == 3)
		skip_program(str_text(&result.err_out));
	if (result.exit_code != 0)
		fail_program(str_text(&result.err_out));
	proc_result_release(&result);
}

/* A file of the lab; its folders are made. %S in the text stands for the source tree. */
KB_UNUSED static void real_lab_write(struct real_lab *lab, const char *name, const char *text)
{
	char *path = path_join(lab->folder, name), *folder = path_dir(path);
	struct str full = STR_INIT;
	struct err err = ERR_INIT;

	for (const char *at; (at = strstr(text, "%S")); text = at + 2) {
		str_add_bytes(&full, text, (size_t)(at - text));
		str_add(&full, lab->source);
	}
	str_add(&full, text);
	if (file_mkdirs(folder, 0755, &err) ||
		file_write_atomic(path, str_text(&full), full.len, 0644, &err))
		fail_msg("%s", err.text);
	str_release(&full);
	free(folder);
	free(path);
}

/* cache: a folder whose builds, guests and downloads are used, relative to the source tree; NULL
 * for one that is empty. */
KB_UNUSED static struct real_lab *real_lab_new(const char *cache)
{
	struct real_lab *lab = xcalloc(1, sizeof(*lab));
	struct err err = ERR_INIT;
	char *leaks;

	lab->source = realpath(".", NULL);
	lab->folder = xstrdup("/tmp/kb-guests-XXXXXX");
	if (!lab->source || !mkdtemp(lab->folder))
		fail_msg("no folder for a lab");
	lab->database = path_join(lab->folder, "results/kbracket.db");
	real_lab_write(lab, "configs/README", "Made by a test of kbracket.\n");
	real_lab_write(lab, "kernels/README", "Made by a test of kbracket.\n");
	if (cache) {
		char *from = path_join(lab->source, cache);
		char *link = path_join(lab->folder, "kernels/cache");

		if (file_mkdirs(from, 0777, &err) || symlink(from, link) != 0)
			fail_msg("no link to %s", from);
		free(from);
		free(link);
	}
	/* libgit2 1.5 leaks what it takes from PCRE2 to match names in a repository's config */
	real_lab_write(lab, "lsan", "leak:libpcre2-8.so\n");
	leaks = xasprintf("suppressions=%s/lsan:print_suppressions=0", lab->folder);
	assert_int_equal(setenv("LSAN_OPTIONS", leaks, 1), 0);
	free(leaks);
	assert_int_equal(setenv("KBRACKET_SHARE", lab->source, 1), 0);
	assert_int_equal(setenv("LC_ALL", "C", 1), 0);
	return lab;
}

KB_UNUSED static void real_lab_free(struct real_lab *lab)
{
	struct err err = ERR_INIT;

	if (!lab)
		return;
	if (getenv("KB_KEEP"))
		fprintf(stderr, "kept: %s\n", lab->folder);
	else if (file_remove_tree(lab->folder, &err))
		fprintf(stderr, "%s\n", err.text);
	str_release(&lab->answer);
	str_release(&lab->chatter);
	free(lab->folder);
	free(lab->database);
	free(lab->source);
	free(lab->results);
	free(lab);
}

/* From here on another database in the same lab: results/ of that name. */
KB_UNUSED static void real_lab_results(struct real_lab *lab, const char *name)
{
	free(lab->results);
	free(lab->database);
	lab->results = xasprintf("--results=%s/%s", lab->folder, name);
	lab->database = xasprintf("%s/%s/kbracket.db", lab->folder, name);
}

/* `kbracket WORDS`. */
static void real_lab_argv(struct real_lab *lab, const char *words, struct strv *argv)
{
	const char *build = getenv("KB_BUILD");
	char *here = path_join(lab->source, "build");

	strv_addf(argv, "%s/%s", build ? build : here, lab->program ? lab->program : "kbracket");
	free(here);
	if (lab->results)
		strv_add(argv, lab->results);
	assert_int_equal(proc_split_words(words, argv, NULL), 0);
}

/* Runs `kbracket WORDS` in the lab to its end and returns the exit code, 128 + the signal when one
 * ended it. */
KB_UNUSED static int real_lab_call(struct real_lab *lab, const char *words)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	int code;

	real_lab_argv(lab, words, &argv);
	if (proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
			     .cwd = lab->folder,
			     .timeout_ns = 7000 * NS_PER_S,
			     .max_output_bytes = 64 << 20},
		    &result, &err))
		fail_msg("%s: %s", words, err.text);
	if (result.timed_out)
		fail_msg("%s: no end\n%s", words, str_text(&result.err_out));
	str_reset(&lab->answer);
	str_reset(&lab->chatter);
	str_add_bytes(&lab->answer, str_text(&result.out), result.out.len);
	str_add_bytes(&lab->chatter, str_text(&result.err_out), result.err_out.len);
	code = result.signal ? 128 + result.signal : result.exit_code;
	proc_result_release(&result);
	strv_release(&argv);
	return code;
}

KB_NORETURN KB_UNUSED static void real_lab_fail(struct real_lab *lab, const char *what, int code)
{
	fail_msg("%s (exit %d)\n%s\n%s", what, code, str_text(&lab->answer),
		str_text(&lab->chatter));
	abort();
}

/* A call that must end with that code. */
KB_UNUSED static void real_lab_must(struct real_lab *lab, int code, const char *words)
{
	int got = real_lab_call(lab, words);

	if (got != code)
		real_lab_fail(lab, words, got);
}

KB_UNUSED static void real_lab_expect(struct real_lab *lab, const char *part)
{
	if (!strstr(str_text(&lab->answer), part))
		fail_msg("'%s' is not in:\n%s", part, str_text(&lab->answer));
}

/* The answer of `kbracket WORDS --json`; the caller ends with json_decref. */
KB_UNUSED static json_t *real_lab_json(struct real_lab *lab, int code, const char *words)
{
	char *with_json = xasprintf("%s --json", words);
	struct err err = ERR_INIT;
	json_t *out = NULL;

	real_lab_must(lab, code, with_json);
	if (json_parse(str_text(&lab->answer), lab->answer.len, 64 << 20, &out, &err))
		fail_msg("%s: %s", with_json, err.text);
	free(with_json);
	return out;
}

/* Starts `kbracket WORDS`, whose stdout and stderr go to the file "log" of the lab. It dies with
 * this test. */
KB_UNUSED static struct proc *real_lab_start(struct real_lab *lab, const char *words)
{
	char *log = path_join(lab->folder, "log");
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	struct proc *proc;

	real_lab_argv(lab, words, &argv);
	if (proc_start(
		    &(struct proc_spec){
			    .argv = strv_argv(&argv), .cwd = lab->folder, .output_path = log},
		    &proc, &err))
		fail_msg("%s: %s", words, err.text);
	strv_release(&argv);
	free(log);
	return proc;
}

/* The number that a query gives; -1 while there is no database yet. */
KB_UNUSED static int64_t real_lab_count(struct real_lab *lab, const char *sql)
{
	struct err err = ERR_INIT;
	struct db *db = NULL;
	int64_t count = -1;
	int ret;

	if (!file_exists(lab->database))
		return -1;
	ret = db_open(lab->database, DB_READ_ONLY, &db, &err);
	if (!ret)
		ret = db_get_int(db, &count, &err, sql, "");
	db_close(db);
	/* a database that is just being made has no tables */
	if (ret && !strstr(err.text, "no such table"))
		fail_msg("%s: %s", sql, err.text);
	return ret ? -1 : count;
}

#define real_lab_assert_count(lab, expected, sql)                                                 \
	do {                                                                                      \
		int64_t counted = real_lab_count((lab), (sql));                                   \
		if (counted != (expected))                                                        \
			fail_msg("%lld, not %lld: %s", (long long)counted, (long long)(expected), \
				(sql));                                                           \
	} while (0)

/* The text that a query gives, "" when it gives no row; freed by the caller. */
KB_UNUSED static char *real_lab_text(struct real_lab *lab, const char *sql)
{
	struct db_rows *rows = NULL;
	struct err err = ERR_INIT;
	struct db *db = NULL;
	char *text = NULL;
	int ret = db_open(lab->database, DB_READ_ONLY, &db, &err);

	if (!ret)
		ret = db_query(db, &rows, &err, sql, "");
	if (!ret)
		ret = db_next(rows, &err);
	if (ret < 0)
		fail_msg("%s: %s", sql, err.text);
	text = xstrdup(ret == 1 && db_text(rows, 0) ? db_text(rows, 0) : "");
	db_end(rows);
	db_close(db);
	return text;
}

/* The processes whose command line holds a text. */
KB_UNUSED static size_t count_processes(const char *text)
{
	struct strv names = STRV_INIT;
	struct str line = STR_INIT;
	size_t count = 0;

	assert_int_equal(file_list("/proc", &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *path = xasprintf("/proc/%s/cmdline", names.items[i]);

		if (strtol(names.items[i], NULL, 10) > 0 &&
			file_read(path, 1 << 20, &line, NULL) == 0 && line.len &&
			memmem(line.text, line.len, text, strlen(text)))
			count++;
		free(path);
	}
	str_release(&line);
	strv_release(&names);
	return count;
}

/* Waits until nothing that has the text on its command line runs any more. */
KB_UNUSED static void assert_processes_end(const char *text)
{
	for (int i = 0; i < 1500 && count_processes(text) > 0; i++)
		clock_sleep_ns(20 * NS_PER_MS);
	if (count_processes(text) > 0)
		fail_msg("a process with '%s' on its command line has stayed", text);
}

/* Waits until a condition holds while kbracket works; fails when it ends before. */
KB_UNUSED static void real_lab_wait(struct real_lab *lab, struct proc *proc,
	bool (*holds)(struct real_lab *lab, const void *arg), const void *arg, const char *what)
{
	int64_t deadline = clock_now_ns() + 3600 * NS_PER_S;
	struct proc_result result = PROC_RESULT_INIT;
	bool alive = true;

	while (alive && clock_now_ns() < deadline) {
		if (holds(lab, arg))
			return;
		alive = proc_alive(proc, &result);
		clock_sleep_ns(10 * NS_PER_MS);
	}
	if (holds(lab, arg))
		return;
	fail_msg("%s: kbracket %s before", what, alive ? "took an hour" : "ended");
}

/* kill -9 of kbracket alone; its guests must go by themselves. Frees it. */
KB_UNUSED static void real_lab_kill(struct proc *proc)
{
	struct proc_result result = PROC_RESULT_INIT;
	char *guests = xasprintf("/guest-%ld-", (long)proc_pid(proc));

	if (!proc_alive(proc, &result))
		fail_msg("kbracket had ended already: exit %d", result.exit_code);
	assert_int_equal(kill(proc_pid(proc), SIGKILL), 0);
	while (proc_alive(proc, &result))
		clock_sleep_ns(5 * NS_PER_MS);
	assert_int_equal(result.signal, SIGKILL);
	assert_processes_end(guests);
	proc_free(proc);
	free(guests);
}

/*
 * In the boots that are done: every (boot, condition, run, metric, ordinal) exactly once and as
 * many as the plan has, and none of it in a run that was interrupted. Warm-ups count once for each
 * start of the kernel, since a boot that goes on in a new one is warmed up again.
 */
KB_UNUSED static void real_lab_assert_whole(struct real_lab *lab)
{
	real_lab_assert_count(lab, 0, "SELECT count(*) FROM run WHERE state = 'started'");
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM boot b JOIN run r ON r.boot_id = b.id"
		" WHERE b.state = 'done' AND r.state = 'planned'");
	/* no place of the plan is without its run, and none has two */
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM (SELECT 1 FROM run r JOIN boot b ON b.id = r.boot_id"
		"  WHERE b.state = 'done' AND r.kind = 0"
		"  GROUP BY r.boot_id, r.condition_id, r.ordinal"
		"  HAVING sum(r.state = 'done') <> 1)");
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM (SELECT 1 FROM run r JOIN boot b ON b.id = r.boot_id"
		"  WHERE b.state = 'done' AND r.kind = 1 AND r.state = 'done'"
		"  GROUP BY r.boot_id, r.condition_id, r.ordinal, r.attempt_id"
		"  HAVING count(*) <> 1)");
	/* each run has one sample of each metric of its condition, and no other run has any */
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM run r JOIN metric m ON m.condition_id = r.condition_id"
		" WHERE r.state = 'done' AND 1 <> (SELECT count(*) FROM sample s"
		"  WHERE s.run_id = r.id AND s.metric_id = m.id AND s.ordinal = 1)");
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM sample s JOIN run r ON r.id = s.run_id"
		" WHERE r.state <> 'done' OR s.ordinal <> 1 OR s.reading <> r.reading");
}

#endif
