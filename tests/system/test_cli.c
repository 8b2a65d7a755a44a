/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real program as a person calls it: what each verb says of itself, exit codes, wrong usage,
 * and what happens to the answer when it cannot be written.
 */
#include "cli.h"
#include "model/store_rung.h"
#include "model/store_view.h"

static const char means_file[] = "tests/fixtures/import/sembench_bracket.csv";
static const char runs_file[] = "tests/fixtures/import/runs.csv";

/* The verbs, by the overview that the program prints. */
static void list_verbs(struct bench *bench, struct strv *verbs)
{
	const char *line;

	expect_code(bench, 0, "--help");
	for (line = str_text(&bench->out); *line; line += strcspn(line, "\n") + 1) {
		if (str_starts(line, "  ") && line[2] >= 'a' && line[2] <= 'z') {
			char *name = xstrndup(line + 2, strcspn(line + 2, " "));

			strv_add(verbs, name);
			free(name);
		}
		if (!line[strcspn(line, "\n")])
			break;
	}
	assert_true(verbs->count >= 16);
}

static void every_verb_helps(void **state)
{
	struct bench *bench = *state;
	struct strv verbs = STRV_INIT;

	list_verbs(bench, &verbs);
	for (size_t i = 0; i < verbs.count; i++) {
		expect_code(bench, 0, "%s --help", verbs.items[i]);
		expect_text(&bench->out, "Usage: kbracket ");
		expect_text(&bench->out, "--json");
		assert_int_equal(bench->chatter.len, 0);
	}
	expect_code(bench, 0, "%s", "");
	expect_text(&bench->out, "usage: kbracket VERB");
	expect_code(bench, 0, "--version");
	assert_true(str_starts(str_text(&bench->out), "kbracket "));
	strv_release(&verbs);
}

/* The long options in a text, without repetition. Both "--name" and "\-\-name" count. */
static void list_options(const char *text, size_t len, struct strv *out)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-\\";

	for (size_t i = 0; i + 2 < len; i++) {
		size_t skip = strncmp(text + i, "--", 2) == 0	    ? 2
			      : strncmp(text + i, "\\-\\-", 4) == 0 ? 4
								    : 0;
		struct str name = STR_INIT;

		if (!skip || (i && text[i - 1] != ' ' && text[i - 1] != '\n' && text[i - 1] != '"'))
			continue;
		for (i += skip; i < len && text[i] && strchr(letters, text[i]); i++)
			if (text[i] != '\\')
				str_add_char(&name, text[i]);
		if (name.len && !strv_has(out, str_text(&name)))
			strv_add(out, str_text(&name));
		str_release(&name);
	}
}

/* From the heading to the next one of its kind or above. */
static const char *section(const char *page, const char *heading, size_t *len)
{
	const char *start = strstr(page, heading), *end;

	if (!start)
		fail_msg("there is no '%s' in the page", heading);
	start += strlen(heading);
	end = strstr(start, "\n.S");
	*len = end ? (size_t)(end - start) : strlen(start);
	return start;
}

static void check_same(const char *verb, const struct strv *said, const struct strv *written)
{
	for (size_t i = 0; i < said->count; i++)
		if (!strv_has(written, said->items[i]))
			fail_msg("%s --%s is not in kbracket(1)", verb, said->items[i]);
	for (size_t i = 0; i < written->count; i++)
		if (!strv_has(said, written->items[i]))
			fail_msg("kbracket(1) has %s --%s, the program has not", verb,
				written->items[i]);
}

static void the_manual_tells_what_there_is(void **state)
{
	struct bench *bench = *state;
	struct strv verbs = STRV_INIT, global = STRV_INIT;
	struct str page = STR_INIT;
	struct err err = ERR_INIT;
	const char *part, *at;
	size_t len, sections = 0;

	if (file_read("man/kbracket.1", 1 << 20, &page, &err))
		fail_msg("%s", err.text);
	part = section(str_text(&page), "\n.SH GLOBAL OPTIONS\n", &len);
	list_options(part, len, &global);
	list_verbs(bench, &verbs);
	for (size_t i = 0; i < verbs.count; i++) {
		struct strv said = STRV_INIT, written = STRV_INIT;
		char *heading = xasprintf("\n.SS %s\n", verbs.items[i]);

		expect_code(bench, 0, "%s --help", verbs.items[i]);
		part = strstr(str_text(&bench->out), "\nOptions:\n");
		assert_non_null(part);
		/* the paragraph below the options may name some of them */
		at = strstr(part, "\n\n");
		list_options(part, at ? (size_t)(at - part) : strlen(part), &said);
		part = section(str_text(&page), heading, &len);
		list_options(part, len, &written);
		for (size_t g = 0; g < global.count; g++)
			strv_add(&written, global.items[g]);
		check_same(verbs.items[i], &said, &written);
		strv_release(&said);
		strv_release(&written);
		free(heading);
	}
	/* and no verb that is not there */
	for (at = strstr(str_text(&page), ".SH VERBS");
		(at = strstr(at, "\n.SS ")) && at < strstr(str_text(&page), ".SH GLOBAL"); at++)
		sections++;
	assert_int_equal(sections, verbs.count);
	strv_release(&verbs);
	strv_release(&global);
	str_release(&page);
}

