/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "zombies.h"

static const char *const sleeper[] = {"sleep", "1000", NULL};

/* argv for a script; the shell is only the program under test here */
#define SH(script)                                    \
	(const char *const[])                         \
	{                                             \
		"/bin/sh", "-c", script, (char *)NULL \
	}

static pid_t read_pid(const char *text)
{
	char line[32];
	int64_t pid = -1;
	struct err err;

	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	assert_int_equal(num_int(line, 2, INT32_MAX, &pid, &err), 0);
	return (pid_t)pid;
}

/* A dead process may stay a zombie for a moment until init reaps it. */
static bool is_gone(pid_t pid)
{
	char *path = xasprintf("/proc/%d/stat", (int)pid);
	struct str stat = STR_INIT;
	bool gone = false;

	for (int i = 0; i < 500 && !gone; i++) {
		struct err err;

		gone = kill(pid, 0) != 0 || file_read(path, 4096, &stat, &err) != 0 ||
		       strstr(str_text(&stat), ") Z ");
		if (!gone)
			clock_sleep_ns(10 * NS_PER_MS);
	}
	str_release(&stat);
	free(path);
	return gone;
}

/* As a supervisor that outlives who called it. */
static void what_a_child_leaves_in_another_session_is_reaped(void **state KB_UNUSED)
{
	struct proc_spec leave = {
		.argv = SH(": $(setsid sh -c 'echo; exec sleep 0.05 >/dev/null' &)")};
	struct proc_spec plain = {.argv = SH("exit 0")};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;
	pid_t forked = fork();

	/* a child of somebody else in this process must stay for them */
	if (forked == 0)
		_exit(7);
	for (int i = 0; i < 20; i++)
		assert_int_equal(proc_run(&leave, &result, &err), 0);
	assert_true(is_gone(forked));
	for (int i = 0; i < 500 && children_in_state(0) > children_in_state('Z'); i++)
		clock_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(proc_run(&plain, &result, &err), 0);
	assert_int_equal(waitpid(forked, &result.exit_code, 0), forked);
	assert_int_equal(WEXITSTATUS(result.exit_code), 7);
	assert_int_equal(proc_run(&plain, &result, &err), 0);
	assert_int_equal(children_in_state(0), 0);
	proc_result_release(&result);
}

static void streams_are_kept_apart(void **state KB_UNUSED)
{
	struct proc_spec spec = {.argv = SH("echo out; echo err >&2; exit 3")};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_string_equal(str_text(&result.out), "out\n");
	assert_string_equal(str_text(&result.err_out), "err\n");
	assert_int_equal(result.exit_code, 3);
	assert_int_equal(result.signal, 0);
	assert_true(result.wall_ns > 0);
	assert_false(result.timed_out);
	assert_false(result.output_limit);
	proc_result_release(&result);
}

static void environment_folder_and_input_are_given(void **state KB_UNUSED)
{
	struct proc_spec spec = {.argv = SH("cat; printf '%s %s' \"$A\" \"$HOME\"; pwd"),
		.env = (const char *const[]){"A=x y", NULL},
		.cwd = "/usr",
		.input = "in\0put",
		.input_len = 6};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.out.len, 6 + 4 + 5);
	assert_memory_equal(result.out.text, "in\0putx y /usr\n", 15);
	proc_result_release(&result);
}

static void a_child_that_reads_no_input_is_fine(void **state KB_UNUSED)
{
	size_t len = 1 << 22;
	char *big = xcalloc(len, 1);
	struct proc_spec spec = {.argv = SH("exit 0"), .input = big, .input_len = len};
	struct err err = ERR_INIT;

	assert_int_equal(proc_check(&spec, NULL, &err), 0);
	spec.argv = SH("wc -c");
	assert_int_equal(proc_check(&spec, NULL, &err), 0);
	free(big);
}

static void descriptors_can_be_given(void **state KB_UNUSED)
{
	char in[] = "/tmp/kb-test-XXXXXX", out[] = "/tmp/kb-test-XXXXXX";
	int in_fd = mkstemp(in), out_fd = mkstemp(out);
	struct proc_spec spec = {
		.argv = SH("cat; echo word >&2"), .input_fd = in_fd, .output_fd = out_fd};
	struct proc_result result = PROC_RESULT_INIT;
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(write(in_fd, "bytes", 5), 5);
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.out.len, 0);
	assert_string_equal(str_text(&result.err_out), "word\n");
	assert_int_equal(file_read(out, 100, &text, &err), 0);
	assert_string_equal(str_text(&text), "bytes");
	str_release(&text);
	proc_result_release(&result);
	(void)close(in_fd);
	(void)close(out_fd);
	(void)unlink(in);
	(void)unlink(out);
}

