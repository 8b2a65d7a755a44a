/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "sys/yaml.h"

static const struct ynode *read_good(struct arena *arena, const char *text)
{
	const struct ynode *root = NULL;
	struct diag diag = DIAG_INIT;
	struct str said = STR_INIT;
	int ret = yaml_read_text(arena, "good.yaml", text, strlen(text), &root, &diag);

	diag_write(&diag, &said);
	assert_string_equal(str_text(&said), "");
	assert_int_equal(ret, 0);
	assert_non_null(root);
	str_release(&said);
	diag_release(&diag);
	return root;
}

/* What is said about a bad text, one line per problem. */
static char *read_bad(const char *text, size_t len)
{
	static const struct ynode untouched;
	const struct ynode *root = &untouched;
	struct arena arena = ARENA_INIT;
	struct diag diag = DIAG_INIT;
	struct str said = STR_INIT;

	assert_int_equal(yaml_read_text(&arena, "f", text, len, &root, &diag), ERR_USAGE);
	assert_ptr_equal(root, &untouched);
	diag_write(&diag, &said);
	diag_release(&diag);
	arena_release(&arena);
	return str_take(&said);
}

static void a_tree_has_positions(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	const struct ynode *root = read_good(&arena, "---\n"
						     "# comment\n"
						     "a: x y\n"
						     "h\xc3\xa9: { n: 1, m: [p, \"q: r\", 's'] }\n"
						     "b:\n"
						     "  - one\n"
						     "  - k: v\n"
						     "    l: |\n"
						     "      two\n"
						     "      \tlines\n"
						     "c:\n");
	const struct ynode *node;

	assert_int_equal(root->kind, YNODE_MAP);
	assert_int_equal(root->count, 4);
	assert_string_equal(root->file, "good.yaml");
	node = ynode_get(root, "a");
	assert_string_equal(node->text, "x y");
	assert_false(node->quoted);
	assert_int_equal(node->line, 3);
	assert_int_equal(node->column, 4);
	node = ynode_get(ynode_get(root, "h\xc3\xa9"), "m");
	assert_int_equal(node->kind, YNODE_SEQ);
	assert_int_equal(node->count, 3);
	assert_int_equal(node->line, 4);
	assert_int_equal(node->column, 16); /* characters, not bytes */
	assert_string_equal(node->items[1]->text, "q: r");
	assert_true(node->items[1]->quoted);
	assert_true(node->items[2]->quoted);
	node = ynode_get(ynode_get(root, "b")->items[1], "l");
	assert_string_equal(node->text, "two\n\tlines\n");
	assert_true(node->quoted);
	assert_true(ynode_is_null(ynode_get(root, "c")));
	assert_string_equal(root->keys[3]->text, "c");
	assert_int_equal(root->keys[3]->line, 11);
	assert_null(ynode_get(root, "none"));
	assert_null(ynode_get(node, "none"));
	assert_null(ynode_get(NULL, "none"));
	arena_release(&arena);
}

static void nothing_is_an_empty_mapping(void **state KB_UNUSED)
{
	static const char *const texts[] = {"", "\n\n", "# only a comment", "\xef\xbb\xbf"};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct ynode *root = read_good(&arena, texts[i]);

		assert_int_equal(root->kind, YNODE_MAP);
		assert_int_equal(root->count, 0);
	}
	arena_release(&arena);
}

static void words_stay_words(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	const struct ynode *root =
		read_good(&arena, "[~, null, '', \"null\", yes, 0x10, 1e3, 2026-01-01, -]\r\n");

	assert_int_equal(root->count, 9);
	assert_true(ynode_is_null(root->items[0]));
	assert_true(ynode_is_null(root->items[1]));
	assert_false(ynode_is_null(root->items[2]));
	assert_false(ynode_is_null(root->items[3]));
	assert_false(ynode_is_null(root));
	assert_string_equal(root->items[4]->text, "yes");
	assert_string_equal(root->items[6]->text, "1e3");
	arena_release(&arena);
}

