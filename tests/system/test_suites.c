/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The suites that come with kbracket: every file is read and expanded, and the short ones are run
 * for real, with the programs' own output matched against the patterns.
 */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "sys/regex.h"
#include "backend/reader.h"
#include "model/suite.h"
#include "run/watch.h"

static const double saturations[] = {100, 50, 31.25, 25};

static struct suite read_suite(struct arena *arena, const char *name)
{
	char *path = xasprintf("suites/%s", name);
	struct diag diag = DIAG_INIT;
	struct str text = STR_INIT;
	struct suite suite;
	int ret = suite_read(arena, path, &suite, &diag);

	diag_write(&diag, &text);
	if (ret)
		fail_msg("%s", str_text(&text));
	str_release(&text);
	diag_release(&diag);
	free(path);
	return suite;
}

static struct strv suite_files(void)
{
	struct strv all = STRV_INIT, files = STRV_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_list("suites", &all, &err), 0);
	for (size_t i = 0; i < all.count; i++)
		if (str_ends(all.items[i], ".yaml"))
			strv_add(&files, all.items[i]);
	strv_release(&all);
	return files;
}

static void every_suite_is_read_under_its_name(void **state KB_UNUSED)
{
	struct strv files = suite_files();

	assert_true(files.count >= 6);
	for (size_t i = 0; i < files.count; i++) {
		struct arena arena = ARENA_INIT;
		struct suite suite = read_suite(&arena, files.items[i]);
		struct condition *conditions;
		struct err err = ERR_INIT;
		size_t count;

		assert_int_equal(strlen(suite.name) + strlen(".yaml"), strlen(files.items[i]));
		assert_true(str_starts(files.items[i], suite.name));
		assert_int_equal(suite_expand(&arena, &suite, 48, saturations,
					 ARRAY_SIZE(saturations), &conditions, &count, &err),
			0);
		assert_true(count > 0);
		arena_release(&arena);
	}
	strv_release(&files);
}

