/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "judge/layout.h"
#include "judge/rate.h"
#include "near.h"

enum { MAX_BOOTS = 16 };

/* An experiment of the variants base, patched and third on one machine, as the store would give
 * it: one condition, one metric, higher is better, margin 1 %, alpha 5 %. */
struct lab {
	struct arena arena;
	struct store_view view;
	struct store_variant variants[3];
	struct store_build builds[3];
	struct store_machine machine;
	struct store_condition condition;
	struct store_metric metric;
	struct store_boot boots[MAX_BOOTS];
	struct bracket_boot numbers[MAX_BOOTS];
	struct evidence_boot facts[MAX_BOOTS];
	struct evidence_cell cell;
};

static void lab_init(struct lab *lab, const char *order, const double *values)
{
	static const char *const names[] = {"base", "patched", "third"};
	size_t n = strlen(order);

	arena_release(&lab->arena);
	*lab = (struct lab){.metric = {.id = 7, .name = "rate"}};
	lab->condition = (struct store_condition){.id = 5, .decides = true};
	lab->view.head = (struct store_experiment){
		.margin_pct = 1, .alpha_pct = 5, .cv_pct = NAN, .drift_pct = NAN};
	for (int i = 0; i < 3; i++) {
		lab->builds[i].id = 20 + i;
		lab->variants[i] = (struct store_variant){.id = 10 + i,
			.position = i,
			.name = names[i],
			.state = STATE_DONE,
			.reason = "",
			.runtime_sha256 = "r",
			.build = &lab->builds[i],
			.against = i > 0 ? &lab->variants[0] : NULL};
	}
	for (size_t i = 0; i < n; i++) {
		const struct store_variant *variant = &lab->variants[order[i] - 'A'];

		lab->boots[i] = (struct store_boot){.ordinal = (int)i + 1,
			.block = 1,
			.variant = variant,
			.state = STATE_DONE,
			.reason = ""};
		lab->numbers[i] = (struct bracket_boot){.arm = variant->position,
			.block = 1,
			.t = (double)i + 1,
			.runs = 9,
			.mean_ln = log(values[i]),
			.var_ln = 1e-4};
		lab->facts[i] = (struct evidence_boot){.mean = values[i], .cv = 0.01};
	}
	lab->machine = (struct store_machine){.id = 3, .boots = lab->boots, .boot_count = n};
	lab->cell = (struct evidence_cell){
		&lab->machine, &lab->condition, &lab->metric, lab->numbers, lab->facts, n, NULL};
	lab->view.variants = lab->variants;
	lab->view.variant_count = 3;
}

static struct store_verdict judged(struct lab *lab, const struct history *history)
{
	struct rate rate;

	rate_effect(&lab->view, &lab->cell, &lab->variants[1], &lab->variants[0], history,
		&lab->arena, &rate);
	rate_decide(&lab->view, rate.effect.p, 1, &lab->arena, &rate);
	return rate.row;
}

#define ASSERT_HAS(text, part)                                                  \
	do {                                                                    \
		if (!strstr((text), (part)))                                    \
			fail_msg("\"%s\" does not say \"%s\"", (text), (part)); \
	} while (0)

/* What one layout of the variant shows, beside a change of +10 % to +12 %. */
struct seen {
	enum verdict_word word;
	double effect, low, high; /* per cent */
};

