/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole bisects from the command line to the answer: the real program, real repositories, the real
 * builder, and a fake machine whose kernels are texts (bisect_lab.h).
 */
#include "base/base.h"

#include "bisect_lab.h"

static struct real_lab *lab;

/* Ten commits: the third does not build, the sixth is a tenth slower; b changes with the fifth and
 * the eighth. */
static const struct bisect_change history[] = {{"a", "1"}, {"a", "2"}, {"broken", ""},
	{"broken", NULL}, {"b", "3"}, {"level", "900\n"}, {"a", "4"}, {"b", "5"}, {"a", "6"},
	{"a", "7"}};

#define ON_BOX "bisect --machine box --condition rate --warmup 0 --runs 2 "

static void said(const char *part)
{
	if (!strstr(str_text(&lab->chatter), part))
		fail_msg("'%s' is not in:\n%s", part, str_text(&lab->chatter));
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		fail_msg("no number %s", key);
	return json_number_value(value);
}

/* A level lies in its interval, which is narrow. */
static void check_level(const json_t *finding, const char *side, double wanted)
{
	char *level_key = xasprintf("%s_level", side),
	     *interval_key = xasprintf("%s_interval", side);
	const json_t *interval = json_object_get(finding, interval_key);
	double level = number(finding, level_key);

	assert_true(level > wanted * 0.99 && level < wanted * 1.01);
	assert_int_equal(json_array_size(interval), 2);
	assert_true(json_number_value(json_array_get(interval, 0)) < level);
	assert_true(json_number_value(json_array_get(interval, 0)) > wanted * 0.9);
	assert_true(json_number_value(json_array_get(interval, 1)) > level);
	assert_true(json_number_value(json_array_get(interval, 1)) < wanted * 1.1);
	free(level_key);
	free(interval_key);
}

/* The boots of a step: which they are in the database, when, and what each of them showed. */
static size_t check_boots(const json_t *step, double wanted)
{
	const json_t *boots = json_object_get(step, "boots"), *boot;
	size_t i;

	json_array_foreach(boots, i, boot)
	{
		double level = number(boot, "level");
		char *sql = xasprintf("SELECT count(*) FROM bisect_event WHERE kind = 'boot' AND "
				      "boot_id = %.0f AND number = %.0f",
			number(boot, "boot"), number(boot, "order"));

		real_lab_assert_count(lab, 1, sql);
		assert_true(number(boot, "time_ns") > 1e18);
		assert_int_equal(json_array_size(json_object_get(boot, "values")), 2);
		assert_true(level > wanted * 0.99 && level < wanted * 1.01);
		free(sql);
	}
	return json_array_size(boots);
}

/* All that a picture needs: posterior and boots of every commit, levels with their intervals. */
static void check_picture(const json_t *answer)
{
	const json_t *finding = json_object_get(answer, "finding"), *step;
	double sum = number(finding, "no_change");
	size_t i, boots = 0;

	assert_int_equal(number(answer, "schema"), 2);
	check_level(finding, "good", 1e6);
	check_level(finding, "bad", 9e5);
	assert_true(number(finding, "within_boots_pct") > 0);
	assert_true(number(finding, "between_boots_pct") > 0);
	assert_true(number(finding, "outlying_boots_pct") > 0);
	json_array_foreach(json_object_get(answer, "steps"), i, step)
	{
		assert_int_equal(number(step, "position"), i);
		assert_int_equal(strlen(json_get_text(step, "name", "")), 40);
		boots += check_boots(step, i < 6 ? 1e6 : 9e5);
		if (i == 0)
			continue;
		assert_int_equal(number(step, "index"), 11 - i);
		sum += number(step, "posterior");
	}
	assert_true(sum > 0.999 && sum < 1.001);
	assert_int_equal(boots, number(finding, "boots"));
}

static void a_commit_is_found_and_proved(void **state KB_UNUSED)
{
	json_t *answer =
		real_lab_json(lab, 1, ON_BOX "--good c0 --bad c10 --confidence 99 --proof-boots 2");
	json_t *finding = json_object_get(answer, "finding");

	assert_string_equal(json_get_text(finding, "verdict", ""), "culprit");
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(finding, "suspects"), 0)), 6);
	assert_string_equal(json_get_text(answer, "proved", ""), "yes");
	check_picture(answer);
	json_decref(answer);
}

