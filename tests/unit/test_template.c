/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/template.h"

static struct pair params[] = {{"groups", "4"}, {"list", "0-3,8"}, {"huge", "9223372036854775807"}};
static const struct template_values values = {.workers = 15,
	.cpus = 48,
	.saturation_pct = 31.25,
	.seconds = 0.5,
	.params = &(const struct pairs){params, ARRAY_SIZE(params)}};

static void templates_are_expanded(void **state KB_UNUSED)
{
	static const struct {
		const char *text, *result;
	} cases[] = {{"", ""}, {"plain", "plain"}, {"{workers}", "15"}, {"-t{workers}x", "-t15x"},
		{"{cpus}/{workers}", "48/15"}, {"{saturation}%", "31.25%"}, {"{seconds}s", "0.5s"},
		{"{ seconds }", "0.5"}, {"{seconds*2}", "2"}, {"{saturation+0}", "31"},
		{"{groups}", "4"}, {"{list}", "0-3,8"}, {"{groups*40}", "160"},
		{"{max(1, workers/2)}", "7"}, {"{min(workers, cpus)}", "15"}, {"{1+2*3}", "7"},
		{"{(1+2)*3}", "9"}, {"{7%4}", "3"}, {"{-7/2}", "-3"}, {"{- -3}", "3"},
		{"{10-4-3}", "3"}, {"{100/5/4}", "5"}, {"{max(min(3, 9), 2*1)}", "3"},
		{"{{workers}}", "{workers}"}, {"{{\"a\": {workers}}}", "{\"a\": 15}"}, {"}", "}"},
		{"a}b", "a}b"}, {"{9223372036854775807}", "9223372036854775807"},
		{"{-9223372036854775807 - 1}", "-9223372036854775808"}};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *out = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(template_check(cases[i].text, values.params, &err), 0);
		assert_int_equal(template_expand(&arena, cases[i].text, &values, &out, &err), 0);
		assert_string_equal(out, cases[i].result);
	}
	arena_release(&arena);
}

static void wrong_templates_are_refused(void **state KB_UNUSED)
{
	static const struct {
		const char *text, *message;
	} cases[] = {{"{", "a number or a name is missing"}, {"{}", "is missing at '}'"},
		{"{workers", "'}' is missing"}, {"{workers x}", "'}' is missing before 'x}'"},
		{"{worker}", "'worker' is neither"}, {"{1+}", "is missing at '}'"},
		{"{max(1)}", "max and min want two values"}, {"{max 1, 2}", "'(' is missing"},
		{"{max(1, 2}", "')' is missing"}, {"{(1}", "')' is missing"},
		{"{1.5}", "'}' is missing before '.5}'"}, {"{99999999999999999999}", "too large"},
		{"{$(reboot)}", "is missing at '$(reboot)}'"}};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *out = "untouched";
		struct err err = ERR_INIT;

		assert_int_equal(template_check(cases[i].text, values.params, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, cases[i].message));
		assert_int_equal(
			template_expand(&arena, cases[i].text, &values, &out, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, cases[i].message));
		assert_string_equal(out, "untouched");
	}
	arena_release(&arena);
}

static void values_that_do_not_work_are_told_when_expanded(void **state KB_UNUSED)
{
	static const struct {
		const char *text, *message;
	} cases[] = {{"{1/0}", "division by zero"}, {"{workers % (cpus - 48)}", "division by zero"},
		{"{huge+1}", "too large"}, {"{huge*2}", "too large"}, {"{-2-huge}", "too large"},
		{"{(-huge - 1) / -1}", "too large"}, {"{list+1}", "parameter list"}};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *out;
		struct err err = ERR_INIT;

		assert_int_equal(template_check(cases[i].text, values.params, &err), 0);
		assert_int_equal(
			template_expand(&arena, cases[i].text, &values, &out, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, cases[i].message));
	}
	arena_release(&arena);
}

/* "{((((1))))}" with that many pairs, or that many minus signs. */
static char *nested(size_t depth, bool minus)
{
	struct str s = STR_INIT;

	str_add_char(&s, '{');
	for (size_t i = 0; i < depth; i++)
		str_add(&s, minus ? "-" : "(");
	str_add_char(&s, '1');
	for (size_t i = 0; i < depth && !minus; i++)
		str_add_char(&s, ')');
	str_add_char(&s, '}');
	return str_take(&s);
}

static void depth_is_bounded(void **state KB_UNUSED)
{
	for (int minus = 0; minus < 2; minus++) {
		struct err err = ERR_INIT;
		char *fits = nested(30, minus), *deep = nested(33, minus),
		     *silly = nested(200000, minus);

		assert_int_equal(template_check(fits, NULL, &err), 0);
		assert_int_equal(template_check(deep, NULL, &err), ERR_USAGE);
		assert_int_equal(template_check(silly, NULL, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, "nested"));
		free(fits);
		free(deep);
		free(silly);
	}
}

static void length_is_bounded(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct str text = STR_INIT;
	char *value = xmalloc(1001);
	struct pair one[] = {{"p", value}};
	const struct pairs pairs = {one, 1};
	const struct template_values v = {.workers = 1, .cpus = 1, .params = &pairs};
	const char *out;

	memset(value, 'x', 1000);
	value[1000] = '\0';
	for (int i = 0; i < 60; i++)
		str_add(&text, "{p}");
	assert_int_equal(template_expand(&arena, str_text(&text), &v, &out, &err), 0);
	assert_int_equal(strlen(out), 60000);
	for (int i = 0; i < 10; i++)
		str_add(&text, "{p}");
	assert_int_equal(template_expand(&arena, str_text(&text), &v, &out, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "longer"));
	str_release(&text);
	free(value);
	arena_release(&arena);
}

static void uses_are_seen(void **state KB_UNUSED)
{
	assert_true(template_uses("-t {workers}", "workers"));
	assert_true(template_uses("{max(1, 2*(cpus-workers))}", "workers"));
	assert_true(template_uses("{unknown} {workers}", "workers"));
	assert_false(template_uses("{{workers}}", "workers"));
	assert_false(template_uses("workers {cpus}", "workers"));
	assert_false(template_uses("", "workers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_are_expanded),
		cmocka_unit_test(wrong_templates_are_refused),
		cmocka_unit_test(values_that_do_not_work_are_told_when_expanded),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(length_is_bounded),
		cmocka_unit_test(uses_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
