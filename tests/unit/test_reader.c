/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "backend/reader.h"

/* One metric and what is read with it from stdout (and stderr, where a test sets it). */
struct bench {
	struct metric_spec metric;
	struct suite suite;
	struct condition condition;
	struct program_output output;
	struct reading reading;
	struct err err;
};

static int read_bytes(struct bench *b, const char *bytes, size_t len)
{
	if (!b->metric.name)
		b->metric.name = "m";
	if (!b->metric.unit)
		b->metric.unit = "ops/s";
	if (!(b->metric.scale > 0))
		b->metric.scale = 1;
	b->suite.metrics = &b->metric;
	b->suite.metric_count = 1;
	b->condition.suite = &b->suite;
	b->output.out = bytes;
	b->output.out_len = len;
	reading_release(&b->reading);
	return reader_read(&b->condition, &b->output, &b->reading, &b->err);
}

static void must_read(struct bench *b, const char *text, const double *values, size_t count)
{
	if (read_bytes(b, text, strlen(text)) != 0)
		fail_msg("%s: %s", text, b->err.text);
	assert_int_equal(b->reading.count, count);
	for (size_t i = 0; i < count; i++) {
		if (b->reading.values[i].value != values[i])
			fail_msg("%s: %.17g, wanted %.17g", text, b->reading.values[i].value,
				values[i]);
		assert_int_equal(b->reading.values[i].metric, 0);
		assert_int_equal(b->reading.values[i].ordinal, (int)i + 1);
	}
	reading_release(&b->reading);
}

static void must_refuse(struct bench *b, const char *text, const char *reason)
{
	if (read_bytes(b, text, strlen(text)) != ERR_INVALID)
		fail_msg("taken: %s", text);
	assert_int_equal(b->reading.count, 0);
	assert_null(b->reading.values);
	if (!strstr(b->err.text, reason))
		fail_msg("%s: %s, wanted %s", text, b->err.text, reason);
}

#define VALUES(...) (const double[]){__VA_ARGS__}, ARRAY_SIZE(((const double[]){__VA_ARGS__}))

static void numbers_are_brought_to_the_unit(void **state KB_UNUSED)
{
	static const struct {
		const char *text, *unit;
		double value;
	} cases[] = {{"1234", "ops/s", 1234}, {" 12.5\t", "ops/s", 12.5},
		{"2.22 M", "ops/s", 2.22e6}, {"1.5K", "ops/s", 1500}, {"1.5k", "events", 1500},
		{"13.22k", "requests/s", 13220}, {"5 events", "events", 5},
		{"5events", "events", 5}, {"2 Kevents", "events", 2000}, {"3 T", "x", 3e12},
		{"4G", "x", 4e9}, {"1.88574e+05", "x", 188574}, {"5e3", "x", 5000},
		{"1E-3", "x", 0.001}, {"37 usec", "us", 37}, {"37 usec", "ms", 0.037},
		{"2908 msec", "s", 2.908}, {"2.908 s", "msec", 2908}, {"1 h", "min", 60},
		{"1500 ns", "usec", 1.5}, {"0.634 secs", "s", 0.634}, {"5 %", "%", 5},
		{"12 MB/s", "MB/s", 12}, {"12", "B", 12}, {"7", "us", 7}, {".5", "x", 0.5},
		{"-3", "x", -3}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = ERR_INIT;
		double value = 0;

		if (reader_number(
			    cases[i].text, strlen(cases[i].text), cases[i].unit, &value, &err))
			fail_msg("%s", err.text);
		if (value != cases[i].value)
			fail_msg("'%s' in %s gives %.17g", cases[i].text, cases[i].unit, value);
	}
}

