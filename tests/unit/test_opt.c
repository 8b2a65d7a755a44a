/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/strv.h"
#include "base/utf8.h"
#include "model/name.h"
#include "model/opt.h"
#include "model/pair.h"
#include "reading.h"

enum colour { RED, GREEN, BLUE };

struct inner {
	int64_t depth;
	const char *note;
};

struct sample {
	bool flag;
	int64_t count;
	double factor;
	const char *text;
	const char *path;
	int64_t bytes;
	int64_t time_ns;
	double pct;
	enum colour colour;
	const char *const *words;
	const char *const *paths;
	double *pcts;
	size_t pct_count;
	struct pairs pairs;
	struct inner inner;
	const char *custom;
	bool help;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static void read_custom(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	const char *text = opt_node_text(ctx, node, row->name);

	((struct sample *)base)->custom = text ? arena_printf(ctx->arena, "<%s>", text) : NULL;
}

static json_t *custom_json(const struct opt *row KB_UNUSED, const void *base)
{
	const char *text = ((const struct sample *)base)->custom;

	return text ? json_stringn(text + 1, strlen(text) - 2) : NULL;
}

/* clang-format off */
#define INNER(member) offsetof(struct inner, member)
static const struct opt inner_rows[] = {
	{"depth", OPT_INT, INNER(depth), .def = "3", .min = 1, .max = 9, .help = "how deep"},
	{"note", OPT_TEXT, INNER(note), .help = "any text"},
	OPT_END};

#define SAMPLE(member) offsetof(struct sample, member)
static const struct opt rows[] = {
	{"flag", OPT_BOOL, SAMPLE(flag), .flag = 'f', .help = "on or off"},
	{"count", OPT_INT, SAMPLE(count), .def = "7", .min = 2, .max = 200, .flag = 'c',
		.help = "how many"},
	{"factor", OPT_DOUBLE, SAMPLE(factor), .def = "1.5", .help = "times this"},
	{"text", OPT_TEXT, SAMPLE(text), .check = name_check, .help = "a name"},
	{"path", OPT_PATH, SAMPLE(path), .help = "a path"},
	{"bytes", OPT_BYTES, SAMPLE(bytes), .def = "64K", .help = "a size"},
	{"time", OPT_DURATION, SAMPLE(time_ns), .def = "2s", .min = 1e6, .max = 60e9,
		.help = "a duration"},
	{"pct", OPT_PCT, SAMPLE(pct), .def = "auto", .automatic = true, .help = "a percentage"},
	{"colour", OPT_CHOICE, SAMPLE(colour), .def = "green", .choices = colours,
		.help = "which colour"},
	{"words", OPT_LIST, SAMPLE(words), .max = 3, .check = name_check, .help = "some names"},
	{"paths", OPT_PATHS, SAMPLE(paths), .help = "some paths"},
	{"pcts", OPT_PCTS, SAMPLE(pcts), .count_offset = SAMPLE(pct_count), .def = "100%",
		.min = 0.01, .max = 1000, .help = "some percentages"},
	{"pairs", OPT_PAIRS, SAMPLE(pairs), .max = 2, .check_key = name_check,
		.check = name_check_line, .help = "names and values"},
	{"inner", OPT_MAP, SAMPLE(inner), .rows = inner_rows, .help = "more"},
	{"custom", OPT_CUSTOM, .read = read_custom, .json = custom_json, .help = "special"},
	OPT_END};

static const struct opt command_rows[] = {
	{"FILE", OPT_PATH, SAMPLE(path), .positional = true, .required = true,
		.help = "the file that is worked on"},
	{"WORD", OPT_LIST, SAMPLE(words), .positional = true, .help = "words to look for"},
	{"flag", OPT_BOOL, SAMPLE(flag), .flag = 'f', .help = "on or off"},
	{"count", OPT_INT, SAMPLE(count), .def = "7", .min = 2, .max = 200, .flag = 'c',
		.help = "how many of the things that this option is about there shall be in the "
			"end, which takes more than one line to say"},
	{"colour", OPT_CHOICE, SAMPLE(colour), .def = "green", .choices = colours,
		.help = "which colour"},
	{"a-rather-long-option-name", OPT_TEXT, SAMPLE(text), .help = "does not fit its column"},
	{"pcts", OPT_PCTS, SAMPLE(pcts), .count_offset = SAMPLE(pct_count), .min = 0.01,
		.max = 1000, .help = "some percentages"},
	{"inner", OPT_MAP, SAMPLE(inner), .rows = inner_rows, .help = "more"},
	{"help", OPT_BOOL, SAMPLE(help), .flag = 'h', .help = "this text"},
	OPT_END};
/* clang-format on */

struct reader {
	struct arena arena;
	struct diag diag;
	struct sample sample;
};

static int read_text(struct reader *r, const char *text)
{
	struct opt_ctx ctx = {&r->arena, "/lab/configs", &r->diag};

	r->sample = (struct sample){0};
	return opt_read_map(&ctx, rows, yaml_of(&r->arena, text), &r->sample, "a sample");
}

static int set_up(void **state)
{
	*state = xcalloc(1, sizeof(struct reader));
	return 0;
}

static int tear_down(void **state)
{
	struct reader *r = *state;

	arena_release(&r->arena);
	diag_release(&r->diag);
	free(r);
	return 0;
}

static void absent_keys_get_defaults(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "{}"), 0);
	assert_false(r->sample.flag);
	assert_int_equal(r->sample.count, 7);
	assert_true(r->sample.factor == 1.5);
	assert_null(r->sample.text);
	assert_int_equal(r->sample.bytes, 65536);
	assert_int_equal(r->sample.time_ns, 2 * NS_PER_S);
	assert_true(r->sample.pct == -1);
	assert_int_equal(r->sample.colour, GREEN);
	assert_non_null(r->sample.words);
	assert_null(r->sample.words[0]);
	assert_int_equal(r->sample.pct_count, 1);
	assert_int_equal(r->sample.inner.depth, 3);
}

