/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything of a bisect but its boots: real repositories, the real program, and a machine that is
 * never started. What is measured stands in logs that are replayed.
 */
#include "base/base.h"

#include "git_repo.h"
#include "real_lab.h"

static struct real_lab *lab;

static const char kernels[] = "tree: ../tree\n"
			      "variants:\n"
			      "  any: { ref: main }\n";

#define ENDS "--machine guest --condition wakefan --good c2 --bad "

/* A history of nine commits: two branches from 2 (3 4 5 and 6 7), joined by 8; then 9. */
static const struct {
	const char *parents, *file;
} history[] = {{"", "a"}, {"1", "a"}, {"2", "a"}, {"3", "b"}, {"4", "a"}, {"2", "c"}, {"6", "c"},
	{"5 7", "d"}, {"8", "a"}};

static void make_history(void)
{
	char *repo = path_join(lab->folder, "tree");
	struct str stream = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(history); i++) {
		const char *second = strchr(history[i].parents, ' ');

		str_addf(&stream, "commit refs/heads/c%zu\nmark :%zu\n", i + 1, i + 1);
		str_addf(&stream, "author A %zu <a%zu@example.org> %zu +0000\n", i + 1, i + 1,
			1700000000 + i);
		str_addf(&stream, "committer c <c@example.org> %zu +0000\n", 1700000000 + i);
		str_addf(&stream, "data <<END\n%s: change %zu\nEND\n", history[i].file, i + 1);
		if (history[i].parents[0])
			str_addf(&stream, "from :%.1s\n", history[i].parents);
		if (second)
			str_addf(&stream, "merge :%s\n", second + 1);
		str_addf(&stream, "M 644 inline %s\ndata 2\n%zu\n\n", history[i].file, i);
	}
	real_lab_write(lab, "stream", str_text(&stream));
	(void)git(lab->folder, "init", "-q", "tree", NULL);
	(void)git(repo, "config", "alias.load", "!git fast-import --quiet <../stream", NULL);
	(void)git(repo, "load", NULL);
	(void)git(repo, "branch", "main", "c9", NULL);
	str_release(&stream);
	free(repo);
}

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new(NULL);
	make_history();
	real_lab_write(lab, "kernels/k.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml",
		"machine: guest\nconnect: { qemu: { cpus: 2 } }\n");
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

/* A call that fails with a sentence. */
static void refused(const char *words, const char *says)
{
	real_lab_must(lab, 2, words);
	if (!strstr(str_text(&lab->chatter), says))
		fail_msg("%s: '%s' is not in:\n%s", words, says, str_text(&lab->chatter));
}

static void ends_that_cannot_be_are_refused(void **state KB_UNUSED)
{
	refused("bisect begin --machine guest --condition wakefan --good c9 --bad c2",
		"are swapped");
	refused("bisect begin --machine guest --condition wakefan --good c5 --bad c7", "part at");
	refused("bisect begin " ENDS "none", "no ref or commit \"none\"");
	refused("bisect begin " ENDS "c2", "the same commit");
	refused("bisect begin " ENDS "c9 --path nowhere", "there is no nowhere");
	refused("bisect begin --machine guest --condition wakefan --good c2", "--bad is missing");
	refused("bisect begin --good c2 --bad c9 --condition wakefan", "--machine is missing");
	refused("bisect begin --good c2 --bad c9 --machine guest", "--condition is missing");
	refused("bisect begin --machine guest --condition wakefan/none --good c2 --bad c9",
		"has no condition 'none'");
	refused("bisect begin --machine guest --condition wakefan --metric none --good c2 --bad c9",
		"there is no metric 'none'");
	refused("bisect begin " ENDS "c9 --confidence 90", "confidence");
	refused("bisect begin " ENDS "c9 --patches x --features A", "exclude each other");
	refused("bisect status", "there is no bisect");
}

static void shallow_repositories_are_refused_and_bare_ones_used(void **state KB_UNUSED)
{
	char *url = xasprintf("file://%s/tree", lab->folder);

	(void)git(lab->folder, "clone", "-q", "--depth", "2", "--branch", "main", url, "shallow",
		NULL);
	(void)git(lab->folder, "clone", "-q", "--bare", "tree", "bare", NULL);
	real_lab_write(
		lab, "kernels/k.yaml", "tree: ../shallow\nvariants:\n  any: { ref: main }\n");
	refused("bisect begin " ENDS "main", "is a shallow clone");
	real_lab_write(lab, "kernels/k.yaml", "tree: ../bare\nvariants:\n  any: { ref: main }\n");
	real_lab_must(lab, 0, "bisect begin " ENDS "main");
	real_lab_expect(lab, "6 commits listed");
	free(url);
}