static void what_is_no_number_is_refused(void **state KB_UNUSED)
{
	static const struct {
		const char *text, *unit;
	} cases[] = {{"", "x"}, {" ", "x"}, {"-", "x"}, {".", "x"}, {"1,234.5", "x"},
		{"1.234.567", "x"}, {"1-2", "x"}, {"nan", "x"}, {"-nan", "x"}, {"inf", "x"},
		{"+5", "x"}, {"0x10", "x"}, {"5e", "x"}, {"1e999", "x"}, {"5 apples", "ops/s"},
		{"5 m", "x"}, {"5 M", "s"}, {"5 Ms", "s"}, {"5 ms", "ops/s"}, {"1.54GB/s", "B/s"},
		{"1.5K", "bytes"}, {"1.5Ki", "x"}, {"12 MB/s", "GB/s"}, {"5 5", "x"}, {"5;", "x"},
		{"1\xc2\xa0"
		 "234",
			"x"},
		{"11111111111111111111111111111111111111111111111111111111111111111111", "x"}};
	struct err err = ERR_INIT;
	double value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (reader_number(cases[i].text, strlen(cases[i].text), cases[i].unit, &value,
			    &err) != ERR_INVALID)
			fail_msg("'%s' in %s gives %g", cases[i].text, cases[i].unit, value);
	assert_int_equal(reader_number("1\0"
				       "2",
				 3, "x", &value, &err),
		ERR_INVALID);
	assert_int_equal(reader_number("\x1b[1m5", 5, "x", &value, &err), ERR_INVALID);
	assert_string_equal(err.text, "'\\x1b[1m5' is not a number in x");
	assert_true(value == 7);
}

static void the_match_that_counts_is_chosen(void **state KB_UNUSED)
{
	static const char text[] = "v 1\nv 2\nv 4\n";
	struct bench b = {.metric = {.pattern = "^v (.*)$"}};

	must_refuse(&b, text, "3 values where one was expected");
	must_read(&b, "x\nv 5", VALUES(5));
	b.metric.which = WHICH_FIRST;
	must_read(&b, text, VALUES(1));
	b.metric.which = WHICH_LAST;
	must_read(&b, text, VALUES(4));
	b.metric.which = WHICH_ALL;
	must_read(&b, text, VALUES(1, 2, 4));
	b.metric.which = WHICH_SUM;
	must_read(&b, text, VALUES(7));
	must_refuse(&b, "v 1\nv 0\n", "0 is no measurement");
	must_refuse(&b, "v 1\nv -1\nv 3\n", "-1 is no measurement");
	b.metric.which = WHICH_NTH;
	b.metric.nth = 2;
	must_read(&b, text, VALUES(2));
	must_refuse(&b, "v 1\n", "only 1 values, number 2 was wanted");
}

static void what_is_no_measurement_is_refused(void **state KB_UNUSED)
{
	struct bench b = {.metric = {.pattern = "v (?<unused>x?)(?<value>.*)$", .name = "rate"}};

	must_refuse(&b, "v 0\n", "metric 'rate': 0 is no measurement");
	must_refuse(&b, "v -1\n", "-1 is no measurement");
	must_refuse(&b, "v nan\n", "'nan' is not a number");
	must_refuse(&b, "v inf\n", "'inf' is not a number");
	must_refuse(&b, "v 1e300 G\n", "not finite");
	must_refuse(&b, "w 1\n", "not in the output");
	must_refuse(&b, "", "not in the output");
	b.metric.zero_ok = true;
	must_read(&b, "v 0\n", VALUES(0));
	must_refuse(&b, "v -1\n", "-1 is no measurement");
	b.metric.optional = true;
	must_read(&b, "w 1\n", NULL, 0);
	must_refuse(&b, "v x1x\n", "is not a number");
	b.metric.scale = 0.001;
	must_read(&b, "v 2500\n", VALUES(2.5));
}

static void streams_are_told_apart(void **state KB_UNUSED)
{
	struct bench b = {
		.metric = {.pattern = "v (.*)$"}, .output = {.err_out = "v 2\n", .err_len = 4}};

	must_read(&b, "v 1\n", VALUES(1));
	b.metric.from = STREAM_STDERR;
	must_read(&b, "v 1\n", VALUES(2));
	b.metric.from = STREAM_BOTH;
	must_refuse(&b, "v 1\n", "2 values");
	must_read(&b, "w 1\n", VALUES(2));
	b.metric.which = WHICH_ALL;
	must_read(&b, "v 1\n", VALUES(1, 2));
}