static void every_type_is_read(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "flag: true\ncount: 12\nfactor: -0.25\ntext: a.b\n"
				      "path: ../x/y\nbytes: 1.5G\ntime: 250ms\npct: 31.25%\n"
				      "colour: blue\nwords: [one, two]\npaths: [/a, ../../b, c]\n"
				      "pcts: [50%, 25%]\npairs: {k: 'v w', l: 2}\n"
				      "inner: {depth: 9, note: hi}\ncustom: thing\n"),
		ERR_USAGE);
	assert_messages(
		&r->arena, &r->diag, "test.yaml:3:9: factor: -0.25 is out of range: 0 to 1e+300\n");
	assert_int_equal(read_text(r, "flag: true\ncount: 12\nfactor: 0.25\ntext: a.b\n"
				      "path: ../x/y\nbytes: 1.5G\ntime: 250ms\npct: 31.25%\n"
				      "colour: blue\nwords: [one, two]\npaths: [/a, ../../b, c]\n"
				      "pcts: [50%, 25%]\npairs: {k: 'v w', l: 2}\n"
				      "inner: {depth: 9, note: hi}\ncustom: thing\n"),
		0);
	assert_true(r->sample.flag);
	assert_int_equal(r->sample.count, 12);
	assert_string_equal(r->sample.path, "/lab/x/y");
	assert_int_equal(r->sample.bytes, INT64_C(1536) << 20);
	assert_int_equal(r->sample.time_ns, 250 * NS_PER_MS);
	assert_true(r->sample.pct == 31.25);
	assert_int_equal(r->sample.colour, BLUE);
	assert_string_equal(r->sample.words[1], "two");
	assert_null(r->sample.words[2]);
	assert_string_equal(r->sample.paths[0], "/a");
	assert_string_equal(r->sample.paths[1], "/b");
	assert_string_equal(r->sample.paths[2], "/lab/configs/c");
	assert_int_equal(r->sample.pct_count, 2);
	assert_true(r->sample.pcts[1] == 25);
	assert_int_equal(r->sample.pairs.count, 2);
	assert_string_equal(r->sample.pairs.items[0].value, "v w");
	assert_int_equal(r->sample.inner.depth, 9);
	assert_string_equal(r->sample.custom, "<thing>");
}