static void wrong_usage_is_told(void **state)
{
	static const struct {
		const char *words, *says;
	} cases[] = {
		{"rnu", "did you mean 'run'?"},
		{"report --allow-inconclusve", "did you mean"},
		{"report --results", "needs a value"},
		{"status --every soon", "--every"},
		{"import", "FILE is missing"},
		{"compare 1", "B is missing"},
		{"run", "FILE is missing"},
		{"run nowhere.yaml", "nowhere.yaml"},
		{"report one two", "one argument too many"},
		{"export --format xml", "csv"},
		{"-x report", "unknown option -x"},
		{"report --color sometimes", "auto"},
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		expect_code(bench, 2, "%s", cases[i].words);
		expect_text(&bench->chatter, cases[i].says);
		assert_int_equal(bench->out.len, 0);
	}
	/* nothing was made on the way */
	assert_false(file_exists(bench->results));
}

static void what_is_not_there_is_told(void **state)
{
	struct bench *bench = *state;

	expect_code(bench, 2, "report");
	expect_text(&bench->chatter, "kbracket.db");
	assert_false(file_exists(bench->results));
	expect_code(bench, 0, "import %s --baseline baseline", means_file);
	expect_code(bench, 2, "report 7");
	expect_code(bench, 2, "report sembench-brackt");
	expect_text(&bench->chatter, "sembench-bracket");
	expect_code(bench, 2, "show run 99");
	expect_code(bench, 2, "show boot 99");
	expect_code(bench, 2, "show boot x");
	expect_code(bench, 2, "show build nothing");
	expect_code(bench, 2, "show --spec");
	expect_code(bench, 2, "resume");
	expect_code(bench, 2, "compare baseline v5");
	expect_text(&bench->chatter, "did you mean 'v4'?");
	expect_code(bench, 2, "compare v4 v4");
	expect_code(bench, 2, "import %s --baseline basline", means_file);
	expect_text(&bench->chatter, "did you mean 'baseline'?");
	/* a table without the column against does not say what is compared with what */
	expect_code(bench, 2, "import tests/fixtures/import/shift.csv");
	expect_text(&bench->chatter, "has no column against: name the variant");
}

static void exit_codes_follow_the_verdict(void **state)
{
	struct bench *bench = *state;
	json_t *root;
	struct err err = ERR_INIT;

	expect_code(bench, 0, "import %s --baseline baseline", means_file);
	expect_code(bench, 4, "report");
	expect_text(&bench->out, "+1.98%");
	expect_code(bench, 0, "report --allow-inconclusive");
	expect_code(bench, 4, "report --json");
	assert_int_equal(
		json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err), 0);
	assert_string_equal(json_get_text(json_object_get(root, "summary"), "outcome", ""), "open");
	json_decref(root);
	/* other layouts of the two kernels are compared with each other and count for nothing */
	expect_code(bench, 0, "import tests/fixtures/import/layouts.csv");
	expect_code(bench, 1, "report");
	expect_text(&bench->out, "REGRESSED 2 of 2; worst: patch in fan/stays");
	expect_code(bench, 0, "import tests/fixtures/import/layouts.csv --baseline patch");
	expect_code(bench, 0, "report");
	expect_text(&bench->out, "improved 2 of 2; best: base in fan/stays");
	/* ten per cent more is better, and from the other side ten per cent less */
	expect_code(bench, 0, "import tests/fixtures/import/shift.csv --baseline slow");
	expect_code(bench, 0, "report");
	expect_text(&bench->out, "improved 1 of 1");
	expect_code(bench, 0, "import tests/fixtures/import/shift.csv --baseline fast");
	expect_code(bench, 1, "report");
	expect_text(&bench->out, "REGRESSED 1 of 1");
	expect_code(bench, 1, "compare fast slow --in 4");
	expect_code(bench, 0, "compare slow fast --in 5");
	expect_code(bench, 0, "compare 4 5");
	expect_code(bench, 0, "judge --all");
	expect_code(bench, 2, "judge --all 1");
}