static void what_a_program_says_of_itself_counts(void **state KB_UNUSED)
{
	static const char *const fail_if[] = {"^fail:", "untrustworthy: [1-9]", NULL};
	struct echo_check echo = {.pattern = "(\\S+) threads"};
	static const char *const expects[] = {"4"};
	struct bench b = {.metric = {.pattern = "^v (.*)$"},
		.suite = {.fail_if = fail_if, .echoes = &echo, .echo_count = 1},
		.condition = {.expects = expects}};

	must_read(&b, "4 threads\nv 1\nuntrustworthy: 0\n", VALUES(1));
	must_refuse(&b, "4 threads\nv 1\nfail: \x1b[2J\n", "the program says \"fail: \\x1b[2J\"");
	must_refuse(&b, "4 threads\nv 1\nuntrustworthy: 2\n", "untrustworthy: 2");
	must_refuse(&b, "v 1\n", "does not say that it ran with 4");
	must_refuse(&b, "2 threads\nv 1\n", "it ran with '2' where 4 was asked for (/");
	must_refuse(&b, "4 threads\n44 threads\nv 1\n", "'44' where 4");
	must_refuse(&b, "\x1b[1A4 threads\nv 1\n", "'\\x1b[1A4' where 4");
	must_read(&b, "\x1b[1m4\x1b[m threads\nv 1\n", VALUES(1));
	b.output.err_out = "fail: x";
	b.output.err_len = 7;
	must_refuse(&b, "4 threads\nv 1\n", "fail:");
}

static void only_one_part_is_looked_at(void **state KB_UNUSED)
{
	struct bench b = {
		.metric = {.pattern = "^p99: (.*)$", .within = "^Table\\R(?:p.*\\R)+final$"}};

	must_read(&b, "Table\np99: 1\nnow\nTable\np50: 1\np99: 2\nfinal\n", VALUES(2));
	must_read(&b, "Table\r\np99: 1\r\nnow\r\nTable\r\np99: 2\r\nfinal\r\n", VALUES(2));
	must_refuse(
		&b, "Table\np99: 1\nnow\n", "the part to look at is not in the output (/^Table");
	must_refuse(&b, "Table\np99: 1\n\nTable\np99: 2\nfinl\n", "not in the output");
	must_refuse(&b, "Table\np99: 1\nfinal\nTable\np99: 2\nfinal\n", "more than once");
	must_refuse(&b, "p99: 1\nTable\np50: 2\nfinal\n", "metric 'm': not in the output");
	b.metric.optional = true;
	must_read(&b, "Table\np99: 1\n", NULL, 0);
	must_refuse(&b, "Table\np99: 1\nfinal\nTable\np99: 2\nfinal\n", "more than once");
	b.metric.optional = false;
	b.metric.from = STREAM_BOTH;
	b.output.err_out = "Table\np99: 3\nfinal\n";
	b.output.err_len = strlen(b.output.err_out);
	must_read(&b, "Table\np99: 1\n", VALUES(3));
	must_refuse(&b, "Table\np99: 1\nfinal\n", "more than once");
	b.metric.reader = READER_JSON;
	b.metric.pattern = "/p";
	b.metric.within = "^\\{.*\\}$";
	b.metric.from = STREAM_STDOUT;
	must_read(&b, "wait\n{\"p\": 7}\ndone\n", VALUES(7));
}

