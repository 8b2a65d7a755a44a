/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our native workloads, run for real: what they print, what they refuse, and that the known
 * slowdown and wave's field are exact. Work is counted; no test depends on time.
 */
#include "base/base.h"

#include <inttypes.h>
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
#include "base/strv.h"
#include "sys/proc.h"

/* One program: its unit, the word for its counted work, and how a fixed amount is asked for. */
static const struct program {
	const char *name, *unit, *counter, *fixed;
} programs[] = {
	{"wakefan", "requests/s", "requests", "--requests"},
	{"futexfan", "completions/s", "completions", "--completions"},
	{"wave", "seconds", "steps", "--steps"},
	{"canary", "rounds/s", "rounds", "--rounds"},
};

/* The programs lie beside the tests: build/tests/x, build/suites/y. */
static char *program_path(const char *name)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *dir, *path;

	assert_true(len > 0);
	self[len] = '\0';
	dir = path_dir(self);
	path = xasprintf("%s/../suites/%s", dir, name);
	free(dir);
	return path;
}

/* Runs "name options..." to its end. */
static struct proc_result run(const char *name, const char *options)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT;
	char *path = program_path(name);
	struct err err = ERR_INIT;

	strv_add(&argv, path);
	assert_int_equal(proc_split_words(options, &argv, &err), 0);
	assert_int_equal(proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
					  .timeout_ns = 300 * NS_PER_S},
				 &result, &err),
		0);
	strv_release(&argv);
	free(path);
	return result;
}

/* The text after "key=" in a result line, up to the next blank. */
static char *value_of(const char *line, const char *key)
{
	char *mark = xasprintf(" %s=", key);
	const char *at = strstr(line, mark);

	assert_non_null(at);
	at += strlen(mark);
	free(mark);
	return xstrndup(at, strcspn(at, " \n"));
}

static double number_of(const char *line, const char *key)
{
	char *text = value_of(line, key);
	struct err err = ERR_INIT;
	double value = -1;

	assert_int_equal(num_double(text, &value, &err), 0);
	free(text);
	return value;
}

/* Exactly one line "name: VALUE UNIT; ...", VALUE more than 0; returned for further checks. */
static char *result_line(const struct program *p, const char *options)
{
	struct proc_result result = run(p->name, options);
	char *start = xasprintf("%s: ", p->name), *unit = xasprintf(" %s; ", p->unit), *line,
	     *number;
	const char *after;
	struct err err = ERR_INIT;
	double value = 0;

	assert_int_equal(result.exit_code, 0);
	assert_string_equal(str_text(&result.err_out), "");
	line = xstrdup(str_text(&result.out));
	assert_true(str_starts(line, start));
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	after = strstr(line, unit);
	assert_non_null(after);
	number = xstrndup(line + strlen(start), (size_t)(after - line) - strlen(start));
	assert_int_equal(num_double(number, &value, &err), 0);
	assert_true(value > 0);
	free(number);
	free(start);
	free(unit);
	proc_result_release(&result);
	return line;
}

static void timed_runs_report_what_they_did(void **state KB_UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct program *p = &programs[i];
		bool timed = strcmp(p->name, "wave") != 0;
		char *line = result_line(p, timed ? "--workers 5 --seconds 0.05" : "--workers=5");

		assert_true(number_of(line, "workers") == 5);
		assert_true(number_of(line, p->counter) > 0);
		assert_true(number_of(line, "extra") == 0);
		assert_true(number_of(line, "seconds") >= (timed ? 0.05 : 0));
		free(line);
	}
}

/* With P % slowdown, P uncounted units of work go with each 100 counted; per thread that counts,
 * at most one unit may still be owed. */
static void slowdown_is_exact_work(void **state KB_UNUSED)
{
	static const double pcts[] = {0, 2.5, 10, 250};
	static const int workers[] = {1, 4};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		for (size_t k = 0; k < ARRAY_SIZE(pcts) * ARRAY_SIZE(workers); k++) {
			const struct program *p = &programs[i];
			double pct = pcts[k / 2], slack, done, extra;
			int n = workers[k % 2];
			char *options =
				xasprintf("--workers %d %s 400 --slow-pct %g", n, p->fixed, pct);
			char *line = result_line(p, options);

			done = number_of(line, p->counter);
			extra = number_of(line, "extra");
			assert_true(done == (!strcmp(p->name, "canary") ? 400 * n : 400));
			/* wakefan and futexfan do extra work by the round or batch, of up to n. */
			slack = n * (pct / 100 + 1);
			assert_true(extra >= done * pct / 100 - slack);
			assert_true(extra <= done * pct / 100 + (pct > 0 ? slack : 0));
			assert_true(number_of(line, "slow-pct") == pct);
			free(options);
			free(line);
		}
}

static char *wave_checksum(const char *options)
{
	char *line = result_line(&programs[2], options), *sum = value_of(line, "checksum");

	free(line);
	return sum;
}