static void layouts_hold_or_take_away_a_change(void **state KB_UNUSED)
{
	static const struct {
		struct seen aligned, padded;
		const char *layout;
	} cases[] = {
		{{VERDICT_IMPROVED, 10, 9, 11}, {VERDICT_IMPROVED, 11, 10, 12}, "held"},
		{{VERDICT_EQUIVALENT, 0.1, -0.5, 0.6}, {VERDICT_IMPROVED, 11, 10, 12}, "suspect"},
		{{VERDICT_IMPROVED, 10, 9, 11}, {VERDICT_REGRESSED, -5, -6, -4}, "suspect"},
		/* not decided, and yet certainly less */
		{{VERDICT_IMPROVED, 10, 9, 11}, {VERDICT_INCONCLUSIVE, 1, -4, 6}, "suspect"},
		/* not decided, and possibly as much */
		{{VERDICT_IMPROVED, 10, 9, 11}, {VERDICT_INCONCLUSIVE, 6, -1, 13}, "open"},
		/* a change of the same sign and of another size */
		{{VERDICT_IMPROVED, 2, 1, 3}, {VERDICT_IMPROVED, 11, 10, 12}, "suspect"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lab lab = {0};
		struct store_variant others[2];
		struct rate rates[3];

		lab_init(&lab, "ABBA", (const double[]){100, 111, 111.1, 100.1});
		for (int k = 0; k < 3; k++) {
			const struct seen *seen = k == 1 ? &cases[i].aligned : &cases[i].padded;

			rate_effect(&lab.view, &lab.cell, &lab.variants[1], &lab.variants[0], NULL,
				&lab.arena, &rates[k]);
			rate_decide(&lab.view, rates[k].effect.p, 1, &lab.arena, &rates[k]);
			assert_int_equal(rates[k].row.word, VERDICT_IMPROVED);
			assert_string_equal(rates[k].row.layout, "");
			if (k == 0)
				continue;
			others[k - 1] = lab.variants[1];
			others[k - 1].name = k == 1 ? "patched-aligned" : "patched-padded";
			others[k - 1].layout_of = &lab.variants[1];
			rates[k].variant = &others[k - 1];
			rates[k].row.word = seen->word;
			rates[k].row.effect = log1p(seen->effect / 100);
			rates[k].row.effect_low = log1p(seen->low / 100);
			rates[k].row.effect_high = log1p(seen->high / 100);
		}
		layout_tag(rates, 3, &lab.arena);
		assert_string_equal(rates[0].row.layout, cases[i].layout);
		ASSERT_HAS(rates[0].row.reason, "patched-aligned is ");
		/* what another layout showed is tagged by nothing */
		assert_string_equal(rates[1].row.layout, "");
		arena_release(&lab.arena);
	}
}

static const double faster[] = {100, 110, 110.1, 100.2};
static const struct history calm = {.boots = 20, .nu0 = 5, .tau2 = 4e-6, .sw2 = 1e-4, .sw_df = 160};

static void a_plain_row(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", faster);
	lab.facts[1].flagged = 2;
	lab.facts[3].dropped = 1;
	lab.facts[0].cv = 0.02;
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_IMPROVED);
	assert_string_equal(row.reason, "");
	assert_string_equal(row.method, "boot-t");
	assert_int_equal(row.machine_id, 3);
	assert_int_equal(row.condition_id, 5);
	assert_int_equal(row.metric_id, 7);
	assert_int_equal(row.variant_id, 11);
	assert_int_equal(row.against_id, 10);
	assert_int_equal(row.boots, 2);
	assert_int_equal(row.against_runs, 18);
	assert_int_equal(row.flagged, 2);
	assert_int_equal(row.dropped, 1);
	assert_int_equal(row.family, 1);
	assert_int_equal(row.further_boots, -1);
	assert_true(row.headline);
	assert_near(row.mean, 110.05, 1e-12);
	assert_near(row.against_mean, 100.1, 1e-12);
	assert_near(row.cv_pct, 1, 1e-12);
	assert_near(row.against_cv_pct, sqrt(2.5), 1e-12);
	assert_near(row.drift, 0.002, 1e-12);
	assert_true(isnan(row.drift_expected));
	assert_near(row.within_sd, 0.01, 1e-12);
	assert_near(row.effect, log(110 * 110.1 / 100 / 100.2) / 2, 1e-12);
	lab.metric.lower_is_better = true;
	assert_int_equal(judged(&lab, NULL).word, VERDICT_REGRESSED);
	lab.condition.control = true;
	assert_false(judged(&lab, NULL).headline);
	arena_release(&lab.arena);
}

