/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/str.h"
#include "sys/patch.h"

static int parse(struct arena *arena, const char *text, struct patch *patch, struct err *err)
{
	return patch_parse(arena, "p", text, strlen(text), patch, err);
}

static const char mail[] = "From: someone\n"
			   "Subject: [PATCH] sched: do\x1b[31m it\n"
			   "\n"
			   "Why.\n"
			   "---\n"
			   " a.c | 2 +-\n"
			   "\n"
			   "diff --git a/kernel/a.c b/kernel/a.c\n"
			   "index 0123456789ab..ba9876543210 100644\n"
			   "--- a/kernel/a.c\n"
			   "+++ b/kernel/a.c\n"
			   "@@ -2,3 +2,3 @@ int f(void)\n"
			   " two\n"
			   "-three\n"
			   "+THREE\n"
			   " four\n"
			   "diff --git a/new.sh b/new.sh\n"
			   "new file mode 100755\n"
			   "index 000000000000..ba9876543210\n"
			   "--- /dev/null\n"
			   "+++ b/new.sh\n"
			   "@@ -0,0 +1,2 @@\n"
			   "+#!/bin/sh\n"
			   "+\n"
			   "diff --git a/old b/old\n"
			   "deleted file mode 100644\n"
			   "--- a/old\n"
			   "+++ /dev/null\n"
			   "@@ -1 +0,0 @@\n"
			   "-x\n"
			   "diff --git a/from b/to\n"
			   "similarity index 100%\n"
			   "rename from from\n"
			   "rename to to\n"
			   "diff --git a/tool b/tool\n"
			   "old mode 100644\n"
			   "new mode 100755\n"
			   "-- \n"
			   "2.39\n"
			   "\n"
			   "base-commit: 0123456789012345678901234567890123456789\n";

static void a_mail_is_read(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct patch patch;
	struct err err = ERR_INIT;

	assert_int_equal(parse(&arena, mail, &patch, &err), 0);
	assert_int_equal(patch.file_count, 5);
	assert_string_equal(patch.subject, "[PATCH] sched: do\\x1b[31m it");
	assert_string_equal(patch.base_commit, "0123456789012345678901234567890123456789");
	assert_string_equal(patch.files[0].old_path, "kernel/a.c");
	assert_string_equal(patch.files[0].old_id, "0123456789ab");
	assert_int_equal(patch.files[0].hunks[0].line_count, 4);
	assert_null(patch.files[1].old_path);
	assert_int_equal(patch.files[1].new_mode, 0100755);
	assert_string_equal(patch.files[1].old_id, "");
	assert_null(patch.files[2].new_path);
	assert_string_equal(patch.files[3].old_path, "from");
	assert_string_equal(patch.files[3].new_path, "to");
	assert_string_equal(patch.files[4].new_path, "tool");
	assert_int_equal(patch.files[4].new_mode, 0100755);
	arena_release(&arena);
}

static void diff_u_is_read(void **state KB_UNUSED)
{
	static const char text[] = "--- linux.orig/a b.c\t2026-01-01 00:00:00.0 +0000\n"
				   "+++ linux/a b.c\t2026-01-02 00:00:00.0 +0000\n"
				   "@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n";
	static const char quoted[] = "--- \"a/\\303\\244\\tb\"\n+++ \"b/\\303\\244\\tb\"\n"
				     "@@ -1 +1 @@\n-x\n+y\n";
	struct arena arena = ARENA_INIT;
	struct patch patch;
	struct err err = ERR_INIT;

	assert_int_equal(parse(&arena, text, &patch, &err), 0);
	assert_string_equal(patch.files[0].new_path, "a b.c");
	assert_true(patch.files[0].hunks[0].lines[1].no_newline);
	assert_int_equal(parse(&arena, quoted, &patch, &err), 0);
	assert_string_equal(patch.files[0].new_path, "\303\244\tb");
	arena_release(&arena);
}

static void bad_patches_are_refused(void **state KB_UNUSED)
{
	static const char *const bad[] = {
		"",
		"nothing here\n",
		"@@ -1 +1 @@\n-x\n+y\n",
		"--- a/../etc/passwd\n+++ b/../etc/passwd\n@@ -1 +1 @@\n-x\n+y\n",
		"--- a//etc/passwd\n+++ b//etc/passwd\n@@ -1 +1 @@\n-x\n+y\n",
		"--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-x\n+y\n",
		"--- a/x/.GIT/config\n+++ b/x/.GIT/config\n@@ -1 +1 @@\n-x\n+y\n",
		"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\n+y\n",
		"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\n+y\nwrapped line\n",
		"--- a/x\n+++ b/x\n@@ -1,99999999999999999999 +1 @@\n-x\n+y\n",
		"--- a/x\n+++ b/x\n@@ -1,-1 +1 @@\n-x\n+y\n",
		"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y\n",
		"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n",
		"diff --git a/x b/x\nnew file mode 160000\n",
		"diff --git \"a/x b/x\n",
	};
	struct arena arena = ARENA_INIT;
	struct patch patch;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = ERR_INIT;

		if (parse(&arena, bad[i], &patch, &err) != ERR_USAGE)
			fail_msg("accepted: %s", bad[i]);
		assert_true(strncmp(err.text, "p:", 2) == 0);
	}
	assert_int_equal(patch_parse(&arena, "p", "a\0b", 3, &patch, NULL), ERR_USAGE);
	arena_release(&arena);
}

