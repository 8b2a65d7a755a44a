/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Published measurements: what their authors printed has to come out again, and
 * what can be concluded from them. tests/fixtures/published/README.md. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/num.h"
#include "base/str.h"
#include "stat/bracket.h"
#include "stat/describe.h"
#include "stat/drift.h"
#include "near.h"

#define FIXTURES "tests/fixtures/published/"
#define PUBLISHED_CV 0.0124

enum { MAX_ROWS = 128, MAX_COLUMNS = 10 };

/* A small CSV file without quoted fields. */
struct table {
	struct str text;
	size_t rows;
	char *cell[MAX_ROWS][MAX_COLUMNS];
};

static void table_read(struct table *table, const char *name)
{
	struct err err = ERR_INIT;
	char *line, *rest, *field;

	memset(table, 0, sizeof(*table));
	if (file_read(name, 1 << 20, &table->text, &err) != 0)
		fail_msg("%s", err.text);
	rest = table->text.text;
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) != NULL && table->rows < MAX_ROWS) {
		for (size_t c = 0; c < MAX_COLUMNS && (field = strsep(&line, ",")) != NULL; c++)
			table->cell[table->rows][c] = field;
		table->rows += table->cell[table->rows][0][0] != 0;
	}
}

static double number(const char *text)
{
	struct err err = ERR_INIT;
	double value;

	if (num_double(text, &value, &err) != 0)
		fail_msg("%s", err.text);
	return value;
}

/* The three boots of one worker count as published: means of nine runs. */
static size_t bracket_of(const char *workers, double cv, struct bracket_boot *boots)
{
	struct table table;
	size_t n = 0;

	table_read(&table, FIXTURES "sembench_bracket.csv");
	for (size_t i = 0; i < table.rows; i++) {
		char **cell = table.cell[i];

		if (strcmp(cell[0], workers) != 0)
			continue;
		boots[n] = (struct bracket_boot){.arm = strcmp(cell[2], "baseline") != 0,
			.t = number(cell[1]),
			.runs = (size_t)number(cell[4]),
			.mean_ln = log(number(cell[5])),
			.var_ln = cv * cv};
		n++;
	}
	str_release(&table.text);
	return n;
}

static void gain_and_drift(void **state KB_UNUSED)
{
	static const struct {
		const char *workers;
		double gain, drift;
	} rows[] = {{"815", 1.98, 0.47}, {"8", 7.68, 0.22}};
	struct bracket_boot boots[3];
	struct bracket e;
	struct drift drift;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(bracket_of(rows[i].workers, NAN, boots), 3);
		bracket_effect(boots, 3, 0, 1, NULL, &e);
		drift_of_arm(boots, 3, 0, &drift);
		assert_near(describe_pct_of_ln(e.d), rows[i].gain, 0.005);
		assert_near(100 * drift.ratio, rows[i].drift, 0.005);
		/* Three boots, no history: the numbers, and no verdict. */
		assert_false(e.testable);
	}
}

/* The same 1.98 % with boots as the unit, without and with a history. */
static void what_three_boots_can_say(void **state KB_UNUSED)
{
	const struct history h = {.boots = 11,
		.nu0 = 10,
		.tau2 = 0.002 * 0.002,
		.sw2 = PUBLISHED_CV * PUBLISHED_CV,
		.sw_df = 88};
	struct bracket_boot boots[3];
	struct bracket e;

	bracket_of("815", PUBLISHED_CV, boots);
	bracket_effect(boots, 3, 0, 1, NULL, &e);
	assert_near(e.df, 1, 1e-9);
	assert_near(describe_pct_of_ln(e.lo), -3.1, 0.05);
	assert_near(describe_pct_of_ln(e.hi), 7.4, 0.05);
	assert_near(e.p, 0.13, 0.005);
	bracket_effect(boots, 3, 0, 1, &h, &e);
	assert_true(e.testable);
	assert_near(describe_pct_of_ln(e.lo), 0.73, 0.01);
	assert_near(describe_pct_of_ln(e.hi), 3.25, 0.01);
	assert_near(e.p, 0.005, 0.0005);
	assert_near(e.df, 11, 1e-9);
}

/* Run noise alone makes baselines differ by 0.58 %: 0.47 % is no drift. */
static void the_drift_was_to_be_expected(void **state KB_UNUSED)
{
	const struct history h = {.nu0 = 5, .tau2 = 0.002 * 0.002};
	struct bracket_boot boots[3];
	struct drift drift;

	bracket_of("815", PUBLISHED_CV, boots);
	drift_of_arm(boots, 3, 0, &drift);
	assert_near(100 * PUBLISHED_CV * sqrt(2.0 / 9), 0.58, 0.005);
	assert_near(100 * drift_limit(&h, PUBLISHED_CV * PUBLISHED_CV / 9, 1), 1.7, 0.05);
	assert_true(drift.ln < drift_limit(&h, PUBLISHED_CV * PUBLISHED_CV / 9, 1));
}

