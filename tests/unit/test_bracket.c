/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/accum.h"
#include "stat/bracket.h"
#include "stat/describe.h"
#include "stat/history.h"
#include "near.h"

enum { MAX_BOOTS = 32 };

/* Boots in the order of the letters, x their means; every boot has 9 runs. */
static size_t boots_of(const char *order, const double *x, double var, struct bracket_boot *boots)
{
	size_t n = strlen(order);

	for (size_t i = 0; i < n; i++)
		boots[i] = (struct bracket_boot){.arm = order[i] - 'A',
			.block = (int)i / 4,
			.t = (double)i,
			.runs = 9,
			.mean_ln = x[i],
			.var_ln = var};
	return n;
}

static void judge(const char *order, const double *x, double var, const struct history *history,
	struct bracket *out)
{
	struct bracket_boot boots[MAX_BOOTS];
	size_t n = boots_of(order, x, var, boots);

	bracket_effect(boots, n, 0, 1, history, out);
}

/* Worked by hand: SS_A = SS_B = 0.0002, V = 0.0002, se^2 = V (1/2 + 1/2). */
static void pooled_boot_t(void **state KB_UNUSED)
{
	static const double x[] = {1.00, 1.04, 1.06, 1.02};
	struct bracket e;

	judge("ABBA", x, 1e-4, NULL, &e);
	assert_int_equal(e.method, BRACKET_POOLED);
	assert_true(e.testable);
	assert_near(e.d, 0.04, 1e-12);
	assert_near(e.se, sqrt(0.0002), 1e-12);
	assert_near(e.df, 2, 1e-12);
	assert_near(e.p, 2 * pt(-0.04 / sqrt(0.0002), 2, 1, 0), 1e-12);
	/* With 2 degrees of freedom the t quantile is 4.3027. */
	assert_near(e.hi - e.d, 4.302653 * sqrt(0.0002), 1e-7);
	assert_near(e.d - e.lo90, 2.919986 * sqrt(0.0002), 1e-7);
	assert_near(e.between, 0.0002 - 1e-4 / 9, 1e-12);
	assert_near(e.within_a, 1e-4, 1e-12);
	assert_true(isnan(e.slope));
	assert_int_equal(e.boots_a, 2);
	assert_int_equal(e.runs_b, 18);
}

static void aba_without_history_is_an_estimate(void **state KB_UNUSED)
{
	static const double x[] = {1.00, 1.50, 1.01};
	struct bracket e;

	judge("ABA", x, 1e-4, NULL, &e);
	assert_int_equal(e.method, BRACKET_ESTIMATE);
	assert_false(e.testable);
	assert_near(e.d, 0.495, 1e-12);
	assert_near(e.df, 1, 1e-12);
	assert_true(e.p > 0 && e.p < 1);
}

static void one_boot_each_is_a_bare_estimate(void **state KB_UNUSED)
{
	static const double x[] = {1.00, 1.50};
	struct bracket e;

	judge("AB", x, 1e-4, NULL, &e);
	assert_int_equal(e.method, BRACKET_ESTIMATE);
	assert_near(e.d, 0.5, 1e-12);
	assert_true(isnan(e.se) && isnan(e.p) && isnan(e.lo) && isnan(e.var_a));
	assert_near(e.within_b, 1e-4, 1e-15);
}

static void missing_arms(void **state KB_UNUSED)
{
	static const double x[] = {1, 2, NAN, INFINITY};
	struct bracket e;

	judge("ABBA", x, 1e-4, NULL, &e);
	assert_int_equal(e.boots_a, 1);
	assert_int_equal(e.boots_b, 1);
	judge("AACC", x, 1e-4, NULL, &e);
	assert_int_equal(e.method, BRACKET_NONE);
	assert_true(isnan(e.d));
	assert_int_equal(e.boots_a, 2);
	assert_int_equal(e.boots_b, 0);
	bracket_effect(NULL, 0, 0, 1, NULL, &e);
	assert_int_equal(e.method, BRACKET_NONE);
	bracket_effect(NULL, 0, -1, 7, NULL, &e);
	assert_int_equal(e.method, BRACKET_NONE);
}

static void history_gives_aba_a_verdict(void **state KB_UNUSED)
{
	static const double x[] = {1.000, 1.020, 1.001};
	const struct history h = {.boots = 20, .nu0 = 5, .tau2 = 4e-6, .sw2 = 1e-4, .sw_df = 160};
	double prior = 4e-6 + 1e-4 / 9, va = (5 * prior + 5e-7) / 6, vb = prior;
	double se2 = va / 2 + vb, welch = se2 * se2 / (va * va / 4 / 6 + vb * vb / 5);
	struct bracket e;

	judge("ABA", x, 1e-4, &h, &e);
	assert_int_equal(e.method, BRACKET_MODERATED);
	assert_true(e.testable);
	assert_false(e.history_dropped);
	assert_near(e.var_a, va, 1e-15);
	assert_near(e.var_b, vb, 1e-15);
	assert_near(e.se, sqrt(se2), 1e-12);
	assert_near(e.df, fmin(welch, 6), 1e-9);
	assert_near(e.nu0, 5, 0);
}

