/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments that look at their results and go on, by the real program on this host, which is not
 * booted. The benchmark is a fake one, a script that prints numbers by how often it was called: a
 * condition that clearly moves, one that needs more boots, and one with a disturbed boot.
 */
#include "cli.h"

static const char script[] =
	"#!/bin/sh\n"
	"n=$(cat \"$STATE/$1\" 2>/dev/null || echo 0)\n"
	"echo $((n + 1)) >\"$STATE/$1\"\n"
	"awk -v n=$n -v what=$1 -v runs=$2 'BEGIN {\n"
	"	boot = int(n / runs); run = n % runs; b = boot % 4 == 1 || boot % 4 == 2\n"
	"	wiggle = (boot * 7) % 5 - 2; v = 100 + 0.02 * run + 0.03 * wiggle\n"
	"	if (what == \"moves\") v += 10 * b\n"
	"	if (what == \"open\") v += 1.5 * wiggle + 1.2 * b\n"
	"	if (what == \"rough\" && boot == 1) v += 20 * run\n"
	"	printf \"value: %.4f\\n\", v }'\n";

static void write_file(const struct bench *bench, const char *name, unsigned mode, const char *fmt,
	...) KB_PRINTF(4, 5);
static void write_file(
	const struct bench *bench, const char *name, unsigned mode, const char *fmt, ...)
{
	char *path = xasprintf("%s/%s", bench->folder, name), *folder = path_dir(path);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	assert_int_equal(file_mkdirs(folder, 0755, &err), 0);
	assert_int_equal(file_write_atomic(path, str_text(&text), text.len, mode, &err), 0);
	str_release(&text);
	free(path);
	free(folder);
}

/* conditions: "moves, open"; each is called with its name. */
static void make_lab(const struct bench *bench, int runs, const char *design,
	const char *const *conditions, const char *gates)
{
	struct str list = STR_INIT;
	char *state = xasprintf("%s/state", bench->folder);
	struct err err = ERR_INIT;

	for (; *conditions; conditions++)
		str_addf(&list, "  %s: { argv: [scripted, %s, '%d'] }\n", *conditions, *conditions,
			runs);
	assert_int_equal(file_mkdirs(state, 0755, &err), 0);
	write_file(bench, "scripted.sh", 0755, "%s", script);
	write_file(bench, "configs/machines/here.yaml", 0644,
		"machine: here\nconnect: local\nboot: none\nworkdir: %s/work\n"
		"programs: { scripted: %s/scripted.sh }\n",
		bench->folder, bench->folder);
	write_file(bench, "suites/scripted.yaml", 0644,
		"suite: scripted\nprogram: scripted\nconditions:\n%s"
		"env: { STATE: %s }\nexpect: 50ms\n"
		"metrics: { value: { unit: s, better: lower, regex: '^value: ([0-9.]+)$' } }\n",
		str_text(&list), state);
	write_file(bench, "configs/grow.yaml", 0644,
		"experiment: grow\nmachines: [here]\nbaseline: base\nvariants: [same]\n"
		"kernels: { variants: { base: {}, same: { like: base } } }\n"
		"suites: [scripted]\ndesign: { %s, runs: %d, warmup: 0 }\ngates: { %s }\n",
		design, runs, gates);
	str_release(&list);
	free(state);
}

static const char *const moves_and_open[] = {"moves", "open", NULL};

static json_t *report_of(struct bench *bench)
{
	json_t *root = NULL;
	struct err err = ERR_INIT;

	(void)call(bench, "report --json");
	if (json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err))
		fail_msg("%s", err.text);
	return root;
}

static const json_t *verdict_of(const json_t *root, size_t condition)
{
	const json_t *column = json_array_get(json_object_get(root, "results"), condition);

	return json_array_get(json_object_get(column, "verdicts"), 0);
}

/* moves is decided at the first look, open is not at the second, which is the last. */
static void assert_grown(struct bench *bench)
{
	json_t *root = report_of(bench);
	const json_t *machine = json_array_get(json_object_get(root, "machines"), 0);
	const json_t *moves = verdict_of(root, 0), *open = verdict_of(root, 1);

	assert_string_equal(
		json_get_text(json_object_get(root, "experiment"), "state", ""), "done");
	assert_string_equal(json_get_text(moves, "verdict", ""), "regressed");
	assert_int_equal(json_get_int(moves, "look", 0), 1);
	assert_int_equal(json_get_int(moves, "boots", 0), 2);
	assert_string_equal(json_get_text(open, "verdict", ""), "inconclusive");
	assert_int_equal(json_get_int(open, "look", 0), 2);
	assert_int_equal(json_get_int(open, "boots", 0), 4);
	assert_int_equal(json_get_int(machine, "look_boots", 0), 8);
	assert_int_equal(json_get_int(machine, "most_boots", 0), 8);
	json_decref(root);
	/* every run once: 2 x 4 and 1 x 4 boots */
	expect_code(bench, 0, "export");
	assert_null(strstr(str_text(&bench->out), "interrupted"));
}