static void what_is_unsupported_is_refused_with_its_place(void **state KB_UNUSED)
{
	static const struct {
		const char *text;
		const char *said; /* the beginning of one of the lines */
	} cases[] = {
		{"a: 1\nb: &x 2\n", "f:2:4: anchors (&x)"},
		{"a: *x\n", "f:1:4: aliases (*x)"},
		{"a: !!str 1\n", "f:1:4: tags (tag:yaml.org,2002:str)"},
		{"a: ! b\n", "f:1:4: tags (!)"},
		{"%YAML 1.1\n---\na: 1\n", "f:1:1: directives"},
		{"%TAG ! tag:x,2026:\n---\na: 1\n", "f:1:1: directives"},
		{"a: 1\n---\nb: 2\n", "f:2:1: a second document"},
		{"a: 1\nb: 2\na: 3\n", "f:3:1: 'a' is already there at line 1"},
		{"x: {k: 1, \"k\": 2}\n", "f:1:11: 'k' is already there at line 1"},
		{"? [a, b]\n: 1\n", "f:1:3: a key must be a plain word"},
		{"{a: 1}: 2\n", "f:1:1: a key must be a plain word"},
		{": 1\n", "f:1:1: did not find expected key"},
		{"'': 1\n", "f:1:1: a key is missing"},
		{"a:\n\tb: 1\n", "f:2:1: a tab is used as indentation"},
		{"a:\n  b:\n  \tc: 1\n", "f:3:3: a tab is used as indentation"},
		{"a: [\n\t1,\n\t2]\n", "f:3:1: a tab is used as indentation"},
		{"a: b\n\tc\n", "f:2:1: a tab is used as indentation"},
		{"a: [1, 2\n", "f:2:1: did not find expected ',' or ']'"},
		{"a: b: c\n", "f:1:5: mapping values are not allowed"},
		{"a: \"b\n", "f:2:1: found unexpected end of stream"},
		{"a: 1\n b: 2\n", "f:2:3: mapping values are not allowed"},
		{"a: \"x\\0y\"\n", "f:1:4: a text may not hold a NUL"},
		{"a: \"\\q\"\n", "f:1:5: found unknown escape character"},
		{"a: 1\rb: 2\n", "f:1:5: a carriage return alone"},
		{"h\xc3\xa9llo: w\xff\n", "f:1:9: this byte (0xff) is not valid UTF-8"},
		{"a: 1\n\xc3", "f:2:1: this byte (0xc3) is not valid UTF-8"},
		{"a: 1\nb: \xe2\x80\xa8x\n", "f:2:4: the character U+2028"},
		{"a: \x1b[31m\n", "f:1:4: the character U+001B"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *said = read_bad(cases[i].text, strlen(cases[i].text));

		if (!strstr(said, cases[i].said))
			fail_msg("for: %s\nwanted: %s\nsaid: %s", cases[i].text, cases[i].said,
				said);
		free(said);
	}
}

static void every_problem_is_told(void **state KB_UNUSED)
{
	static const char text[] = "a: &x 1\na: 2\nb: *x\nc: !t 3\nd: [\n";
	static const char *const places[] = {"f:1:4: ", "f:2:1: ", "f:3:4: ", "f:4:4: ", "f:6:1: "};
	char *said = read_bad(text, strlen(text));

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!strstr(said, places[i]))
			fail_msg("wanted: %s\nsaid: %s", places[i], said);
	free(said);
}

static void an_alias_bomb_does_nothing(void **state KB_UNUSED)
{
	struct str text = STR_INIT;
	char *said;

	str_add(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 60; i++) {
		str_addf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 9; k++)
			str_addf(&text, "%s*a%d", k ? ", " : "", i - 1);
		str_add(&text, "]\n");
	}
	said = read_bad(text.text, text.len);
	assert_non_null(strstr(said, "f:1:5: anchors"));
	assert_non_null(strstr(said, "f:2:10: aliases"));
	free(said);
	str_release(&text);
}