static void why_there_is_nothing(void **state KB_UNUSED)
{
	static const double one_sided[] = {100, 100};
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "AA", one_sided);
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INVALID);
	assert_string_equal(row.reason, "no boot of 'patched' is planned");
	assert_true(isnan(row.effect) && isnan(row.mean));

	lab.boots[1].variant = &lab.variants[1];
	lab.cell.count = 1;
	assert_string_equal(judged(&lab, NULL).reason, "no run of 'patched' is valid");
	lab.boots[1].state = STATE_PLANNED;
	assert_string_equal(judged(&lab, NULL).reason, "'patched' is not measured yet");
	lab.boots[1].state = STATE_FAILED;
	lab.boots[1].reason = "boot-failed";
	assert_string_equal(
		judged(&lab, NULL).reason, "no boot of 'patched' was measured: boot-failed");
	lab.cell.count = 0;
	assert_int_equal(judged(&lab, NULL).word, VERDICT_INVALID);
	arena_release(&lab.arena);
}

static void three_boots(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABA", faster);
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INCONCLUSIVE);
	assert_string_equal(row.method, "estimate");
	ASSERT_HAS(row.reason, "too few boots");
	assert_true(row.further_boots > 0);
	lab.numbers[2].mean_ln = log(100.3);
	row = judged(&lab, &calm);
	assert_int_equal(row.word, VERDICT_IMPROVED);
	assert_string_equal(row.method, "moderated-t");
	assert_near(row.drift_expected, expm1(2.58 * sqrt(2 * (4e-6 + 1e-4 / 9))), 1e-9);
	arena_release(&lab.arena);
}

static void published_means_have_no_verdict(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", faster);
	lab.view.head.means_only = true;
	for (int i = 0; i < 4; i++) {
		lab.numbers[i].var_ln = NAN;
		lab.facts[i].cv = NAN;
	}
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INCONCLUSIVE);
	ASSERT_HAS(row.reason, "means");
	assert_int_equal(row.further_boots, -1);
	assert_true(isnan(row.cv_pct) && isnan(row.within_sd));
	assert_near(row.drift, 0.002, 1e-12);
	assert_true(isfinite(row.effect));
	arena_release(&lab.arena);
}

static void unusable_values(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", faster);
	lab.numbers[2].mean_ln = NAN;
	lab.facts[2].unusable = true;
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INVALID);
	ASSERT_HAS(row.reason, "boot 3");
	/* Another variant's bad value is not this one's trouble. */
	lab_init(&lab, "ABBA", faster);
	lab.numbers[2].arm = 2;
	lab.facts[2].unusable = true;
	assert_int_not_equal(judged(&lab, NULL).word, VERDICT_INVALID);
	arena_release(&lab.arena);
}

static void the_drift_gate(void **state KB_UNUSED)
{
	static const double moving[] = {100, 121, 121, 103};
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", moving);
	row = judged(&lab, NULL);
	assert_int_not_equal(row.word, VERDICT_INVALID);
	row = judged(&lab, &calm);
	assert_int_equal(row.word, VERDICT_INVALID);
	ASSERT_HAS(row.reason, "drifted 3.00 %, expected up to 1.4");
	assert_near(row.drift, 0.03, 1e-12);
	/* The numbers stay. */
	assert_true(isfinite(row.effect_low));
	/* A figure of the configuration goes before the history. */
	lab.view.head.drift_pct = 5;
	assert_int_not_equal(judged(&lab, &calm).word, VERDICT_INVALID);
	lab.view.head.drift_pct = 2;
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INVALID);
	assert_near(row.drift_expected, 0.02, 1e-12);
	arena_release(&lab.arena);
}

static void the_cv_gate(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", faster);
	lab.facts[3].cv = 0.05;
	assert_int_equal(judged(&lab, NULL).word, VERDICT_IMPROVED);
	row = judged(&lab, &calm);
	assert_int_equal(row.word, VERDICT_INCONCLUSIVE);
	ASSERT_HAS(row.reason, "boot 4 scatter by 5.00 %, expected up to 1.81 %");
	lab.view.head.cv_pct = 6;
	assert_int_equal(judged(&lab, &calm).word, VERDICT_IMPROVED);
	/* One boot of two of the variant: the boot's doing. */
	lab_init(&lab, "ABBA", faster);
	lab.facts[1].cv = 0.05;
	assert_int_equal(judged(&lab, &calm).word, VERDICT_INCONCLUSIVE);
	/* Both, and no baseline: the kernel's doing, a finding. */
	lab.facts[2].cv = 0.05;
	row = judged(&lab, &calm);
	assert_int_equal(row.word, VERDICT_IMPROVED);
	ASSERT_HAS(row.reason, "scatter by 5.00 %, the baseline's by 1.00 %");
	/* All of everybody: a bad day. */
	lab.facts[0].cv = lab.facts[3].cv = 0.05;
	assert_int_equal(judged(&lab, &calm).word, VERDICT_INCONCLUSIVE);
	arena_release(&lab.arena);
}