static void observations_behind_a_value_are_counted(void **state KB_UNUSED)
{
	struct bench b = {
		.metric = {.pattern = "^p99: (?<value>\\S+) \\((?<count>.+) samples\\)$"}};

	assert_int_equal(read_bytes(&b, "p99: 5 (418 samples)\n", 21), 0);
	assert_int_equal(b.reading.values[0].observations, 418);
	b.metric.min_count = 418;
	must_read(&b, "p99: 5 (418 samples)\n", VALUES(5));
	must_refuse(&b, "p99: 5 (417 samples)\n", "417 observations are behind it; 418 are wanted");
	b.metric.optional = true;
	must_read(&b, "p99: 5 (417 samples)\n", NULL, 0);
	b.metric.optional = false;
	must_refuse(&b, "p99: 5 (x samples)\n", "the number of observations cannot be read");
	must_refuse(&b, "p99: 5 (-1 samples)\n", "the number of observations cannot be read");
	must_refuse(&b, "p99: 5 (99999999999999999999 samples)\n", "cannot be read");
	must_refuse(&b, "p99: 5 (1000000000001 samples)\n", "cannot be read");
	b.metric.which = WHICH_ALL;
	must_refuse(&b, "p99: 5 (1000000000000 samples)\np99: 5 (1 samples)\n",
		"more than 1000000000000 observations are behind it");
	b.metric.which = WHICH_SUM;
	must_refuse(&b, "p99: 5 (9223372036854775807 samples)\np99: 5 (1 samples)\n", "cannot be");
	must_refuse(&b, "p99: 5 (18 samples)\np99: 6 (18 samples)\n", "36 observations");
	b.metric.min_count = 0;
	assert_int_equal(read_bytes(&b, "p99: 5 (418 samples)\np99: 6 (18 samples)\n", 41), 0);
	assert_int_equal(b.reading.values[0].observations, 436);
	assert_true(b.reading.values[0].value == 11);
	reading_release(&b.reading);
}

static void there_is_one_zero(void **state KB_UNUSED)
{
	struct bench b = {.metric = {.reader = READER_JSON, .pattern = "/a", .zero_ok = true}};

	assert_int_equal(read_bytes(&b, "{\"a\": -0.0}", 11), 0);
	assert_true(b.reading.values[0].value == 0 && !signbit(b.reading.values[0].value));
	reading_release(&b.reading);
}

static void json_paths_lead_to_numbers(void **state KB_UNUSED)
{
	static const char text[] =
		"{\"jobs\": [{\"read\": {\"iops\": 5.5}}, {\"read\": {\"iops\": 2}}],"
		"\"a/b\": {\"m~n\": \"1.5 K\"}, \"text\": \"x\", \"t\": true}\n";
	struct bench b = {.metric = {.reader = READER_JSON, .pattern = "/jobs/0/read/iops"}};

	must_read(&b, text, VALUES(5.5));
	must_read(&b, "{\"jobs\":[{\"read\":{\"iops\":0.1}}]}", VALUES(0.1));
	b.metric.pattern = "/jobs/*/read/iops";
	must_refuse(&b, text, "2 values where one");
	b.metric.which = WHICH_ALL;
	must_read(&b, text, VALUES(5.5, 2));
	b.metric.pattern = "/jobs/*/*/*";
	must_read(&b, text, VALUES(5.5, 2));
	b.metric.pattern = "/a~1b/m~0n";
	must_read(&b, text, VALUES(1500));
	b.metric.pattern = "/jobs/2/read/iops";
	must_refuse(&b, text, "not in the output");
	b.metric.pattern = "/jobs/x";
	must_refuse(&b, text, "not in the output");
	b.metric.pattern = "/t";
	must_refuse(&b, text, "no number at /t");
	b.metric.pattern = "/text";
	must_refuse(&b, text, "'x' is not a number");
	must_refuse(&b, "{\"text\": 1} trailing", "the output is not JSON");
	must_refuse(&b, "{\"text\": 1", "the output is not JSON");
	must_refuse(&b, "", "the output is not JSON");
	must_refuse(&b, "{\"text\": 1, \"text\": 2}", "the output is not JSON");
}

/* As of programs that print every CPU's column. */
static void csv_may_be_wide(void **state KB_UNUSED)
{
	struct bench b = {.metric = {.reader = READER_CSV, .pattern = "c999"}};
	struct str text = STR_INIT;

	for (int i = 0; i < 1000; i++)
		str_addf(&text, "%sc%d", i ? "," : "", i);
	for (int i = 0; i < 1000; i++)
		str_addf(&text, "%s%d", i ? "," : "\n", i + 1);
	must_read(&b, text.text, VALUES(1000));
	str_addf(&text, ",1\n");
	for (int i = 0; i < 1025; i++)
		str_add(&text, "1,");
	must_refuse(&b, text.text, "line 3: it has more than 1024 fields");
	str_release(&text);
}