static void what_cannot_start_says_why(void **state KB_UNUSED)
{
	struct proc_spec spec = {.argv = (const char *const[]){"kb-no-such-program", NULL}};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "kb-no-such-program"));
	spec.argv = (const char *const[]){"/nonexistent/program", NULL};
	assert_int_equal(proc_run(&spec, &result, &err), ERR_NOT_FOUND);
	spec.argv = (const char *const[]){"/etc/passwd", NULL};
	assert_int_equal(proc_run(&spec, &result, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "ermission"));
	spec.argv = SH("exit 0");
	spec.cwd = "/nonexistent/folder";
	assert_int_equal(proc_run(&spec, &result, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "/nonexistent/folder"));
	proc_result_release(&result);
}

static void a_deadline_ends_the_whole_group(void **state KB_UNUSED)
{
	struct proc_spec spec = {
		.argv = SH("sleep 1000 & echo $!; wait"), .timeout_ns = 300 * NS_PER_MS};
	struct proc_result result = PROC_RESULT_INIT;
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_true(result.timed_out);
	assert_int_equal(result.exit_code, -1);
	assert_int_equal(result.signal, SIGTERM);
	assert_true(is_gone(read_pid(str_text(&result.out))));
	proc_describe(&result, &text);
	assert_string_equal(str_text(&text), "no end within 300 ms");
	str_release(&text);
	proc_result_release(&result);
	assert_int_equal(proc_check(&spec, NULL, &err), ERR_TIMEOUT);
}

static void who_ignores_sigterm_is_killed(void **state KB_UNUSED)
{
	struct proc_spec spec = {
		.argv = SH(
			"trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; while :; do :; done"),
		.timeout_ns = 200 * NS_PER_MS};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_true(result.timed_out);
	assert_int_equal(result.signal, SIGKILL);
	assert_true(result.wall_ns >= 2 * NS_PER_S);
	assert_true(is_gone(read_pid(str_text(&result.out))));
	proc_result_release(&result);
}

static void what_a_child_leaves_behind_is_killed(void **state KB_UNUSED)
{
	struct proc_spec spec = {.argv = SH("sleep 1000 & echo $!; exit 5")};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.exit_code, 5);
	assert_true(is_gone(read_pid(str_text(&result.out))));
	proc_result_release(&result);
}

static void output_is_bounded(void **state KB_UNUSED)
{
	struct proc_spec spec = {.argv = (const char *const[]){"yes", NULL},
		.max_output_bytes = 100000,
		.timeout_ns = 60 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_true(result.output_limit);
	assert_false(result.timed_out);
	assert_int_equal(result.out.len, 100000);
	assert_int_equal(proc_check(&spec, NULL, &err), ERR_INFRA);
	spec.argv = SH("head -c 100000 /dev/zero");
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_false(result.output_limit);
	assert_int_equal(result.out.len, 100000);
	spec.argv = SH("head -c 100001 /dev/zero");
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_true(result.output_limit);
	proc_result_release(&result);
}

static void keep_line(void *arg, const char *line)
{
	strv_add(arg, line);
}

static void lines_arrive_whole(void **state KB_UNUSED)
{
	struct strv lines = STRV_INIT;
	struct proc_spec spec = {.argv = SH("printf 'a\\n\\nb'; sleep 0.1; printf 'c\\r\\nlast'"),
		.on_line = keep_line,
		.arg = &lines};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(lines.count, 4);
	assert_string_equal(lines.items[0], "a");
	assert_string_equal(lines.items[1], "");
	assert_string_equal(lines.items[2], "bc");
	assert_string_equal(lines.items[3], "last");
	assert_string_equal(str_text(&result.out), "a\n\nbc\r\nlast");
	strv_release(&lines);
	spec.argv = SH("head -c 200000 /dev/zero | tr '\\0' x");
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(lines.count, 4);
	assert_int_equal(strlen(lines.items[0]), 65536);
	assert_int_equal(strlen(lines.items[3]), 200000 - 3 * 65536);
	strv_release(&lines);
	proc_result_release(&result);
}

static void a_log_file_gets_both_streams_in_order(void **state KB_UNUSED)
{
	char path[] = "/tmp/kb-test-XXXXXX";
	struct strv lines = STRV_INIT;
	struct proc_spec spec = {.argv = SH("for i in 1 2 3; do echo o$i; echo e$i >&2; done"),
		.output_path = path,
		.on_line = keep_line,
		.arg = &lines};
	struct proc_result result = PROC_RESULT_INIT;
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	(void)close(mkstemp(path));
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.out.len + result.err_out.len, 0);
	assert_int_equal(lines.count, 6);
	assert_string_equal(lines.items[5], "e3");
	spec.on_line = NULL;
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(file_read(path, 1000, &text, &err), 0);
	assert_string_equal(str_text(&text), "o1\ne1\no2\ne2\no3\ne3\no1\ne1\no2\ne2\no3\ne3\n");
	spec.argv = SH("yes");
	spec.max_output_bytes = 1000;
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_true(result.output_limit);
	assert_int_equal(file_size(path), (int64_t)text.len + 1000);
	(void)unlink(path);
	spec.output_path = "/dev/full";
	assert_int_equal(proc_run(&spec, &result, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "/dev/full"));
	str_release(&text);
	strv_release(&lines);
	proc_result_release(&result);
}