static void all_mistakes_are_told_with_place_and_nearest_name(void **state)
{
	struct reader *r = *state;

	assert_int_equal(
		read_text(r, "cuont: 3\nflag: yes\ncount: 201\nbytes: 5X\ntime: 30\npct: 12\n"
			     "colour: grey\nwords: [a, b, c, d]\npairs: [x]\ninner: {dept: 2}\n"
			     "text: a/b\npaths: p\nquite_something_else: 1\nfactor: 1e999\n"
			     "custom: [1]\npcts: ['5%,6%', 0%]\npath:\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:1:1: unknown key 'cuont' in a sample; did you mean 'count'?\n"
		"test.yaml:2:7: flag: 'yes' is neither true nor false\n"
		"test.yaml:3:8: count: 201 is out of range: 2 to 200\n"
		"test.yaml:4:8: bytes: '5X' is not a size such as 512M or 2G\n"
		"test.yaml:5:7: time: '30' is not a duration such as 500ms, 30s or 2h\n"
		"test.yaml:6:6: pct: '12' is not a percentage such as 31.25%\n"
		"test.yaml:7:9: colour: 'grey' is not one of: red, green, blue\n"
		"test.yaml:8:8: words has 4 items; at most 3 are allowed\n"
		"test.yaml:9:8: pairs wants a mapping such as {key: value}, not a list\n"
		"test.yaml:10:9: unknown key 'dept' in inner; did you mean 'depth'?\n"
		"test.yaml:11:7: text: 'a/b' is not a name: letters, digits and . _ + - only, a "
		"letter, digit or _ first\n"
		"test.yaml:12:8: paths wants a list such as [a, b], not a single value\n"
		"test.yaml:13:1: unknown key 'quite_something_else' in a sample; known are: flag, "
		"count, factor, text, path, bytes, time, pct, colour, words, paths, pcts, pairs, "
		"inner, custom\n"
		"test.yaml:14:9: factor: '1e999' is not a number\n"
		"test.yaml:15:9: custom wants a single value, not a list\n"
		"test.yaml:16:8: pcts: '5%,6%' is not a percentage such as 31.25%\n"
		"test.yaml:16:17: pcts: 0% is out of range: 0.01% to 1000%\n"
		"test.yaml:17:6: path has no value\n");
}

static void braces_without_quotes_are_explained(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "words: [a, {workers}]\n"), ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "needs quotes"));
}

static void a_missing_required_key_is_told(void **state)
{
	static const struct opt need[] = {
		{"name", OPT_TEXT, SAMPLE(text), .required = true, .help = "who it is"}, OPT_END};
	struct reader *r = *state;
	struct opt_ctx ctx = {&r->arena, NULL, &r->diag};

	assert_int_equal(opt_read_map(&ctx, need, yaml_of(&r->arena, "{}"), &r->sample, "a thing"),
		ERR_USAGE);
	assert_messages(
		&r->arena, &r->diag, "test.yaml:1:1: a thing lacks the key 'name' (who it is)\n");
	assert_int_equal(opt_read_map(&ctx, need, yaml_of(&r->arena, "[a]"), &r->sample, "a thing"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:1:1: a thing wants a mapping such as {key: value}, not a list\n");
}

/* What is written reads as the same, and writing that gives the same text. */
static void written_yaml_reads_as_the_same(void **state)
{
	static const char *const texts[] = {"{}",
		"flag: true\ncount: 12\nfactor: 0.1\ntext: 1e5\npath: '/a b'\nbytes: 1500\n"
		"time: 1500us\npct: 33.3%\ncolour: red\nwords: ['true', '12', _x]\n"
		"pcts: [33.333333333333336%]\npairs: {a: \"x: \\\"y\\\" # \\\\ \\e\\N\\L\\uFEFF\", "
		"b: ' '}\ninner: {note: \"two\\nlines\"}\ncustom: \"- a\"\n",
		"inner: {note: \"\\U0001F600 {a} [b] %c @d !e &f *g |h >i\"}\n"};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct str once = STR_INIT, twice = STR_INIT;
		json_t *json, *again;

		if (i == 1) /* control characters: no line check for this row here */
			r->sample = (struct sample){0};
		assert_int_equal(read_text(r, texts[i]), i == 1 ? ERR_USAGE : 0);
		if (i == 1)
			assert_non_null(strstr(messages(&r->arena, &r->diag), "control"));
		json = opt_json(rows, &r->sample);
		opt_write_yaml(json, &once);
		assert_int_equal(read_text(r, str_text(&once)), 0);
		again = opt_json(rows, &r->sample);
		opt_write_yaml(again, &twice);
		assert_true(json_equal(json, again));
		assert_string_equal(str_text(&once), str_text(&twice));
		json_decref(json);
		json_decref(again);
		str_release(&once);
		str_release(&twice);
	}
}

static void odd_text_survives_being_written(void **state)
{
	static const char *const texts[] = {"", " ", "a b", "null", "~", "no", "1", "-1", "- a",
		"a: b", "a #b", "{x}", "\"", "\\", "\x1b[0m", "\xc2\x85", "\xe2\x80\xa8",
		"\xef\xbb\xbf", "\xf0\x9f\x98\x80", "line\nline\n", "\ttab", "%x", "...", "---",
		"=", "<<", "0x1f"};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct str yaml = STR_INIT;
		json_t *json = json_object();
		const struct ynode *back;

		assert_int_equal(json_object_set_new(json, "k", json_text(texts[i])), 0);
		opt_write_yaml(json, &yaml);
		back = ynode_get(yaml_of(&r->arena, str_text(&yaml)), "k");
		assert_string_equal(back->text, texts[i]);
		assert_false(ynode_is_null(back));
		json_decref(json);
		str_release(&yaml);
	}
}

