/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judge on a real database: imported measurements in, verdict rows out. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "judge/judge.h"
#include "judge/noise.h"
#include "judge/others.h"
#include "judge/suites.h"
#include "model/store_result.h"
#include "near.h"

static const char *const two[] = {"base", "patched", NULL};
static const char *const three[] = {"base", "patched", "third", NULL};

struct lab {
	char *folder;
	struct store *store;
	struct arena arena;
	struct store_import_row *rows;
	size_t count, capacity;
	int64_t experiment;
	struct store_verdict *verdicts;
	size_t verdict_count;
};

#define OK(call)                                             \
	do {                                                 \
		struct err err = ERR_INIT;                   \
		if ((call) != 0)                             \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static int setup(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	char *path;

	lab->folder = xstrdup("/tmp/kb-test-judge-XXXXXX");
	assert_non_null(mkdtemp(lab->folder));
	path = xasprintf("%s/kbracket.db", lab->folder);
	OK(store_open(path, STORE_WRITE, &lab->store, &err));
	free(path);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;

	store_close(lab->store);
	assert_int_equal(file_remove_tree(lab->folder, &err), 0);
	arena_release(&lab->arena);
	free(lab->folder);
	free(lab->rows);
	free(lab);
	return 0;
}

/* One sample: run 0 is a boot mean of nine runs. */
static void add(struct lab *lab, const char *condition, const char *metric, int boot,
	const char *variant, int64_t run, int ordinal, double value)
{
	GROW(lab->rows, lab->count, lab->capacity);
	lab->rows[lab->count++] = (struct store_import_row){.machine = "box",
		.variant = variant,
		.boot = boot,
		.block = (boot - 1) / 4 + 1,
		.suite = "suite",
		.condition = condition,
		.workers = 8,
		.cpus = 8,
		.metric = metric,
		.unit = "ops/s",
		.run = run,
		.ordinal = ordinal,
		.value = value,
		.runs = run ? 0 : 9,
		.flags = "",
		.cv_pct = NAN};
}

/* Boots in the order of the letters, four runs each that scatter by about 1 %. */
static void add_bracket(struct lab *lab, const char *condition, const char *metric,
	const char *order, const double *level)
{
	static const double noise[] = {0.99, 1.01, 1.005, 0.995};

	for (int i = 0; order[i]; i++)
		for (int run = 1; run <= 4; run++)
			add(lab, condition, metric, i + 1, three[order[i] - 'A'], run, 1,
				level[i] * noise[run - 1]);
}

static void import_and_judge(struct lab *lab, const char *const *variants)
{
	const struct store_import what = {.name = "imported",
		.about = "test",
		.variants = variants,
		.margin_pct = 1,
		.alpha_pct = 5,
		.version = "test",
		.rows = lab->rows,
		.count = lab->count};

	OK(store_import(lab->store, &what, &lab->experiment, &err));
	OK(judge_experiment(lab->store, lab->experiment, "test", &err));
	OK(store_verdicts_load(lab->store, lab->experiment, &lab->arena, &lab->verdicts,
		&lab->verdict_count, &err));
}

/* A percentile of so many observations in every run; the second of three runs has a stall. */
static void add_percentile(
	struct lab *lab, double percentile, const char *order, const int64_t *observations)
{
	static const double noise[] = {1, 40, 1.01};

	for (int i = 0; order[i]; i++)
		for (int run = 1; run <= 3; run++) {
			double level = (order[i] == 'B' ? 115 : 100) + i % 3;

			add(lab, "c", "tail", i + 1, three[order[i] - 'A'], run, 1,
				level * noise[run - 1]);
			lab->rows[lab->count - 1].percentile = percentile;
			lab->rows[lab->count - 1].observations = observations[order[i] - 'A'];
			lab->rows[lab->count - 1].lower_is_better = true;
		}
}

static void a_boot_is_the_median_of_its_percentiles(void **state)
{
	static const int64_t enough[] = {1000, 1400};
	struct lab *lab = *state;
	const struct store_verdict *row;

	add_percentile(lab, 99, "ABBAABBA", enough);
	import_and_judge(lab, two);
	row = &lab->verdicts[0];
	/* a stall is most of a boot's mean and nothing in its median */
	assert_near(row->against_mean, 1.01 * (100 + 100 + 101 + 101) / 4.0, 1e-9);
	assert_near(row->effect, log(1.15), 0.02);
	assert_int_equal(row->word, VERDICT_REGRESSED);
	assert_int_equal(row->observations, 1400);
	assert_int_equal(row->against_observations, 1000);
	/* three runs are too few for an interval of order statistics */
	assert_true(isnan(row->order_low));
}

static void a_percentile_of_too_few_is_not_decided(void **state)
{
	static const struct {
		double percentile;
		int64_t observations[2];
		enum verdict_word word;
		const char *reason;
	} cases[] = {
		{99, {800, 1100}, VERDICT_INCONCLUSIVE,
			"p99 of 800 observations a run has 8 beyond it; 10 are wanted: 1000 "
			"observations, so runs 1.2 times as long"},
		{99.9, {4000, 4100}, VERDICT_INCONCLUSIVE,
			"p99.9 of 4000 observations a run has 4 beyond it; 10 are wanted: 10000 "
			"observations, so runs 2.5 times as long"},
		{99, {1000, 1600}, VERDICT_INCONCLUSIVE,
			"p99 of 1000 observations a run has 10 beyond it; 30 are wanted, for one "
			"side has many more than the other: 3000 observations, so runs 3 times as "
			"long"},
		{99, {3000, 9000}, VERDICT_REGRESSED, ""},
		{99, {0, 9000}, VERDICT_REGRESSED,
			"the program does not tell how many observations its p99 is of, so nobody "
			"knows whether they are enough"},
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		lab->count = 0;
		add_percentile(lab, cases[i].percentile, "ABBAABBA", cases[i].observations);
		import_and_judge(lab, two);
		assert_string_equal(lab->verdicts[0].reason, cases[i].reason);
		assert_int_equal(lab->verdicts[0].word, cases[i].word);
		/* no number of boots mends short runs */
		assert_int_equal(lab->verdicts[0].further_boots, -1);
		/* what was seen is shown all the same */
		assert_near(lab->verdicts[0].effect, log(1.15), 0.02);
	}
}

/* Each run has 600 observations in one bucket; the first has 4 in a larger one, which is less than
 * 1 %, the second 9. Of both together 1.07 % are there, so p99 is. */
static void histograms_are_pooled_over_a_boot(void **state)
{
	static const char order[] = "ABBAABBA";
	struct lab *lab = *state;
	const struct store_verdict *row;

	for (int i = 0; order[i]; i++)
		for (int run = 1; run <= 2; run++)
			for (int bucket = 0; bucket < 2; bucket++) {
				double level = order[i] == 'B' ? 1.5 : 1, shift = 1 + i * 1e-3;

				add(lab, "c", "tail", i + 1, three[order[i] - 'A'], run, bucket + 1,
					level * shift * (bucket ? 100 : 10));
				lab->rows[lab->count - 1].percentile = 99;
				lab->rows[lab->count - 1].pooled = true;
				lab->rows[lab->count - 1].observations = !bucket    ? 600
									 : run == 1 ? 4
										    : 9;
			}
	import_and_judge(lab, two);
	row = &lab->verdicts[0];
	assert_near(row->effect, log(1.5), 1e-3);
	assert_near(row->against_mean, 100 * (1 + (0 + 3 + 4 + 7) / 4.0 * 1e-3), 1e-6);
	assert_int_equal(row->observations, 1213);
	assert_int_equal(row->runs, 8);
	/* between the two buckets, at 95 % */
	assert_near(row->against_order_low, 10, 0.1);
	assert_near(row->against_order_high, 100, 1);
}

static void published_gain_and_drift(void **state)
{
	static const struct {
		const char *condition;
		double a1, p, a2, gain, drift;
	} rows[] = {{"sembench 8", 2668465, 2876585, 2674225, 7.68, 0.22},
		{"sembench 815", 1112251, 1136952, 1117457, 1.98, 0.47}};
	struct lab *lab = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		add(lab, rows[i].condition, "rate", 1, "base", 0, 1, rows[i].a1);
		add(lab, rows[i].condition, "rate", 2, "patched", 0, 1, rows[i].p);
		add(lab, rows[i].condition, "rate", 3, "base", 0, 1, rows[i].a2);
	}
	import_and_judge(lab, two);
	assert_int_equal(lab->verdict_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct store_verdict *row = &lab->verdicts[i];

		assert_int_equal(row->word, VERDICT_INCONCLUSIVE);
		assert_near(100 * expm1(row->effect), rows[i].gain, 0.005);
		assert_near(100 * row->drift, rows[i].drift, 0.005);
		assert_true(isnan(row->cv_pct));
		assert_int_equal(row->runs, 9);
		assert_int_equal(row->against_runs, 18);
		assert_non_null(strstr(row->reason, "means"));
	}
}

