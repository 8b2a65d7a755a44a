/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/drift.h"
#include "stat/equivalence.h"
#include "stat/power.h"
#include "stat/verdict.h"
#include "near.h"

static const struct verdict_rule higher = {true, 0.01, 0.05};
static const struct verdict_rule lower = {false, 0.01, 0.05};

/* An effect as bracket_effect would make it, of 4 + 4 boots. */
static struct bracket effect_of(double d, double se, double df)
{
	struct bracket e = {.method = BRACKET_POOLED,
		.testable = true,
		.boots_a = 4,
		.boots_b = 4,
		.d = d,
		.se = se,
		.df = df,
		.var_a = 2 * se * se,
		.var_b = 2 * se * se};
	double half = qt(0.975, df, 1, 0) * se, half90 = qt(0.95, df, 1, 0) * se;

	e.lo = d - half;
	e.hi = d + half;
	e.lo90 = d - half90;
	e.hi90 = d + half90;
	e.p = 2 * pt(-fabs(d) / se, df, 1, 0);
	return e;
}

static struct verdict decide(
	const struct bracket *e, double q, enum verdict_why gate, const struct verdict_rule *rule)
{
	struct verdict v;

	verdict_decide(e, q, gate, rule, &v);
	return v;
}

static void the_five_words(void **state KB_UNUSED)
{
	struct bracket gain = effect_of(0.05, 0.002, 6), loss = effect_of(-0.05, 0.002, 6);
	struct bracket tiny = effect_of(0.004, 0.0005, 6), wide = effect_of(0.01, 0.02, 6);
	struct bracket none = {.method = BRACKET_NONE, .d = NAN, .var_a = NAN, .var_b = NAN};

	assert_int_equal(decide(&gain, gain.p, 0, &higher).word, VERDICT_IMPROVED);
	assert_int_equal(decide(&gain, gain.p, 0, &lower).word, VERDICT_REGRESSED);
	assert_int_equal(decide(&loss, loss.p, 0, &higher).word, VERDICT_REGRESSED);
	assert_int_equal(decide(&loss, loss.p, 0, &lower).word, VERDICT_IMPROVED);
	/* A real but tiny effect is equivalent: the margin says what matters. */
	assert_true(tiny.p < 0.001);
	assert_int_equal(decide(&tiny, tiny.p, 0, &higher).word, VERDICT_EQUIVALENT);
	assert_int_equal(decide(&wide, wide.p, 0, &higher).word, VERDICT_INCONCLUSIVE);
	assert_int_equal(decide(&wide, wide.p, 0, &higher).why, VERDICT_WHY_NOISE);
	assert_int_equal(decide(&none, NAN, 0, &higher).word, VERDICT_INVALID);
	assert_int_equal(decide(&none, NAN, 0, &higher).why, VERDICT_WHY_NO_RUNS);
	/* What counts is q, not p. */
	assert_int_equal(decide(&gain, 0.06, 0, &higher).word, VERDICT_INCONCLUSIVE);
	assert_int_equal(decide(&gain, NAN, 0, &higher).word, VERDICT_INCONCLUSIVE);
}