/* Applies a one-file patch to a text and compares. expected NULL: it must not apply. */
static void check_apply(const char *text, const char *old, const char *expected, const char *says)
{
	struct arena arena = ARENA_INIT;
	struct str out = STR_INIT;
	struct err err = ERR_INIT;
	struct patch patch;
	size_t hunk = 99;
	int ret;

	assert_int_equal(parse(&arena, text, &patch, &err), 0);
	ret = patch_apply(&patch.files[0], old, strlen(old), &out, &hunk, &err);
	if (expected) {
		assert_int_equal(ret, 0);
		assert_string_equal(str_text(&out), expected);
	} else {
		assert_int_equal(ret, ERR_USAGE);
		if (!strstr(err.text, says))
			fail_msg("\"%s\" does not say \"%s\"", err.text, says);
		assert_int_equal(out.len, 0);
	}
	str_release(&out);
	arena_release(&arena);
}

#define HEAD "--- a/x\n+++ b/x\n"

static void hunks_are_applied(void **state KB_UNUSED)
{
	static const char middle[] = HEAD "@@ -2,3 +2,4 @@\n b\n-c\n+C\n+CC\n d\n";

	check_apply(middle, "a\nb\nc\nd\ne\n", "a\nb\nC\nCC\nd\ne\n", NULL);
	/* moved down, and the nearest of two places is taken */
	check_apply(middle, "1\n2\n3\na\nb\nc\nd\ne\n", "1\n2\n3\na\nb\nC\nCC\nd\ne\n", NULL);
	check_apply(middle, "b\nc\nd\n.\n.\n.\n.\nb\nc\nd\n", "b\nC\nCC\nd\n.\n.\n.\n.\nb\nc\nd\n",
		NULL);
	check_apply(middle, "a\nb\nX\nd\n", NULL, "hunk 1 of 1 (line 2)");
	check_apply(middle, "a\nb\nX\nd\n", NULL, "expects \"c\" where line 3 is \"X\"");
	check_apply(middle, "a\nb\n", NULL, "where the file ends");
	/* context is exact: white space counts */
	check_apply(middle, "a\nb \nc\nd\n", NULL, "hunk 1");
}

static void file_ends_are_exact(void **state KB_UNUSED)
{
	static const char append[] = HEAD "@@ -2 +2,2 @@\n b\n+c\n";
	static const char no_newline[] = HEAD "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
	static const char create[] = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
				     "\\ No newline at end of file\n";
	static const char delete[] = "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";

	check_apply(append, "a\nb\n", "a\nb\nc\n", NULL);
	check_apply(append, "a\nb\nz\n", NULL, "hunk 1"); /* must be the end */
	check_apply(no_newline, "a", "a\n", NULL);
	check_apply(no_newline, "a\n", NULL, "hunk 1");
	check_apply(create, "", "a", NULL);
	check_apply(delete, "a\nb\n", "", NULL);
}

static void later_hunks_follow_earlier_ones(void **state KB_UNUSED)
{
	static const char two[] = HEAD "@@ -1,2 +1,3 @@\n a\n+A\n b\n@@ -5,2 +6,3 @@\n e\n+E\n f\n";

	check_apply(two, "a\nb\nc\nd\ne\nf\n", "a\nA\nb\nc\nd\ne\nE\nf\n", NULL);
	check_apply(two, "0\n0\na\nb\nc\nd\ne\nf\n", "0\n0\na\nA\nb\nc\nd\ne\nE\nf\n", NULL);
	/* the second hunk must not be found inside or before the first */
	check_apply(two, "e\nf\na\nb\n", NULL, "hunk 2 of 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mail_is_read),
		cmocka_unit_test(diff_u_is_read),
		cmocka_unit_test(bad_patches_are_refused),
		cmocka_unit_test(hunks_are_applied),
		cmocka_unit_test(file_ends_are_exact),
		cmocka_unit_test(later_hunks_follow_earlier_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