static void size_depth_and_count_are_bounded(void **state KB_UNUSED)
{
	struct str text = STR_INIT;
	struct arena arena = ARENA_INIT;
	char *said;

	for (int i = 0; i < 64; i++)
		str_add_char(&text, '[');
	for (int i = 0; i < 64; i++)
		str_add_char(&text, ']');
	(void)read_good(&arena, text.text);
	str_reset(&text);
	for (int i = 0; i < 65; i++)
		str_add_char(&text, '[');
	for (int i = 0; i < 65; i++)
		str_add_char(&text, ']');
	said = read_bad(text.text, text.len);
	assert_string_equal(said, "f:1:65: values are nested deeper than 64 levels\n");
	free(said);
	str_reset(&text);
	for (int i = 0; i < 200000; i++)
		str_add(&text, "[\n");
	said = read_bad(text.text, text.len);
	assert_string_equal(said, "f:65:1: values are nested deeper than 64 levels\n");
	free(said);
	str_reset(&text);
	for (int i = 0; i < 100000; i++)
		str_add(&text, "- a\n");
	said = read_bad(text.text, text.len);
	assert_string_equal(said, "f:100000:3: the file has more than 100000 values\n");
	free(said);
	str_reset(&text);
	while (text.len <= 1 << 20)
		str_add(&text,
			"# a comment that fills the file, and fills the file, and fills it\n");
	said = read_bad(text.text, text.len);
	assert_string_equal(said, "f:1:1: the file is larger than 1 MiB\n");
	free(said);
	str_release(&text);
	arena_release(&arena);
}

static void many_keys_are_compared_quickly(void **state KB_UNUSED)
{
	struct str text = STR_INIT;
	struct arena arena = ARENA_INIT;

	for (int i = 0; i < 49000; i++)
		str_addf(&text, "key%d: %d\n", i, i);
	assert_int_equal(read_good(&arena, text.text)->count, 49000);
	str_release(&text);
	arena_release(&arena);
}

static void files_are_read(void **state KB_UNUSED)
{
	const struct ynode *root = NULL;
	char path[] = "/tmp/kb-test-XXXXXX";
	struct arena arena = ARENA_INIT;
	struct diag diag = DIAG_INIT;
	struct err err = ERR_INIT;
	struct str said = STR_INIT;

	(void)close(mkstemp(path));
	assert_int_equal(file_write_atomic(path, "a: 1\n", 5, 0644, &err), 0);
	assert_int_equal(yaml_read_file(&arena, path, &root, &diag), 0);
	assert_string_equal(ynode_get(root, "a")->text, "1");
	assert_string_equal(root->file, path);
	assert_int_equal(truncate(path, 10 << 20), 0);
	assert_int_equal(yaml_read_file(&arena, path, &root, &diag), ERR_USAGE);
	assert_int_equal(yaml_read_file(&arena, "/nonexistent.yaml", &root, &diag), ERR_USAGE);
	assert_int_equal(yaml_read_file(&arena, "/tmp", &root, &diag), ERR_USAGE);
	diag_write(&diag, &said);
	assert_non_null(strstr(str_text(&said), ":1:1: the file is larger than 1 MiB"));
	assert_non_null(strstr(str_text(&said), "/nonexistent.yaml: cannot open"));
	assert_non_null(strstr(str_text(&said), "/tmp: "));
	assert_int_equal(diag.count, 3);
	(void)unlink(path);
	str_release(&said);
	diag_release(&diag);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_has_positions),
		cmocka_unit_test(nothing_is_an_empty_mapping),
		cmocka_unit_test(words_stay_words),
		cmocka_unit_test(what_is_unsupported_is_refused_with_its_place),
		cmocka_unit_test(every_problem_is_told),
		cmocka_unit_test(an_alias_bomb_does_nothing),
		cmocka_unit_test(size_depth_and_count_are_bounded),
		cmocka_unit_test(many_keys_are_compared_quickly),
		cmocka_unit_test(files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