/* What the status says of the steps: "good - - skipped bad". */
static void check_marks(const char *wanted)
{
	json_t *answer = real_lab_json(lab, 4, "bisect status"), *step;
	struct str seen = STR_INIT;
	size_t i;

	json_array_foreach(json_object_get(answer, "steps"), i, step)
	{
		const char *mark = json_get_text(step, "mark", NULL);

		str_addf(&seen, "%s%s", i ? " " : "",
			json_get_text(step, "skipped", NULL) ? "skip"
			: mark				     ? mark
							     : "-");
	}
	assert_string_equal(str_text(&seen), wanted);
	str_release(&seen);
	json_decref(answer);
}

/* Which commits have a posterior. */
static void check_possible(const char *wanted)
{
	json_t *answer = real_lab_json(lab, 4, "bisect status"), *step;
	struct str seen = STR_INIT;
	size_t i;

	json_array_foreach(json_object_get(answer, "steps"), i,
		step) if (json_get_double(step, "posterior", 0) > 0)
		str_addf(&seen, "%s ", strstr(json_get_text(step, "subject", ""), "change ") + 7);
	assert_string_equal(str_text(&seen), wanted);
	str_release(&seen);
	json_decref(answer);
}

/* Steps are 3 4 5 6 7 9 of the history; 8, a merge, is only tested. */
static void marks_follow_the_graph(void **state KB_UNUSED)
{
	char *repo = path_join(lab->folder, "tree");
	char *skip = xasprintf("bisect skip %.12s", git(repo, "rev-parse", "c4", NULL));

	real_lab_must(lab, 0, "bisect begin " ENDS "main");
	check_possible("3 4 5 6 7 9 ");
	real_lab_must(lab, 4, skip);
	real_lab_expect(lab, "skipped: by hand");
	check_marks("- - skip - - - - -");
	/* 5 has 3 and 4, and not what is on the other branch */
	real_lab_must(lab, 4, "bisect mark 3 good");
	check_possible("6 7 9 ");
	real_lab_must(lab, 4, "bisect mark 5 bad");
	check_possible("6 7 ");
	check_marks("- - skip good - bad - -");
	real_lab_must(lab, 4, "bisect undo");
	check_possible("6 7 9 ");
	real_lab_must(lab, 4, "bisect undo");
	check_possible("3 4 5 6 7 9 ");
	real_lab_must(lab, 4, "bisect undo");
	check_marks("- - - - - - - -");
	refused("bisect undo", "there is nothing to undo");
	refused("bisect mark 99 good", "is no step of this bisect");
	refused("bisect mark 2", "mark it as what");
	refused("bisect mark 0 bad", "the ends cannot be marked");
	free(skip);
	free(repo);
}

static const char measured[] = "bisect: by-hand\n"
			       "metric: rate\n"
			       "unit: x/s\n"
			       "better: higher\n"
			       "steps:\n"
			       "  - [good, the good one, '']\n"
			       "  - [one, first <b>, A <a@b>]\n"
			       "  - [two, \"second \\e[31m\", \"B\\nBcc: x@y <b@c>\"]\n"
			       "  - [three, third, C <c@d>]\n"
			       "events:\n"
			       "  - { boot: good, values: [100.1, 100.2, 100.0] }\n"
			       "  - { boot: three, values: [90.1, 90.0, 90.2] }\n"
			       "  - { boot: three, values: [90.3, 90.1, 90.2] }\n"
			       "  - { boot: good, values: [100.3, 100.2, 100.1] }\n"
			       "  - { boot: one, values: [100.2, 100.1, 100.0] }\n"
			       "  - { boot: two, values: [90.2, 90.1, 90.0] }\n"
			       "  - { boot: two, values: [90.1, 90.1, 90.3] }\n"
			       "  - { boot: one, values: [100.0, 100.1, 100.3] }\n";

static void a_log_is_decided_again(void **state KB_UNUSED)
{
	json_t *answer, *finding;

	real_lab_write(lab, "log.yaml", measured);
	real_lab_must(lab, 1, "bisect replay log.yaml");
	real_lab_expect(lab, "The change is two (");
	real_lab_expect(lab, "rate: 90.2000 90.1000 90.0000");
	if (strchr(str_text(&lab->answer), '\033'))
		fail_msg("an escape sequence was written");
	answer = real_lab_json(lab, 1, "bisect replay log.yaml");
	finding = json_object_get(answer, "finding");
	assert_int_equal(json_get_int(finding, "boots", 0), 8);
	assert_true(json_get_double(finding, "probability", 0) > 0.95);
	json_decref(answer);
	real_lab_must(lab, 1, "bisect replay log.yaml --mail");
	real_lab_expect(lab, "#regzbot introduced: two\n");
	if (strstr(str_text(&lab->answer), "\nBcc:"))
		fail_msg("a header line was added:\n%s", str_text(&lab->answer));
	real_lab_write(
		lab, "log.yaml", "bisect: x\nmetric: m\nsteps: [a]\nevents: [{ boot: b }]\n");
	refused("bisect replay log.yaml", "at least two are wanted");
}

