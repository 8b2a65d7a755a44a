/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted in runs of their own: perf's lines, the kernel's files, and their division by
 * operations. Golden cases are what the agent made on real kernels. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/strv.h"
#include "base/wire.h"
#include "backend/counters.h"
#include "backend/kernel_counts.h"

static const char golden_dir[] = "tests/golden/counters";

/* A run that made 2000 requests in 2 of the 2 seconds that were asked for. */
struct bench {
	struct arena arena;
	struct metric_spec metrics[2];
	struct suite suite;
	struct condition_spec spec;
	struct condition condition;
	struct reading_value values[2];
	struct reading reading;
	struct counter_source source;
	struct str file;
	size_t parts;
	struct counter *counters;
	size_t count;
	struct err err;
};

static const char *const functions[] = {"available_idle_cpu", "newidle_balance", "no_such_function",
	"schedule", "load_balance", NULL};

static int set_up(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));

	b->metrics[0] = (struct metric_spec){.name = "requests", .unit = "requests/s"};
	b->metrics[1] = (struct metric_spec){.name = "made", .unit = "requests"};
	b->suite = (struct suite){.metrics = b->metrics, .metric_count = 2};
	b->spec.duration_ns = 2 * NS_PER_S;
	b->condition =
		(struct condition){.suite = &b->suite, .spec = &b->spec, .operations = "requests"};
	b->values[0] = (struct reading_value){.metric = 0, .ordinal = 1, .value = 1000};
	b->values[1] = (struct reading_value){.metric = 0, .ordinal = 2, .value = 1000};
	b->reading = (struct reading){b->values, 2, 2};
	b->source = (struct counter_source){.condition = &b->condition,
		.reading = &b->reading,
		.seconds = 4,
		.functions = functions};
	wire_add_start(&b->file);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	str_release(&b->file);
	arena_release(&b->arena);
	free(b);
	return 0;
}

static void add_part(struct bench *b, const char *name, const char *text)
{
	wire_add_part(&b->file, name, strlen(text));
	str_addf(&b->file, "%s\n", text);
	b->parts++;
}

static int read_file(struct bench *b)
{
	wire_add_end(&b->file, b->parts);
	b->source.bytes = b->file.text;
	b->source.len = b->file.len;
	return counters_read(&b->arena, &b->source, &b->counters, &b->count, &b->err);
}

static void must_read(struct bench *b)
{
	if (read_file(b))
		fail_msg("%s", b->err.text);
}

static const struct counter *named(const struct bench *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->counters[i].name, name) == 0)
			return &b->counters[i];
	fail_msg("there is no counter '%s'", name);
	return NULL;
}

static void must_be(const struct bench *b, const char *name, double total, double value,
	const char *unit, double pct, const char *reason)
{
	const struct counter *counter = named(b, name);

	if (!(counter->total == total || (isnan(total) && isnan(counter->total))))
		fail_msg("%s: total %g, wanted %g", name, counter->total, total);
	if (!(counter->value == value || (isnan(value) && isnan(counter->value))))
		fail_msg("%s: value %g, wanted %g", name, counter->value, value);
	assert_string_equal(counter->unit, unit);
	assert_true(counter->counted_pct == pct);
	assert_string_equal(counter->reason, reason);
}

static void events_are_divided_by_operations(void **state)
{
	struct bench *b = *state;

	add_part(b, "perf",
		"# started on Tue Dec  1 16:47:57 2026\n\n"
		"1644.50;msec;task-clock;1644594100;100.00;0.780;CPUs utilized\n"
		"4000;;context-switches:u;1644594100;100.00;436.418;K/sec\n"
		"<not supported>;;cycles;0;100.00;;\n"
		"<not counted>;;branches;0;0.00;;\n"
		"1000;;instructions;1234;62.50;;\n"
		"0,50;msec;cpu-clock [software];1;100,00\n"
		"7;Joules;power/energy-pkg/;1;100.00;;\n");
	must_read(b);
	assert_int_equal(b->count, 8 + ARRAY_SIZE(functions) - 1);
	must_be(b, "operations", 2000, 2000, "requests", 100, "");
	must_be(b, "task-clock", 1644.5e6, 1644.5e6 / 2000, "ns/op", 100, "");
	must_be(b, "context-switches:u", 4000, 2000, "/1000 op", 100, "");
	must_be(b, "cycles", (double)NAN, (double)NAN, "/1000 op", 0, "not supported");
	must_be(b, "branches", (double)NAN, (double)NAN, "/1000 op", 0, "not counted");
	must_be(b, "instructions", 1000, 500, "/1000 op", 62.5, "");
	must_be(b, "cpu-clock", 0.5e6, 250, "ns/op", 100, "");
	must_be(b, "power/energy-pkg/", 7, 3.5, "Joules/1000 op", 100, "");
}