static void a_failed_check_quotes_the_last_lines(void **state KB_UNUSED)
{
	struct proc_spec spec = {
		.argv = SH("echo ok; printf 'first\\nsecond\\033[31m\\n' >&2; exit 2")};
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	str_add(&out, "kept");
	assert_int_equal(proc_check(&spec, &out, &err), ERR_INFRA);
	assert_string_equal(err.text, "/bin/sh: exit 2: first | second\\x1b[31m");
	assert_string_equal(str_text(&out), "kept");
	spec.argv = SH("echo fine");
	assert_int_equal(proc_check(&spec, &out, &err), 0);
	assert_string_equal(str_text(&out), "fine\n");
	spec.argv = SH("kill -SEGV $$");
	assert_int_equal(proc_check(&spec, &out, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "signal 11"));
	str_release(&out);
}

/* What we ignore, block or hold open must not reach the child. Signals from 29 on are not looked
 * at: libc keeps some of those for itself. */
static void a_child_starts_clean(void **state KB_UNUSED)
{
	struct proc_spec spec = {
		.argv = SH("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2 | cut -c 10-;"
			   "ls /proc/self/fd; [ $$ = $(cut -d' ' -f6 /proc/$$/stat) ]")};
	struct str out = STR_INIT;
	struct err err = ERR_INIT;
	sigset_t set, old;
	int leak = open("/dev/null", O_RDONLY);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	assert_int_equal(proc_check(&spec, &out, &err), 0);
	assert_string_equal(str_text(&out), "0000000\n0000000\n0\n1\n2\n3\n");
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(leak);
	str_release(&out);
}

static int refuse(void *arg)
{
	return *(int *)arg;
}

static void a_hook_runs_before_exec(void **state KB_UNUSED)
{
	int value = 1;
	struct proc_spec spec = {.argv = SH("exit 0"), .in_child = refuse, .arg = &value};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.exit_code, 126);
	value = 0;
	assert_int_equal(proc_run(&spec, &result, &err), 0);
	assert_int_equal(result.exit_code, 0);
	proc_result_release(&result);
}

static void a_started_child_goes_on_until_killed(void **state KB_UNUSED)
{
	char path[] = "/tmp/kb-test-XXXXXX";
	struct proc_spec spec = {.argv = SH("echo up; sleep 1000 & wait"), .output_path = path};
	struct proc_result result = PROC_RESULT_INIT;
	struct proc *proc = NULL;
	struct err err = ERR_INIT;
	pid_t pid;

	(void)close(mkstemp(path));
	assert_int_equal(proc_start(&spec, &proc, &err), 0);
	pid = proc_pid(proc);
	for (int i = 0; i < 1000 && file_size(path) != 3; i++)
		clock_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(file_size(path), 3);
	assert_true(proc_alive(proc, &result));
	assert_int_equal(getpgid(pid), pid);
	proc_kill(proc, 5 * NS_PER_S);
	assert_false(proc_alive(proc, &result));
	assert_int_equal(result.signal, SIGTERM);
	assert_int_equal(kill(-pid, 0), -1);
	proc_free(proc);
	spec.argv = SH("exit 4");
	assert_int_equal(proc_start(&spec, &proc, &err), 0);
	for (int i = 0; i < 1000 && proc_alive(proc, NULL); i++)
		clock_sleep_ns(10 * NS_PER_MS);
	assert_false(proc_alive(proc, &result));
	assert_int_equal(result.exit_code, 4);
	proc_free(proc);
	spec.argv = sleeper;
	assert_int_equal(proc_start(&spec, &proc, &err), 0);
	pid = proc_pid(proc);
	proc_free(proc);
	assert_int_equal(kill(pid, 0), -1);
	proc_free(NULL);
	spec.argv = (const char *const[]){"kb-no-such-program", NULL};
	assert_int_equal(proc_start(&spec, &proc, &err), ERR_NOT_FOUND);
	(void)unlink(path);
}

/* Runs fn in another process that writes to a pipe; returns our end and its pid. */
static int in_other_process(int (*fn)(int out_fd), pid_t *pid)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (*pid == 0) {
		(void)close(ends[0]);
		_exit(fn(ends[1]));
	}
	(void)close(ends[1]);
	return ends[0];
}