static void csv_columns_are_found_by_name(void **state KB_UNUSED)
{
	static const char text[] =
		"phase,\"the, rate\",n\r\nwarm,10,1\r\nrun,20,2\r\n\r\nrun,30,3\r\n"
		"done in 5 s\r\nrun,\"40\",4";
	struct bench b = {.metric = {.reader = READER_CSV, .pattern = "n", .which = WHICH_ALL}};

	must_read(&b, text, VALUES(1, 2, 3, 4));
	b.metric.pattern = "the, rate[phase=run]";
	must_read(&b, text, VALUES(20, 30, 40));
	b.metric.pattern = "n[phase=none]";
	must_refuse(&b, text, "not in the output");
	b.metric.pattern = "n[none=run]";
	must_refuse(&b, text, "not in the output");
	b.metric.pattern = "none";
	must_refuse(&b, text, "not in the output");
	b.metric.pattern = "a";
	must_refuse(&b, "a,b,a\n1,2,3\n", "two columns are called a");
	must_refuse(&b, "a,b\n1x,2\n", "'1x' is not a number");
	must_refuse(&b, "a,b\n\"1,2\n", "the output is not CSV");
	must_refuse(&b, "a,b\n", "not in the output");
	must_refuse(&b, "", "not in the output");
	assert_int_equal(read_bytes(&b, "a,b\n1\0,2\n", 9), ERR_INVALID);
}

static void perf_counts_are_found_by_event(void **state KB_UNUSED)
{
	static const char text[] =
		"# started on Mon Nov 30 23:51:24 2026\n\n"
		"Time: 0.121\n"
		"0.56;msec;task-clock;564770;100.00;0.036;CPUs utilized\n"
		"12;;context-switches;564770;100.00;0.000;/sec\n"
		"0;;cpu-migrations;564770;100.00\r\n"
		"0.50;msec;cpu-clock [software];1.90%;497583;100.00;0.165;CPUs utilized\n"
		"3827;;sched:sched_switch:u;103534282;100.00;;\n"
		"<not supported>;;cycles;0;100.00;;\n"
		"<not counted>;;branches;0;0.00;;\n"
		"81234;;instructions;141000;24.98;;\n"
		"0,82;msec;page-clock;816543;100,00;0;CPUs utilized\n"
		"5;;cs;1;2\n"
		"7;;faults;9\n"
		"9;;last;564770;100.00";
	struct bench b = {.metric = {.reader = READER_PERF, .pattern = "task-clock", .unit = "ms"}};
	static const struct {
		const char *event, *reason;
	} refused[] = {{"cycles", "perf says <not supported>"},
		{"branches", "perf says <not counted>"},
		{"instructions", "it was counted for 24.98 % of the time only"},
		{"cs", "'2' is no percentage"}, {"faults", "perf's line is cut"},
		{"last", "perf's line is cut"}, {"sched:sched_switch", "not in the output"},
		{"task", "not in the output"}, {"564770", "not in the output"}};

	must_read(&b, text, VALUES(0.56));
	b.metric.pattern = "cpu-clock";
	must_read(&b, text, VALUES(0.5));
	b.metric.pattern = "page-clock";
	must_read(&b, text, VALUES(0.82));
	b.metric.unit = "events";
	b.metric.pattern = "sched:sched_switch:u";
	must_read(&b, text, VALUES(3827));
	b.metric.pattern = "context-switches";
	must_read(&b, text, VALUES(12));
	b.metric.pattern = "cpu-migrations";
	must_refuse(&b, text, "0 is no measurement");
	b.metric.zero_ok = true;
	must_read(&b, text, VALUES(0));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		b.metric.pattern = refused[i].event;
		must_refuse(&b, text, refused[i].reason);
	}
	b.metric.optional = true;
	b.metric.pattern = "cycles";
	must_read(&b, text, NULL, 0);
	b.metric.pattern = "instructions";
	must_refuse(&b, text, "24.98 %");
}