static void nested_json_is_written_as_blocks(void **state)
{
	struct reader *r = *state;
	struct str yaml = STR_INIT;
	json_t *json = json_pack("{s:[{s:i,s:{s:s}},{s:[s,s]}],s:{},s:[]}", "list", "a", 1, "b",
		"c", "d", "e", "f", "g", "empty", "none");

	opt_write_yaml(json, &yaml);
	assert_string_equal(str_text(&yaml), "list:\n  -\n    a: 1\n    b:\n      c: d\n  -\n"
					     "    e: [f, g]\nempty: {}\nnone: []\n");
	assert_int_equal(ynode_get(yaml_of(&r->arena, str_text(&yaml)), "list")->count, 2);
	json_decref(json);
	str_release(&yaml);
}

static void exact_text_of_values(void **state KB_UNUSED)
{
	static const struct {
		int64_t value;
		const char *time, *size;
	} cases[] = {{0, "0s", "0"}, {1500, "1500ns", "1500"}, {1024, "1024ns", "1K"},
		{90 * NS_PER_S, "90s", "87890625K"}, {2 * 3600 * NS_PER_S, "2h", NULL},
		{INT64_C(3) << 40, NULL, "3T"}, {86400 * NS_PER_S, "1d", NULL}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str time = STR_INIT, size = STR_INIT;

		opt_add_duration(&time, cases[i].value);
		opt_add_bytes(&size, cases[i].value);
		if (cases[i].time)
			assert_string_equal(str_text(&time), cases[i].time);
		if (cases[i].size)
			assert_string_equal(str_text(&size), cases[i].size);
		str_release(&time);
		str_release(&size);
	}
}

static int parse(struct reader *r, struct err *err, const char *words)
{
	struct strv args = STRV_INIT;
	char *copy = xstrdup(words), *save = NULL;
	int ret;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		strv_add(&args, word);
	r->sample = (struct sample){0};
	ret = opt_parse_args(&r->arena, command_rows, strv_argv(&args), &r->sample, err);
	strv_release(&args);
	free(copy);
	return ret;
}

static void command_lines_are_parsed(void **state)
{
	struct reader *r = *state;
	struct err err = ERR_INIT;

	assert_int_equal(
		parse(r, &err, "f.yaml --count 9 --colour=red -f one --pcts 50%,25% two"), 0);
	assert_string_equal(r->sample.path, "f.yaml");
	assert_int_equal(r->sample.count, 9);
	assert_int_equal(r->sample.colour, RED);
	assert_true(r->sample.flag);
	assert_string_equal(r->sample.words[0], "one");
	assert_string_equal(r->sample.words[1], "two");
	assert_null(r->sample.words[2]);
	assert_int_equal(r->sample.pct_count, 2);
	assert_int_equal(parse(r, &err, "f -c12 --depth 4 -- --count -x"), 0);
	assert_int_equal(r->sample.count, 12);
	assert_int_equal(r->sample.inner.depth, 4);
	assert_string_equal(r->sample.words[0], "--count");
	assert_string_equal(r->sample.words[1], "-x");
	assert_int_equal(parse(r, &err, "-fc 13 -"), 0);
	assert_true(r->sample.flag);
	assert_int_equal(r->sample.count, 13);
	assert_string_equal(r->sample.path, "-");
	assert_int_equal(parse(r, &err, "--help"), 0);
	assert_true(r->sample.help);
}

static void wrong_command_lines_are_explained(void **state)
{
	static const struct {
		const char *args, *message;
	} cases[] = {{"f --cuont 3", "unknown option --cuont; did you mean --count?"},
		{"f --zzzzzzzzzz", "unknown option --zzzzzzzzzz; --help lists what there is"},
		{"f --count", "--count needs a value"},
		{"f --count=x", "--count: 'x' is not a whole number"},
		{"f --count 1", "--count: 1 is out of range: 2 to 200"},
		{"f -x", "unknown option -x; --help lists what there is"},
		{"f -f=1", "unknown option -=; --help lists what there is"},
		{"f --flag=1", "--flag takes no value"},
		{"f --colour gre", "--colour: 'gre' is not one of: red, green, blue"},
		{"--flag", "FILE is missing: the file that is worked on"},
		{"f --FILE x", "unknown option --FILE; --help lists what there is"},
		{"f --dep 3", "unknown option --dep; did you mean --depth?"}};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(parse(r, &err, cases[i].args), ERR_USAGE);
		assert_string_equal(err.text, cases[i].message);
	}
}

