/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sys/json.h"

static json_t *parse(const char *text)
{
	json_t *value = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(json_parse(text, strlen(text), 1000000, &value, &err), 0);
	return value;
}

static void what_is_written_reads_back(void **state KB_UNUSED)
{
	static const char text[] =
		"{\"z\":[1,-2.5,0.1,1e300,3.0,true,false,null,\"\\u0007\\\"\\n\","
		"\"h\xc3\xa9\"],\"a\":{},\"b\":[],\"n\":9223372036854775807}";
	json_t *value = parse(text), *again;
	struct str out = STR_INIT;

	json_write(value, false, &out);
	assert_non_null(strstr(out.text, "0.1,"));
	assert_non_null(strstr(out.text, ",3.0,"));
	assert_true(strncmp(out.text, "{\"z\":[1,-2.5,", 13) == 0);
	assert_null(strchr(out.text, '\n'));
	again = parse(out.text);
	assert_true(json_equal(value, again));
	json_decref(again);
	str_reset(&out);
	json_write(value, true, &out);
	assert_true(strncmp(out.text, "{\n  \"z\": [\n    1,\n", 17) == 0);
	assert_non_null(strstr(out.text, "\"a\": {},"));
	again = parse(out.text);
	assert_true(json_equal(value, again));
	json_decref(again);
	json_decref(value);
	str_release(&out);
}

static void hostile_text_is_refused(void **state KB_UNUSED)
{
	static const char *const bad[] = {"", " ", "{", "[1,]", "{\"a\":1,\"a\":2}", "[1] x", "nan",
		"'a'", "\"\xff\"", "1e999", "99999999999999999999", "\"\\u0000\"", "01",
		"[\"a\nb\"]"};
	json_t *value = NULL;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(
			json_parse(bad[i], strlen(bad[i]), 1000, &value, &err), ERR_INVALID);
		assert_null(value);
	}
	assert_int_equal(json_parse("[\n\n\x1b", 4, 1000, &value, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "line 3"));
	assert_null(strchr(err.text, '\x1b'));
	assert_int_equal(json_parse("[1]", 3, 2, &value, &err), ERR_INVALID);
	assert_int_equal(json_parse(NULL, 0, 2, &value, &err), ERR_INVALID);
}

static void depth_is_bounded(void **state KB_UNUSED)
{
	enum { DEEP = 200000 };
	json_t *value = NULL;
	struct err err = ERR_INIT;
	char *text = xmalloc(DEEP);

	memset(text, '[', DEEP);
	assert_int_equal(json_parse(text, DEEP, DEEP, &value, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "256 levels"));
	memset(text + 256, ']', 256);
	assert_int_equal(json_parse(text, 512, DEEP, &value, &err), 0);
	json_decref(value);
	memset(text, '{', DEEP);
	text[0] = '[';
	text[1] = '"';
	text[2] = '\\';
	text[3] = '"';
	text[1000] = '"';
	text[1001] = ']';
	assert_int_equal(json_parse(text, 1002, DEEP, &value, &err), 0);
	json_decref(value);
	free(text);
}

static void texts_are_always_valid(void **state KB_UNUSED)
{
	json_t *value = json_text("a\xff\xc3\xa9\x80");

	assert_string_equal(json_string_value(value), "a\\xff\xc3\xa9\\x80");
	json_decref(value);
	assert_true(json_is_null(json_text(NULL)));
	value = json_text("");
	assert_string_equal(json_string_value(value), "");
	json_decref(value);
}

/* What is written may be shown on a terminal, and reads back as it was. */
static void nothing_written_moves_a_terminal(void **state KB_UNUSED)
{
	static const char hostile[] = "a\033[31m\177\302\23331m\342\200\256b\303\251";
	json_t *value = json_text(hostile), *back;
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	json_write(value, false, &out);
	assert_string_equal(str_text(&out), "\"a\\u001B[31m\\u007F\\u009B31m\\u202Eb\303\251\"");
	assert_int_equal(json_parse(str_text(&out), out.len, 1 << 10, &back, &err), 0);
	assert_string_equal(json_string_value(back), hostile);
	json_decref(value);
	json_decref(back);
	str_release(&out);
}

static void numbers_that_are_none_become_null(void **state KB_UNUSED)
{
	json_t *value = json_num(0.25);

	assert_true(json_real_value(value) == 0.25);
	json_decref(value);
	assert_true(json_is_null(json_num(nan(""))));
	assert_true(json_is_null(json_num(INFINITY)));
}

static void members_have_fallbacks(void **state KB_UNUSED)
{
	json_t *object = parse("{\"t\":\"x\",\"i\":5,\"d\":1.5,\"b\":true,\"n\":null}");

	assert_string_equal(json_get_text(object, "t", "f"), "x");
	assert_string_equal(json_get_text(object, "i", "f"), "f");
	assert_null(json_get_text(object, "none", NULL));
	assert_int_equal(json_get_int(object, "i", 1), 5);
	assert_int_equal(json_get_int(object, "d", 1), 1);
	assert_true(json_get_double(object, "d", 0) == 1.5);
	assert_true(json_get_double(object, "i", 0) == 5);
	assert_true(json_get_double(object, "n", -1) == -1);
	assert_true(json_get_bool(object, "b", false));
	assert_true(json_get_bool(object, "n", true));
	assert_int_equal(json_get_int(NULL, "i", 3), 3);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(hostile_text_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(texts_are_always_valid),
		cmocka_unit_test(nothing_written_moves_a_terminal),
		cmocka_unit_test(numbers_that_are_none_become_null),
		cmocka_unit_test(members_have_fallbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
