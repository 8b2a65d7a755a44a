/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/wire.h"

static void add_part(struct str *s, const char *name, const char *bytes, size_t len)
{
	wire_add_part(s, name, len);
	str_add_bytes(s, bytes, len);
	str_add_char(s, '\n');
}

static struct str sample(void)
{
	struct str s = STR_INIT;

	wire_add_start(&s);
	add_part(&s, "result", "{}", 2);
	add_part(&s, "stdout", "end 3\n\0part x", 13);
	add_part(&s, "stderr", "", 0);
	wire_add_end(&s, 3);
	return s;
}

/* A copy in memory of exactly that size, so that the sanitizer sees any read beyond it. */
static int parse_copy(const char *bytes, size_t len, struct wire_reply *reply, struct err *err)
{
	char *copy = xmalloc(len ? len : 1);
	int ret;

	memcpy(copy, bytes, len);
	ret = wire_parse(copy, len, reply, err);
	free(copy);
	return ret;
}

static void what_is_written_is_read(void **state KB_UNUSED)
{
	struct str s = sample();
	struct wire_reply reply;
	struct err err = ERR_INIT;

	assert_int_equal(wire_parse(s.text, s.len, &reply, &err), 0);
	assert_int_equal(reply.count, 3);
	assert_int_equal(wire_find(&reply, "stdout")->len, 13);
	assert_memory_equal(wire_find(&reply, "stdout")->bytes, "end 3\n\0part x", 13);
	assert_int_equal(wire_find(&reply, "stderr")->len, 0);
	assert_null(wire_find(&reply, "dmesg"));
	str_release(&s);
}

static void a_cut_reply_is_refused_wherever_it_was_cut(void **state KB_UNUSED)
{
	struct str s = sample();
	struct wire_reply reply = {.count = 77};
	struct err err = ERR_INIT;

	for (size_t len = 0; len < s.len; len++)
		assert_int_equal(parse_copy(s.text, len, &reply, &err), ERR_INFRA);
	assert_int_equal(reply.count, 77);
	assert_int_equal(parse_copy(s.text, s.len, &reply, &err), 0);
	str_release(&s);
}

static void malformed_replies_are_refused(void **state KB_UNUSED)
{
	static const char *const bad[] = {
		"Welcome to m1\nkbracket-reply 1\nend 0\n",
		"kbracket-reply 2\nend 0\n",
		"kbracket-reply 1\nend 1\n",
		"kbracket-reply 1\nend 00\n",
		"kbracket-reply 1\nend 0\n\n",
		"kbracket-reply 1\nend\n",
		"kbracket-reply 1\npart a 1\nx\npart a 1\ny\nend 2\n",
		"kbracket-reply 1\npart a 01\nx\nend 1\n",
		"kbracket-reply 1\npart a +1\nx\nend 1\n",
		"kbracket-reply 1\npart a -1\nx\nend 1\n",
		"kbracket-reply 1\npart a 2\nx\nend 1\n",
		"kbracket-reply 1\npart a 9223372036854775807\nx\nend 1\n",
		"kbracket-reply 1\npart a 99999999999999999999\nx\nend 1\n",
		"kbracket-reply 1\npart  1\nx\nend 1\n",
		"kbracket-reply 1\npart A 1\nx\nend 1\n",
		"kbracket-reply 1\npart ../x 1\nx\nend 1\n",
		"kbracket-reply 1\npart a\nend 1\n",
		"kbracket-reply 1\npart abcdefghijklmnopqrstuvwxyzabcdefg 1\nx\nend 1\n",
		("kbracket-reply 1\npart a 0\n\npart b 0\n\npart c 0\n\npart d 0\n\npart e 0\n\n"
		 "part f 0\n\npart g 0\n\npart h 0\n\npart i 0\n\nend 9\n"),
	};
	struct wire_reply reply;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_copy(bad[i], strlen(bad[i]), &reply, &err), ERR_INFRA);
}

static void noise_of_a_shell_is_told(void **state KB_UNUSED)
{
	const char *noise = "Welcome\033[1m to m1\n";
	struct wire_reply reply;
	struct err err = ERR_INIT;

	assert_int_equal(parse_copy(noise, strlen(noise), &reply, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "Welcome\\x1b[1m to m1"));
	assert_non_null(strstr(err.text, "start-up file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_cut_reply_is_refused_wherever_it_was_cut),
		cmocka_unit_test(malformed_replies_are_refused),
		cmocka_unit_test(noise_of_a_shell_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
