/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts of the real program on this host, which is not booted, with a benchmark whose values are
 * written down: its nth run prints the nth line of a file. Controls that differ, and everything
 * that numbers can be.
 */
#include "base/base.h"

#include <sys/stat.h>

#include "cli_lab.h"

/* Values of one condition, a line for each run of each boot. */
struct values {
	const char *condition;
	const char *lines;
};

static const char script[] = "#!/bin/sh\n"
			     "n=$(cat \"$STATE/$1.count\" 2>/dev/null || echo 0)\n"
			     "n=$((n + 1))\n"
			     "echo $n >\"$STATE/$1.count\"\n"
			     "value=$(sed -n ${n}p \"$STATE/$1\")\n"
			     "[ \"$value\" != fails ] || exit 1\n"
			     "echo \"value: $value\"\n";

static void write_values(const struct bench *bench, const struct values *values, struct str *suite)
{
	char *name = xasprintf("state/%s", values->condition);

	write_lab_file(bench, name, values->lines);
	str_addf(suite, "  %s: { argv: [scripted, %s] }\n", values->condition, values->condition);
	free(name);
}

/* The variants are those of experiment two: base, same, and again, a control of base. */
static void make_values_lab(const struct bench *bench, const struct values *values, size_t count,
	const char *canary, const char *rest)
{
	static const char tail[] =
		"env: { STATE: %s/state }\nexpect: 50ms\n"
		"metrics: { value: { unit: s, better: lower, regex: '^value: (.+)$' } }\n";
	struct str suite = STR_INIT, watch = STR_INIT, experiment = STR_INIT;

	char *program_path = xasprintf("%s/scripted.sh", bench->folder);

	write_lab_file(bench, "scripted.sh", script);
	assert_int_equal(chmod(program_path, 0755), 0);
	free(program_path);
	str_add(&suite, "suite: scripted\nprogram: scripted\nconditions:\n");
	for (size_t i = 0; i < count; i++)
		write_values(bench, &values[i], &suite);
	str_add(&suite, tail);
	write_lab_file(bench, "suites/scripted.yaml", str_text(&suite));
	str_add(&watch, "suite: watch\nprogram: scripted\ncontrol: true\nconditions:\n");
	if (canary)
		write_values(bench, &(struct values){"still", canary}, &watch);
	str_add(&watch, tail);
	if (canary)
		write_lab_file(bench, "suites/watch.yaml", str_text(&watch));
	write_lab_file(bench, "configs/machines/here.yaml",
		"machine: here\nconnect: local\nboot: none\nworkdir: %s/work\n"
		"programs: { scripted: %s/scripted.sh }\n");
	str_addf(&experiment,
		"experiment: scripted\nmachines: [here]\nbaseline: base\n"
		"kernels:\n  variants:\n    base: {}\n    same: { like: base }\n"
		"    again: { like: base, control: true }\n"
		"suites: [scripted%s]\n%s",
		canary ? ", watch" : "", rest);
	write_lab_file(bench, "configs/scripted.yaml", str_text(&experiment));
	str_release(&suite);
	str_release(&watch);
	str_release(&experiment);
}

static json_t *report_of(struct bench *bench)
{
	json_t *root = NULL;
	struct err err = ERR_INIT;

	(void)call(bench, "report --json");
	if (json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err))
		fail_msg("%s", err.text);
	return root;
}