static void a_contradicted_history_is_dropped(void **state KB_UNUSED)
{
	static const double x[] = {1.000, 1.020, 1.100};
	const struct history h = {.boots = 20, .nu0 = 5, .tau2 = 1e-6, .sw2 = 1e-4, .sw_df = 160};
	struct bracket e;

	judge("ABA", x, 1e-4, &h, &e);
	assert_true(e.history_dropped);
	assert_true(e.history_p < 0.1);
	assert_int_equal(e.method, BRACKET_ESTIMATE);
	assert_false(e.testable);
	assert_near(e.nu0, 0, 0);
}

/* An even drift must vanish from the effect, and from 8 boots on from its error. */
static void linear_drift_cancels(void **state KB_UNUSED)
{
	static const double noise[] = {.01, -.01, .01, -.01, -.01, .01, -.01, .01};
	double still[8], moving[8];
	struct bracket a, b;

	for (int i = 0; i < 8; i++) {
		still[i] = noise[i] + ("ABBAABBA"[i] == 'B' ? 0.02 : 0);
		moving[i] = still[i] + 0.5 * i;
	}
	judge("ABBAABBA", still, 1e-4, NULL, &a);
	judge("ABBAABBA", moving, 1e-4, NULL, &b);
	assert_int_equal(b.method, BRACKET_OLS);
	assert_near(b.d, 0.02, 1e-12);
	assert_near(b.se, a.se, 1e-12);
	assert_near(b.df, 5, 1e-12);
	assert_near(b.slope - a.slope, 0.5, 1e-12);
	assert_true(b.slope_p < 1e-6 && a.slope_p > 0.05);
	judge("ABBA", moving, 1e-4, NULL, &a);
	assert_near(a.d, 0.01 - 0.01 + 0.02, 1e-12);
}

/* With a boot missing the arms are no longer centred; the slope corrects for it. */
static void a_missing_boot_of_eight_does_not_bias(void **state KB_UNUSED)
{
	double x[9];
	struct bracket e;

	for (int i = 0; i < 9; i++)
		x[i] = 0.01 * i + ("ABBAABBAA"[i] == 'B' ? 0.3 : 0) + (i % 2 ? 1e-4 : -1e-4);
	x[3] = NAN;
	judge("ABBAABBAA", x, 1e-4, NULL, &e);
	assert_int_equal(e.boots_a, 4);
	assert_near(e.d, 0.3, 3e-4);
	assert_near(e.df, 5, 1e-12);
}

static void other_variants_help_to_see_the_spread(void **state KB_UNUSED)
{
	static const double x[] = {0, .1, .2, .3, .4, .41, .31, .21, .11, .01};
	struct bracket e;

	judge("ABCDEEDCBA", x, 1e-4, NULL, &e);
	assert_int_equal(e.method, BRACKET_OLS);
	assert_near(e.df, 10 - 5 - 1, 1e-12);
	assert_near(e.d, 0.1, 1e-12);
}

/* Runs that scatter three times as much make boot means that do: the noisy
 * variant's variance must not be averaged away with the quiet ones'. */
static void a_noisy_variant_keeps_its_variance(void **state KB_UNUSED)
{
	static const double x[] = {0, .02, 0, 0, -.02, 0, 0, .02, 0, 0, -.02, 0};
	struct bracket_boot boots[12];
	struct bracket e;

	boots_of("ABCCBAABCCBA", x, 1e-4, boots);
	for (int i = 0; i < 12; i++)
		boots[i].var_ln = boots[i].arm == 1 ? 9e-4 : 1e-4;
	bracket_effect(boots, 12, 0, 1, NULL, &e);
	assert_true(e.var_b > 1.2 * e.var_a);
	assert_near(e.within_b, 9e-4, 1e-12);
}

static void nothing_varies(void **state KB_UNUSED)
{
	static const double same[] = {1, 1, 1, 1, 1, 1, 1, 1};
	static const double apart[] = {1, 1.1, 1.1, 1, 1, 1.1, 1.1, 1};
	struct bracket e;

	judge("ABBA", same, 0, NULL, &e);
	assert_true(e.no_spread && e.testable);
	assert_near(e.p, 1, 0);
	assert_near(e.lo, 0, 0);
	judge("ABBAABBA", apart, 0, NULL, &e);
	assert_true(e.no_spread);
	assert_near(e.d, 0.1, 1e-12);
	assert_near(e.p, 0, 0);
	assert_near(e.hi, e.d, 0);
	assert_near(e.slope_p, 1, 0);
}