/* The step from 900 to 1000 is in a commit that the list leaves out: what is named instead does not
 * differ from its own parent. */
static void a_proof_that_fails_is_said(void **state KB_UNUSED)
{
	real_lab_must(lab, 4, ON_BOX "--good c0 --bad c10 --path b --proof-boots 2");
	real_lab_expect(lab, "(\"b: change 8\"), with a probability of");
	real_lab_expect(lab, "The proof fails: it does not differ from its parent");
}

/* A person's own command refuses a kernel that is built: it is passed over as one that is not. */
static void what_the_check_refuses_is_passed_over(void **state KB_UNUSED)
{
	char *path = path_join(lab->folder, "check.sh");

	real_lab_write(lab, "check.sh",
		"#!/bin/sh\n"
		"grep -q CONFIG_SMP=y \"$KBRACKET_CONFIG\" || exit 1\n"
		"test ${#KBRACKET_COMMIT} = 40 || exit 1\n"
		"git -C tree diff --quiet c6 \"$KBRACKET_COMMIT\" && exit 1\n"
		"read -r release id rest <\"$KBRACKET_IMAGE\" && test ${#id} = 40\n");
	assert_int_equal(chmod(path, 0755), 0);
	real_lab_must(lab, 1, ON_BOX "--good c0 --bad c10 --proof-boots 0 --check ./check.sh");
	real_lab_expect(lab, "one of 2 that cannot be told apart");
	real_lab_expect(lab, "skipped: --check says no: exit");
	real_lab_must(lab, 2, ON_BOX "--good c0 --bad c10 --proof-boots 0 --check ./there-is-none");
	said("there-is-none");
	real_lab_must(lab, 4, "bisect status");
	free(path);
}

static void patches_are_steps(void **state KB_UNUSED)
{
	static const char *const names[] = {"1-a", "2-level", "3-b"};
	static const char *const before[] = {"7", "900", "5"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *file = names[i] + 2;
		bool ends = !strcmp(file, "level");
		char *name = xasprintf("series/%s.patch", names[i]);
		char *text = xasprintf("--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%s\n%s+800\n%s", file,
			file, before[i], ends ? "" : "\\ No newline at end of file\n",
			ends ? "" : "\\ No newline at end of file\n");

		real_lab_write(lab, name, text);
		free(name);
		free(text);
	}
	real_lab_must(lab, 1, ON_BOX "--good c10 --patches series --proof-boots 2");
	real_lab_expect(lab, "The change is patches-2 (\"2-level.patch\")");
	real_lab_expect(lab, "This bears it out");
}

static void symbols_are_steps(void **state KB_UNUSED)
{
	real_lab_write(lab, "good.config", "CONFIG_A=y\n# CONFIG_SLOW is not set\nCONFIG_C=1\n");
	real_lab_write(lab, "bad.config", "CONFIG_A=m\nCONFIG_SLOW=y\nCONFIG_C=2\n");
	real_lab_must(lab, 1,
		ON_BOX "--good c1 --configs good.config --configs bad.config --proof-boots 2");
	real_lab_expect(lab, "The change is symbols-2 (\"CONFIG_SLOW=y\")");
	real_lab_expect(lab, "This bears it out");
}

/* The branch is rebased in the middle, and git cleans up what it was. */
static void commits_outlive_their_branch(void **state KB_UNUSED)
{
	char *repo = path_join(lab->folder, "tree");

	(void)git(repo, "checkout", "-q", "-b", "topic", "c0", NULL);
	for (int i = 1; i <= 6; i++) {
		char *tag = xasprintf("t%d", i);

		real_lab_write(lab, i == 4 ? "tree/level" : "tree/a", i == 4 ? "800\n" : tag);
		bisect_lab_commit(lab, tag, tag);
		(void)git(repo, "tag", "-d", tag, NULL);
		free(tag);
	}
	(void)git(repo, "checkout", "-q", "main", NULL);
	real_lab_must(lab, 4, ON_BOX "--good c0 --bad topic --proof-boots 0 --max-boots 2");
	real_lab_expect(lab, "Not decided after 2 boots");
	(void)git(repo, "branch", "-f", "topic", "c3", NULL);
	(void)git(repo, "reflog", "expire", "--expire=now", "--all", NULL);
	(void)git(repo, "gc", "-q", "--prune=now", NULL);
	real_lab_must(lab, 4, "bisect more 40");
	real_lab_must(lab, 1, "resume");
	real_lab_expect(lab, "The change is ");
	real_lab_expect(lab, "(\"t4\")");
	real_lab_expect(lab, "topic meant ");
	real_lab_expect(lab, "stays with what it listed");
	free(repo);
}