static void of_no_time_and_no_event_nothing_is_known(void **state)
{
	struct bench *b = *state;

	add_part(b, "perf", "0.00;msec;task-clock;0;0.00;;\n7;;page-faults;1;0.00;;\n");
	must_read(b);
	must_be(b, "task-clock", (double)NAN, (double)NAN, "/1000 op", 0, "not counted");
	must_be(b, "page-faults", (double)NAN, (double)NAN, "/1000 op", 0, "not counted");
	assert_int_equal(tear_down(state), 0);
	assert_int_equal(set_up(state), 0);
	b = *state;
	add_part(b, "perf", "# started on Tue Dec  1 16:47:57 2026\n\n");
	must_read(b);
	must_be(b, "perf", (double)NAN, (double)NAN, "/1000 op", 0, "it told of no event");
}

static void operations_come_from_where_the_suite_says(void **state)
{
	static const struct {
		const char *operations;
		int64_t duration_ns;
		size_t metric;
		double wanted;
		const char *unit, *value_unit;
	} cases[] = {
		{"requests", 2 * NS_PER_S, 0, 2000, "requests", "/1000 op"},
		{"requests", 0, 0, 4000, "requests", "/1000 op"},
		{"made", 2 * NS_PER_S, 1, 2000, "requests", "/1000 op"},
		{"512", 0, 0, 512, "operations", "/1000 op"},
		{"", 0, 0, 1, "runs", "/run"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench *b;

		assert_int_equal(tear_down(state), 0);
		assert_int_equal(set_up(state), 0);
		b = *state;
		b->condition.operations = cases[i].operations;
		b->spec.duration_ns = cases[i].duration_ns;
		b->values[0].metric = b->values[1].metric = cases[i].metric;
		add_part(b, "perf", "40;;cs;1;100.00;;\n");
		must_read(b);
		must_be(b, "operations", cases[i].wanted, cases[i].wanted, cases[i].unit, 100, "");
		assert_string_equal(named(b, "cs")->unit, cases[i].value_unit);
		assert_true(named(b, "cs")->value ==
			    40 * (*cases[i].operations ? 1000 : 1) / cases[i].wanted);
	}
}

/* Nothing is divided by nothing. */
static void unknown_operations_give_no_value(void **state)
{
	static const char *const operations[] = {"made", "0", "-5", "1e400", "many"};

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		struct bench *b;

		assert_int_equal(tear_down(state), 0);
		assert_int_equal(set_up(state), 0);
		b = *state;
		b->condition.operations = operations[i];
		add_part(b, "perf", "40;;cs;1;100.00;;\n");
		must_read(b);
		assert_true(named(b, "cs")->total == 40);
		assert_true(isnan(named(b, "cs")->value));
		assert_non_null(strstr(named(b, "cs")->reason, "operations"));
		assert_true(isnan(named(b, "operations")->value));
	}
}

static void lines_that_are_none_are_refused(void **state)
{
	static const char *const lines[] = {"40;;cs\n", "40;;cs;1;100.0x;;\n", "x;;cs;1;100;;\n",
		"-1;;cs;1;100;;\n", "99999999999999999999;;cs;1;100.00;;\n",
		"1,234,5;;cs;1;100;;\n", "40;;cs;1;100.00;;", "perf: nothing\n",
		"40;;;1;100.00;;\n", "1e999;;cs;1;100;;\n", ";;cs;1;100;;\n"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct bench *b;

		assert_int_equal(tear_down(state), 0);
		assert_int_equal(set_up(state), 0);
		b = *state;
		/* before the end of the part, not of a line */
		add_part(b, "perf", lines[i]);
		if (read_file(b) != ERR_INVALID)
			fail_msg("taken: %s", lines[i]);
		assert_int_equal(b->count, 0);
		assert_true(b->err.text[0]);
	}
}

static void a_damaged_file_is_refused(void **state)
{
	struct bench *b = *state;

	add_part(b, "perf", "40;;cs;1;100.00;;\n");
	must_read(b);
	for (size_t len = 0; len < b->file.len; len++) {
		b->source.len = len;
		assert_int_equal(
			counters_read(&b->arena, &b->source, &b->counters, &b->count, &b->err),
			ERR_INVALID);
	}
}