static void notes(void **state KB_UNUSED)
{
	static const double wild[] = {100, 118, 110, 104};
	static const double sloped[] = {100, 111, 112, 103, 104.02, 115, 116, 107};
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", wild);
	lab.view.head.drift_pct = 10;
	ASSERT_HAS(judged(&lab, &calm).reason, "history not used");
	lab_init(&lab, "ABBA", faster);
	lab.cell.count = 3;
	ASSERT_HAS(judged(&lab, NULL).reason, "does not cancel drift");
	lab_init(&lab, "ABBAABBA", sloped);
	row = judged(&lab, NULL);
	assert_string_equal(row.method, "boot-ols");
	ASSERT_HAS(row.reason, "% a boot was taken out");
	arena_release(&lab.arena);
}

static void one_kernel_under_two_names(void **state KB_UNUSED)
{
	struct lab lab = {0};
	struct store_verdict row;

	/* patched is base's kernel and was not booted. */
	lab_init(&lab, "ACCA", faster);
	lab.variants[1].build = &lab.builds[0];
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_EQUIVALENT);
	assert_string_equal(row.method, "same-kernel");
	ASSERT_HAS(row.reason, "the same kernel as 'base'");
	assert_near(row.effect, 0, 0);
	/* patched is third's kernel, and third was booted. */
	lab.variants[1].build = &lab.builds[2];
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_IMPROVED);
	assert_int_equal(row.variant_id, 11);
	assert_int_equal(row.boots, 2);
	ASSERT_HAS(row.reason, "the same kernel as 'third'");
	/* The same build with other features is another kernel. */
	lab.variants[1].runtime_sha256 = "other";
	assert_int_equal(judged(&lab, NULL).word, VERDICT_INVALID);
	/* Both booted: a comparison like any other. */
	lab_init(&lab, "ABBA", faster);
	lab.variants[1].build = &lab.builds[0];
	assert_int_equal(judged(&lab, NULL).word, VERDICT_IMPROVED);
	arena_release(&lab.arena);
}

static void noise_names_a_number_or_says_that_none_helps(void **state KB_UNUSED)
{
	static const double some[] = {100, 101, 103, 100.5}, much[] = {100, 300, 40, 120};
	struct lab lab = {0};
	struct store_verdict row;

	lab_init(&lab, "ABBA", some);
	row = judged(&lab, NULL);
	assert_int_equal(row.word, VERDICT_INCONCLUSIVE);
	assert_true(row.further_boots >= 2);
	assert_string_equal(row.reason, "");
	lab_init(&lab, "ABBA", much);
	lab.numbers[1].mean_ln = lab.numbers[0].mean_ln + 0.7;
	lab.numbers[2].mean_ln = lab.numbers[3].mean_ln - 0.7;
	row = judged(&lab, NULL);
	assert_int_equal(row.further_boots, -1);
	ASSERT_HAS(row.reason, "too noisy");
	arena_release(&lab.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_row),
		cmocka_unit_test(layouts_hold_or_take_away_a_change),
		cmocka_unit_test(why_there_is_nothing),
		cmocka_unit_test(three_boots),
		cmocka_unit_test(published_means_have_no_verdict),
		cmocka_unit_test(unusable_values),
		cmocka_unit_test(the_drift_gate),
		cmocka_unit_test(the_cv_gate),
		cmocka_unit_test(notes),
		cmocka_unit_test(one_kernel_under_two_names),
		cmocka_unit_test(noise_names_a_number_or_says_that_none_helps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
