/* SPDX-License-Identifier: GPL-2.0-or-later */
/* harness/stat against SciPy and NumPy on random inputs: tests/fixtures/reference/README.md. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/file.h"
#include "base/str.h"
#include "stat/bracket.h"
#include "stat/equivalence.h"
#include "stat/fdr.h"
#include "stat/power.h"

#define FIXTURES "tests/fixtures/reference/"

enum { MAX_FIELDS = 64 };

/* One line of a CSV file of numbers; the first field may be a word. */
struct line {
	const char *word;
	double x[MAX_FIELDS];
	size_t n;
};

typedef void check_fn(const struct line *line);

/* Calls check for every line; returns how many there were. */
static size_t each_line(const char *name, check_fn *check)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	char *rest, *row, *field;
	size_t lines = 0;

	if (file_read(name, 4 << 20, &text, &err) != 0)
		fail_msg("%s", err.text);
	rest = text.text;
	while ((row = strsep(&rest, "\n")) != NULL && row[0]) {
		struct line line = {.word = row};

		while ((field = strsep(&row, ",")) != NULL && line.n < MAX_FIELDS)
			line.x[line.n++] = strtod(field, NULL);
		check(&line);
		lines++;
	}
	str_release(&text);
	return lines;
}

/* Both NAN, or equal to seven digits or 1e-12. */
static void same(const char *what, double got, double want)
{
	if (isnan(got) && isnan(want))
		return;
	if (!(fabs(got - want) <= fmax(1e-12, 1e-7 * fabs(want))))
		fail_msg("%s is %.15g, not %.15g", what, got, want);
}

static void check_distributions(const struct line *line)
{
	const double *x = line->x, df = x[0];
	double nct;

	same("pt", pt(x[2], df, 1, 0), x[7]);
	same("qt", qt(x[3], df, 1, 0), x[8]);
	same("pf", pf(x[4], df, x[1], 0, 0), x[9]);
	same("pchisq", pchisq(x[6], df, 0, 0), x[10]);
	same("qchisq", qchisq(x[3], df, 1, 0), x[11]);
	/* The noncentral t is promised fewer digits, by either. */
	nct = pnt(fabs(x[2]), df, x[5], 0, 0);
	if (fabs(nct - x[12]) > 1e-9)
		fail_msg("pnt(%g, %g, %g) is %.12g, not %.12g", fabs(x[2]), df, x[5], nct, x[12]);
}

static void distributions(void **state KB_UNUSED)
{
	assert_int_equal(each_line(FIXTURES "distributions.csv", check_distributions), 1000);
}

static void check_effect(const struct line *line)
{
	const double *x = line->x;
	const struct history history = {
		.boots = 20, .nu0 = x[2], .tau2 = x[3], .sw2 = x[4], .sw_df = x[5]};
	struct bracket_boot boots[MAX_FIELDS];
	size_t n = strlen(line->word);
	struct bracket e;

	for (size_t i = 0; i < n; i++)
		boots[i] = (struct bracket_boot){.arm = line->word[i] - 'A',
			.t = (double)i,
			.runs = (size_t)x[1],
			.mean_ln = x[14 + 2 * i],
			.var_ln = x[15 + 2 * i]};
	bracket_effect(boots, n, 0, 1, x[2] > 0 ? &history : NULL, &e);
	same("d", e.d, x[6]);
	same("se", e.se, x[7]);
	same("df", e.df, x[8]);
	same("p", e.p, x[9]);
	same("half-width", e.hi - e.d, x[10]);
	assert_int_equal(e.testable, (int)x[11]);
	same("guard", e.history_p, x[12]);
	same("TOST", equivalence_p(&e, 0.01), x[13]);
}

static void effects(void **state KB_UNUSED)
{
	assert_int_equal(each_line(FIXTURES "effects.csv", check_effect), 1000);
}

static void check_family(const struct line *line)
{
	size_t n = (size_t)line->x[0];
	double q[MAX_FIELDS];

	fdr_bh(line->x + 1, n, q);
	for (size_t i = 0; i < n; i++)
		same("q", q[i], line->x[1 + n + i]);
}

static void families(void **state KB_UNUSED)
{
	assert_int_equal(each_line(FIXTURES "families.csv", check_family), 1000);
}

static void check_power(const struct line *line)
{
	const double *x = line->x;
	const struct power power = {x[0], x[1], x[2], 0};
	double got = power_at(&power, (int)x[3], 0.05, x[4]);

	if (fabs(got - x[5]) > 1e-7)
		fail_msg("power is %.9g, not %.9g (%g boots, d %g)", got, x[5], x[3], x[4]);
}

static void powers(void **state KB_UNUSED)
{
	assert_int_equal(each_line(FIXTURES "powers.csv", check_power), 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributions),
		cmocka_unit_test(effects),
		cmocka_unit_test(families),
		cmocka_unit_test(powers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