static void export_gives_back_what_was_imported(void **state)
{
	static const struct {
		const char *file, *baseline;
	} cases[] = {{means_file, "baseline"}, {runs_file, "base"}};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str text = STR_INIT;
		struct err err = ERR_INIT;

		assert_int_equal(file_read(cases[i].file, 1 << 20, &text, &err), 0);
		expect_code(bench, 0, "import %s --baseline %s", cases[i].file, cases[i].baseline);
		(void)call(bench, "report");
		expect_code(bench, 0, "export");
		assert_string_equal(str_text(&bench->out), str_text(&text));
		str_release(&text);
	}
}

/* The first failure to write is told, also for a long answer. */
static void an_answer_that_cannot_be_written_is_an_error(void **state)
{
	static const char *const answers[] = {
		"report 1", "export 1", "--help", "show", "--version"};
	struct bench *bench = *state;
	int full = open("/dev/full", O_WRONLY), closed[2];

	assert_true(full > 0);
	expect_code(bench, 0, "import %s --baseline base", runs_file);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		assert_int_equal(call_to(bench, full, answers[i]), 3);
		expect_text(&bench->chatter, "could not be written");
		assert_int_equal(pipe(closed), 0);
		close(closed[0]);
		assert_int_equal(call_to(bench, closed[1], answers[i]), 3);
		expect_text(&bench->chatter, "could not be written");
		close(closed[1]);
	}
	close(full);
}

/* No file of ours takes the place of a stream that the caller closed. */
static void closed_streams_stay_closed(void **state)
{
	static const struct {
		const char *redirect;
		int code;
	} cases[] = {{">&-", 3}, {"2>&-", 0}, {"<&-", 0}, {"<&- >&- 2>&-", 3}};
	struct bench *bench = *state;
	char *path = program();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *script = xasprintf(
			"exec %s --results=%s show %s", path, bench->results, cases[i].redirect);
		const char *const argv[] = {"sh", "-c", script, NULL};
		struct proc_result result = PROC_RESULT_INIT;
		struct err err = ERR_INIT;

		expect_code(bench, 0, "import %s --baseline base", runs_file);
		assert_int_equal(proc_run(&(struct proc_spec){.argv = argv}, &result, &err), 0);
		if (result.exit_code != cases[i].code)
			fail_msg("%s: exit %d", cases[i].redirect, result.exit_code);
		proc_result_release(&result);
		free(script);
	}
	free(path);
}

/* Under `ulimit -f` a write is an error that is told, not a death. */
static void a_file_size_limit_is_told(void **state)
{
	struct bench *bench = *state;
	struct rlimit before, small = {4096, RLIM_INFINITY};

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	expect_code(bench, 3, "import %s --baseline base", runs_file);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect_text(&bench->chatter, "kbracket: ");
	expect_code(bench, 0, "import %s --baseline base", runs_file);
}

static void prune_first_only_tells(void **state)
{
	char before[SHA256_HEX_LEN + 1], after[SHA256_HEX_LEN + 1];
	struct bench *bench = *state;

	expect_code(bench, 0, "import %s --baseline base", runs_file);
	expect_code(bench, 0, "import %s --baseline baseline", means_file);
	hash_of_database(bench, before);
	expect_code(bench, 0, "prune 1");
	expect_text(&bench->out, "would remove experiment 1, two-kernels: 4 boots, 32 runs");
	hash_of_database(bench, after);
	assert_string_equal(before, after);
	expect_code(bench, 0, "report 1");
	hash_of_database(bench, before);
	/* all names are looked up first */
	expect_code(bench, 2, "prune 1 nosuch --yes");
	hash_of_database(bench, after);
	assert_string_equal(before, after);
	expect_code(bench, 0, "prune two-kernels --yes");
	expect_text(&bench->out, "removing experiment 1");
	expect_code(bench, 2, "report 1");
	expect_code(bench, 4, "report 2");
	expect_code(bench, 0, "show");
	assert_null(strstr(str_text(&bench->out), "two-kernels"));
	/* a number stands for one experiment for ever */
	expect_code(bench, 0, "prune 2 --yes");
	expect_code(bench, 0, "import %s --baseline base", runs_file);
	expect_code(bench, 2, "report 2");
	expect_code(bench, 0, "report 3");
}