static void blocks_are_added_with_what_is_open(void **state)
{
	struct bench *bench = *state;
	json_t *first, *second;

	make_lab(bench, 1, "until: verdict, max: 4", moves_and_open, "margin: 1%");
	expect_code(bench, 1, "run %s/configs/grow.yaml", bench->folder);
	expect_text(&bench->chatter, "here: look 2: 4 boots with 1 of 2 conditions");
	expect_text(&bench->out, "2 of at most 2 looks on here: 8 of 8 boots.");
	assert_grown(bench);
	/* judged again later, it is the same */
	first = report_of(bench);
	expect_code(bench, 0, "judge");
	second = report_of(bench);
	assert_true(
		json_equal(json_object_get(first, "results"), json_object_get(second, "results")));
	json_decref(first);
	json_decref(second);
	expect_code(bench, 1, "resume");
	assert_grown(bench);
}

static void what_is_clear_stops_early(void **state)
{
	static const char *const moves[] = {"moves", NULL};
	struct bench *bench = *state;

	make_lab(bench, 1, "until: verdict, max: 12", moves, "margin: 1%");
	expect_code(bench, 0, "plan %s/configs/grow.yaml", bench->folder);
	expect_text(&bench->out, "\n4 boots, 4 runs, about ");
	expect_text(&bench->out, "at most 6 looks, 24 boots, 24 runs, about ");
	expect_text(&bench->out, "levels of p: 1.26 %, ");
	expect_code(bench, 1, "run %s/configs/grow.yaml", bench->folder);
	expect_text(&bench->out, "1 of at most 6 looks on here: 4 of 24 boots, 20 saved, about ");
	expect_text(&bench->out, "intervals and q hold for all looks together");
}

/* Dies as by kill -9 at the point. */
static void expect_killed(struct bench *bench, const char *fault, const char *verb)
{
	char *path = program(), *results = xasprintf("--results=%s", bench->results);
	char *config = xasprintf("%s/configs/grow.yaml", bench->folder);
	const char *argv[] = {path, results, verb, strcmp(verb, "run") ? NULL : config, NULL};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(setenv("KB_FAULT", fault, 1), 0);
	assert_int_equal(proc_run(&(struct proc_spec){.argv = argv,
					  .timeout_ns = 120 * NS_PER_S,
					  .max_output_bytes = 1 << 20},
				 &result, &err),
		0);
	assert_int_equal(unsetenv("KB_FAULT"), 0);
	assert_int_equal(result.signal, SIGKILL);
	proc_result_release(&result);
	free(path);
	free(results);
	free(config);
}

static void killed_between_looks_it_goes_on_in_the_right_one(void **state)
{
#ifdef KB_FAULT_POINTS
	struct bench *bench = *state;

	make_lab(bench, 1, "until: verdict, max: 4", moves_and_open, "margin: 1%");
	expect_killed(bench, "look", "run");	 /* the first block is walked */
	expect_killed(bench, "grown", "resume"); /* the second is planned */
	expect_killed(bench, "boot-done:2", "resume");
	expect_killed(bench, "look", "resume"); /* walked, not looked at */
	expect_code(bench, 1, "resume");
	assert_grown(bench);
#else
	(void)state;
	skip();
#endif
}

static void a_disturbed_block_is_repeated(void **state)
{
	static const char *const conditions[] = {"rough", "same", NULL};
	struct bench *bench = *state;
	json_t *root;

	make_lab(bench, 2, "boots: 2", conditions, "margin: 1%, cv: 2%");
	expect_code(bench, 0, "run %s/configs/grow.yaml", bench->folder);
	expect_text(&bench->chatter, "here: repeat of block 1, whose boot 2 is disturbed: 4 boots "
				     "with 1 of 2 conditions");
	expect_text(
		&bench->out, "Block 2 on here is a repeat of block 1, whose boot 2 is disturbed");
	root = report_of(bench);
	assert_string_equal(json_get_text(verdict_of(root, 0), "verdict", ""), "equivalent");
	assert_int_equal(json_get_int(verdict_of(root, 0), "boots", 0), 2);
	json_decref(root);
	/* what was disturbed is kept */
	expect_code(bench, 0, "show boot 2");
	expect_text(&bench->out, "outcome: proved");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(blocks_are_added_with_what_is_open),
		TEST(what_is_clear_stops_early),
		TEST(killed_between_looks_it_goes_on_in_the_right_one),
		TEST(a_disturbed_block_is_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