static void words_and_families(void **state)
{
	static const double gain[] = {100, 110, 110.4, 100.3}, loss[] = {100, 90, 90.4, 100.3};
	static const double same[] = {100, 100.1, 100.2, 100.3}, wide[] = {100, 103, 97, 104};
	struct lab *lab = *state;

	add_bracket(lab, "a", "rate", "ABBA", gain);
	add_bracket(lab, "b", "rate", "ABBA", loss);
	add_bracket(lab, "c", "rate", "ABBA", same);
	add_bracket(lab, "d", "rate", "ABBA", wide);
	import_and_judge(lab, two);
	assert_int_equal(lab->verdict_count, 4);
	assert_int_equal(lab->verdicts[0].word, VERDICT_IMPROVED);
	assert_int_equal(lab->verdicts[1].word, VERDICT_REGRESSED);
	assert_int_equal(lab->verdicts[2].word, VERDICT_EQUIVALENT);
	assert_int_equal(lab->verdicts[3].word, VERDICT_INCONCLUSIVE);
	assert_true(lab->verdicts[3].further_boots > 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(lab->verdicts[i].family, 4);
		assert_true(lab->verdicts[i].q >= lab->verdicts[i].p);
		assert_string_equal(lab->verdicts[i].method, "boot-t");
		assert_int_equal(lab->verdicts[i].method_version, JUDGE_VERSION);
	}
	assert_near(lab->verdicts[0].against_mean, 100.15, 1e-9);
	assert_near(lab->verdicts[0].cv_pct, 100 * 0.0091287, 1e-3);
}