static const char mailed[] = "bisect: by-hand\n"
			     "metric: rate\n"
			     "steps:\n"
			     "  - good\n"
			     "  - [one, first, \"Zo\\xeb P. (Corp) <p@x>\"]\n"
			     "  - [two, second, Q R <q@x>]\n"
			     "events:\n"
			     "  - { boot: good, values: [100.1, 100.2, 100.0] }\n"
			     "  - { boot: two, values: [90.1, 90.0, 90.2] }\n"
			     "  - { skip: one, text: does not build }\n"
			     "  - { boot: two, values: [90.3, 90.1, 90.2] }\n"
			     "  - { boot: good, values: [100.3, 100.2, 100.1] }\n"
			     "  - { boot: good, values: [100.3, 100.2, 100.1] }\n"
			     "  - { boot: two, values: [90.3, 90.1, 90.2] }\n";

/* Everybody who may be to blame is written to, by a name that mail programs understand. */
static void a_mail_is_addressed(void **state KB_UNUSED)
{
	real_lab_write(lab, "log.yaml", mailed);
	real_lab_must(lab, 1, "bisect replay log.yaml --mail");
	real_lab_expect(lab, "To: \"Zo\xc3\xab P. (Corp)\" <p@x>,\n\tQ R <q@x>\nCc: ");
	real_lab_expect(lab, "#regzbot introduced: good..two\n");
}

/* What `log` prints of a stored bisect replays to the same. */
static void what_is_logged_is_replayed(void **state KB_UNUSED)
{
	json_t *before, *after;

	real_lab_must(lab, 0, "bisect begin " ENDS "main");
	real_lab_must(lab, 4, "bisect mark 3 good");
	real_lab_must(lab, 4, "bisect skip 4");
	before = real_lab_json(lab, 4, "bisect status");
	real_lab_must(lab, 0, "bisect log");
	real_lab_write(lab, "log.yaml", str_text(&lab->answer));
	after = real_lab_json(lab, 4, "bisect replay log.yaml");
	assert_true(
		json_equal(json_object_get(before, "finding"), json_object_get(after, "finding")));
	assert_true(json_equal(json_object_get(before, "steps"), json_object_get(after, "steps")));
	json_decref(before);
	json_decref(after);
}

/* What ends for want of boots says what more of them would do, and takes them. */
static void a_budget_that_was_too_small_is_raised(void **state KB_UNUSED)
{
	char *small = xasprintf("max-boots: 4\n%s", measured),
	     *end = strstr(small, "  - { boot: one");
	json_t *answer;

	*end = '\0';
	real_lab_write(lab, "log.yaml", small);
	real_lab_must(lab, 4, "bisect replay log.yaml");
	real_lab_expect(lab, "Not decided after 4 boots");
	real_lab_expect(lab, "about 3 more boots would");
	answer = real_lab_json(lab, 4, "bisect replay log.yaml");
	assert_true(json_get_int(json_object_get(answer, "finding"), "boots_left", 0) > 0);
	json_decref(answer);
	real_lab_must(lab, 0, "bisect begin " ENDS "main --max-boots 10");
	real_lab_must(lab, 4, "bisect more 25");
	real_lab_expect(lab, "Given 25 boots more.");
	real_lab_must(lab, 0, "bisect log");
	real_lab_expect(lab, "max-boots: 35");
	refused("bisect more", "how many boots more");
	refused("bisect more none", "bisect more: ");
	free(small);
}

static void patches_and_symbols_are_steps_too(void **state KB_UNUSED)
{
	real_lab_write(lab, "p/series", "# in this order\none.patch\ntwo.patch # why\n");
	real_lab_write(lab, "p/one.patch",
		"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n 8\n+one\n");
	real_lab_write(lab, "p/two.patch",
		"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n 8\n one\n+two\n");
	real_lab_must(lab, 0,
		"bisect begin --machine guest --condition wakefan --good main --patches p/series");
	real_lab_expect(lab, "2 patches listed");
	real_lab_must(
		lab, 0, "bisect begin --machine guest --condition wakefan --good main --patches p");
	real_lab_expect(lab, "2 patches listed");
	real_lab_write(lab, "a.config", "CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\n");
	real_lab_write(lab, "b.config", "CONFIG_C=y\nCONFIG_A=y\n# CONFIG_D is not set\n");
	real_lab_must(lab, 0,
		"bisect begin --machine guest --condition wakefan --good main --configs a.config "
		"--configs b.config");
	real_lab_expect(lab, "2 configs listed");
	real_lab_must(lab, 4, "bisect status -v");
	real_lab_expect(lab, "CONFIG_C=y");
	real_lab_expect(lab, "# CONFIG_B is not set");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_that_cannot_be_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			shallow_repositories_are_refused_and_bare_ones_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_follow_the_graph, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_is_decided_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_mail_is_addressed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_logged_is_replayed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_budget_that_was_too_small_is_raised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			patches_and_symbols_are_steps_too, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