static void wave_does_not_depend_on_threads(void **state KB_UNUSED)
{
	char *one = wave_checksum("--workers 1 --grid 33 --steps 50"), *other;

	for (int n = 2; n <= 33; n += n < 8 ? 1 : 25) {
		char *options = xasprintf("--workers %d --grid 33 --steps 50", n);

		other = wave_checksum(options);
		assert_string_equal(one, other);
		free(other);
		free(options);
	}
	other = wave_checksum("--workers 3 --grid 33 --steps 50 --slow-pct 40");
	assert_string_equal(one, other);
	free(other);
	other = wave_checksum("--workers 1 --grid 33 --steps 51");
	assert_string_not_equal(one, other);
	free(other);
	free(one);
}

static void bad_arguments_are_refused(void **state KB_UNUSED)
{
	static const char *const bad[] = {"--workers", "--workers 0", "--workers -1",
		"--workers 2x", "--workers ' 2'", "--workers ''", "--workers 2.5",
		"--workers 99999999999999999999", "--workers 10001", "--workers 1 --workers 1",
		"--bogus 1", "stray", "-w 1", "--slow-pct -5", "--slow-pct 10%", "--slow-pct nan",
		"--slow-pct 5000", "--slow-pct 1.", "--slow-pct .5", "--slow-pct 1.2345"};
	static const char *const bad_timed[] = {
		"--seconds 0", "--seconds abc", "--seconds 1e3", "--seconds 0.5s", "--seconds inf"};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		for (size_t k = 0; k < ARRAY_SIZE(bad) + ARRAY_SIZE(bad_timed); k++) {
			const char *options =
				k < ARRAY_SIZE(bad) ? bad[k] : bad_timed[k - ARRAY_SIZE(bad)];
			struct proc_result result = run(programs[i].name, options);

			assert_int_equal(result.exit_code, 2);
			assert_int_equal(result.out.len, 0);
			assert_true(str_starts(str_text(&result.err_out), programs[i].name));
			proc_result_release(&result);
		}
}

static void contradictions_are_refused(void **state KB_UNUSED)
{
	static const char *const bad[][2] = {
		{"wakefan", "--seconds 1 --requests 5"},
		{"wakefan", "--workers 2 --messengers 3"},
		{"futexfan", "--completions 4 --seconds 1"},
		{"futexfan", "--workers 2 --batch 3"},
		{"wave", "--grid 4 --workers 5"},
		{"canary", "--seconds 1 --rounds 1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct proc_result result = run(bad[i][0], bad[i][1]);

		assert_int_equal(result.exit_code, 2);
		assert_int_equal(result.out.len, 0);
		proc_result_release(&result);
	}
}

static void help_says_whose_it_is(void **state KB_UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct proc_result result = run(programs[i].name, "--help");

		assert_int_equal(result.exit_code, 0);
		assert_non_null(strstr(str_text(&result.out), "kbracket's own"));
		assert_non_null(strstr(str_text(&result.out), "--slow-pct P"));
		proc_result_release(&result);
	}
}

/* A run that somebody ends has no result, whichever signal it was. */
static void interrupted_runs_print_nothing(void **state KB_UNUSED)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGKILL};
	char *folder = xasprintf("/tmp/kb-native-XXXXXX"), *output;

	assert_non_null(mkdtemp(folder));
	output = path_join(folder, "out");
	for (size_t i = 0; i < ARRAY_SIZE(programs) * ARRAY_SIZE(signals); i++) {
		const struct program *p = &programs[i / ARRAY_SIZE(signals)];
		char *path = program_path(p->name);
		const char *argv[] = {path, "--workers", "4", p->fixed, "1000000000", NULL};
		struct proc_result result = PROC_RESULT_INIT;
		struct err err = ERR_INIT;
		struct proc *proc;

		assert_int_equal(
			proc_start(&(struct proc_spec){.argv = argv, .output_path = output}, &proc,
				&err),
			0);
		clock_sleep_ns(20 * NS_PER_MS);
		assert_int_equal(kill(proc_pid(proc), signals[i % ARRAY_SIZE(signals)]), 0);
		while (proc_alive(proc, &result))
			clock_sleep_ns(NS_PER_MS);
		assert_int_equal(result.signal, signals[i % ARRAY_SIZE(signals)]);
		proc_result_release(&result);
		proc_free(proc);
		free(path);
	}
	assert_int_equal(file_size(output), 0);
	assert_int_equal(file_remove_tree(folder, NULL), 0);
	free(output);
	free(folder);
}

static void a_result_that_cannot_be_written_is_a_failure(void **state KB_UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		char *path = program_path(programs[i].name);
		const char *argv[] = {path, programs[i].fixed, "10", NULL};
		struct proc_result result = PROC_RESULT_INIT;
		struct err err = ERR_INIT;
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		assert_int_equal(proc_run(&(struct proc_spec){.argv = argv,
						  .output_fd = fileno(full),
						  .timeout_ns = 60 * NS_PER_S},
					 &result, &err),
			0);
		assert_int_equal(result.exit_code, 1);
		proc_result_release(&result);
		fclose(full);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timed_runs_report_what_they_did),
		cmocka_unit_test(slowdown_is_exact_work),
		cmocka_unit_test(wave_does_not_depend_on_threads),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(help_says_whose_it_is),
		cmocka_unit_test(interrupted_runs_print_nothing),
		cmocka_unit_test(a_result_that_cannot_be_written_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
