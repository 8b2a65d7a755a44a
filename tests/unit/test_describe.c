/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stat/accum.h"
#include "stat/describe.h"
#include "near.h"

#define EQUAL(a, b, eps) assert_near((a), (b), (eps))

static void known_answers(void **state KB_UNUSED)
{
	static const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
	static const double wild[] = {1, 2, 3, 4, 1000};
	size_t n = ARRAY_SIZE(x);

	EQUAL(describe_mean(x, n), 5, 1e-15);
	EQUAL(describe_variance(x, n), 32.0 / 7, 1e-14);
	EQUAL(describe_sd(x, n), sqrt(32.0 / 7), 1e-14);
	EQUAL(describe_cv(x, n), sqrt(32.0 / 7) / 5, 1e-14);
	EQUAL(describe_median(x, n), 4.5, 1e-15);
	EQUAL(describe_quantile(x, n, 0.25), 4, 1e-15);
	EQUAL(describe_quantile(x, n, 0.9), 7.6, 1e-14);
	EQUAL(describe_quantile(x, n, 0), 2, 0);
	EQUAL(describe_quantile(x, n, 1), 9, 0);
	EQUAL(describe_trimmed_mean(wild, 5, 0.2), 3, 1e-15);
	EQUAL(describe_trimmed_mean(wild, 5, 0), 202, 1e-12);
	EQUAL(describe_mad(wild, 5), 1.4826, 1e-12);
	EQUAL(describe_pct_of_ln(log(1.0198)), 1.98, 1e-12);
	EQUAL(describe_ln_of_pct(1.98), log(1.0198), 1e-15);
}

static void input_is_left_alone(void **state KB_UNUSED)
{
	double x[] = {3, 1, 2};

	describe_median(x, 3);
	describe_mad(x, 3);
	describe_trimmed_mean(x, 3, 0.4);
	assert_true(x[0] == 3 && x[1] == 1 && x[2] == 2);
}

static void too_little_is_nan(void **state KB_UNUSED)
{
	const double one[] = {7}, equal[] = {7, 7, 7}, around_zero[] = {-1, 1};
	struct accum acc = {0};

	assert_true(isnan(describe_mean(one, 0)));
	assert_true(isnan(describe_median(one, 0)));
	assert_true(isnan(describe_mad(one, 0)));
	assert_true(isnan(describe_trimmed_mean(one, 0, 0.1)));
	assert_true(isnan(describe_quantile(one, 1, 1.5)));
	assert_true(isnan(describe_quantile(one, 1, NAN)));
	EQUAL(describe_median(one, 1), 7, 0);
	assert_true(isnan(describe_sd(one, 1)));
	assert_true(isnan(describe_cv(one, 1)));
	EQUAL(describe_sd(equal, 3), 0, 0);
	EQUAL(describe_mad(equal, 3), 0, 0);
	assert_true(isnan(describe_cv(around_zero, 2)));
	assert_true(isnan(accum_mean(&acc)));
	accum_add(&acc, 7);
	EQUAL(accum_mean(&acc), 7, 0);
	assert_true(isnan(accum_variance(&acc)));
	assert_true(isnan(accum_cv(&acc)));
}

static void unusable_values_are_counted(void **state KB_UNUSED)
{
	static const double bad[] = {0, -1, -0.0, INFINITY, -INFINITY, NAN};
	struct accum plain = {0}, ln = {0};

	accum_add_ln(&ln, 2);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		accum_add(&plain, bad[i]);
		accum_add_ln(&ln, bad[i]);
	}
	accum_add_ln(&ln, 8);
	assert_int_equal(plain.n, 3);
	assert_int_equal(plain.unusable, 3);
	assert_int_equal(ln.n, 2);
	assert_int_equal(ln.unusable, 6);
	EQUAL(accum_mean(&ln), log(4), 1e-15);
}

/* The same relative spread must come out at every size of number. */
static void every_magnitude(void **state KB_UNUSED)
{
	static const double sizes[] = {1e-12, 1e-3, 1, 1e6, 1e15, 1e300};
	double x[3];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct accum acc = {0}, ln = {0};

		for (int k = 0; k < 3; k++) {
			x[k] = sizes[i] * (1 + 0.01 * (k - 1));
			accum_add(&acc, x[k]);
			accum_add_ln(&ln, x[k]);
		}
		if (sizes[i] < 1e100) {
			EQUAL(describe_cv(x, 3), 0.01, 1e-10);
			EQUAL(accum_cv(&acc), 0.01, 1e-10);
		}
		EQUAL(accum_mean(&acc) / sizes[i], 1, 1e-12);
		EQUAL(describe_mean(x, 3) / sizes[i], 1, 1e-12);
		EQUAL(accum_sd(&ln), 0.01, 1e-5);
	}
}

/* A large common offset is where the naive sum of squares loses all digits. */
static void a_million_values(void **state KB_UNUSED)
{
	struct accum all = {0}, first = {0}, second = {0};
	const size_t n = 1000000;
	double *x = xmalloc(n * sizeof(*x));

	for (size_t i = 0; i < n; i++) {
		x[i] = 1e9 + (double)(i % 1000);
		accum_add(&all, x[i]);
		accum_add(i < n / 3 ? &first : &second, x[i]);
	}
	EQUAL(accum_mean(&all), 1e9 + 499.5, 1e-3);
	EQUAL(accum_variance(&all), 83333.25 * n / (n - 1), 1e-3);
	EQUAL(describe_variance(x, n), 83333.25 * n / (n - 1), 1e-3);
	EQUAL(describe_median(x, n), 1e9 + 499.5, 1e-3);
	EQUAL(all.min, 1e9, 0);
	EQUAL(all.max, 1e9 + 999, 0);
	accum_merge(&first, &second);
	EQUAL(accum_mean(&first), accum_mean(&all), 1e-3);
	EQUAL(accum_variance(&first), accum_variance(&all), 1e-3);
	free(x);
}

static void merging_with_nothing(void **state KB_UNUSED)
{
	struct accum a = {0}, b = {0}, none = {.unusable = 2};

	accum_add(&a, 3);
	accum_add(&a, 5);
	accum_merge(&b, &a);
	accum_merge(&b, &none);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.unusable, 2);
	EQUAL(accum_mean(&b), 4, 0);
	EQUAL(accum_variance(&b), 2, 0);
	accum_merge(&none, &a);
	assert_int_equal(none.unusable, 2);
	EQUAL(none.min, 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(input_is_left_alone),
		cmocka_unit_test(too_little_is_nan),
		cmocka_unit_test(unusable_values_are_counted),
		cmocka_unit_test(every_magnitude),
		cmocka_unit_test(a_million_values),
		cmocka_unit_test(merging_with_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