/* Rows are derived: judging again replaces them and changes nothing. */
static void judging_twice_is_judging_once(void **state)
{
	static const double gain[] = {100, 110, 110.4, 100.3};
	struct lab *lab = *state;
	struct store_verdict *again;
	size_t count;

	add_bracket(lab, "a", "rate", "ABBA", gain);
	import_and_judge(lab, two);
	OK(judge_experiment(lab->store, lab->experiment, "test", &err));
	OK(store_verdicts_load(lab->store, lab->experiment, &lab->arena, &again, &count, &err));
	assert_int_equal(count, 1);
	assert_near(again[0].p, lab->verdicts[0].p, 0);
	assert_int_equal(again[0].word, lab->verdicts[0].word);
}

static void a_variant_without_boots(void **state)
{
	static const double gain[] = {100, 110, 110.4, 100.3};
	struct lab *lab = *state;

	add_bracket(lab, "a", "rate", "ABBA", gain);
	import_and_judge(lab, three);
	assert_int_equal(lab->verdict_count, 2);
	assert_int_equal(lab->verdicts[1].word, VERDICT_INVALID);
	assert_non_null(strstr(lab->verdicts[1].reason, "third"));
	assert_int_equal(lab->verdicts[0].family, 1);
}

static void variants_compared_with_each_other(void **state)
{
	static const double level[] = {100, 110, 120, 120.3, 110.2, 100.1};
	struct lab *lab = *state;
	struct store_view view;
	struct store_verdict *rows;
	size_t count;

	add_bracket(lab, "a", "rate", "ABCCBA", level);
	import_and_judge(lab, three);
	OK(store_load(lab->store, lab->experiment, &lab->arena, &view, &err));
	OK(judge_compare(lab->store, &view, &view.variants[2], &view.variants[1], &lab->arena,
		&rows, &count, &err));
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].word, VERDICT_IMPROVED);
	assert_near(rows[0].effect, log(120 * 120.3 / 110 / 110.2) / 2, 1e-9);
	assert_int_equal(rows[0].variant_id, view.variants[2].id);
	assert_int_equal(rows[0].against_id, view.variants[1].id);
}

