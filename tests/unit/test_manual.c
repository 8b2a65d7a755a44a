/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/strv.h"
#include "model/experiment.h"
#include "reading.h"

/*
 * man/kbracket-config.5 against the option tables: every key of every table is in the page under
 * the comment line `.\" table NAME`, and nothing else is; defaults and "Required." agree; reasons
 * and policies agree; the examples (`.\" example FILE`) make a lab that is read without a word.
 */
static const char page_path[] = "man/kbracket-config.5";

struct page {
	struct str text;
	char **lines;
	size_t count, capacity;
};

static int read_page(void **state)
{
	struct page *page = xcalloc(1, sizeof(*page));
	struct err err = ERR_INIT;
	char *save = NULL;

	if (file_read(page_path, 1 << 20, &page->text, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (char *line = strtok_r(page->text.text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		GROW(page->lines, page->count, page->capacity);
		page->lines[page->count++] = line;
	}
	*state = page;
	return 0;
}

static int free_page(void **state)
{
	struct page *page = *state;

	free(page->lines);
	str_release(&page->text);
	free(page);
	return 0;
}

/* The line after the comment, or the end. */
static size_t find_comment(const struct page *page, const char *kind, const char *name)
{
	char *wanted = xasprintf(".\\\" %s %s", kind, name);
	size_t at = 0;

	while (at < page->count && strcmp(page->lines[at], wanted) != 0)
		at++;
	if (at == page->count)
		fail_msg("the manual has no line %s", wanted);
	free(wanted);
	return at + 1;
}

/* The key of an ".It Ic key" line, or NULL. */
static char *key_of(const char *line)
{
	if (!str_starts(line, ".It Ic "))
		return NULL;
	return xstrndup(line + 7, strcspn(line + 7, " "));
}

/* The text of an item, up to the next item or the end of the list. */
static char *item_text(const struct page *page, size_t at)
{
	struct str text = STR_INIT;

	for (at++; at < page->count && !str_starts(page->lines[at], ".It ") &&
		   strcmp(page->lines[at], ".El") != 0;
		at++)
		str_addf(&text, "%s\n", page->lines[at]);
	return str_take(&text);
}

/* The line of a key in the list that begins at or after the line; 0 when it is not there. */
static size_t find_key(const struct page *page, size_t at, const char *wanted)
{
	for (; at < page->count && strcmp(page->lines[at], ".El") != 0; at++) {
		char *key = key_of(page->lines[at]);
		bool same = key && strcmp(key, wanted) == 0;

		free(key);
		if (same)
			return at;
	}
	return 0;
}

static void check_row(
	const struct page *page, const char *table, size_t list, const struct opt *row)
{
	size_t at = find_key(page, list, row->name);
	char *text, *wanted;

	if (!at)
		fail_msg("the manual lacks %s: %s", table, row->name);
	text = item_text(page, at);
	wanted = xasprintf("Default: %s.\n", row->def ? row->def : "");
	/* what variants repeat is told where it stands first */
	if (row->def && *row->def && *text && !strstr(text, wanted) && !strstr(text, "As above"))
		fail_msg("the manual's %s: %s does not say '%s'", table, row->name, wanted);
	if (!(row->def && *row->def) && strstr(text, "Default: "))
		fail_msg("the manual's %s: %s tells of a default", table, row->name);
	if (row->required != str_starts(text, "Required.\n"))
		fail_msg("the manual's %s: %s and 'Required.' disagree", table, row->name);
	free(wanted);
	free(text);
}

static void check_table(const struct page *page, const char *name, const struct opt *rows)
{
	size_t list = find_comment(page, "table", name);

	for (const struct opt *row = rows; row->name; row++) {
		check_row(page, name, list, row);
		if (row->rows)
			check_table(page, row->name, row->rows);
	}
	for (size_t at = list; strcmp(page->lines[at], ".El") != 0; at++) {
		char *key = key_of(page->lines[at]);
		bool known = !key;

		for (const struct opt *row = rows; row->name && !known; row++)
			known = strcmp(row->name, key) == 0;
		if (!known)
			fail_msg("the manual has %s: %s, which no table knows", name, key);
		free(key);
	}
}

static void keys_of_all_files_are_in_the_manual(void **state)
{
	check_table(*state, "experiment", experiment_opts);
	check_table(*state, "kernels", kernels_opts);
	check_table(*state, "machine", machine_opts);
	check_table(*state, "ssh", ssh_opts);
	check_table(*state, "suite", suite_opts);
}

static void every_table_of_the_manual_is_known(void **state)
{
	static const char *const known[] = {"experiment", "design", "gates", "kernels", "config",
		"variants", "prebuilt", "machine", "connect", "power", "suite", "conditions",
		"metrics", "echo", "tune", "temperature", "hooks", "ssh"};
	const struct page *page = *state;

	for (size_t i = 0; i < page->count; i++) {
		const char *name = page->lines[i] + strlen(".\\\" table ");
		bool found = !str_starts(page->lines[i], ".\\\" table ");

		for (size_t k = 0; k < ARRAY_SIZE(known) && !found; k++)
			found = strcmp(known[k], name) == 0;
		if (!found)
			fail_msg("table %s in the manual", name);
	}
}

static void reasons_are_in_the_manual(void **state)
{
	const struct page *page = *state;
	size_t list = 0, items = 0;

	while (strcmp(page->lines[list], ".\\\" reasons") != 0)
		assert_true(++list < page->count);
	for (size_t i = 0; i < validity_reason_count; i++) {
		size_t at = find_key(page, list, validity_reasons[i].name);
		char *text, *wanted;

		if (!at)
			fail_msg("the manual lacks the reason %s", validity_reasons[i].name);
		text = item_text(page, at);
		wanted = xasprintf("; %s.\n", flag_policy_name(validity_reasons[i].policy));
		if (!strstr(text, wanted))
			fail_msg("the manual's %s does not say '%s'", validity_reasons[i].name,
				wanted);
		free(wanted);
		free(text);
	}
	for (size_t at = list; strcmp(page->lines[at], ".El") != 0; at++)
		items += str_starts(page->lines[at], ".It Ic ");
	assert_int_equal(items, validity_reason_count);
}

/* The text of a literal display, without roff's escapes. */
static void display_text(const struct page *page, size_t at, struct str *out)
{
	assert_true(str_starts(page->lines[at], ".Bd -literal"));
	for (at++; strcmp(page->lines[at], ".Ed") != 0; at++) {
		const char *c = page->lines[at];

		for (; *c; c++) {
			if (*c == '\\') {
				c++;
				assert_true(*c == '-' || *c == 'e' || *c == '&');
			}
			if (c[0] != '&' || c[-1] != '\\')
				str_add_char(out, *c == 'e' && c[-1] == '\\' ? '\\' : *c);
		}
		str_add_char(out, '\n');
	}
}

static void write_example(const struct page *page, size_t at, const char *lab, const char *name)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	char *path = path_join(lab, name), *dir = path_dir(path);

	display_text(page, at, &text);
	assert_int_equal(file_mkdirs(dir, 0700, &err), 0);
	assert_int_equal(file_write_atomic(path, text.text, text.len, 0600, &err), 0);
	str_release(&text);
	free(dir);
	free(path);
}

static void the_examples_make_a_lab(void **state)
{
	static const char mark[] = ".\\\" example ";
	const struct page *page = *state;
	struct arena arena = ARENA_INIT;
	struct experiment e;
	struct diag diag = DIAG_INIT;
	struct err err = ERR_INIT;
	char lab[] = "/tmp/kb-manual-XXXXXX", *path;
	int examples = 0;

	assert_non_null(mkdtemp(lab));
	for (size_t i = 0; i < page->count; i++) {
		if (!str_starts(page->lines[i], mark))
			continue;
		write_example(page, i + 1, lab, page->lines[i] + strlen(mark));
		examples++;
	}
	assert_int_equal(examples, 5);
	path = path_join(lab, "configs/newidle.yaml");
	if (experiment_read(&arena, path, &e, &diag))
		fail_msg("%s", messages(&arena, &diag));
	assert_int_equal(e.machine_count, 2);
	assert_int_equal(e.variant_count, 4);
	free(path);
	assert_int_equal(file_remove_tree(lab, &err), 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			keys_of_all_files_are_in_the_manual, read_page, free_page),
		cmocka_unit_test_setup_teardown(
			every_table_of_the_manual_is_known, read_page, free_page),
		cmocka_unit_test_setup_teardown(reasons_are_in_the_manual, read_page, free_page),
		cmocka_unit_test_setup_teardown(the_examples_make_a_lab, read_page, free_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
