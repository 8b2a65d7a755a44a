/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters per operation on this host with the real perf, from the plan to the report and back. */
#include "base/base.h"

#include "cli_lab.h"

static const char suite[] =
	"suite: forks\nprogram: sh\nconditions:\n"
	"  all: { argv: [sh, -c, 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; "
	"echo made: 10 in: 0.5'], expect: 100ms }\n"
	"operations: made\n"
	"metrics:\n"
	"  made: { unit: things, better: higher, regex: '^made: ([0-9]+)' }\n"
	"  time: { unit: s, better: lower, regex: 'in: ([0-9.]+)$' }\n";

static void need_perf(void)
{
	char *perf = proc_find_program("perf");

	if (!perf)
		skip();
	free(perf);
}

static void make_counted(struct bench *bench, const char *counters)
{
	char *text = xasprintf("experiment: counted\nmachines: [here]\n"
			       "kernels: ../kernels/two.yaml\nbaseline: base\n"
			       "variants: [same]\nsuites: [forks]\nsaturation: [100%%%%]\n"
			       "design: { order: [base, same], runs: 1, warmup: 1, seed: 1 }\n%s",
		counters);

	make_lab(bench);
	write_lab_file(bench, "suites/forks.yaml", suite);
	write_lab_file(bench, "configs/counted.yaml", text);
	free(text);
}

static const json_t *member(const json_t *root, const char *counter, const char *variant)
{
	const json_t *all = json_object_get(root, "counters"), *item;
	size_t i;

	json_array_foreach(all, i, item)
	{
		if (strcmp(json_get_text(item, "counter", ""), counter) == 0 &&
			strcmp(json_get_text(item, "variant", ""), variant) == 0)
			return item;
	}
	fail_msg("there is no counter %s of %s", counter, variant);
	return NULL;
}

static json_t *report_of(struct bench *bench)
{
	struct err err = ERR_INIT;
	json_t *root = NULL;

	(void)call(bench, "report --json");
	if (json_parse(str_text(&bench->out), bench->out.len, 16 << 20, &root, &err))
		fail_msg("%s", err.text);
	return root;
}

static void check_report(struct bench *bench)
{
	json_t *root = report_of(bench);
	const json_t *made = member(root, "operations", "base");
	const json_t *faults = member(root, "page-faults", "base");

	assert_true(json_number_value(json_object_get(made, "value")) == 10);
	assert_string_equal(json_get_text(made, "unit", ""), "things");
	assert_int_equal(json_get_int(made, "boots", 0), 1);
	assert_string_equal(json_get_text(faults, "unit", ""), "/1000 op");
	/* each of the ten processes has faults */
	assert_true(json_number_value(json_object_get(faults, "value")) > 10000);
	assert_string_equal(json_get_text(member(root, "task-clock", "same"), "unit", ""), "ns/op");
	assert_true(
		json_is_number(json_object_get(member(root, "page-faults", "same"), "change_pct")));
	assert_string_equal(
		json_get_text(member(root, "page-faults", "same"), "against", ""), "base");
	json_decref(root);
}

static void counted_runs_are_told_and_judged_by_nobody(void **state)
{
	struct bench *bench = *state;
	char *csv = xasprintf("%s/export.csv", bench->folder), *first;
	struct err err = ERR_INIT;

	need_perf();
	make_counted(bench, "counters: [task-clock, page-faults, context-switches]\n");
	expect_code(bench, 0, "plan %s/configs/counted.yaml --runs", bench->folder);
	assert_int_equal(count_of(&bench->out, "forks/all, counted 1"), 2);
	assert_int_equal(count_of(&bench->out, "forks/all, run "), 2);
	expect_text(&bench->out, "2 boots, 6 runs");
	expect_measured(call(bench, "run %s/configs/counted.yaml", bench->folder), bench);
	expect_text(&bench->out, "Counters per operation");
	check_report(bench);
	expect_code(bench, 0, "show run 3");
	expect_text(&bench->out, "kind: counted");
	expect_text(&bench->out, "counter: task-clock");
	expect_text(&bench->out, "--- counters");
	expect_code(bench, 0, "show run 2");
	expect_text(&bench->out, "kind: run");
	expect_code(bench, 0, "reread --suites %s/suites", bench->folder);
	expect_text(&bench->out, "6 runs read again: 0 with other values");
	/* measured and warm-up runs with two metrics each; and lines of counters */
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",made,"), 4);
	assert_int_equal(count_of(&bench->out, ",page-faults,"), 2);
	first = xstrdup(str_text(&bench->out));
	assert_int_equal(file_write_atomic(csv, first, strlen(first), 0644, &err), 0);
	expect_code(bench, 0, "import --baseline base %s", csv);
	expect_code(bench, 0, "export 2");
	assert_string_equal(str_text(&bench->out), first);
	check_report(bench);
	free(first);
	free(csv);
}

/* A suite that was mended says another number of operations; the old counts are divided by it. */
static void mended_operations_are_read_again(void **state)
{
	struct bench *bench = *state;
	json_t *root;

	need_perf();
	make_counted(bench, "counters: [page-faults]\ncounter_runs: 2\n");
	expect_measured(call(bench, "run %s/configs/counted.yaml", bench->folder), bench);
	write_lab_file(bench, "suites/forks.yaml",
		"suite: forks\nprogram: sh\nconditions:\n  all: { argv: [sh, -c, 'x'] }\n"
		"operations: '{2 + 3}'\n"
		"metrics:\n"
		"  made: { unit: things, better: higher, regex: '^made: ([0-9]+)' }\n"
		"  time: { unit: s, better: lower, regex: 'in: ([0-9.]+)$' }\n");
	expect_code(bench, 0, "reread --suites %s/suites", bench->folder);
	expect_text(&bench->out, "8 runs read again: 4 with other values");
	root = report_of(bench);
	assert_true(json_number_value(
			    json_object_get(member(root, "operations", "base"), "value")) == 5);
	json_decref(root);
}

/* What cannot be counted costs the counted runs only. */
static void an_unknown_event_costs_no_measurement(void **state)
{
	struct bench *bench = *state;

	need_perf();
	make_counted(bench, "counters: [no-event-of-this-kernel]\n");
	expect_measured(call(bench, "run %s/configs/counted.yaml", bench->folder), bench);
	assert_int_equal(count_of(&bench->out, "Counters per operation"), 0);
	expect_text(&bench->out, "2 runs under counters failed: not-started: perf cannot");
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",made,"), 4);
}

static void functions_need_no_perf(void **state)
{
	struct bench *bench = *state;
	json_t *root;

	make_counted(bench, "functions: [schedule]\n");
	expect_measured(call(bench, "run %s/configs/counted.yaml", bench->folder), bench);
	root = report_of(bench);
	/* counted, or said why not: this host's kernel may have neither way */
	assert_true(json_is_number(json_object_get(member(root, "schedule()", "base"), "value")) !=
		    (*json_get_text(member(root, "schedule()", "base"), "reason", "") != '\0'));
	assert_true(json_number_value(json_object_get(
			    member(root, "machine switches", "base"), "value")) > 0);
	json_decref(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counted_runs_are_told_and_judged_by_nobody),
		TEST(mended_operations_are_read_again),
		TEST(an_unknown_event_costs_no_measurement),
		TEST(functions_need_no_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