static void counters_per_operation(void **state KB_UNUSED)
{
	struct table table;

	table_read(&table, FIXTURES "sembench_counters.csv");
	assert_int_equal(table.rows, 6);
	assert_near(100 * (number(table.cell[3][3]) / number(table.cell[2][3]) - 1), -15.28, 0.005);
	assert_near(number(table.cell[5][3]) / number(table.cell[4][3]), 3.33, 0.005);
	/* The author's 11.85 came from unrounded numbers. */
	assert_near(100 * (number(table.cell[1][3]) / number(table.cell[0][3]) - 1), -11.89, 0.005);
	str_release(&table.text);
}

static double matrix_cell(
	struct table *table, const char *kernel, const char *benchmark, const char *cpus)
{
	for (size_t i = 0; i < table->rows; i++) {
		char **cell = table->cell[i];

		if (strcmp(cell[0], kernel) == 0 && strcmp(cell[2], benchmark) == 0 &&
			strcmp(cell[3], cpus) == 0)
			return number(cell[5]);
	}
	fail_msg("no cell %s %s %s", kernel, benchmark, cpus);
	return NAN;
}

/* One benchmark, four saturations, and the sign turns: no summary over them. */
static void matrix_flips_sign(void **state KB_UNUSED)
{
	static const struct {
		const char *cpus;
		double pct;
	} rows[] = {{"48", -42}, {"24", 14}, {"15", -9}, {"12", -5}};
	struct table table;

	table_read(&table, FIXTURES "newidle_matrix.csv");
	assert_int_equal(table.rows, 80);
	assert_near(matrix_cell(&table, "A", "easywave", "48") /
			    matrix_cell(&table, "B", "easywave", "48"),
		1.7388, 5e-5);
	assert_near(matrix_cell(&table, "A", "darktable", "48") /
			    matrix_cell(&table, "B", "darktable", "48"),
		1.128, 5e-4);
	assert_near(100 * (matrix_cell(&table, "B", "stress-ng", "48") /
					  matrix_cell(&table, "A", "stress-ng", "48") -
				  1),
		-0.26, 0.005);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double a = matrix_cell(&table, "A", "easywave", rows[i].cpus);
		double c = matrix_cell(&table, "C", "easywave", rows[i].cpus);

		assert_near(100 * (c / a - 1), rows[i].pct, 0.5);
	}
	str_release(&table.text);
}

/* "Roughly 8 % faster" is the loss form; the gain form says 8.75. */
static void loss_is_not_gain(void **state KB_UNUSED)
{
	struct table table;
	double old, new;

	table_read(&table, FIXTURES "schbench_percentiles.csv");
	new = number(table.cell[5][2]);
	old = number(table.cell[11][2]);
	assert_string_equal(table.cell[11][1], "average_rps");
	assert_near(100 * (1 - new / old), 8.05, 0.005);
	assert_near(100 * (old / new - 1), 8.75, 0.005);
	str_release(&table.text);
}

/* The bisect's samples are two levels, and a slow first run at four commits. */
static void bisect_levels(void **state KB_UNUSED)
{
	double good[MAX_ROWS], bad[MAX_ROWS], slow[MAX_ROWS];
	size_t goods = 0, bads = 0, slows = 0;
	struct table table;

	table_read(&table, FIXTURES "schbench_bisect.csv");
	for (size_t i = 0; i < table.rows; i++) {
		double rps = number(table.cell[i][4]);
		int64_t index;

		if (num_int(table.cell[i][0], 1, 174, &index, NULL) != 0)
			continue;
		if (index <= 152)
			bad[bads++] = rps;
		else if (rps < 2.02e6)
			slow[slows++] = rps;
		else
			good[goods++] = rps;
	}
	str_release(&table.text);
	assert_int_equal(goods, 17);
	assert_int_equal(slows, 4);
	assert_near(describe_mean(good, goods), 2.194e6, 500);
	assert_near(100 * describe_cv(good, goods), 1.18, 0.005);
	assert_near(describe_mean(slow, slows), 2.0087e6, 50);
	assert_near(100 * describe_cv(slow, slows), 0.26, 0.005);
	/* Two of the bad ones are high; a median does not mind. */
	assert_int_equal(bads, 13);
	describe_sort(bad, bads);
	assert_near(describe_mean(bad, 11), 1.957e6, 500);
	assert_near(100 * describe_cv(bad, 11), 1.21, 0.005);
	assert_near(describe_median(bad, bads), 1.9507e6, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gain_and_drift),
		cmocka_unit_test(what_three_boots_can_say),
		cmocka_unit_test(the_drift_was_to_be_expected),
		cmocka_unit_test(counters_per_operation),
		cmocka_unit_test(matrix_flips_sign),
		cmocka_unit_test(loss_is_not_gain),
		cmocka_unit_test(bisect_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
