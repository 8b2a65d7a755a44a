/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/quantile.h"
#include "near.h"

static void a_histogram_is_the_list_that_it_counts(void **state KB_UNUSED)
{
	struct quantile_count counts[] = {{30, 3}, {10, 5}, {20, 91}, {400, 1}};
	struct quantile_count list[100];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		for (int64_t k = 0; k < counts[i].times; k++)
			list[n++] = (struct quantile_count){counts[i].value, 1};
	quantile_sort(counts, ARRAY_SIZE(counts));
	quantile_sort(list, n);
	for (int percent = 1; percent < 100; percent++)
		assert_near(quantile_of_counts(counts, ARRAY_SIZE(counts), percent / 100.0),
			quantile_of_counts(list, n, percent / 100.0), 0);
	assert_near(quantile_of_counts(counts, 4, 0.05), 10, 0);
	assert_near(quantile_of_counts(counts, 4, 0.051), 20, 0);
	assert_near(quantile_of_counts(counts, 4, 0.99), 30, 0);
	assert_near(quantile_of_counts(counts, 4, 0.995), 400, 0);
	assert_true(isnan(quantile_of_counts(counts, 0, 0.5)));
}

/* The textbook's: nine values give the median between the 2nd and the 8th at 96.1 %. */
static void ranks_are_those_of_the_binomial(void **state KB_UNUSED)
{
	int64_t low, high;

	assert_true(quantile_ranks(9, 0.5, 0.95, &low, &high));
	assert_int_equal(low, 2);
	assert_int_equal(high, 8);
	assert_true(quantile_ranks(6, 0.5, 0.95, &low, &high));
	assert_int_equal(low, 1);
	assert_int_equal(high, 6);
	assert_false(quantile_ranks(5, 0.5, 0.95, &low, &high));
	assert_false(quantile_ranks(0, 0.5, 0.95, &low, &high));
	/* the largest of n lies below p99.9 with a probability of 0.999^n */
	assert_false(quantile_ranks(3687, 0.999, 0.95, &low, &high));
	assert_true(quantile_ranks(3688, 0.999, 0.95, &low, &high));
	assert_int_equal(high, 3688);
}

static void the_interval_is_as_sure_as_it_says(void **state KB_UNUSED)
{
	static const double shares[] = {0.5, 0.9, 0.99, 0.999};

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		for (int64_t n = 10; n < 100000; n = n * 3 / 2) {
			double p = shares[i], sure;
			int64_t low, high;

			if (!quantile_ranks(n, p, 0.95, &low, &high))
				continue;
			/* P(low <= number below the quantile < high) */
			sure = pbinom((double)high - 1, (double)n, p, 1, 0) -
			       pbinom((double)low - 1, (double)n, p, 1, 0);
			assert_true(sure >= 0.95 - 1e-12);
			/* one rank less on either side would say too much */
			assert_true(pbinom((double)low, (double)n, p, 1, 0) > 0.025);
			assert_true(pbinom((double)high - 2, (double)n, p, 0, 0) > 0.025);
		}
}

static void ten_beyond_are_enough_and_thirty_beside_many_more(void **state KB_UNUSED)
{
	assert_int_equal(quantile_wanted(500, 500, 0.99), 1000);
	assert_int_equal(quantile_wanted(500, 750, 0.99), 1000);
	assert_int_equal(quantile_wanted(500, 751, 0.99), 3000);
	assert_int_equal(quantile_wanted(1, 1, 0.999), 10000);
	assert_int_equal(quantile_wanted(1, 1, 0.01), 1000);
	assert_int_equal(quantile_wanted(1, 1, 0.5), 20);
	assert_true(quantile_is_known(1000, 1500, 0.99));
	assert_false(quantile_is_known(999, 1400, 0.99));
	assert_false(quantile_is_known(1000, 1501, 0.99));
	assert_true(quantile_is_known(3000, 90000, 0.99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_histogram_is_the_list_that_it_counts),
		cmocka_unit_test(ranks_are_those_of_the_binomial),
		cmocka_unit_test(the_interval_is_as_sure_as_it_says),
		cmocka_unit_test(ten_beyond_are_enough_and_thirty_beside_many_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
