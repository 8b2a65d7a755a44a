/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "base/utf8.h"

static void numbers_are_strict(void **state KB_UNUSED)
{
	static const char *const bad_ints[] = {
		"", " 1", "1 ", "1x", "+1", "0x10", "99999999999999999999", "-"};
	static const char *const bad_doubles[] = {
		"", "nan", "inf", "1e999", "0x1p3", "1,5", ".", "1.5.2", " 1"};
	struct err err;
	int64_t i = 7;
	double d = 7;

	for (size_t k = 0; k < ARRAY_SIZE(bad_ints); k++)
		assert_int_equal(num_int(bad_ints[k], INT64_MIN, INT64_MAX, &i, &err), ERR_USAGE);
	for (size_t k = 0; k < ARRAY_SIZE(bad_doubles); k++)
		assert_int_equal(num_double(bad_doubles[k], &d, &err), ERR_USAGE);
	assert_int_equal(i, 7);
	assert_true(d == 7);
	assert_int_equal(num_int("-12", -12, 0, &i, &err), 0);
	assert_int_equal(i, -12);
	assert_int_equal(num_int("13", 0, 12, &i, &err), ERR_USAGE);
	assert_int_equal(num_double("-1.5e3", &d, &err), 0);
	assert_true(d == -1500);
}

static void units_are_read(void **state KB_UNUSED)
{
	struct err err;
	int64_t v;
	double pct;

	assert_int_equal(num_bytes("2G", &v, &err), 0);
	assert_int_equal(v, INT64_C(2) << 30);
	assert_int_equal(num_bytes("1.5KiB", &v, &err), 0);
	assert_int_equal(v, 1536);
	assert_int_equal(num_bytes("2 G", &v, &err), ERR_USAGE);
	assert_int_equal(num_duration_ns("500ms", &v, &err), 0);
	assert_int_equal(v, 500 * NS_PER_MS);
	assert_int_equal(num_duration_ns("30", &v, &err), ERR_USAGE);
	assert_int_equal(num_duration_ns("-3s", &v, &err), ERR_USAGE);
	assert_int_equal(num_duration_ns("1e30d", &v, &err), ERR_USAGE);
	assert_int_equal(num_pct("31.25%", 100, &pct, &err), 0);
	assert_true(pct == 31.25);
	assert_int_equal(num_pct("31.25", 100, &pct, &err), ERR_USAGE);
	assert_int_equal(num_pct("101%", 100, &pct, &err), ERR_USAGE);
}

static void durations_are_written_for_people(void **state KB_UNUSED)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {{350 * NS_PER_MS, "350 ms"}, {4200 * NS_PER_MS, "4.2 s"},
		{59 * NS_PER_S, "59 s"}, {200 * NS_PER_S, "3 min 20 s"},
		{3840 * NS_PER_S, "1 h 04 min"}, {999999, "1 ms"}, {999600 * 1000, "1.0 s"},
		{9999 * NS_PER_MS, "10 s"}, {-5 * NS_PER_S, "-5.0 s"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str s = STR_INIT;

		num_add_duration(&s, cases[i].ns);
		assert_string_equal(str_text(&s), cases[i].text);
		str_release(&s);
	}
}

