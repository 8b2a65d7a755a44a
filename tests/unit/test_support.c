/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "support.h"

static void files_come_and_go(void **state KB_UNUSED)
{
	char *folder = support_folder(), *path = support_path("%s/a/b/file", folder), *text;
	size_t len = 0;

	support_write_bytes(path, "x\0y", 3);
	text = support_read(path, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "x\0y", 4);
	free(text);
	support_folder_free(folder);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void commits_are_made(void **state KB_UNUSED)
{
	char *repo = support_folder(), *first, *second, *log;

	support_git_init(repo);
	first = support_git_commit(repo, "kernel/a.c", "1\n", "add a");
	second = support_git_commit(repo, "kernel/a.c", NULL, "remove a");
	assert_int_equal(strlen(first), 40);
	assert_string_not_equal(first, second);
	log = support_run(repo, "git", "log", "--format=%s|%an", NULL);
	assert_string_equal(log, "remove a|Test Author\nadd a|Test Author");
	free(log);
	assert_int_equal(support_try(repo, "git", "rev-parse", "-q", "--verify", "none", NULL), 1);
	free(first);
	free(second);
	support_folder_free(repo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_come_and_go),
		cmocka_unit_test(commits_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