/* Samples of a run are averaged before the logarithm; a boot that has a zero has no ratio. */
static void degenerate_values(void **state)
{
	static const double tiny[] = {1e-12, 1.1e-12, 1.104e-12, 1.003e-12};
	static const double huge[] = {1e15, 1.1e15, 1.104e15, 1.003e15};
	static const double zero[] = {100, 0, 110, 100};
	static const double minus[] = {100, -110, -110, 100};
	struct lab *lab = *state;

	add_bracket(lab, "a", "rate", "ABBA", tiny);
	add_bracket(lab, "b", "rate", "ABBA", huge);
	add_bracket(lab, "c", "rate", "ABBA", zero);
	add_bracket(lab, "d", "rate", "ABBA", minus);
	for (int i = 0; i < 4; i++) /* one run a boot, two samples each */
		for (int s = 1; s <= 2; s++)
			add(lab, "e", "rate", i + 1, two[i == 1 || i == 2], 1, s, s * (100 + i));
	for (int i = 0; i < 4; i++) /* nothing ever varies */
		for (int run = 1; run <= 3; run++)
			add(lab, "f", "rate", i + 1, two[i == 1 || i == 2], run, 1, 42);
	import_and_judge(lab, two);
	assert_int_equal(lab->verdict_count, 6);
	assert_int_equal(lab->verdicts[0].word, VERDICT_IMPROVED);
	assert_int_equal(lab->verdicts[1].word, VERDICT_IMPROVED);
	assert_near(lab->verdicts[0].p, lab->verdicts[1].p, 1e-9);
	assert_int_equal(lab->verdicts[2].word, VERDICT_INVALID);
	assert_non_null(strstr(lab->verdicts[2].reason, "boot 2"));
	assert_int_equal(lab->verdicts[3].word, VERDICT_INVALID);
	assert_near(lab->verdicts[4].mean, 1.5 * 101.5, 1e-9);
	assert_true(isnan(lab->verdicts[4].cv_pct));
	assert_int_equal(lab->verdicts[4].runs, 2);
	assert_int_equal(lab->verdicts[5].word, VERDICT_INCONCLUSIVE);
}

/* A boot far from its fellows is kept and widens the interval; a bracket that lacks a boot says
 * that drift is in its effect. */
static void an_outlier_and_a_missing_boot(void **state)
{
	static const double outlier[] = {100, 100.1, 160, 100.3}, cut[] = {100, 110, 110.4};
	struct lab *lab = *state;

	add_bracket(lab, "a", "rate", "ABBA", outlier);
	add_bracket(lab, "b", "rate", "ABB", cut);
	import_and_judge(lab, two);
	assert_int_equal(lab->verdict_count, 2);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_int_equal(lab->verdicts[0].boots, 2);
	assert_true(lab->verdicts[0].effect_low < 0);
	assert_int_equal(lab->verdicts[1].word, VERDICT_INCONCLUSIVE);
	assert_int_equal(lab->verdicts[1].against_boots, 1);
	assert_non_null(strstr(lab->verdicts[1].reason, "does not cancel drift"));
}