/* One count in each of the forms that perf has, and what only looks like one. */
static void perf_counts_are_read_in_every_form(void **state KB_UNUSED)
{
#define HEAD "\n Performance counter stats for 'true':\n\n"
	static const struct {
		const char *text;
		double value;	    /* 0: refused */
		const char *reason; /* of which */
	} cases[] = {
		{"12,,cs,564770,100.00,21.2,K/sec\n", 12, NULL},
		{"12\t\tcs\t564770\t100.00\n", 12, NULL},
		{"12,,cs,1.90%,564770,100.00\n", 12, NULL},
		{"12,,cs,system.slice,564770,100.00\n", 12, NULL},
		{"12;;cs;/a;1.90%;564770;100.00\n", 12, NULL},
		{"CPU1,12,,cs,564770,100.00,,\n", 12, NULL},
		{"S0,2,12,,cs,564770,100.00,,\n", 12, NULL},
		{"     1.000123456,12,,cs,564770,100.00,,\n", 12, NULL},
		{"1.000123456;CPU0;12;;cs;564770;100,00;0,5;\n", 12, NULL},
		{"{\"counter-value\" : \"12.000000\", \"unit\" : \"\", \"event\" : \"cs\", "
		 "\"pcnt-running\" : 100.00}\n",
			12, NULL},
		{HEAD "   12   cs   #  21.2 K/sec\n", 12, NULL},
		{HEAD "   12   cs [software]  # 2 K/sec ( +-  7.16% )\n", 12, NULL},
		{HEAD "CPU0   1,234,567  cs   (100.00%)\n", 1234567, NULL},
		{HEAD "1.234.567      cs\n", 1234567, NULL},
		{HEAD "1.234,50 Joules cs\n", 0, "is not a number in events"},
		/* a number, two digits, a decimal: nothing else of these is one */
		{HEAD "1,2 cs\n", 0, "no count"},
		{HEAD "1,2345 cs\n", 0, "no count"},
		{HEAD "1234,567 cs\n", 0, "no count"},
		{HEAD "1,234.567 cs\n", 0, "no count"},
		{HEAD "12 34 cs\n", 0, "neither a time nor a CPU"},
		{HEAD "cs 12 cs\n", 12, NULL},
		{HEAD "  12 cs  # 2 K/sec  (62.50%)\n", 0, "62.5 % of the time"},
		{HEAD "<not supported> cs\n", 0, "perf says <not supported>"},
		{HEAD "<not counted> msec cs (0.00%)\n", 0, "perf says <not counted>"},
		{HEAD "  12 cs", 0, "perf's line is cut"},
		{HEAD " 1.0 seconds time elapsed\n took 12 cs\n", 0, "not in the output"},
		{"took 12 cs\n", 0, "not in the output"},
		{"0,82,,cs,816543,100,00,0,\n", 0, "two ways"},
		{"CPU0,0,82,,cs,816543,100,00,0,\n", 0, "two ways"},
		{"0,82,,cs,816543,100.00,0,\n", 0, "neither a time nor a CPU"},
		{"0,82;;cs;816543;100.00;0;\n", 0, "'0,82' is no count"},
		{"0.82;;cs;816543;100,00;0;\n", 0, "'0.82' is no count"},
		{"12;;cs;816543;100.01;0;\n", 0, "'100.01' is no percentage"},
		{"1e3;;cs;816543;100.00;0;\n", 0, "no count"},
		{";;cs;816543;100.00;0;\n", 0, "not in the output"},
		{"12,,cs,,\n", 0, "perf's line is cut"},
		{"{\"counter-value\" : \"12,0\", \"event\" : \"cs\", "
		 "\"pcnt-running\" : 100,00}\n",
			0, "LC_ALL=C"},
		{"{\"counter-value\" : \"12.0\", \"event\" : \"cs\"}\n", 0,
			"for how much of the time"},
		{"{\"counter-value\" : 12, \"event\" : \"cs\", \"pcnt-running\" : 99.5}\n", 0,
			"'' is no count"},
	};
#undef HEAD
	struct bench b = {.metric = {.reader = READER_PERF, .pattern = "cs", .unit = "events"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].reason)
			must_refuse(&b, cases[i].text, cases[i].reason);
		else
			must_read(&b, cases[i].text, VALUES(cases[i].value));
	}
}