/* base, same, again, again, same, base: the second label is 5 % slower, and so is the canary. */
static void one_kernel_under_two_labels(void **state)
{
	static const struct values values[] = {{"work", "100\n100.1\n105\n105.1\n100.2\n100.1\n"}};
	struct bench *bench = *state;
	json_t *root;
	const json_t *controls;

	make_values_lab(bench, values, 1, "50\n52\n50.1\n50\n52.1\n50.1\n",
		"variants: [same, again]\ndesign: { boots: 2, runs: 1, warmup: 0 }\n"
		"gates: { margin: 1% }\n");
	/* no finding about a kernel: what counts is equivalent */
	expect_code(bench, 0, "run %s/configs/scripted.yaml", bench->folder);
	expect_text(&bench->out, "No change: the comparison is equivalent within 1 %.");
	expect_text(&bench->out,
		"control (same kernel, two labels): 1 of 1 comparison called different. ");
	expect_text(&bench->out, "again and base are one kernel under two labels");
	expect_text(&bench->out, "The control watch/still moved by +4.");
	root = report_of(bench);
	controls = json_object_get(json_object_get(root, "summary"), "controls");
	assert_int_equal(json_get_int(controls, "tested", -1), 1);
	assert_int_equal(json_get_int(controls, "called_different", -1), 1);
	json_decref(root);
	/* whoever takes the table elsewhere takes the marks along */
	expect_code(bench, 0, "export");
	expect_text(&bench->out, ",reason,control_of,control,decides,against,layout_of,start\n");
	/* what stands before may be a flag: whether the machine was busy */
	expect_text(&bench->out, ",base,0,1,base,,\n");
	expect_text(&bench->out, ",,1,0,base,,\n");
}

/* base, same, same, base; two runs in each. */
static const struct {
	struct values values;
	const char *verdict, *reason;
} degenerate[] = {
	{{"equal", "42\n42\n42\n42\n42\n42\n42\n42\n"}, "inconclusive", "values never vary"},
	{{"apart", "42\n42\n43\n43\n43\n43\n42\n42\n"}, "inconclusive", "values never vary"},
	{{"zero", "42\n42\n0\n42\n42\n41\n42\n43\n"}, "inconclusive", ""},
	{{"minus", "42\n42\n-42\n-42\n-41\n-42\n42\n43\n"}, "invalid", "no run of"},
	{{"nan", "42\n42\nnan\nnan\nnan\nnan\n42\n43\n"}, "invalid", ""},
	{{"inf", "42\n42\ninf\ninf\ninf\ninf\n42\n43\n"}, "invalid", ""},
	{{"over", "42\n42\n1e999\n1e999\n1e999\n1e999\n42\n43\n"}, "invalid", ""},
	{{"tiny", "1e-12\n1.001e-12\n1.2e-12\n1.201e-12\n1.202e-12\n1.2e-12\n1e-12\n1.002e-12\n"},
		"regressed", ""},
	{{"huge", "1e15\n1.001e15\n1.2e15\n1.201e15\n1.202e15\n1.2e15\n1e15\n1.002e15\n"},
		"regressed", ""},
	{{"missing", "42\n42.1\nfails\nfails\n50\n50.1\n42.1\n42.2\n"}, "inconclusive", ""},
	{{"never", "42\n42.1\nfails\nfails\nfails\nfails\n42.1\n42.2\n"}, "invalid", "no run of"},
	{{"outlier", "42\n42.1\n42.1\n42.2\n80\n80.1\n42.1\n42.2\n"}, "inconclusive", ""},
};

static void whatever_numbers_are_there_is_a_verdict(void **state)
{
	struct values values[ARRAY_SIZE(degenerate)];
	struct bench *bench = *state;
	json_t *root;

	for (size_t i = 0; i < ARRAY_SIZE(degenerate); i++)
		values[i] = degenerate[i].values;
	make_values_lab(bench, values, ARRAY_SIZE(values), NULL,
		"variants: [same]\ndesign: { boots: 2, runs: 2, warmup: 0 }\n"
		"gates: { margin: 1% }\n");
	expect_code(bench, 1, "run %s/configs/scripted.yaml", bench->folder);
	root = report_of(bench);
	for (size_t i = 0; i < ARRAY_SIZE(degenerate); i++) {
		const json_t *column = json_array_get(json_object_get(root, "results"), i);
		const json_t *verdict = json_array_get(json_object_get(column, "verdicts"), 0);

		if (strcmp(json_get_text(verdict, "verdict", "?"), degenerate[i].verdict) != 0 ||
			!strstr(json_get_text(verdict, "reason", "?"), degenerate[i].reason))
			fail_msg("%s: %s, %s", degenerate[i].values.condition,
				json_get_text(verdict, "verdict", "?"),
				json_get_text(verdict, "reason", "?"));
	}
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_kernel_under_two_labels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			whatever_numbers_are_there_is_a_verdict, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
