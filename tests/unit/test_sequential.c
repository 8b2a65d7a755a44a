/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "stat/sequential.h"

static void assert_near(double seen, double wanted, double tolerance)
{
	if (!(fabs(seen - wanted) <= tolerance))
		fail_msg("%.17g is not %.17g", seen, wanted);
}

static double obrien_fleming(double alpha, double share)
{
	/* 2 (1 - Phi(z / sqrt(share))), z the two-sided quantile of alpha */
	const double z = 1.959963984540054;

	assert_true(alpha == 0.05);
	return erfc(z / sqrt(2 * share));
}

/* Constants that another program computed by simulation; of the first look the level is the
 * spending itself. */
static void levels_are_the_published_ones(void **state KB_UNUSED)
{
	static const double eight[] = {
		.00971, .01052, .01145, .01225, .01287, .01345, .01396, .01437};
	static const double four[] = {.01779, .01791, .01832, .01882};
	static const double cautious[] = {
		0, .00009, .00134, .00508, .01114, .01857, .02687, .03535};
	double levels[8];

	sequential_levels(sequential_pocock, 0.05, 8, levels);
	assert_near(levels[0], 0.05 * log(1 + (M_E - 1) / 8), 1e-12);
	for (int k = 0; k < 8; k++)
		assert_near(levels[k], eight[k], 1e-4);
	sequential_levels(sequential_pocock, 0.05, 4, levels);
	for (int k = 0; k < 4; k++)
		assert_near(levels[k], four[k], 1e-4);
	sequential_levels(obrien_fleming, 0.05, 8, levels);
	for (int k = 0; k < 8; k++)
		assert_near(levels[k], cautious[k], 1e-4);
}

static void one_look_is_a_plain_test(void **state KB_UNUSED)
{
	struct sequential *one = sequential_new(0.05, 1);

	assert_near(sequential_level(one, 1), 0.05, 1e-12);
	for (double p = 1e-12; p < 1; p *= 1.7)
		assert_near(sequential_p(one, 1, p), p, 1e-9 * p);
	sequential_free(one);
}

/* A p at the look's level is the design's alpha; below it is below. */
static void p_of_a_look_agrees_with_its_level(void **state KB_UNUSED)
{
	static const double alphas[] = {0.0001, 0.01, 0.05, 0.5};

	for (size_t i = 0; i < ARRAY_SIZE(alphas); i++) {
		struct sequential *design = sequential_new(alphas[i], 5);

		for (int look = 1; look <= 5; look++) {
			double level = sequential_level(design, look);

			assert_true(sequential_p(design, look, level) == alphas[i]);
			assert_true(sequential_p(design, look, level * 0.999) < alphas[i]);
			assert_true(sequential_p(design, look, level * 1.001) > alphas[i]);
		}
		sequential_free(design);
	}
}

static void p_of_a_look_is_monotone_and_no_smaller_than_p(void **state KB_UNUSED)
{
	static const int looks[] = {2, 8, 40};

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		struct sequential *design = sequential_new(0.05, looks[i]);

		for (int look = 1; look <= looks[i]; look += looks[i] / 2) {
			double last = 0;

			for (double p = 1e-30; p <= 1; p *= 1.3) {
				double here = sequential_p(design, look, p);

				assert_true(here > last && here >= p && here <= 1);
				last = here;
			}
			assert_true(sequential_p(design, look, 0) == 0);
			assert_true(sequential_p(design, look, 1) == 1);
			assert_true(isnan(sequential_p(design, look, NAN)));
		}
		sequential_free(design);
	}
}

/* The levels between those that are kept: halfway in logarithms, against their own recursion. */
static void what_is_interpolated_is_close(void **state KB_UNUSED)
{
	struct sequential *design = sequential_new(0.05, 6);

	for (double alpha = 0.05 * M_SQRT2; alpha > 1e-5; alpha /= 8) {
		double levels[6];

		sequential_levels(sequential_pocock, alpha, 6, levels);
		for (int look = 1; look <= 6; look++)
			assert_near(sequential_p(design, look, levels[look - 1]) / alpha, 1, 0.005);
	}
	sequential_free(design);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_the_published_ones),
		cmocka_unit_test(one_look_is_a_plain_test),
		cmocka_unit_test(p_of_a_look_agrees_with_its_level),
		cmocka_unit_test(p_of_a_look_is_monotone_and_no_smaller_than_p),
		cmocka_unit_test(what_is_interpolated_is_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