static void one_run_a_boot(void **state KB_UNUSED)
{
	static const double x[] = {1.00, 1.04, 1.06, 1.02};
	const struct history h = {.boots = 6, .nu0 = 5, .tau2 = 1e-4, .sw2 = NAN, .sw_df = 0};
	struct bracket_boot boots[4];
	struct bracket e;

	boots_of("ABBA", x, NAN, boots);
	for (int i = 0; i < 4; i++)
		boots[i].runs = 1;
	bracket_effect(boots, 4, 0, 1, NULL, &e);
	assert_int_equal(e.method, BRACKET_POOLED);
	assert_true(isnan(e.within_a) && isnan(e.between));
	bracket_effect(boots, 4, 0, 1, &h, &e);
	assert_int_equal(e.method, BRACKET_MODERATED);
	assert_near(e.var_a, (5 * 1e-4 + 2e-4) / 6, 1e-12);
}

static void every_magnitude(void **state KB_UNUSED)
{
	static const double sizes[] = {1e-12, 1, 1e15};
	struct bracket first = {0}, e;
	double x[4];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (int k = 0; k < 4; k++)
			x[k] = log(sizes[i] * (1 + 0.01 * ((k * 3) % 4)));
		judge("ABBA", x, 1e-4, NULL, &e);
		if (i == 0)
			first = e;
		assert_near(e.d, first.d, 1e-12);
		assert_near(e.p, first.p, 1e-9);
	}
}

static void history_from_earlier_boots(void **state KB_UNUSED)
{
	struct history_boot boots[12];
	struct history h;

	/* Two sessions at different levels: only the spread within them counts. */
	for (int i = 0; i < 12; i++)
		boots[i] = (struct history_boot){.group = i / 6,
			.runs = 4,
			.mean_ln = (i < 6 ? 1 : 5) + (i % 2 ? 0.02 : -0.02),
			.var_ln = 4e-4};
	history_from_boots(boots, 12, &h);
	assert_int_equal(h.boots, 12);
	assert_near(h.sw2, 4e-4, 1e-15);
	assert_near(h.sw_df, 36, 0);
	assert_near(h.tau2, 12 * 4e-4 / 10 - 1e-4, 1e-12);
	assert_near(h.nu0, 5, 0);

	/* Five boots are too few, but their runs say what a run does. */
	history_from_boots(boots, 5, &h);
	assert_near(h.nu0, 0, 0);
	assert_near(h.sw2, 4e-4, 1e-15);

	/* Identical boots: the floor of 0.1 %. */
	for (int i = 0; i < 6; i++)
		boots[i].mean_ln = 1;
	history_from_boots(boots, 6, &h);
	assert_near(h.tau2, 1e-6, 1e-18);
	assert_near(h.nu0, 5, 0);

	boots[0].mean_ln = NAN;
	boots[1].runs = 0;
	history_from_boots(boots, 6, &h);
	assert_int_equal(h.boots, 4);
	assert_near(h.nu0, 0, 0);
	history_from_boots(NULL, 0, &h);
	assert_int_equal(h.boots, 0);
	assert_true(isnan(h.sw2));
}

/* False alarms of A B B A on two equal kernels whose boots differ: 5 % nominal.
 * Runs taken as independent would cry wolf in a quarter of the cases. */
static void false_alarms_are_nominal(void **state KB_UNUSED)
{
	static const char *const orders[] = {"ABBA", "ABBAABBA"};
	enum { TRIES = 4000 };
	struct bracket e;
	double x[8];

	set_seed(20240611, 7);
	for (size_t k = 0; k < ARRAY_SIZE(orders); k++) {
		int alarms = 0, covered = 0;

		for (int i = 0; i < TRIES; i++) {
			for (size_t b = 0; b < strlen(orders[k]); b++)
				x[b] = 0.005 * norm_rand() + 0.01 / 3 * norm_rand() +
				       0.003 * (double)b;
			judge(orders[k], x, 1e-4, NULL, &e);
			alarms += e.p <= 0.05;
			covered += e.lo <= 0 && e.hi >= 0;
		}
		assert_in_range(alarms, k == 0 ? 0 : TRIES * 4 / 100, TRIES * 6 / 100);
		assert_int_equal(alarms + covered, TRIES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pooled_boot_t),
		cmocka_unit_test(aba_without_history_is_an_estimate),
		cmocka_unit_test(one_boot_each_is_a_bare_estimate),
		cmocka_unit_test(missing_arms),
		cmocka_unit_test(history_gives_aba_a_verdict),
		cmocka_unit_test(a_contradicted_history_is_dropped),
		cmocka_unit_test(linear_drift_cancels),
		cmocka_unit_test(a_missing_boot_of_eight_does_not_bias),
		cmocka_unit_test(other_variants_help_to_see_the_spread),
		cmocka_unit_test(a_noisy_variant_keeps_its_variance),
		cmocka_unit_test(nothing_varies),
		cmocka_unit_test(one_run_a_boot),
		cmocka_unit_test(every_magnitude),
		cmocka_unit_test(history_from_earlier_boots),
		cmocka_unit_test(false_alarms_are_nominal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
