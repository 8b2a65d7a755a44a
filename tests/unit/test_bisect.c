/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bisect's decisions: in worlds whose answer is known, on published samples, at the edges. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/num.h"
#include "base/str.h"
#include "judge/bisect.h"
#include "../bench/bisect_scenes.h"
#include "near.h"

enum { PLENTY = 150 };

static struct bisect *begin(int commits, bool lower_is_better)
{
	return bisect_new(&(struct bisect_options){.commits = commits,
		.lower_is_better = lower_is_better,
		.confidence = 0.99,
		.max_boots = PLENTY,
		.runs = 3,
		.cost_build = 10,
		.cost_boot = 3,
		.cost_run = 1});
}

static const struct scene *scene_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		if (!strcmp(scenes[i].name, name))
			return &scenes[i];
	fail_msg("no scene %s", name);
	return NULL;
}

/* Walks a world to its end. order (may be NULL) gets the commits that were booted. */
static void walk(struct bisect_world *w, struct bisect_result *result, struct str *order)
{
	struct bisect *b = begin(w->scene->commits, w->scene->lower_is_better);
	double values[3];
	int commit;

	while (bisect_next(b, &commit) == BISECT_BOOT) {
		if (order)
			str_addf(order, "%d ", commit);
		if (!world_boot(w, commit)) {
			bisect_skip(b, commit);
			continue;
		}
		for (int i = 0; i < 3; i++)
			values[i] = world_run(w);
		bisect_fed(b, commit, values, 3);
	}
	bisect_get(b, result, NULL);
	bisect_free(b);
}

/* The worlds are those of the published generator, value by value. */
static void worlds_are_what_they_were(void **state KB_UNUSED)
{
	struct bisect_world w;
	int lo, hi;

	bisect_world_begin(&w, scene_named("S9first"), 1000, 7);
	assert_true(world_boot(&w, 0));
	assert_near(world_run(&w), 2144669.60, 0.005);
	assert_near(world_run(&w), 2202158.24, 0.005);
	assert_near(world_run(&w), 2211016.68, 0.005);
	assert_true(world_boot(&w, 174));
	assert_near(world_run(&w), 2005801.16, 0.005);
	world_truth(&w, w.culprit, &lo, &hi);
	assert_int_equal(lo, 41);
	assert_int_equal(hi, 41);
	bisect_world_end(&w);
}

/* Of ten worlds with slow boots at most one may be answered wrong: one in a hundred is. */
static void names_the_culprit(void **state KB_UNUSED)
{
	static const char *const names[] = {"S9", "S9first", "S9skip20", "S9up", "lower", "N10"};
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (int trial = 0; trial < 10; trial++) {
			struct bisect_result result;
			struct bisect_world w;
			int lo, hi;

			bisect_world_begin(&w, scene_named(names[i]), 5000, trial);
			walk(&w, &result, NULL);
			world_truth(&w, w.culprit, &lo, &hi);
			wrong += result.hi != hi || result.lo < lo || result.verdict > BISECT_RANGE;
			bisect_world_end(&w);
		}
	assert_true(wrong <= 4);
}

/* Worlds beyond those that the figures are held to: a boot may come up far away, boots may scatter
 * more than the change is large, and the machine may drift. Nothing is to be named wrongly; that it
 * is not decided in the end is an answer. */
static void rough_worlds_do_not_mislead(void **state KB_UNUSED)
{
	static const struct {
		const char *name;
		int trials;
	} worlds[] = {
		{"deep", 10}, {"rough0", 1}, {"drift3", 8}, {"drift3none", 8}, {"N1none", 30}};
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(worlds); i++)
		for (int trial = 0; trial < worlds[i].trials; trial++) {
			struct bisect_result result;
			struct bisect_world w;
			int lo = 0, hi = 0;

			bisect_world_begin(&w, scene_named(worlds[i].name), 5000, trial);
			walk(&w, &result, NULL);
			if (w.culprit)
				world_truth(&w, w.culprit, &lo, &hi);
			wrong += result.verdict <= BISECT_SEVERAL &&
				 (result.hi != hi || result.lo < lo);
			bisect_world_end(&w);
		}
	assert_true(wrong <= 2);
}

static void says_when_nothing_changed(void **state KB_UNUSED)
{
	int wrong = 0;

	for (int trial = 0; trial < 20; trial++) {
		struct bisect_result result;
		struct bisect_world w;

		bisect_world_begin(&w, scene_named("S0"), 5000, trial);
		walk(&w, &result, NULL);
		wrong += result.verdict != BISECT_NONE || result.lo != 0;
		bisect_world_end(&w);
	}
	assert_true(wrong <= 1);
}

static void feed(struct bisect *b, int commit, double value)
{
	bisect_fed(b, commit, (double[]){value, value * 1.002, value * 0.999}, 3);
}

