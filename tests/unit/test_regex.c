/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sys/regex.h"

static struct regex *compile(const char *pattern)
{
	struct regex *regex = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(regex_compile(pattern, &regex, &err), 0);
	return regex;
}

static void all_matches_are_found_in_order(void **state KB_UNUSED)
{
	static const char text[] = "Time: 1.5\nother\nTime: 2.25 (x)\nTime: \n";
	struct regex *regex = compile("^Time: (?<value>[0-9.]+)( \\(.\\))?$");
	struct regex_span spans[3];
	struct err err = ERR_INIT;
	size_t offset = 0;

	assert_int_equal(regex_groups(regex), 2);
	assert_int_equal(regex_group_number(regex, "value"), 1);
	assert_int_equal(regex_group_number(regex, "none"), -1);
	assert_int_equal(regex_next(regex, text, strlen(text), &offset, spans, 3, &err), 1);
	assert_memory_equal(text + spans[1].start, "1.5", spans[1].end - spans[1].start);
	assert_int_equal(spans[1].end - spans[1].start, 3);
	assert_true(spans[2].start == SIZE_MAX && spans[2].end == SIZE_MAX);
	assert_int_equal(regex_next(regex, text, strlen(text), &offset, spans, 3, &err), 1);
	assert_memory_equal(text + spans[1].start, "2.25", spans[1].end - spans[1].start);
	assert_int_equal(spans[2].end - spans[2].start, 4);
	assert_int_equal(regex_next(regex, text, strlen(text), &offset, spans, 3, &err), 0);
	assert_true(regex_matches(regex, text, strlen(text)));
	assert_false(regex_matches(regex, text, 5));
	assert_false(regex_matches(regex, NULL, 0));
	regex_free(regex);
	regex_free(NULL);
}

static void empty_matches_come_to_an_end(void **state KB_UNUSED)
{
	struct regex *regex = compile("x*");
	struct regex_span span;
	struct err err = ERR_INIT;
	size_t offset = 0, count = 0, before = 0;

	while (regex_next(regex, "axxb", 4, &offset, &span, 1, &err) == 1) {
		assert_true(offset > before);
		before = offset;
		count++;
	}
	assert_int_equal(count, 4); /* before a, xx, before b, at the end */
	regex_free(regex);
}

static void bytes_are_bytes(void **state KB_UNUSED)
{
	static const char text[] = "\xff\x00\x1b[1mv: 7\r\n\xc3";
	struct regex *regex = compile("v: ([0-9]+)\\r$");
	struct regex_span spans[2];
	struct err err = ERR_INIT;
	size_t offset = 0;

	assert_int_equal(regex_next(regex, text, sizeof(text) - 1, &offset, spans, 2, &err), 1);
	assert_int_equal(text[spans[1].start], '7');
	regex_free(regex);
}

static void every_sort_of_line_end_is_one(void **state KB_UNUSED)
{
	static const char text[] = "50%\r100%\rSeconds: 3.5\r\nSeconds: 4\nSeconds: 5";
	struct regex *regex = compile("^Seconds: (.*)$");
	struct regex_span spans[2];
	struct err err = ERR_INIT;
	static const size_t lengths[] = {3, 1, 1};
	size_t offset = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		assert_int_equal(regex_next(regex, text, strlen(text), &offset, spans, 2, &err), 1);
		assert_int_equal(spans[1].end - spans[1].start, lengths[i]);
	}
	assert_int_equal(regex_next(regex, text, strlen(text), &offset, spans, 2, &err), 0);
	regex_free(regex);
}

static void wrong_patterns_are_told(void **state KB_UNUSED)
{
	static const char *const bad[] = {
		"(", "a{2,1}", "[z-a]", "(?<x>a)(?<x>b)", "\\C", "(*UTF)a", "(?J)(?<x>a)|(?<x>b)"};
	struct regex *regex = NULL;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(regex_compile(bad[i], &regex, &err), ERR_USAGE);
		assert_null(regex);
	}
	assert_int_equal(regex_compile("ab(", &regex, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "offset 3"));
	assert_non_null(strstr(err.text, "missing closing parenthesis"));
}

static void effort_is_bounded(void **state KB_UNUSED)
{
	struct regex *regex = compile("(a+)+b");
	struct regex_span span;
	struct err err = ERR_INIT;
	size_t offset = 0, len = 1 << 20;
	char *text = xmalloc(len);

	memset(text, 'a', len);
	text[len - 1] = 'c';
	/* that there is no b is seen at once */
	assert_int_equal(regex_next(regex, text, len, &offset, &span, 1, &err), 0);
	text[len - 2] = 'b';
	text[len - 3] = 'c';
	assert_int_equal(regex_next(regex, text, len, &offset, &span, 1, &err), ERR_INVALID);
	assert_false(regex_matches(regex, text, len));
	assert_int_equal(offset, 0);
	regex_free(regex);
	free(text);
}

/* Quadratic without any backtracking that PCRE2 counts: 50 MB of digits on one line. */
static void one_long_line_is_bounded(void **state KB_UNUSED)
{
	struct regex *regex = compile("[0-9]+ msec");
	struct regex_span span;
	struct err err = ERR_INIT;
	size_t offset = 0, len = 50 << 20;
	char *text = xmalloc(len);

	memset(text, '1', len);
	text[len - 1] = 'c'; /* the last byte that the pattern needs is there */
	assert_int_equal(regex_next(regex, text, len, &offset, &span, 1, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "effort"));
	regex_free(regex);
	regex = compile("^elapsed ([0-9]+)");
	assert_int_equal(regex_next(regex, text, len, &offset, &span, 1, &err), 0);
	regex_free(regex);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_matches_are_found_in_order),
		cmocka_unit_test(empty_matches_come_to_an_end),
		cmocka_unit_test(bytes_are_bytes),
		cmocka_unit_test(every_sort_of_line_end_is_one),
		cmocka_unit_test(wrong_patterns_are_told),
		cmocka_unit_test(effort_is_bounded),
		cmocka_unit_test(one_long_line_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