static void gates_come_first(void **state KB_UNUSED)
{
	struct bracket gain = effect_of(0.05, 0.002, 6), tiny = effect_of(0.001, 0.0005, 6);
	static const struct {
		enum verdict_why gate;
		enum verdict_word word;
	} gates[] = {
		{VERDICT_WHY_NO_RUNS, VERDICT_INVALID},
		{VERDICT_WHY_UNUSABLE, VERDICT_INVALID},
		{VERDICT_WHY_DRIFT, VERDICT_INVALID},
		{VERDICT_WHY_CV, VERDICT_INCONCLUSIVE},
		{VERDICT_WHY_MEANS_ONLY, VERDICT_INCONCLUSIVE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(gates); i++) {
		struct verdict v = decide(&gain, gain.p, gates[i].gate, &higher);

		assert_int_equal(v.word, gates[i].word);
		assert_int_equal(v.why, gates[i].gate);
		assert_true(verdict_why_text(v.why)[0] != 0);
		assert_int_equal(decide(&tiny, 1, gates[i].gate, &higher).word, gates[i].word);
	}
	gain.testable = false;
	assert_int_equal(decide(&gain, gain.p, 0, &higher).why, VERDICT_WHY_FEW_BOOTS);
}

static void values_that_never_vary(void **state KB_UNUSED)
{
	struct bracket same = {.method = BRACKET_POOLED,
		.testable = true,
		.no_spread = true,
		.boots_a = 2,
		.boots_b = 2,
		.p = 1};
	struct bracket apart = same;

	assert_int_equal(decide(&same, 1, 0, &higher).word, VERDICT_INCONCLUSIVE);
	assert_int_equal(decide(&same, 1, 0, &higher).why, VERDICT_WHY_NO_SPREAD);
	apart.d = apart.lo = apart.hi = apart.lo90 = apart.hi90 = 0.1;
	apart.p = 0;
	assert_int_equal(decide(&apart, 0, 0, &higher).word, VERDICT_INCONCLUSIVE);
	assert_int_equal(decide(&apart, 0, 0, &higher).why, VERDICT_WHY_NO_SPREAD);
	assert_near(equivalence_p(&same, 0.01), 0, 0);
	assert_near(equivalence_p(&apart, 0.01), 1, 0);
}

static void words_have_names(void **state KB_UNUSED)
{
	assert_string_equal(verdict_word_name(VERDICT_REGRESSED), "regressed");
	assert_int_equal(verdict_word_parse("inconclusive"), VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict_word_parse("worse"), -1);
}

/* The interval rule and the p-value of the two one-sided tests are one thing. */
static void equivalence_agrees_with_its_p(void **state KB_UNUSED)
{
	for (int i = -30; i <= 30; i++) {
		struct bracket e = effect_of(i * 0.0005, 0.002, 5);

		assert_int_equal(equivalence_shown(&e, 0.01), equivalence_p(&e, 0.01) < 0.05);
		/* An infinite margin is not needed to see the two edges differ. */
		if (i == 10)
			assert_true(equivalence_shown(&e, 0.012));
	}
}

static void settling_needs_the_smallest_even_number(void **state KB_UNUSED)
{
	struct bracket e = effect_of(0.01, 0.02, 6);
	const struct power power = {e.var_a, e.var_b, 0, 0};
	int m = power_boots_to_settle(&e, 0.01, 0.05);
	double se, df;

	assert_int_equal(m % 2, 0);
	assert_true(m > 4 && m <= POWER_MAX_BOOTS);
	power_error(&power, m, &se, &df);
	assert_true(qt(0.975, df, 1, 0) * se < 0.01);
	power_error(&power, m - 2, &se, &df);
	assert_true(qt(0.975, df, 1, 0) * se >= 0.01);
	assert_int_equal(decide(&e, e.p, 0, &higher).further_boots, m - 4);
	/* Too noisy for any advice, and nothing known. */
	e = effect_of(0.005, 0.5, 6);
	assert_int_equal(power_boots_to_settle(&e, 0.01, 0.05), 0);
	e.var_a = NAN;
	assert_int_equal(power_boots_to_settle(&e, 0.01, 0.05), 0);
	/* One block more at least, even if the numbers look settled. */
	e = effect_of(0.05, 0.002, 6);
	assert_int_equal(power_boots_to_settle(&e, 0.01, 0.05), 6);
}

/* In a table of many, p has to be smaller than alpha for q to reach it, and that takes more boots;
 * being equal does not hang on the others. */
static void settling_counts_the_others_of_the_table(void **state KB_UNUSED)
{
	struct bracket e = effect_of(0.02, 0.0075, 6);
	int alone = decide(&e, 0.0501, 0, &higher).further_boots, m;
	double se, df, level = 0.05 * e.p / (8 * e.p);
	struct power power = {e.var_a, e.var_b, 0, 0};

	assert_true(e.p < 0.05 && e.p > 0.03);
	m = decide(&e, 8 * e.p, 0, &higher).further_boots;
	assert_true(m > alone);
	power_error(&power, 4 + m, &se, &df);
	assert_true(2 * pt(-e.d / se, df, 1, 0) * 8 < 0.05);
	power_error(&power, 4 + m - 2, &se, &df);
	assert_true(2 * pt(-e.d / se, df, 1, 0) >= level);
	e = effect_of(0.001, 0.0075, 6);
	assert_int_equal(decide(&e, 8 * e.p, 0, &higher).further_boots,
		decide(&e, e.p, 0, &higher).further_boots);
}

/* What is wrong with the boots that there are does not go away by others. */
static void boots_are_asked_for_where_they_help(void **state KB_UNUSED)
{
	static const struct {
		enum verdict_why gate;
		bool asked;
	} cases[] = {{VERDICT_WHY_NONE, true}, {VERDICT_WHY_FEW_BOOTS, true},
		{VERDICT_WHY_CV, false}, {VERDICT_WHY_MEANS_ONLY, false},
		{VERDICT_WHY_FEW_OBSERVATIONS, false}, {VERDICT_WHY_NO_SPREAD, false},
		{VERDICT_WHY_DRIFT, false}, {VERDICT_WHY_UNUSABLE, false}};
	struct bracket e = effect_of(0.01, 0.02, 6);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
			decide(&e, e.p, cases[i].gate, &higher).further_boots > 0, cases[i].asked);
}