/* Two steps down: both are said, and the larger one is the answer. */
static void two_changes_are_told_apart(void **state KB_UNUSED)
{
	struct bisect *b = begin(60, false);
	struct bisect_result result;
	int commit;

	while (bisect_next(b, &commit) == BISECT_BOOT)
		feed(b, commit, 100 - (commit >= 20 ? 8 : 0) - (commit >= 41 ? 4 : 0));
	bisect_get(b, &result, NULL);
	assert_int_equal(result.verdict, BISECT_SEVERAL);
	assert_int_equal(result.lo, 20);
	assert_int_equal(result.hi, 20);
	assert_int_equal(result.changes[0][1], 20);
	assert_true(result.changes[1][0] <= 41 && result.changes[1][1] >= 41);
	bisect_free(b);
}

static void the_same_boots_give_the_same_choices(void **state KB_UNUSED)
{
	struct str once = STR_INIT, again = STR_INIT;
	struct bisect_result result;
	struct bisect_world w;

	for (int i = 0; i < 2; i++) {
		bisect_world_begin(&w, scene_named("S3"), 5000, 1);
		walk(&w, &result, i ? &again : &once);
		bisect_world_end(&w);
	}
	assert_string_equal(str_text(&once), str_text(&again));
	str_release(&once);
	str_release(&again);
}

/* An unbuildable stretch before the culprit belongs to the answer, and is not tried again. */
static void what_cannot_be_built_is_part_of_the_answer(void **state KB_UNUSED)
{
	struct bisect *b = begin(10, false);
	struct bisect_result result;
	int commit, tries = 0;

	while (bisect_next(b, &commit) == BISECT_BOOT && tries++ < PLENTY) {
		if (commit >= 4 && commit <= 6)
			bisect_skip(b, commit);
		else
			feed(b, commit, commit >= 7 ? 90 : 100);
	}
	bisect_get(b, &result, NULL);
	assert_int_equal(result.verdict, BISECT_RANGE);
	assert_int_equal(result.lo, 4);
	assert_int_equal(result.hi, 7);
	bisect_free(b);
}

static void a_skipped_commit_is_never_chosen_again(void **state KB_UNUSED)
{
	struct bisect *b = begin(100, false);
	bool tried[101] = {false};
	int commit;

	for (int i = 0; i < 60 && bisect_next(b, &commit) == BISECT_BOOT; i++) {
		if (commit == 0 || commit == 100) {
			feed(b, commit, commit ? 90 : 100);
			continue;
		}
		assert_false(tried[commit]);
		tried[commit] = true;
		bisect_skip(b, commit);
	}
	bisect_free(b);
}

static void marks_bound_the_search(void **state KB_UNUSED)
{
	struct bisect *b = begin(100, false);
	double posterior[101], inside = 0;
	struct bisect_result result;

	for (int i = 0; i < 3; i++) {
		feed(b, 0, 100);
		feed(b, 100, 90);
	}
	bisect_mark(b, 40, false);
	bisect_mark(b, 60, true);
	bisect_get(b, &result, posterior);
	for (int i = 41; i <= 60; i++)
		inside += posterior[i];
	assert_near(inside + result.none, 1, 1e-9);
	assert_near(posterior[40], 0, 0);
	assert_near(posterior[61], 0, 0);
	bisect_free(b);
}

static void one_commit_is_the_culprit_or_nothing_is(void **state KB_UNUSED)
{
	for (int change = 0; change < 2; change++) {
		struct bisect *b = begin(1, true);
		struct bisect_result result;
		int commit;

		while (bisect_next(b, &commit) == BISECT_BOOT)
			feed(b, commit, commit && change ? 110 : 100);
		bisect_get(b, &result, NULL);
		assert_int_equal(result.verdict, change ? BISECT_CULPRIT : BISECT_NONE);
		assert_int_equal(result.hi, change);
		bisect_free(b);
	}
}

/* Values of any size, equal ones, and one that is wild. */
static void odd_values_are_borne(void **state KB_UNUSED)
{
	static const double sizes[] = {1e-12, 1, 1e15};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct bisect *b = begin(20, false);
		struct bisect_result result;
		int commit, boots = 0;

		while (bisect_next(b, &commit) == BISECT_BOOT) {
			double value = sizes[i] * (commit >= 13 ? 0.8 : 1);

			if (++boots == 4)
				value *= 1000;
			bisect_fed(b, commit, (double[]){value, value, value}, 3);
		}
		bisect_get(b, &result, NULL);
		assert_true(isfinite(result.probability));
		assert_int_equal(result.hi, 13);
		bisect_free(b);
	}
}

static void a_budget_ends_it(void **state KB_UNUSED)
{
	struct bisect *b = bisect_new(&(struct bisect_options){
		.commits = 174, .confidence = 0.99, .max_boots = 5, .runs = 1});
	struct bisect_result result;
	struct bisect_needs needs;
	int commit, boots = 0;

	assert_false(bisect_left(b, &needs)); /* nothing is known yet */
	while (bisect_next(b, &commit) == BISECT_BOOT) {
		feed(b, commit, commit >= 100 ? 90 : 100);
		boots++;
	}
	bisect_get(b, &result, NULL);
	assert_int_equal(boots, 5);
	assert_int_equal(result.verdict, BISECT_UNDECIDED);
	assert_true(result.lo <= 100 && result.hi >= 100);
	assert_true(bisect_left(b, &needs));
	assert_in_range(needs.boots, 5, 60);
	assert_in_range(needs.builds, 1, 8);
	bisect_free(b);
}