/* A run that is left out by policy, and what the verdict would be with it. */
static void dropped_runs(void **state)
{
	static const double gain[] = {100, 110, 110.4, 100.3};
	struct lab *lab = *state;

	add_bracket(lab, "a", "rate", "ABBA", gain);
	add(lab, "a", "rate", 2, "patched", 5, 1, 10);
	lab->rows[lab->count - 1].flags = "clock-step";
	lab->rows[0].flags = "steal";
	import_and_judge(lab, two);
	assert_int_equal(lab->verdicts[0].word, VERDICT_IMPROVED);
	assert_int_equal(lab->verdicts[0].dropped, 1);
	assert_int_equal(lab->verdicts[0].flagged, 1);
	assert_int_equal(lab->verdicts[0].runs, 8);
	assert_string_equal(lab->verdicts[0].word_kept, "inconclusive");
}

/* What others make of the same runs: boots of one kernel that differ are a change to those who take
 * runs as independent; runs that were left out count for nobody. */
static void as_others_would(void **state)
{
	static const double wide[] = {100, 103, 102, 101};
	struct lab *lab = *state;
	struct store_view view;
	struct others others;

	add_bracket(lab, "a", "rate", "ABBA", wide);
	add(lab, "a", "rate", 2, "patched", 5, 1, 1e6);
	lab->rows[lab->count - 1].flags = "clock-step";
	add(lab, "means", "rate", 1, "base", 1, 1, 100);
	import_and_judge(lab, two);
	assert_int_equal(lab->verdict_count, 2);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	OK(store_load(lab->store, lab->experiment, &lab->arena, &view, &err));
	OK(others_ask(lab->store, &view, PEER_WELCH, lab->verdicts, lab->verdict_count, &lab->arena,
		&others, &err));
	assert_int_equal(others.count, 2);
	assert_true(others.rows[0].theirs.differs);
	assert_near(others.rows[0].theirs.change, 102.5 / 100.5 - 1, 1e-9);
	assert_string_equal(others.rows[0].variant->name, "patched");
	assert_string_equal(others.rows[0].against->name, "base");
	assert_false(others.rows[1].theirs.told);
	assert_int_equal(others.only_theirs, 1);
	assert_int_equal(others.only_ours, 0);
	/* Two boots a side are too few for a rule whose values are boots. */
	OK(others_ask(lab->store, &view, PEER_LKP, lab->verdicts, lab->verdict_count, &lab->arena,
		&others, &err));
	assert_string_equal(others.rows[0].theirs.why, "too few values");
	assert_int_equal(others.only_theirs, 0);
}

/* The machine's noise from every kernel's boots, and what it takes to find a change in it. */
static void noise_and_what_it_hides(void **state)
{
	static const double levels[] = {100, 110, 111.1, 101, 100, 110, 111.1, 101};
	static const double few[] = {100, 110, 111.1, 101};
	static const char *const names[] = {"never", "few", "a"};
	double step = log(1.01), mean = 0, sw2 = 0;
	static const double runs[] = {0.99, 1.01, 1.005, 0.995};
	struct lab *lab = *state;
	struct noise *noises;
	size_t count;

	add_bracket(lab, "a", "rate", "ABBAABBA", levels);
	add_bracket(lab, "few", "rate", "ABBA", few);
	import_and_judge(lab, two);
	for (int i = 0; i < 4; i++)
		mean += log(runs[i]) / 4;
	for (int i = 0; i < 4; i++)
		sw2 += pow(log(runs[i]) - mean, 2) / 3;
	OK(noise_load(lab->store, "box", names, 3, &lab->arena, &noises, &count, &err));
	assert_int_equal(count, 2);
	assert_string_equal(noises[0].condition, "few");
	assert_int_equal(noise_boots_to_detect(&noises[0], 4, 0.05, 0.02, 0.8), 0);
	assert_string_equal(noises[1].condition, "a");
	assert_string_equal(noises[1].metric, "rate");
	assert_int_equal(noises[1].history.boots, 8);
	assert_near(noises[1].history.sw2, sw2, 1e-12);
	assert_near(noises[1].history.tau2, step * step / 3 - sw2 / 4, 1e-12);
	/* V = step^2 / 3, se = sqrt(2 V / m): 2 % are 3.4 se with 2 boots of either, 4.9 with 4. */
	assert_int_equal(noise_boots_to_detect(&noises[1], 4, 0.05, 0.02, 0.8), 4);
	assert_int_equal(noise_boots_to_detect(&noises[1], 4, 0.05, 0.0001, 0.8), 0);
	OK(noise_load(lab->store, "elsewhere", names, 3, &lab->arena, &noises, &count, &err));
	assert_int_equal(count, 0);
}