/* Against a table: two-sample t, effect = 1 sd, 80 % power needs 17 each; with
 * the slope's degree of freedom and even numbers, 18. */
static void detection_has_the_promised_power(void **state KB_UNUSED)
{
	const struct power power = {1e-4, 1e-4, 0, 0}, helped = {1e-4, 1e-4, 5, 0},
			   none = {0, 0, 0, 0}, guessed = {1e-4, 1e-4, 0, 5};
	int m = power_boots_to_detect(&power, 0.05, 0.01, 0.8);

	assert_int_equal(m, 18);
	assert_true(
		power_at(&power, 16, 0.05, 0.01) < 0.8 && power_at(&power, 18, 0.05, 0.01) >= 0.8);
	assert_true(power_at(&helped, 4, 0.05, 0.02) > power_at(&power, 4, 0.05, 0.02));
	assert_true(power_boots_to_detect(&helped, 0.05, 0.04, 0.9) <
		    power_boots_to_detect(&power, 0.05, 0.04, 0.9));
	assert_near(power_at(&power, 18, 0.05, 0), 0.05, 1e-9);
	assert_near(power_at(&none, 4, 0.05, 0.01), 1, 0);
	assert_int_equal(power_boots_to_detect(&power, 0.05, 1e-5, 0.8), 0);
	assert_near(power_at(&guessed, 18, 0.01, 0), 0.01, 1e-9);
	/* as the only one of 16, and where the noise may be larger than what was seen */
	assert_true(power_boots_to_detect(&power, 0.05 / 16, 0.01, 0.8) > m);
	assert_true(power_boots_to_detect(&guessed, 0.05, 0.01, 0.8) > m);
}

static void drift_is_last_over_first(void **state KB_UNUSED)
{
	static const double y[] = {100, 7, 7, 102, 100, 7, 7, 99};
	struct bracket_boot boots[8];
	struct drift drift;

	for (int i = 0; i < 8; i++)
		boots[i] = (struct bracket_boot){.arm = y[i] < 50,
			.block = i / 4,
			.t = i,
			.runs = 9,
			.mean_ln = log(y[i]),
			.var_ln = 1e-4};
	drift_of_arm(boots, 8, 0, &drift);
	assert_int_equal(drift.blocks, 2);
	assert_near(drift.ratio, (0.02 - 0.01) / 2, 1e-12);
	assert_near(drift.ln, (log(1.02) + log(0.99)) / 2, 1e-12);
	/* A block that lost a baseline boot has no drift. */
	boots[7].mean_ln = NAN;
	drift_of_arm(boots, 8, 0, &drift);
	assert_int_equal(drift.blocks, 1);
	assert_near(drift.ratio, 0.02, 1e-12);
	drift_of_arm(boots, 2, 0, &drift);
	assert_int_equal(drift.blocks, 0);
	assert_true(isnan(drift.ratio));
	drift_of_arm(NULL, 0, 0, &drift);
	assert_int_equal(drift.blocks, 0);
}

static void gates_account_for_n(void **state KB_UNUSED)
{
	const struct history h = {.boots = 20, .nu0 = 5, .tau2 = 4e-6, .sw2 = 1e-4, .sw_df = 160};
	const struct history none = {0};

	assert_near(drift_cv_limit(&h, 9), 0.0181, 5e-5);
	assert_near(drift_cv_limit(&h, 5), 0.0215, 5e-5);
	assert_true(isnan(drift_cv_limit(&h, 1)));
	assert_true(isnan(drift_cv_limit(&none, 9)));
	assert_true(isnan(drift_cv_limit(NULL, 9)));
	/* Run CV 1.24 %, boots 0.2 %, nine runs: 1.7 %. */
	assert_near(drift_limit(&h, 0.0124 * 0.0124 / 9, 1), 0.0168, 1e-4);
	assert_near(drift_limit(&h, 1e-5, 4), drift_limit(&h, 1e-5, 1) / 2, 1e-12);
	assert_true(isnan(drift_limit(NULL, 1e-5, 1)));
	assert_true(isnan(drift_limit(&h, 1e-5, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_five_words),
		cmocka_unit_test(gates_come_first),
		cmocka_unit_test(values_that_never_vary),
		cmocka_unit_test(words_have_names),
		cmocka_unit_test(equivalence_agrees_with_its_p),
		cmocka_unit_test(settling_needs_the_smallest_even_number),
		cmocka_unit_test(settling_counts_the_others_of_the_table),
		cmocka_unit_test(boots_are_asked_for_where_they_help),
		cmocka_unit_test(detection_has_the_promised_power),
		cmocka_unit_test(drift_is_last_over_first),
		cmocka_unit_test(gates_account_for_n),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