/* The worker counts that the design promises, in the programs' own words. */
static void saturations_become_arguments(void **state KB_UNUSED)
{
	static const struct {
		const char *file, *argument;
		int64_t cpus;
		const char *workers[4];
	} cases[] = {
		{"hackbench.yaml", "-g", 48, {"48", "24", "15", "12"}},
		{"stress-ng.yaml", "--sock", 48, {"48", "24", "15", "12"}},
		{"wakefan.yaml", "--workers", 8, {"8", "4", "3", "2"}},
		{"canary.yaml", "--workers", 8, {"8", "4", "3", "2"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = ARENA_INIT;
		struct suite suite = read_suite(&arena, cases[i].file);
		struct condition *conditions;
		struct err err = ERR_INIT;
		size_t count;

		assert_int_equal(suite_expand(&arena, &suite, cases[i].cpus, saturations, 4,
					 &conditions, &count, &err),
			0);
		assert_int_equal(count, 4);
		for (size_t k = 0; k < count; k++) {
			const char *const *argv = conditions[k].argv;

			while (strcmp(*argv, cases[i].argument) != 0)
				argv++;
			assert_string_equal(argv[1], cases[i].workers[k]);
		}
		arena_release(&arena);
	}
}

/* Environment and arguments as one would type them. */
static void expect_call(const struct condition *condition, const char *wanted)
{
	struct str seen = STR_INIT;

	for (size_t i = 0; condition->env[i]; i++)
		if (strcmp(condition->env[i], "LC_ALL=C") != 0)
			str_addf(&seen, "%s ", condition->env[i]);
	for (size_t i = 0; condition->argv[i]; i++)
		str_addf(&seen, "%s%s", i ? " " : "", condition->argv[i]);
	assert_string_equal(str_text(&seen), wanted);
	str_release(&seen);
}

/* On 48 CPUs; a list of CPUs ends with the machine's last. */
static void published_calls_are_word_for_word(void **state KB_UNUSED)
{
	static const struct {
		const char *file, *condition, *call;
		double saturation_pct;
	} cases[] = {
		{"schbench-published.yaml", "auto-128",
			"schbench -L -m 4 -M auto -t 128 -n 0 -r 60", 100},
		{"schbench-published.yaml", "pinned-160",
			"schbench -L -m 4 -t 160 -r 60 -n 0 -M 0-3 -W 4-47", 100},
		{"schbench-published.yaml", "ninety", "schbench -t 90 -r 30 -i 30", 100},
		{"sembench-published.yaml", "few", "sembench -r 30 -o 2 -t 8 -w 4", 100},
		{"sembench-published.yaml", "many", "sembench -r 30 -o 2 -t 815 -w 101", 100},
		{"easywave.yaml", "ten-hours",
			"OMP_NUM_THREADS=15 easywave -grid e2Asean.grd -source "
			"BengkuluSept2007.flt -time 600",
			31.25},
		{"easywave-series.yaml", "twenty-hours",
			"OMP_NUM_THREADS=24 easywave -grid e2Asean.grd -source "
			"BengkuluSept2007.flt -time 1200",
			50},
		{"stress-ng-published.yaml", "sock",
			"stress-ng -t 30 --metrics-brief --sock 12 --no-rand-seed "
			"--sock-zerocopy",
			25},
		{"algorithm3.yaml", "e12", "algorithm3.pl 1e12 --threads=48", 100},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = ARENA_INIT;
		struct suite suite = read_suite(&arena, cases[i].file);
		struct condition *conditions;
		struct err err = ERR_INIT;
		size_t count, at = 0;

		assert_int_equal(suite_expand(&arena, &suite, 48, &cases[i].saturation_pct, 1,
					 &conditions, &count, &err),
			0);
		while (at < count && strcmp(conditions[at].spec->name, cases[i].condition) != 0)
			at++;
		assert_true(at < count);
		expect_call(&conditions[at], cases[i].call);
		arena_release(&arena);
	}
}

/* Group 1 of the only match. */
static char *only_match(const char *pattern, const struct str *text)
{
	struct regex *regex = NULL;
	struct regex_span spans[2];
	struct err err = ERR_INIT;
	size_t offset = 0;
	char *value;

	assert_int_equal(regex_compile(pattern, &regex, &err), 0);
	if (regex_next(regex, str_text(text), text->len, &offset, spans, 2, &err) != 1)
		fail_msg("no match of '%s' in:\n%s", pattern, str_text(text));
	value = xstrndup(str_text(text) + spans[1].start, spans[1].end - spans[1].start);
	assert_int_equal(regex_next(regex, str_text(text), text->len, &offset, spans, 2, &err), 0);
	regex_free(regex);
	return value;
}

/* What a program printed: one of its streams, or both. */
static struct str stream_of(const struct proc_result *result, enum output_stream from)
{
	struct str text = STR_INIT;

	if (from != STREAM_STDERR)
		str_add_bytes(&text, str_text(&result->out), result->out.len);
	if (from != STREAM_STDOUT)
		str_add_bytes(&text, str_text(&result->err_out), result->err_out.len);
	return text;
}

static char *match_in(
	const char *pattern, const struct proc_result *result, enum output_stream from)
{
	struct str text = stream_of(result, from);
	char *value = only_match(pattern, &text);

	str_release(&text);
	return value;
}

static void check_output(const struct suite *suite, const struct condition *condition,
	const struct proc_result *result)
{
	struct str both = stream_of(result, STREAM_BOTH);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < suite->metric_count; i++) {
		const struct metric_spec *metric = &suite->metrics[i];
		char *text = match_in(metric->pattern, result, metric->from);
		double value = 0;

		assert_int_equal(num_double(text, &value, &err), 0);
		assert_true(value > 0);
		free(text);
	}
	for (size_t i = 0; i < suite->echo_count; i++) {
		const struct echo_check *echo = &suite->echoes[i];
		char *text = match_in(echo->pattern, result, echo->from);

		assert_string_equal(text, condition->expects[i]);
		free(text);
	}
	for (size_t i = 0; suite->fail_if[i]; i++) {
		struct regex *regex = NULL;

		assert_int_equal(regex_compile(suite->fail_if[i], &regex, &err), 0);
		assert_false(regex_matches(regex, str_text(&both), both.len));
		regex_free(regex);
	}
	str_release(&both);
}

/* The native programs lie beside the tests, the others in the PATH. */
static char *program_of(const struct suite *suite)
{
	char self[4096], *dir, *path;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!suite->native)
		return proc_find_program(suite->program);
	assert_true(len > 0);
	self[len] = '\0';
	dir = path_dir(self);
	path = xasprintf("%s/../suites/%s", dir, suite->program);
	free(dir);
	return path;
}

typedef void check_fn(const struct suite *suite, const struct condition *condition,
	const struct proc_result *result);

