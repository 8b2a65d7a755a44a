/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "model/experiment.h"
#include "reading.h"

/*
 * Golden cases: tests/golden/config/CASE/input.yaml, read from within its folder, must give exactly
 * the messages in expect.txt; none means that it must be read.
 */
static const char cases_dir[] = "tests/golden/config";

static char top[4096];

static void enter(const char *dir)
{
	assert_int_equal(chdir(top), 0);
	assert_int_equal(chdir(dir), 0);
}

static const char *read_case(struct arena *arena, const char *path, int *ret)
{
	struct diag diag = DIAG_INIT;
	struct experiment e;

	*ret = experiment_read(arena, path, &e, &diag);
	return messages(arena, &diag);
}

static bool check_case(const char *name)
{
	struct arena arena = ARENA_INIT;
	struct str expected = STR_INIT;
	struct err err = ERR_INIT;
	const char *seen;
	bool same;
	int ret;

	enter(cases_dir);
	assert_int_equal(chdir(name), 0);
	if (file_read("expect.txt", 1 << 20, &expected, &err))
		fail_msg("%s: %s", name, err.text);
	seen = read_case(&arena, "input.yaml", &ret);
	same = strcmp(seen, str_text(&expected)) == 0 && (ret == 0) == (expected.len == 0);
	if (!same)
		fprintf(stderr, "# %s gave %d:\n%s", name, ret, seen);
	str_release(&expected);
	arena_release(&arena);
	return same;
}

static void every_case_gives_its_messages(void **state KB_UNUSED)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	int bad = 0;

	enter(cases_dir);
	assert_int_equal(file_list(".", &names, &err), 0);
	assert_true(names.count > 20);
	for (size_t i = 0; i < names.count; i++)
		bad += !check_case(names.items[i]);
	strv_release(&names);
	assert_int_equal(bad, 0);
}

/* Same place for every message: file, line and column are there. */
static void every_message_has_its_place(void **state KB_UNUSED)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;

	enter(cases_dir);
	assert_int_equal(file_list(".", &names, &err), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *path = xasprintf("%s/expect.txt", names.items[i]), *line, *save = NULL;
		struct str text = STR_INIT;

		assert_int_equal(file_read(path, 1 << 20, &text, &err), 0);
		for (line = text.len ? strtok_r(text.text, "\n", &save) : NULL; line;
			line = strtok_r(NULL, "\n", &save)) {
			int row = 0, column = 0;

			assert_int_equal(
				sscanf(strstr(line, ".yaml:"), ".yaml:%d:%d: ", &row, &column), 2);
			assert_true(row > 0 && column > 0);
		}
		str_release(&text);
		free(path);
	}
	strv_release(&names);
}

static void a_file_of_10_mb_is_refused(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	char dir[] = "/tmp/kb-golden-XXXXXX";
	int ret;

	assert_non_null(mkdtemp(dir));
	enter(dir);
	str_add(&text, "experiment: big\nvariants:\n");
	while (text.len < 10 << 20)
		str_add(&text, "- xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
	assert_int_equal(file_write_atomic("input.yaml", text.text, text.len, 0600, &err), 0);
	assert_string_equal(read_case(&arena, "input.yaml", &ret),
		"input.yaml:1:1: the file is larger than 1 MiB\n");
	assert_int_equal(ret, ERR_USAGE);
	enter(".");
	assert_int_equal(file_remove_tree(dir, &err), 0);
	str_release(&text);
	arena_release(&arena);
}

static void what_is_no_file_is_told(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	int ret;

	enter(cases_dir);
	assert_non_null(strstr(read_case(&arena, "none.yaml", &ret), "none.yaml: "));
	assert_int_equal(ret, ERR_USAGE);
	assert_non_null(strstr(read_case(&arena, "good", &ret), "good: "));
	assert_int_equal(ret, ERR_USAGE);
	assert_non_null(strstr(read_case(&arena, "/dev/zero", &ret), "/dev/zero: "));
	assert_int_equal(ret, ERR_USAGE);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_gives_its_messages),
		cmocka_unit_test(every_message_has_its_place),
		cmocka_unit_test(a_file_of_10_mb_is_refused),
		cmocka_unit_test(what_is_no_file_is_told),
	};

	/* suites that kbracket brings must not change what "there is no suite" says */
	setenv("KBRACKET_SHARE", "/nonexistent", 1);
	if (!getcwd(top, sizeof(top)))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