/* What is left of a sum without one of its parts would look like the sum. */
static void a_part_that_perf_did_not_count_leaves_no_sum(void **state KB_UNUSED)
{
	static const char text[] = "CPU0;12;;cs;9;100.00;;\nCPU1;<not counted>;;cs;0;100.00;;\n"
				   "CPU2;12;;cs;9;100.00;;\n";
	struct bench b = {.metric = {.reader = READER_PERF,
				  .pattern = "cs",
				  .unit = "events",
				  .which = WHICH_SUM}};

	must_refuse(&b, text, "perf says <not counted>");
	b.metric.optional = true;
	must_read(&b, text, NULL, 0);
	must_read(&b, "CPU0;12;;cs;9;100.00;;\nCPU1;3;;cs;9;100.00;;\n", VALUES(15));
}

/* Each reader over bytes that no program should print: an answer or a reason, in bounded time. */
static void hostile_output_is_survived(void **state KB_UNUSED)
{
	static const struct metric_spec metrics[] = {
		{.reader = READER_REGEX, .pattern = "^elapsed: ([0-9]+) msec", .which = WHICH_LAST},
		{.reader = READER_REGEX, .pattern = "([0-9]+) msec", .which = WHICH_ALL},
		{.reader = READER_JSON, .pattern = "/a/*"},
		{.reader = READER_CSV, .pattern = "a[b=c]", .which = WHICH_SUM},
		{.reader = READER_PERF, .pattern = "cycles", .which = WHICH_SUM},
	};
	static const char fills[] = {'1', ',', '\n', '"', '[', '\0', '\r', '\xff', '\x1b'};
	const size_t len = 50 << 20;
	char *bytes = xmalloc(len);

	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		memset(bytes, fills[i], len);
		for (size_t k = 0; k < ARRAY_SIZE(metrics); k++) {
			struct bench b = {.metric = metrics[k]};

			assert_int_equal(read_bytes(&b, bytes, len), ERR_INVALID);
		}
	}
	free(bytes);
}

static void decorated_lines_are_not_guessed(void **state KB_UNUSED)
{
	struct bench b = {.metric = {.pattern = "^Time: ([0-9.]+)$", .unit = "s"}};

	must_read(&b, "Time: 1.5\r\n", VALUES(1.5));
	must_read(&b, "0%\r100%\rTime: 1.5", VALUES(1.5));
	must_read(&b, "\x1b[1;31mTime: 1.5\x1b[0m\n", VALUES(1.5));
	must_read(&b, "\x1b[KTime:\x1b[m 1.5\x1b[K", VALUES(1.5));
	/* these move things about: what a person would see is not known */
	must_refuse(&b, "\x1b[1ATime: 1.5\n", "not in the output");
	must_refuse(&b, "Time: 1.5\x1b[1D\n", "not in the output");
	must_refuse(&b, "Time: 1.5\x1b[", "not in the output");
	must_refuse(&b, "Time: 1.5\x1b", "not in the output");
	must_refuse(&b, "Time: 1.5\x1b]0;title\x07\n", "not in the output");
	must_refuse(&b, "Time: 1,5\n", "not in the output");
	must_refuse(&b, "Time: 1.5.2\n", "not a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_brought_to_the_unit),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(the_match_that_counts_is_chosen),
		cmocka_unit_test(what_is_no_measurement_is_refused),
		cmocka_unit_test(streams_are_told_apart),
		cmocka_unit_test(what_a_program_says_of_itself_counts),
		cmocka_unit_test(only_one_part_is_looked_at),
		cmocka_unit_test(observations_behind_a_value_are_counted),
		cmocka_unit_test(json_paths_lead_to_numbers),
		cmocka_unit_test(there_is_one_zero),
		cmocka_unit_test(csv_columns_are_found_by_name),
		cmocka_unit_test(csv_may_be_wide),
		cmocka_unit_test(perf_counts_are_found_by_event),
		cmocka_unit_test(perf_counts_are_read_in_every_form),
		cmocka_unit_test(a_part_that_perf_did_not_count_leaves_no_sum),
		cmocka_unit_test(hostile_output_is_survived),
		cmocka_unit_test(decorated_lines_are_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