static void run_one(const char *file, check_fn *check)
{
	struct arena arena = ARENA_INIT;
	struct suite suite = read_suite(&arena, file);
	struct proc_result result = PROC_RESULT_INIT;
	char *program = program_of(&suite);
	struct condition *conditions;
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	size_t count;

	if (!program)
		skip();
	suite_set_duration(&arena, &suite, 100 * NS_PER_MS);
	assert_int_equal(
		suite_expand(&arena, &suite, 2, saturations, 1, &conditions, &count, &err), 0);
	strv_add(&argv, program);
	strv_add_all(&argv, conditions[0].argv + 1);
	assert_int_equal(proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
					  .timeout_ns = 120 * NS_PER_S},
				 &result, &err),
		0);
	assert_int_equal(result.exit_code, 0);
	check(&suite, &conditions[0], &result);
	proc_result_release(&result);
	strv_release(&argv);
	free(program);
	arena_release(&arena);
}

/* A histogram holds every request that the program counts, once for each of the percentiles. */
static void check_histogram(const struct suite *suite, const struct condition *condition,
	const struct proc_result *result)
{
	const struct program_output output = {str_text(&result->out), result->out.len,
		str_text(&result->err_out), result->err_out.len};
	char *text = match_in(" requests=([0-9]+) ", result, STREAM_STDOUT);
	struct reading reading = READING_INIT;
	struct err err = ERR_INIT;
	int64_t requests = 0, seen = 0;

	assert_int_equal(num_int(text, 1, INT64_MAX, &requests, &err), 0);
	if (reader_read(condition, &output, &reading, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < reading.count; i++)
		seen += reading.values[i].observations;
	assert_int_equal(seen, requests * (int64_t)suite->metric_count);
	for (size_t i = 0; i < suite->metric_count; i++)
		assert_true(metric_is_pooled(&suite->metrics[i]));
	reading_release(&reading);
	free(text);
}

/* It prints a valid row and exits with 0; not every version and stressor says that it ended too
 * early. */
static void stress_ng_ended_early_is_short(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct suite suite = read_suite(&arena, "stress-ng.yaml");
	struct proc_result result = PROC_RESULT_INIT;
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct watch_run run = {.duration_ns = 30 * NS_PER_S,
		.tolerance_pct = suite.tolerance_pct,
		.overrun_pct = suite.overrun_pct,
		.cpus = 2};
	struct condition *conditions;
	struct store_flag *flags;
	struct err err = ERR_INIT;
	json_t *agent = json_object();
	size_t count;
	char *program = program_of(&suite);

	if (!program)
		skip();
	free(program);
	suite_set_duration(&arena, &suite, run.duration_ns);
	assert_int_equal(
		suite_expand(&arena, &suite, 2, saturations, 1, &conditions, &count, &err), 0);
	/* the deadline's first signal is SIGTERM */
	assert_int_equal(proc_run(&(struct proc_spec){.argv = conditions[0].argv,
					  .timeout_ns = 1500 * NS_PER_MS},
				 &result, &err),
		0);
	assert_int_equal(result.exit_code, 0);
	free(match_in(suite.metrics[0].pattern, &result, suite.metrics[0].from));
	json_object_set_new(agent, "wall_ns", json_integer(result.wall_ns));
	watch_flags(agent, &run, &boot, &arena, &flags, &count);
	assert_true(count >= 1);
	assert_string_equal(flags[0].reason, "short");
	json_decref(agent);
	proc_result_release(&result);
	arena_release(&arena);
}

#define RUN(name, file)                          \
	static void name(void **state KB_UNUSED) \
	{                                        \
		run_one(file, check_output);     \
	}
static void wakelatency_is_read(void **state KB_UNUSED)
{
	run_one("wakelatency.yaml", check_histogram);
}

RUN(hackbench_is_read, "hackbench.yaml")
RUN(hackbench_groups_are_read, "hackbench-groups.yaml")
RUN(stress_ng_is_read, "stress-ng.yaml")
RUN(wakefan_is_read, "wakefan.yaml")
RUN(futexfan_is_read, "futexfan.yaml")
RUN(wave_is_read, "wave.yaml")
RUN(canary_is_read, "canary.yaml")

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_suite_is_read_under_its_name),
		cmocka_unit_test(saturations_become_arguments),
		cmocka_unit_test(published_calls_are_word_for_word),
		cmocka_unit_test(hackbench_is_read),
		cmocka_unit_test(hackbench_groups_are_read),
		cmocka_unit_test(stress_ng_is_read),
		cmocka_unit_test(stress_ng_ended_early_is_short),
		cmocka_unit_test(wakefan_is_read),
		cmocka_unit_test(wakelatency_is_read),
		cmocka_unit_test(futexfan_is_read),
		cmocka_unit_test(wave_is_read),
		cmocka_unit_test(canary_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