/* Nothing can be said without both ends, and that is no lack of boots. */
static void an_end_that_does_not_build_is_told(void **state KB_UNUSED)
{
	real_lab_must(lab, 3, ON_BOX "--good c0 --bad c3");
	said("is an end and cannot be tested (does not build");
	said("begin a bisect with another bad end");
	real_lab_must(lab, 4, "bisect status");
	real_lab_expect(lab, "Nothing can be decided: an end cannot be tested");
}

/* A repository that is not there for a while blames no commit. */
static void a_lost_repository_blames_nobody(void **state KB_UNUSED)
{
	char *repo = path_join(lab->folder, "tree"), *away = path_join(lab->folder, "away");

	real_lab_must(lab, 4, ON_BOX "--good c1 --bad c9 --proof-boots 0 --max-boots 5");
	real_lab_must(lab, 4, "bisect more 40");
	assert_int_equal(rename(repo, away), 0);
	real_lab_must(lab, 3, "resume");
	said("which blames no commit");
	assert_int_equal(rename(away, repo), 0);
	real_lab_must(lab, 1, "resume");
	real_lab_expect(lab, "(\"level: change 6\")");
	free(away);
	free(repo);
}

/* `git bisect run` in the tree; its exit code, and what it printed in out. */
static int bisect_run(struct str *out)
{
	char *repo = path_join(lab->folder, "tree");
	char *program = xasprintf("%s/kbracket-fake", getenv("KB_BUILD"));
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;
	const char *argv[] = {"git", "bisect", "run", program, "bisect", "--step", NULL};
	int code;

	(void)git(repo, "bisect", "start", "c10", "c0", NULL);
	if (proc_run(&(struct proc_spec){.argv = argv, .cwd = repo, .timeout_ns = 600 * NS_PER_S},
		    &result, &err))
		fail_msg("%s", err.text);
	str_add(out, str_text(&result.out));
	str_add(out, str_text(&result.err_out));
	code = result.exit_code;
	(void)git(repo, "bisect", "reset", NULL);
	proc_result_release(&result);
	free(program);
	free(repo);
	return code;
}

static void set_broken(bool broken)
{
	char *path = path_join(lab->folder, "box/broken");

	if (broken)
		real_lab_write(lab, "box/broken", "");
	else
		assert_int_equal(unlink(path), 0);
	free(path);
}

/* git's own bisect, told by kbracket what each commit is; a machine that is lost ends it, and says
 * nothing of a commit. */
static void git_bisect_is_driven(void **state KB_UNUSED)
{
	struct str out = STR_INIT;

	real_lab_must(lab, 0, ON_BOX "begin --good c0 --bad c10");
	set_broken(true);
	assert_int_not_equal(bisect_run(&out), 0);
	assert_null(strstr(str_text(&out), "first bad commit"));
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM bisect_event WHERE kind = 'skip' AND experiment_id ="
		" (SELECT max(experiment_id) FROM bisect)");
	set_broken(false);
	str_reset(&out);
	if (bisect_run(&out) || !strstr(str_text(&out), "is the first bad commit") ||
		!strstr(str_text(&out), "\n    level: change 6"))
		fail_msg("%s", str_text(&out));
	str_release(&out);
}

static int set_up(void **state KB_UNUSED)
{
	lab = bisect_lab_new();
	bisect_lab_history(lab, history, ARRAY_SIZE(history));
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_commit_is_found_and_proved),
		cmocka_unit_test(a_proof_that_fails_is_said),
		cmocka_unit_test(what_the_check_refuses_is_passed_over),
		cmocka_unit_test(patches_are_steps),
		cmocka_unit_test(symbols_are_steps),
		cmocka_unit_test(commits_outlive_their_branch),
		cmocka_unit_test(an_end_that_does_not_build_is_told),
		cmocka_unit_test(a_lost_repository_blames_nobody),
		cmocka_unit_test(git_bisect_is_driven),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
