/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/num.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "backend/reader.h"
#include "reading.h"

/*
 * Golden cases: tests/golden/suites/SUITE/CASE holds what a program really printed (stdout, stderr
 * when there was any), the condition it stands for ("CPUS SATURATION NAME") and what must be read
 * from it with suites/SUITE.yaml (expect): "METRIC ORDINAL VALUE UNIT" a line, with "of COUNT"
 * where that many observations are behind it, or the reason. KB_UPDATE_GOLDEN=1 writes expect anew;
 * look at every line of the change then.
 */
static const char cases_dir[] = "tests/golden/suites";

static void must_read_file(const char *path, struct str *out)
{
	struct err err = ERR_INIT;

	if (file_read(path, 1 << 20, out, &err))
		fail_msg("%s", err.text);
}

static const struct condition *find_condition(
	struct arena *arena, const struct suite *suite, const char *text)
{
	struct strv words = STRV_INIT;
	struct condition *conditions;
	const struct condition *found = NULL;
	struct err err = ERR_INIT;
	int64_t cpus = 0;
	double saturation = 0;
	size_t count = 0;

	assert_int_equal(proc_split_words(text, &words, &err), 0);
	assert_int_equal(words.count, 3);
	assert_int_equal(num_int(words.items[0], 1, 10000, &cpus, &err), 0);
	assert_int_equal(num_double(words.items[1], &saturation, &err), 0);
	if (suite_expand(arena, suite, cpus, &saturation, 1, &conditions, &count, &err))
		fail_msg("%s: %s", text, err.text);
	for (size_t i = 0; i < count; i++)
		if (strcmp(conditions[i].spec->name, words.items[2]) == 0)
			found = &conditions[i];
	if (!found)
		fail_msg("%s has no condition %s", suite->name, words.items[2]);
	strv_release(&words);
	return found;
}

static void write_reading(const struct suite *suite, const struct reading *reading, struct str *out)
{
	for (size_t i = 0; i < reading->count; i++) {
		const struct reading_value *value = &reading->values[i];

		str_addf(out, "%s %d ", suite->metrics[value->metric].name, value->ordinal);
		num_add_double(out, value->value);
		str_addf(out, " %s", suite->metrics[value->metric].unit);
		if (value->behind)
			str_addf(out, " of %lld", (long long)value->behind);
		str_add_char(out, '\n');
	}
}

/* What is read in a case's folder. */
static void read_case(const char *folder, const char *suite_path, struct str *seen)
{
	struct str out = STR_INIT, err_out = STR_INIT, condition_text = STR_INIT;
	char *stderr_path = path_join(folder, "stderr"), *stdout_path = path_join(folder, "stdout");
	char *condition_path = path_join(folder, "condition");
	struct program_output output;
	struct reading reading = READING_INIT;
	struct arena arena = ARENA_INIT;
	struct diag diag = DIAG_INIT;
	struct suite suite;
	struct err err = ERR_INIT;

	if (suite_read(&arena, suite_path, &suite, &diag))
		fail_msg("%s", messages(&arena, &diag));
	must_read_file(stdout_path, &out);
	if (file_exists(stderr_path))
		must_read_file(stderr_path, &err_out);
	must_read_file(condition_path, &condition_text);
	output = (struct program_output){out.text, out.len, err_out.text, err_out.len};
	if (reader_read(find_condition(&arena, &suite, str_text(&condition_text)), &output,
		    &reading, &err))
		str_addf(seen, "%s: %s\n", err_code_name(err.code), err.text);
	else
		write_reading(&suite, &reading, seen);
	reading_release(&reading);
	free(stdout_path);
	free(stderr_path);
	free(condition_path);
	str_release(&out);
	str_release(&err_out);
	str_release(&condition_text);
	diag_release(&diag);
	arena_release(&arena);
}

static bool check_case(const char *suite, const char *name)
{
	char *folder = xasprintf("%s/%s/%s", cases_dir, suite, name);
	char *suite_path = xasprintf("suites/%s.yaml", suite);
	char *expect_path = path_join(folder, "expect");
	struct str seen = STR_INIT, expected = STR_INIT;
	bool same;

	read_case(folder, suite_path, &seen);
	if (getenv("KB_UPDATE_GOLDEN")) {
		struct err err = ERR_INIT;

		assert_int_equal(
			file_write_atomic(expect_path, seen.text, seen.len, 0644, &err), 0);
	}
	must_read_file(expect_path, &expected);
	same = strcmp(str_text(&seen), str_text(&expected)) == 0;
	if (!same)
		fprintf(stderr, "# %s gave:\n%s", folder, str_text(&seen));
	str_release(&seen);
	str_release(&expected);
	free(folder);
	free(suite_path);
	free(expect_path);
	return same;
}

static void every_case_reads_as_it_must(void **state KB_UNUSED)
{
	struct strv suites = STRV_INIT;
	struct err err = ERR_INIT;
	size_t cases = 0, wrong = 0;

	assert_int_equal(file_list(cases_dir, &suites, &err), 0);
	for (size_t i = 0; i < suites.count; i++) {
		char *folder = path_join(cases_dir, suites.items[i]);
		struct strv names = STRV_INIT;

		assert_int_equal(file_list(folder, &names, &err), 0);
		for (size_t k = 0; k < names.count; k++) {
			if (strcmp(names.items[k], "README") == 0)
				continue;
			cases++;
			wrong += !check_case(suites.items[i], names.items[k]);
		}
		strv_release(&names);
		free(folder);
	}
	strv_release(&suites);
	assert_int_equal(wrong, 0);
	assert_true(cases >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_reads_as_it_must)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