/* Colours when asked for, never by themselves on a pipe; ASCII unless the locale is UTF-8. */
static void colours_and_characters_follow_the_terminal(void **state)
{
	struct bench *bench = *state;

	expect_code(bench, 0, "import tests/fixtures/import/shift.csv --baseline fast");
	expect_code(bench, 1, "report");
	assert_null(strchr(str_text(&bench->out), '\033'));
	expect_code(bench, 1, "report --color=always");
	expect_text(&bench->out, "\033[1;31mREGRESSED");
	expect_code(bench, 1, "report --color never");
	assert_null(strchr(str_text(&bench->out), '\033'));
	expect_text(&bench->out, "+-");
	assert_int_equal(setenv("LC_ALL", "C.UTF-8", 1), 0);
	expect_code(bench, 1, "report");
	expect_text(&bench->out, "\u00b1");
	assert_int_equal(setenv("LC_ALL", "C", 1), 0);
}

static void status_and_show_read_only(void **state)
{
	struct bench *bench = *state;
	json_t *root;
	struct err err = ERR_INIT;

	expect_code(bench, 0, "import %s --baseline base", runs_file);
	expect_code(bench, 0, "status --json");
	assert_int_equal(
		json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err), 0);
	assert_int_equal(json_get_int(json_object_get(root, "boots"), "done", 0), 4);
	json_decref(root);
	expect_code(bench, 0, "status --follow");
	expect_text(&bench->out, "32 of 32 done");
	expect_code(bench, 0, "show 1");
	expect_text(&bench->out, "patched");
	expect_code(bench, 0, "show boot 2");
	expect_text(&bench->out, "variant: patched");
	expect_code(bench, 0, "show run 1 --json");
	expect_text(&bench->out, "\"samples\"");
}

static void a_boot_shows_its_start_and_how_its_machine_came_back(void **state)
{
	static const struct store_rung steps[] = {
		{"wait", 1000, 60, 61, "nothing", "Connection refused"},
		{"power", 2000, 90, 7, "own", ""}};
	struct bench *bench = *state;
	char *path = path_join(bench->results, "kbracket.db");
	struct arena arena = ARENA_INIT;
	struct store_view view;
	struct store *store;
	struct err err = ERR_INIT;

	expect_code(bench, 0, "import %s --baseline base", runs_file);
	expect_code(bench, 0, "show boot 1");
	expect_text(&bench->out, "start: kexec");
	assert_null(strstr(str_text(&bench->out), "recovery"));
	if (store_open(path, STORE_WRITE, &store, &err) ||
		store_load(store, 1, &arena, &view, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (store_rung_add(store, 1, view.machines[0].id, view.machines[0].boots[1].id,
			    &steps[i], &err))
			fail_msg("%s", err.text);
	store_close(store);
	expect_code(bench, 0, "show boot 2");
	expect_text(&bench->out, "start: cold");
	expect_text(&bench->out, "recovery:");
	expect_text(&bench->out, "step: wait");
	expect_text(&bench->out, "Connection refused");
	expect_text(&bench->out, "step: power");
	expect_text(&bench->out, "found: own");
	arena_release(&arena);
	free(path);
}

static void a_global_option_may_stand_anywhere(void **state)
{
	struct bench *bench = *state;
	char *elsewhere = xasprintf("%s/elsewhere.db", bench->folder);

	expect_code(bench, 0, "--db %s import %s --baseline base", elsewhere, runs_file);
	assert_true(file_exists(elsewhere));
	expect_code(bench, 0, "--json show --db=%s", elsewhere);
	expect_text(&bench->out, "two-kernels");
	free(elsewhere);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(every_verb_helps),
		TEST(the_manual_tells_what_there_is),
		TEST(wrong_usage_is_told),
		TEST(what_is_not_there_is_told),
		TEST(exit_codes_follow_the_verdict),
		TEST(export_gives_back_what_was_imported),
		TEST(an_answer_that_cannot_be_written_is_an_error),
		TEST(closed_streams_stay_closed),
		TEST(a_file_size_limit_is_told),
		TEST(prune_first_only_tells),
		TEST(colours_and_characters_follow_the_terminal),
		TEST(status_and_show_read_only),
		TEST(a_boot_shows_its_start_and_how_its_machine_came_back),
		TEST(a_global_option_may_stand_anywhere),
	};

	(void)setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