static pid_t read_pid_from(int fd)
{
	char text[32] = "";

	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	return read_pid(text);
}

static int start_and_wait(int out_fd)
{
	struct proc_spec spec = {.argv = sleeper};
	struct proc *proc = NULL;
	struct err err = ERR_INIT;

	if (proc_start(&spec, &proc, &err) != 0)
		return 1;
	(void)dprintf(out_fd, "%d\n", (int)proc_pid(proc));
	pause();
	return 0;
}

static void a_child_dies_with_us(void **state KB_UNUSED)
{
	pid_t parent, child;
	int fd = in_other_process(start_and_wait, &parent);

	child = read_pid_from(fd);
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_true(is_gone(child));
	(void)close(fd);
}

static int run_until_stopped(int out_fd)
{
	struct proc_spec spec = {.argv = SH("sleep 1000 & echo $!; wait"), .output_fd = out_fd};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	stop_catch_signals();
	if (proc_run(&spec, &result, &err) != ERR_INTERRUPTED || result.signal != SIGTERM)
		return 1;
	if (proc_run(&spec, &result, &err) != ERR_INTERRUPTED) /* not even begun */
		return 2;
	spec = (struct proc_spec){.argv = SH("sleep 0.1; echo done"), .ignore_stop = true};
	if (proc_run(&spec, &result, &err) != 0 || strcmp(str_text(&result.out), "done\n") != 0)
		return 3;
	proc_result_release(&result);
	return 0;
}

static void a_stop_ends_the_wait(void **state KB_UNUSED)
{
	int status = 0, fd;
	pid_t runner, child;

	fd = in_other_process(run_until_stopped, &runner);
	child = read_pid_from(fd);
	assert_int_equal(kill(runner, SIGINT), 0);
	assert_int_equal(waitpid(runner, &status, 0), runner);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(is_gone(child));
	(void)close(fd);
}

static void programs_are_found(void **state KB_UNUSED)
{
	char *path = proc_find_program("sh");

	assert_non_null(path);
	assert_int_equal(path[0], '/');
	free(path);
	assert_null(proc_find_program("kb-no-such-program"));
	assert_null(proc_find_program(""));
	assert_null(proc_find_program("/tmp"));
	path = proc_find_program("/bin/sh");
	assert_string_equal(path, "/bin/sh");
	free(path);
}

static void words_are_split_without_a_shell(void **state KB_UNUSED)
{
	static const struct {
		const char *text;
		const char *words[5];
	} cases[] = {
		{"", {NULL}},
		{" \t\n", {NULL}},
		{"a b", {"a", "b"}},
		{"a 'b c'\"d\"e  f", {"a", "b cde", "f"}},
		{"'' \"\"", {"", ""}},
		{"$HOME * ; | `x`", {"$HOME", "*", ";", "|", "`x`"}},
		{"a\\ b \\'", {"a b", "'"}},
		{"\"a\\\"b\\x\" 'c\\'", {"a\"b\\x", "c\\"}},
	};
	static const char *const bad[] = {"'", "a \"b", "a\\", "\"a\\\""};
	struct strv words = STRV_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t expected = 0;

		while (expected < 5 && cases[i].words[expected])
			expected++;
		assert_int_equal(proc_split_words(cases[i].text, &words, &err), 0);
		assert_int_equal(words.count, expected);
		for (size_t k = 0; k < expected; k++)
			assert_string_equal(words.items[k], cases[i].words[k]);
		strv_release(&words);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(proc_split_words(bad[i], &words, &err), ERR_USAGE);
	assert_int_equal(words.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_kept_apart),
		cmocka_unit_test(environment_folder_and_input_are_given),
		cmocka_unit_test(a_child_that_reads_no_input_is_fine),
		cmocka_unit_test(descriptors_can_be_given),
		cmocka_unit_test(what_cannot_start_says_why),
		cmocka_unit_test(a_deadline_ends_the_whole_group),
		cmocka_unit_test(what_a_child_leaves_in_another_session_is_reaped),
		cmocka_unit_test(who_ignores_sigterm_is_killed),
		cmocka_unit_test(what_a_child_leaves_behind_is_killed),
		cmocka_unit_test(output_is_bounded),
		cmocka_unit_test(lines_arrive_whole),
		cmocka_unit_test(a_log_file_gets_both_streams_in_order),
		cmocka_unit_test(a_failed_check_quotes_the_last_lines),
		cmocka_unit_test(a_child_starts_clean),
		cmocka_unit_test(a_hook_runs_before_exec),
		cmocka_unit_test(a_started_child_goes_on_until_killed),
		cmocka_unit_test(a_child_dies_with_us),
		cmocka_unit_test(a_stop_ends_the_wait),
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(words_are_split_without_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