/* Ends that were exchanged do not pass for equal ones. */
static void bad_that_is_better_is_told(void **state KB_UNUSED)
{
	for (int lower = 0; lower <= 1; lower++) {
		struct bisect *b = begin(100, lower);
		struct bisect_result result;
		int commit;

		while (bisect_next(b, &commit) == BISECT_BOOT)
			feed(b, commit, (commit >= 50) != lower ? 100 : 90);
		bisect_get(b, &result, NULL);
		assert_int_equal(result.verdict, BISECT_NONE);
		assert_true(result.improved > 0.95);
		bisect_free(b);
	}
}

/* Boots that a world takes after the first so many, over what was foretold then; 0 when it was
 * decided before. */
static double foretold(const struct scene *scene, int trial, int after)
{
	struct bisect *b = begin(scene->commits, scene->lower_is_better);
	struct bisect_needs needs = {0};
	struct bisect_world w;
	double values[3], ratio;
	int commit, boots = 0;

	bisect_world_begin(&w, scene, 77, trial);
	while (bisect_next(b, &commit) == BISECT_BOOT) {
		if (!world_boot(&w, commit)) {
			bisect_skip(b, commit);
			continue;
		}
		for (int i = 0; i < 3; i++)
			values[i] = world_run(&w);
		bisect_fed(b, commit, values, 3);
		if (++boots == after)
			assert_true(bisect_left(b, &needs) && needs.builds <= needs.boots);
	}
	bisect_world_end(&w);
	bisect_free(b);
	ratio = needs.boots ? (double)(boots - after) / needs.boots : 0;
	return ratio;
}

/* What a larger budget would do is told well enough to plan with: most worlds take between a third
 * and twice of it. */
static void the_way_ahead_is_foretold(void **state KB_UNUSED)
{
	static const char *const names[] = {"S9", "S3", "S9clean", "lower"};
	int inside = 0, all = 0;

	for (size_t s = 0; s < ARRAY_SIZE(names); s++)
		for (int trial = 0; trial < 5; trial++) {
			double ratio = foretold(scene_named(names[s]), trial, 8);

			all += ratio > 0;
			inside += ratio > 1.0 / 3 && ratio < 2;
		}
	assert_true(all >= 15);
	assert_true(inside >= all * 8 / 10);
}

/* The published bisect, each sample as a boot of its own. Its list is numbered from the newest: 152
 * of 174 is 23 here. Its author named that one; the samples leave some doubt. */
static void the_published_samples(void **state KB_UNUSED)
{
	struct bisect *b = bisect_new(&(struct bisect_options){.commits = 174,
		.unordered = true,
		.confidence = 0.99,
		.max_boots = PLENTY,
		.runs = 1});
	struct str text = STR_INIT;
	struct bisect_result result;
	struct err err = ERR_INIT;
	double posterior[175];
	char *line, *rest;

	assert_int_equal(
		file_read("tests/fixtures/published/schbench_bisect.csv", 1 << 20, &text, &err), 0);
	rest = text.text;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *cell[6] = {NULL};
		double index, value;

		for (size_t i = 0; i < ARRAY_SIZE(cell) && line; i++)
			cell[i] = strsep(&line, ",");
		if (!cell[4] || num_double(cell[0], &index, &err))
			continue;
		assert_int_equal(num_double(cell[4], &value, &err), 0);
		bisect_fed(b, 175 - (int)index, &value, 1);
	}
	bisect_get(b, &result, posterior);
	assert_near(posterior[23], 0.80, 0.05);
	for (int i = 1; i <= 174; i++)
		assert_true(i == 23 || posterior[i] < 0.05);
	bisect_free(b);
	str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worlds_are_what_they_were),
		cmocka_unit_test(names_the_culprit),
		cmocka_unit_test(rough_worlds_do_not_mislead),
		cmocka_unit_test(says_when_nothing_changed),
		cmocka_unit_test(two_changes_are_told_apart),
		cmocka_unit_test(the_same_boots_give_the_same_choices),
		cmocka_unit_test(what_cannot_be_built_is_part_of_the_answer),
		cmocka_unit_test(a_skipped_commit_is_never_chosen_again),
		cmocka_unit_test(marks_bound_the_search),
		cmocka_unit_test(one_commit_is_the_culprit_or_nothing_is),
		cmocka_unit_test(odd_values_are_borne),
		cmocka_unit_test(a_budget_ends_it),
		cmocka_unit_test(bad_that_is_better_is_told),
		cmocka_unit_test(the_way_ahead_is_foretold),
		cmocka_unit_test(the_published_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
