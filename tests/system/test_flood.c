/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a gigabyte, of one line, of bytes: bounded, and the result read where it is whole. */
#include "flood.h"

static void too_much_is_no_result(void **state)
{
	struct bench *bench = *state;

	expect_limit(bench, "1M", "echo Time: 1.234; head -c 1073741824 /dev/zero");
	expect_limit(bench, "16M", "yes Time: 1.234");
	expect_limit(bench, "1M", "echo Time: 1.234; head -c 1073741824 /dev/urandom >&2");
	/* the limit says nothing about what was not printed */
	expect_time(bench, "1M", "head -c 1000000 /dev/zero; echo; echo Time: 1.234");
	assert_true(children_rss_bytes() < 512 << 20);
}

static void one_line_of_50_mb_is_read(void **state)
{
	expect_time(*state, "64M",
		"head -c 52428800 /dev/zero | tr \"\\\\0\" x; echo; echo Time: 1.234");
	expect_time(*state, "64M",
		"head -c 52428800 /dev/zero | tr \"\\\\0\" 1; echo; echo Time: 1.234");
}

static void bytes_that_are_no_text_are_read_over(void **state)
{
	expect_time(*state, "8M",
		"head -c 4000000 /dev/urandom; "
		"printf \"\\\\nTime: 1.234\"");
	expect_time(*state, "1M", "printf \"0%%\\\\r99%%\\\\rTime: 1.234\\\\r\\\\nend\\\\r\\\\n\"");
	expect_time(*state, "1M", "printf \"\\\\033[1;32mTime: \\\\033[0m1.234\\\\033[K\"");
}

/* It is not run: the file is at hand. */
static void a_file_of_a_gigabyte_is_refused(void **state)
{
	struct bench *bench = *state;
	char *path = xasprintf("%s/big", bench->folder);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
	assert_int_equal(close(fd), 0);
	expect_code(bench, 2, "suite try suites/wave.yaml %s", path);
	expect_text(&bench->chatter, "is larger than ");
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(too_much_is_no_result),
		TEST(one_line_of_50_mb_is_read),
		TEST(bytes_that_are_no_text_are_read_over),
		TEST(a_file_of_a_gigabyte_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