static void what_perf_says_instead_is_told(void **state)
{
	struct bench *b = *state;

	add_part(b, "perf-error", "Error: \033[1mno permission");
	must_read(b);
	must_be(b, "perf", (double)NAN, (double)NAN, "/1000 op", 0, "Error: \\x1b[1mno permission");
}

#define SUMS(calls, balanced, failed) #calls " " #balanced " " #failed
#define EIGHT "1 2 3 4 5 6 7 8 "
#define ELEVEN "1 2 3 4 5 6 7 8 9 10 11 "

/* New-idle is the third kind in all versions; they differ in fields and in the name. */
static void schedstat_versions_are_known(void **state KB_UNUSED)
{
	static const struct {
		const char *text;
		double calls, pulled;
	} cases[] = {
		{"version 15\ntimestamp 42\ncpu0 0 0 0 0 0 0 1 2 3\n"
		 "domain0 3 " EIGHT EIGHT SUMS(100, 60, 30) " 0 0 0 0 0 9 9 9\n"
							    "domain1 f,ffffffff " EIGHT EIGHT SUMS(
								    10, 10, 0) " 0 0 0 0 0\n",
			110, 10},
		{"version 16\ntimestamp 42\ndomain0 3 " EIGHT EIGHT SUMS(7, 1, 1) " 0\n", 7, 5},
		{"version 17\ntimestamp 42\ncpu0 1\n"
		 "domain0 SMT 3 " ELEVEN ELEVEN SUMS(50, 20, 10) " 0 0 0 0 0 0 0 0\n",
			50, 20},
		/* more failures than calls: a kernel that counts both for one */
		{"version 15\ndomain0 3 " EIGHT EIGHT SUMS(5, 4, 4) " 0\n", 5, 0},
		{"version 14\ndomain0 3 " EIGHT EIGHT SUMS(5, 4, 4) " 0\n", (double)NAN,
			(double)NAN},
		{"version 15\ndomain0 3 " EIGHT EIGHT "5 4\n", (double)NAN, (double)NAN},
		{"version 15\ncpu0 1 2 3\n", (double)NAN, (double)NAN},
		{"", (double)NAN, (double)NAN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct newidle_counts seen =
			kernel_newidle((struct stream){cases[i].text, strlen(cases[i].text)});

		if (isnan(cases[i].calls)) {
			assert_true(isnan(seen.calls) && isnan(seen.pulled));
			continue;
		}
		assert_true(seen.calls == cases[i].calls && seen.pulled == cases[i].pulled);
	}
}

static void counts_of_the_kernel_are_differences(void **state)
{
	struct bench *b = *state;

	b->source.functions = NULL;
	add_part(b, "stat-before", "cpu  1 2 3\nintr 100 1 2 3\nctxt 1000\n");
	add_part(b, "stat-after", "cpu  1 2 3\nintr 140 1 2 3\nctxt 7000\n");
	add_part(b, "interrupts-before",
		"           CPU0       CPU1\n  0:   1   2  IO-APIC  2-edge  timer\n"
		" RES:   10   20   Rescheduling interrupts\n"
		"IPI1:    5    5   Function call interrupts\n");
	add_part(b, "interrupts-after",
		"           CPU0       CPU1\n  0:   1   2  IO-APIC  2-edge  timer\n"
		" RES:   11   23   Rescheduling interrupts\n"
		"IPI1:    5    4   Function call interrupts\n");
	must_read(b);
	assert_int_equal(b->count, 5);
	must_be(b, "machine switches", 6000, 3000, "/1000 op", 100, "");
	must_be(b, "machine interrupts", 40, 20, "/1000 op", 100, "");
	must_be(b, "IPI reschedule", 4, 2, "/1000 op", 100, "");
	must_be(b, "IPI call", (double)NAN, (double)NAN, "/1000 op", 0,
		"it fell: CPUs came or went");
}

/* kernel.sched_schedstats was 0: the file is there, and nothing in it moves. */
static void schedstats_that_are_off_count_nothing(void **state)
{
	struct bench *b = *state;
	static const char off[] =
		"version 15\ndomain0 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

	b->source.functions = NULL;
	add_part(b, "schedstat-before", off);
	add_part(b, "schedstat-after", off);
	must_read(b);
	must_be(b, "newidle balance", (double)NAN, (double)NAN, "/1000 op", 0,
		"kernel.sched_schedstats is off");
}

static void calls_are_summed_over_cpus(void **state)
{
	struct bench *b = *state;
	static const char *const wanted[] = {"available_idle_cpu",
		"a_function_whose_name_is_longer_than_30", "never_called", "inlined", NULL};

	b->source.functions = wanted;
	add_part(b, "functions",
		"by profile\n! inlined this kernel has no such function\n"
		"@ trace_stat/function0\n"
		"  Function                               Hit    Time            Avg\n"
		"  --------                               ---    ----            ---\n"
		"  available_idle_cpu                  1000    12.3 us         0.1 us\n"
		"  a_function_whose_name_is_longe        10    1 us    0.1 us\n"
		"@ trace_stat/function1\n"
		"  available_idle_cpu                  3000    12.3 us         0.1 us\n");
	must_read(b);
	must_be(b, "available_idle_cpu()", 4000, 2000, "/1000 op", 100, "");
	must_be(b, "a_function_whose_name_is_longer_than_30()", 10, 5, "/1000 op", 100, "");
	must_be(b, "never_called()", 0, 0, "/1000 op", 100, "");
	must_be(b, "inlined()", (double)NAN, (double)NAN, "/1000 op", 0,
		"this kernel has no such function");
}

static void a_kernel_that_counts_no_calls_says_so(void **state)
{
	struct bench *b = *state;

	add_part(b, "functions", "by none\n!! there is no tracefs\n");
	must_read(b);
	for (size_t i = 0; functions[i]; i++) {
		char *name = xasprintf("%s()", functions[i]);

		must_be(b, name, (double)NAN, (double)NAN, "/1000 op", 0, "there is no tracefs");
		free(name);
	}
}

static void add_number(struct str *out, double value)
{
	str_add_char(out, ' ');
	if (isnan(value))
		str_add_char(out, '-');
	else
		num_add_double(out, value);
}

static void check_case(struct bench *b, const char *name)
{
	char *from = xasprintf("%s/%s/counters", golden_dir, name);
	char *to = xasprintf("%s/%s/expect", golden_dir, name);
	struct str text = STR_INIT, seen = STR_INIT, expected = STR_INIT;

	if (file_read(from, 1 << 20, &text, &b->err))
		fail_msg("%s", b->err.text);
	b->source.bytes = text.text;
	b->source.len = text.len;
	if (counters_read(&b->arena, &b->source, &b->counters, &b->count, &b->err))
		fail_msg("%s: %s", name, b->err.text);
	for (size_t i = 0; i < b->count; i++) {
		const struct counter *counter = &b->counters[i];

		str_add(&seen, counter->name);
		str_add_char(&seen, ':');
		add_number(&seen, counter->total);
		add_number(&seen, counter->value);
		str_addf(&seen, " %s %g%%%s%s\n", counter->unit, counter->counted_pct,
			*counter->reason ? " " : "", counter->reason);
	}
	if (getenv("KB_UPDATE_GOLDEN"))
		assert_int_equal(file_write_atomic(to, seen.text, seen.len, 0644, &b->err), 0);
	if (file_read(to, 1 << 20, &expected, &b->err))
		fail_msg("%s", b->err.text);
	if (strcmp(str_text(&seen), str_text(&expected)))
		fail_msg("%s gave:\n%s", name, str_text(&seen));
	str_release(&text);
	str_release(&seen);
	str_release(&expected);
	free(from);
	free(to);
}

static void what_real_kernels_counted_is_read(void **state)
{
	struct strv names = STRV_INIT;

	assert_int_equal(file_list(golden_dir, &names, NULL), 0);
	assert_true(names.count >= 2);
	for (size_t i = 0; i < names.count; i++)
		check_case(*state, names.items[i]);
	strv_release(&names);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_are_divided_by_operations),
		TEST(of_no_time_and_no_event_nothing_is_known),
		TEST(operations_come_from_where_the_suite_says),
		TEST(unknown_operations_give_no_value),
		TEST(lines_that_are_none_are_refused),
		TEST(a_damaged_file_is_refused),
		TEST(what_perf_says_instead_is_told),
		TEST(schedstat_versions_are_known),
		TEST(counts_of_the_kernel_are_differences),
		TEST(schedstats_that_are_off_count_nothing),
		TEST(calls_are_summed_over_cpus),
		TEST(a_kernel_that_counts_no_calls_says_so),
		TEST(what_real_kernels_counted_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
