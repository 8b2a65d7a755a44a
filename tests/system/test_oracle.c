/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `kbracket bisect --oracle` with programs that answer rightly, wrongly, late or not at all. */
#include "cli.h"

/* Fake: 1 % of scatter, a tenth less from commit 30 on, commits 28 and 29 can't be built. What it
 * was asked is kept beside it. */
static const char honest[] =
	"BEGIN { srand(1) }\n"
	"{ print > asked; fflush() }\n"
	"/^boot 2[89]$/ { print \"skip\"; fflush(); next }\n"
	"/^boot [0-9]+$/ { at = $2; print \"ok\"; fflush(); next }\n"
	"/^run [0-9]+$/ { line = \"\"; for (i = 0; i < $2; i++) line = line \" \" "
	"sign * (at >= 30 ? 90 : 100) * (0.99 + 0.02 * rand()); print line; fflush(); next }\n";

static char *oracle_file(struct bench *bench, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", bench->folder, name);
	struct err err = ERR_INIT;

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, &err), 0);
	return path;
}

static int ask_honest(struct bench *bench, const char *sign, const char *words)
{
	char *path = oracle_file(bench, "oracle.awk", honest);
	int code = call(bench,
		"bisect --oracle 'awk -W interactive -v sign=%s -v asked=%s/asked -f %s' --commits "
		"60 %s",
		sign, bench->folder, path, words);

	free(path);
	return code;
}

static void names_the_commit_and_the_ones_before_that_cannot_be_built(void **state)
{
	struct bench *bench = *state;
	struct str asked = STR_INIT;
	struct err err = ERR_INIT;
	char *path = xasprintf("%s/asked", bench->folder);
	json_t *answer;

	assert_int_equal(ask_honest(bench, "1", "--json --confidence 99"), 1);
	answer = json_loads(str_text(&bench->out), 0, NULL);
	assert_non_null(answer);
	assert_string_equal(json_string_value(json_object_get(answer, "verdict")), "range");
	assert_int_equal(json_integer_value(json_object_get(answer, "lo")), 28);
	assert_int_equal(json_integer_value(json_object_get(answer, "hi")), 30);
	assert_true(json_real_value(json_object_get(answer, "posterior")) > 0.99);
	assert_int_equal(json_integer_value(json_object_get(answer, "runs")),
		3 * json_integer_value(json_object_get(answer, "boots")));
	assert_int_equal(file_read(path, 1 << 20, &asked, &err), 0);
	assert_true(str_ends(str_text(&asked), "\ndone\n"));
	json_decref(answer);
	str_release(&asked);
	free(path);
}

static void lower_may_be_better(void **state)
{
	/* The change is an improvement then: nothing got worse. */
	assert_int_equal(ask_honest(*state, "1", "--better lower --max-boots 40"), 0);
}

static void runs_budget_and_costs_are_heard(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(ask_honest(bench, "1",
				 "--runs-per-boot 1 --max-boots 4 --cost build=1,boot=1,run=1"),
		4);
	expect_text(&bench->out, "4 boots, 4 runs");
	assert_int_equal(ask_honest(bench, "1", "--cost build=1,boot=1"), 2);
	expect_text(&bench->chatter, "does not say what a run costs");
}

static void a_liar_is_not_believed(void **state)
{
	static const struct {
		const char *program, *why;
	} liars[] = {
		{"{ print \"yes\"; fflush() }", "where ok or skip is wanted"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 2\" } { fflush() }", "oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 2 3 4\" } { fflush() }",
			"oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 -2 3\" } { fflush() }",
			"oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 nan 3\" } { fflush() }",
			"oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 1e999 3\" } { fflush() }",
			"oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { print \"1 0 3\" } { fflush() }", "oracle, asked"},
		{"/boot/ { print \"ok\" } /run/ { exit }", "ended in the middle of the talk"},
		{"{ print \"skip\"; fflush() }", "skips commit 0"},
		{"{ while (1) printf \"x\" }", "a line of more than"},
		{"/boot/ { print \"\\033[31mok\"; fflush() }", "where ok or skip is wanted"},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_SIZE(liars); i++) {
		char *path = oracle_file(bench, "liar.awk", liars[i].program);

		if (call(bench, "bisect --oracle 'awk -W interactive -f %s' --commits 9", path) !=
			3)
			fail_msg("%s: %s", liars[i].program, str_text(&bench->chatter));
		expect_text(&bench->chatter, liars[i].why);
		assert_null(strchr(str_text(&bench->chatter), '\033'));
		free(path);
	}
}

static void silence_has_an_end(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(
		call(bench, "bisect --oracle 'sleep 60' --commits 9 --reply-timeout 200ms"), 3);
	expect_text(&bench->chatter, "does not answer in time");
	assert_int_equal(call(bench, "bisect --oracle kb-no-such-program --commits 9"), 2);
	assert_int_equal(call(bench, "bisect --oracle cat"), 2);
	expect_text(&bench->chatter, "--commits");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			names_the_commit_and_the_ones_before_that_cannot_be_built, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(lower_may_be_better, set_up, tear_down),
		cmocka_unit_test_setup_teardown(runs_budget_and_costs_are_heard, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_liar_is_not_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(silence_has_an_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