static void too_many_arguments_are_refused(void **state)
{
	static const struct opt one[] = {
		{"FILE", OPT_TEXT, SAMPLE(text), .positional = true, .help = "a file"}, OPT_END};
	static const char *const args[] = {"a", "b", NULL};
	struct reader *r = *state;
	struct err err = ERR_INIT;

	assert_int_equal(opt_parse_args(&r->arena, one, args, &r->sample, &err), ERR_USAGE);
	assert_string_equal(err.text, "'b' is one argument too many");
	assert_int_equal(opt_parse_args(&r->arena, one, args + 1, &r->sample, &err), 0);
}

static void help_is_aligned_and_80_columns_wide(void **state KB_UNUSED)
{
	struct str help = STR_INIT;

	opt_write_help("kbracket try", command_rows, &help);
	assert_string_equal(str_text(&help),
		"Usage: kbracket try [options] FILE [WORD...]\n"
		"\n"
		"Arguments:\n"
		"  FILE                      the file that is worked on\n"
		"  WORD                      words to look for\n"
		"\n"
		"Options:\n"
		"  -f, --flag                on or off\n"
		"  -c, --count N             how many of the things that this option is about\n"
		"                            there shall be in the end, which takes more than one\n"
		"                            line to say (default 7)\n"
		"      --colour WORD         which colour (red, green, blue) (default green)\n"
		"      --a-rather-long-option-name TEXT\n"
		"                            does not fit its column\n"
		"      --pcts PCT,...        some percentages\n"
		"      --depth N             how deep (default 3)\n"
		"      --note TEXT           any text\n"
		"  -h, --help                this text\n");
	for (char *line = help.text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		assert_true(utf8_columns(line) <= 80);
	}
	str_release(&help);
}

static void names_are_safe_as_file_names(void **state KB_UNUSED)
{
	static const char *const good[] = {"a", "A-1_b+c.d", "_x", "9", "v6.18.8"};
	static const char *const bad[] = {"", ".", "..", ".a", "-a", "+a", "a/b", "a b", "a\nb",
		"a\x1b", "\xc3\xa4", "a:b", "a*b", "a\\b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(name_check(good[i], &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(name_check(bad[i], &err), ERR_USAGE);
}

static void other_words_are_checked(void **state KB_UNUSED)
{
	static const struct {
		opt_check_fn *check;
		const char *text;
		int ret;
	} cases[] = {{name_check_ref, "v6.18.8~2^{tree}", 0}, {name_check_ref, "-n", ERR_USAGE},
		{name_check_ref, "a b", ERR_USAGE}, {name_check_ref, "", ERR_USAGE},
		{name_check_feature, "NO_NI_RANDOM", 0}, {name_check_feature, "NI", 0},
		{name_check_feature, "NO_", ERR_USAGE}, {name_check_feature, "ni", ERR_USAGE},
		{name_check_sysctl, "kernel.sched_schedstats", 0},
		{name_check_sysctl, "kernel/x", ERR_USAGE},
		{name_check_sysctl, "kernel", ERR_USAGE}, {name_check_sysctl, "..", ERR_USAGE},
		{name_check_env, "OMP_NUM_THREADS", 0}, {name_check_env, "9A", ERR_USAGE},
		{name_check_env, "A=B", ERR_USAGE}, {name_check_line, "any text, really", 0},
		{name_check_line, "two\nlines", ERR_USAGE}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err;

		assert_int_equal(cases[i].check(cases[i].text, &err), cases[i].ret);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(absent_keys_get_defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_type_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			all_mistakes_are_told_with_place_and_nearest_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			braces_without_quotes_are_explained, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_missing_required_key_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(written_yaml_reads_as_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_text_survives_being_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			nested_json_is_written_as_blocks, set_up, tear_down),
		cmocka_unit_test(exact_text_of_values),
		cmocka_unit_test_setup_teardown(command_lines_are_parsed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			wrong_command_lines_are_explained, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many_arguments_are_refused, set_up, tear_down),
		cmocka_unit_test(help_is_aligned_and_80_columns_wide),
		cmocka_unit_test(names_are_safe_as_file_names),
		cmocka_unit_test(other_words_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