static void percentages_are_never_too_long(void **state KB_UNUSED)
{
	static const struct {
		double pct;
		int decimals;
		bool signs;
		const char *text;
	} cases[] = {{12.25, 1, false, "12.2"}, {12.25, 2, true, "+12.25"}, {-0.5, 0, true, "-0"},
		{999999, 1, true, "+999999.0"}, {1710000, 2, true, "+1.71e+06"},
		{-2e300, 1, false, "-2e+300"}, {HUGE_VAL, 1, true, ">1e308"},
		{-HUGE_VAL, 1, false, "<-1e308"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(
			num_say_pct(cases[i].pct, cases[i].decimals, cases[i].signs).text,
			cases[i].text);
}

static void doubles_survive_text(void **state KB_UNUSED)
{
	static const double values[] = {0.1, 1.0 / 3, 1e-12, 1e15, 2668465, -0.0047};
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct str s = STR_INIT;
		double back;

		num_add_double(&s, values[i]);
		assert_int_equal(num_double(str_text(&s), &back, &err), 0);
		assert_true(back == values[i]);
		str_release(&s);
	}
}

static void sha256_known_answers(void **state KB_UNUSED)
{
	char hex[SHA256_HEX_LEN + 1];
	struct sha256 hash;

	sha256_of("abc", 3, hex);
	assert_string_equal(
		hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_of("", 0, hex);
	assert_string_equal(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_init(&hash);
	for (int i = 0; i < 1000000; i++)
		sha256_add(&hash, "a", 1);
	sha256_hex(&hash, hex);
	assert_string_equal(
		hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* However the bytes come in, and whether a block is whole in one piece or not. */
static void sha256_does_not_care_about_pieces(void **state KB_UNUSED)
{
	static const size_t pieces[] = {1, 63, 64, 65, 127, 128, 1000};
	char whole[SHA256_HEX_LEN + 1], hex[SHA256_HEX_LEN + 1];
	unsigned char bytes[1000];
	struct sha256 hash;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	sha256_of(bytes, sizeof(bytes), whole);
	for (size_t p = 0; p < ARRAY_SIZE(pieces); p++) {
		sha256_init(&hash);
		for (size_t at = 0; at < sizeof(bytes); at += pieces[p]) {
			size_t left = sizeof(bytes) - at;

			sha256_add(&hash, bytes + at, left < pieces[p] ? left : pieces[p]);
		}
		sha256_hex(&hash, hex);
		assert_string_equal(hex, whole);
	}
}

static void sha256_keeps_fields_apart(void **state KB_UNUSED)
{
	static const char *const lists[][3] = {{"a", "bc", ""}, {"ab", "c", ""}, {"abc", "", ""},
		{NULL, "x", "\1y"}, {"\1x", NULL, "y"}, {NULL, "x", "-y"}, {"-x", NULL, "y"},
		{NULL, NULL, ""}, {"", NULL, NULL}};
	char hex[ARRAY_SIZE(lists)][SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct sha256 hash;

		sha256_init(&hash);
		for (size_t k = 0; k < 3; k++)
			sha256_add_field(&hash, lists[i][k]);
		sha256_hex(&hash, hex[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hex[i], hex[k]);
	}
}

static void utf8_is_judged(void **state KB_UNUSED)
{
	static const char *const bad[] = {
		"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82"};

	assert_int_equal(utf8_valid_prefix("gr\xc3\xbc\xc3\x9f", 6), 6);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(utf8_valid_prefix(bad[i], strlen(bad[i])), 0);
}

static void hostile_text_is_made_safe(void **state KB_UNUSED)
{
	static const char text[] = "a\x1b[31m\n\xe2\x80\xae\xff\xc2\x9b z";
	struct str s = STR_INIT;

	str_add_safe(&s, text, sizeof(text) - 1);
	assert_string_equal(str_text(&s), "a\\x1b[31m\\x0a\\xe2\\x80\\xae\\xff\\xc2\\x9b z");
	str_release(&s);
}

static void nearest_name(void **state KB_UNUSED)
{
	assert_int_equal(str_distance("saturaton", "saturation"), 1);
	assert_int_equal(str_distance("ab", "ba"), 1);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
}

static void files_are_whole_or_absent(void **state)
{
	const char *dir = *state;
	char *path = path_join(dir, "a/b/file"), *sub = path_join(dir, "a/b");
	struct str text = STR_INIT;
	struct err err;

	assert_int_equal(file_mkdirs(sub, 0755, &err), 0);
	assert_int_equal(file_write_atomic(path, "one", 3, 0640, &err), 0);
	assert_int_equal(file_write_atomic(path, "three", 5, 0640, &err), 0);
	assert_int_equal(file_read(path, 5, &text, &err), 0);
	assert_string_equal(str_text(&text), "three");
	assert_int_equal(file_read(path, 4, &text, &err), ERR_USAGE);
	assert_string_equal(str_text(&text), "three");
	assert_int_equal(file_read(sub, 100, &text, &err), ERR_USAGE);
	assert_int_equal(file_write_atomic("/proc/nowhere/x", "", 0, 0644, &err), ERR_INFRA);
	str_release(&text);
	free(path);
	free(sub);
}

static void removing_a_tree_does_not_follow_links(void **state)
{
	const char *dir = *state;
	char *keep = path_join(dir, "keep"), *victim = path_join(dir, "victim");
	char *link = path_join(victim, "link");
	struct err err;

	assert_int_equal(file_write_atomic(keep, "x", 1, 0644, &err), 0);
	assert_int_equal(file_mkdirs(victim, 0755, &err), 0);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(file_remove_tree(victim, &err), 0);
	assert_false(file_exists(victim));
	assert_true(file_exists(keep));
	assert_int_equal(file_remove_tree(victim, &err), 0);
	free(keep);
	free(victim);
	free(link);
}

static void a_lock_excludes_and_dies_with_its_holder(void **state)
{
	char *path = path_join(*state, "lock");
	struct file_lock lock = FILE_LOCK_INIT;
	struct err err;
	int pipes[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		if (file_lock_take(&lock, path, 0, &err) == 0)
			(void)!write(pipes[1], "x", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(file_lock_take(&lock, path, 0, &err), ERR_TIMEOUT);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(file_lock_take(&lock, path, 0, &err), 0);
	file_lock_release(&lock);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	free(path);
}

static void errors_gather_clauses(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	assert_int_equal(err_set(&err, ERR_TIMEOUT, "exit %d", 255), ERR_TIMEOUT);
	assert_int_equal(err_wrap(&err, "machine '%s'", "m1"), ERR_TIMEOUT);
	assert_string_equal(err.text, "machine 'm1': exit 255");
	assert_int_equal(err_set(NULL, ERR_USAGE, "x"), ERR_USAGE);
}

static void an_arena_keeps_what_it_is_given(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	char *big = arena_alloc(&arena, 100000), *texts[1000];

	memset(big, 'x', 100000);
	for (int i = 0; i < 1000; i++)
		texts[i] = arena_printf(&arena, "text %d", i);
	assert_string_equal(texts[0], "text 0");
	assert_string_equal(texts[999], "text 999");
	assert_null(arena_copy(&arena, texts, 0, 8));
	arena_release(&arena);
	assert_null(arena.chunk);
}

static int make_dir(void **state)
{
	char name[] = "/tmp/kb-test-XXXXXX";

	*state = mkdtemp(name) ? xstrdup(name) : NULL;
	return *state ? 0 : -1;
}

static int drop_dir(void **state)
{
	struct err err;
	int ret = file_remove_tree(*state, &err);

	free(*state);
	return ret;
}

/* Neither waited for nor read for ever. */
static void only_regular_files_are_read(void **state)
{
	char *fifo = path_join(*state, "fifo"), *copy = path_join(*state, "copy");
	const char *const others[] = {fifo, "/dev/zero", *state};
	char hex[SHA256_HEX_LEN + 1];

	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct str text = STR_INIT;
		struct err err = ERR_INIT;

		assert_int_equal(sha256_of_file(others[i], hex, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, "is not a regular file"));
		assert_int_equal(file_copy(others[i], copy, &err), ERR_USAGE);
		assert_int_equal(file_read(others[i], 10, &text, &err), ERR_USAGE);
	}
	assert_false(file_exists(copy));
	free(fifo);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(units_are_read),
		cmocka_unit_test(durations_are_written_for_people),
		cmocka_unit_test(percentages_are_never_too_long),
		cmocka_unit_test(doubles_survive_text),
		cmocka_unit_test(sha256_known_answers),
		cmocka_unit_test(sha256_does_not_care_about_pieces),
		cmocka_unit_test(sha256_keeps_fields_apart),
		cmocka_unit_test(utf8_is_judged),
		cmocka_unit_test(hostile_text_is_made_safe),
		cmocka_unit_test(nearest_name),
		cmocka_unit_test_setup_teardown(files_are_whole_or_absent, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(only_regular_files_are_read, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(
			removing_a_tree_does_not_follow_links, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(
			a_lock_excludes_and_dies_with_its_holder, make_dir, drop_dir),
		cmocka_unit_test(errors_gather_clauses),
		cmocka_unit_test(an_arena_keeps_what_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