/* The mean of the ratios, with boots as the unit: what two conditions of a boot have in common does
 * not count twice. */
static void geometric_mean_of_a_suite(void **state)
{
	static const double up[] = {100, 110, 110.4, 100.3}, down[] = {100, 91, 91.3, 100.3};
	static const double wide[] = {100, 104, 108, 104}, other[] = {100, 150, 150, 100};
	const double up_ln = log(110 * 110.4 / 100 / 100.3) / 2;
	const double down_ln = log(91 * 91.3 / 100 / 100.3) / 2;
	struct lab *lab = *state;
	struct suite_mean *means;
	struct store_view view;
	size_t count;

	add_bracket(lab, "a", "rate", "ABBA", up);
	add_bracket(lab, "b", "rate", "ABBA", down);
	add_bracket(lab, "a", "twin", "ABBA", wide);
	add_bracket(lab, "b", "twin", "ABBA", wide);
	add_bracket(lab, "a", "alone", "ABBA", other);
	import_and_judge(lab, two);
	OK(store_load(lab->store, lab->experiment, &lab->arena, &view, &err));
	OK(judge_suites(lab->store, &view, &lab->arena, &means, &count, &err));
	assert_int_equal(count, 2);
	assert_string_equal(means[0].metric, "rate");
	assert_int_equal(means[0].conditions, 2);
	assert_int_equal(means[0].boots, 2);
	assert_string_equal(means[0].variant->name, "patched");
	assert_near(means[0].effect, (up_ln + down_ln) / 2, 1e-9);
	assert_true(means[0].effect_low < means[0].effect);
	/* Twins say what one of them says, with the same interval. */
	for (size_t i = 0; i < lab->verdict_count; i++) {
		const struct store_verdict *row = &lab->verdicts[i];

		if (fabs(row->effect - means[1].effect) > 1e-9)
			continue;
		assert_near(means[1].effect_low, row->effect_low, 1e-9);
		assert_near(means[1].effect_high, row->effect_high, 1e-9);
		return;
	}
	fail_msg("no verdict has the twins' effect %g", means[1].effect);
}

static void an_experiment_that_is_not_there(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;

	assert_int_equal(judge_experiment(lab->store, 99, "test", &err), ERR_NOT_FOUND);
	assert_true(err.text[0] != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(published_gain_and_drift, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_boot_is_the_median_of_its_percentiles, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_percentile_of_too_few_is_not_decided, setup, teardown),
		cmocka_unit_test_setup_teardown(histograms_are_pooled_over_a_boot, setup, teardown),
		cmocka_unit_test_setup_teardown(words_and_families, setup, teardown),
		cmocka_unit_test_setup_teardown(judging_twice_is_judging_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_variant_without_boots, setup, teardown),
		cmocka_unit_test_setup_teardown(variants_compared_with_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(degenerate_values, setup, teardown),
		cmocka_unit_test_setup_teardown(an_outlier_and_a_missing_boot, setup, teardown),
		cmocka_unit_test_setup_teardown(dropped_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(as_others_would, setup, teardown),
		cmocka_unit_test_setup_teardown(noise_and_what_it_hides, setup, teardown),
		cmocka_unit_test_setup_teardown(geometric_mean_of_a_suite, setup, teardown),
		cmocka_unit_test_setup_teardown(an_experiment_that_is_not_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
