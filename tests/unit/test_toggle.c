/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of a toggle inside one boot, against figures worked out by hand. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/toggle_effect.h"
#include "near.h"

static struct bracket_boot part(int arm, double t, size_t runs, double mean, double var)
{
	return (struct bracket_boot){
		.arm = arm, .block = 1, .t = t, .runs = runs, .mean_ln = mean, .var_ln = var};
}

/* A: 1 2 3, B: 3 4 5, A: 2 3 4. */
static void runs_are_the_unit(void **state KB_UNUSED)
{
	const struct bracket_boot parts[] = {
		part(0, 1, 3, 2, 1), part(1, 2, 3, 4, 1), part(0, 3, 3, 3, 1)};
	double se = sqrt(7.5 / 7 * (1.0 / 6 + 1.0 / 3));
	struct bracket effect;

	toggle_effect(parts, ARRAY_SIZE(parts), 0, 1, &effect);
	assert_int_equal(effect.method, BRACKET_RUNS);
	assert_true(effect.testable);
	assert_int_equal(effect.boots_a, 2);
	assert_int_equal(effect.runs_a, 6);
	assert_int_equal(effect.runs_b, 3);
	assert_near(effect.d, 1.5, 1e-12);
	assert_near(effect.df, 7, 0);
	assert_near(effect.se, se, 1e-12);
	assert_near(effect.p, 2 * pt(-1.5 / se, 7, 1, 0), 1e-12);
	assert_near(effect.hi - effect.d, qt(0.025, 7, 0, 0) * se, 1e-12);
	assert_near(effect.within_a, 1, 1e-12);
}

/* Linear drift over A B A C A cancels for both, since each is held against its neighbours. */
static void neighbours_cancel_drift(void **state KB_UNUSED)
{
	struct bracket_boot parts[5];
	struct bracket b, c;

	for (int i = 0; i < 5; i++)
		parts[i] = part(i % 2 ? i / 2 + 1 : 0, i + 1, 4, 0.1 * i + (i == 3), 0.01);
	toggle_effect(parts, 5, 0, 1, &b);
	toggle_effect(parts, 5, 0, 2, &c);
	assert_near(b.d, 0, 1e-12);
	assert_near(c.d, 1, 1e-12);
	assert_int_equal(b.boots_a, 2);
}

static void too_little_is_no_verdict(void **state KB_UNUSED)
{
	const struct bracket_boot parts[] = {part(0, 1, 1, 2, (double)NAN),
		part(1, 2, 1, 4, (double)NAN), part(0, 3, 0, (double)NAN, (double)NAN)};
	struct bracket effect;

	toggle_effect(parts, ARRAY_SIZE(parts), 0, 1, &effect);
	assert_int_equal(effect.method, BRACKET_ESTIMATE);
	assert_false(effect.testable);
	assert_near(effect.d, 2, 1e-12);
	assert_true(isnan(effect.se));
	toggle_effect(parts, 1, 0, 1, &effect);
	assert_int_equal(effect.method, BRACKET_NONE);
	assert_true(isnan(effect.d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_the_unit),
		cmocka_unit_test(neighbours_cancel_drift),
		cmocka_unit_test(too_little_is_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
