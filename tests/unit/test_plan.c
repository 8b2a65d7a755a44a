/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "model/plan.h"
#include "experiments.h"
#include "reading.h"

struct planner {
	struct arena arena;
	struct diag diag;
	struct experiment e;
	struct plan plan;
};

static int set_up(void **state)
{
	*state = xcalloc(1, sizeof(struct planner));
	return 0;
}

static int tear_down(void **state)
{
	struct planner *p = *state;

	arena_release(&p->arena);
	diag_release(&p->diag);
	free(p);
	return 0;
}

static void read_experiment(struct planner *p, int variants, const char *more)
{
	char *text = experiment_text(variants, more);

	if (experiment_read_text(&p->arena, "test.yaml", text, strlen(text), &p->e, &p->diag))
		fail_msg("%s", messages(&p->arena, &p->diag));
	free(text);
}

static void make(struct planner *p, int variants, const char *more, int64_t cpus)
{
	struct err err = ERR_INIT;

	read_experiment(p, variants, more);
	if (plan_make(&p->arena, &p->e, &p->e.machines[0], cpus, &p->plan, &err))
		fail_msg("%s", err.text);
}

/* "ABBAABBA"; the arena's. */
static const char *letters(struct planner *p)
{
	struct str s = STR_INIT;
	const char *kept;

	for (size_t i = 0; i < p->plan.boot_count; i++)
		str_add(&s, p->e.variants[p->plan.boots[i].variant]->name);
	kept = arena_strdup(&p->arena, str_text(&s));
	str_release(&s);
	return kept;
}

/* Everything that a plan says, as text. */
static const char *describe(struct planner *p)
{
	struct str s = STR_INIT;
	const char *kept;

	for (size_t i = 0; i < p->plan.boot_count; i++) {
		const struct plan_boot *boot = &p->plan.boots[i];

		str_addf(&s, "%d/%d %zu:", boot->block, boot->ordinal, boot->variant);
		for (size_t k = 0; k < boot->run_count; k++)
			str_addf(&s, " %s%d%s", p->plan.conditions[boot->runs[k].condition].name,
				boot->runs[k].ordinal, boot->runs[k].kind == RUN_WARMUP ? "w" : "");
		str_add_char(&s, '\n');
	}
	kept = arena_strdup(&p->arena, str_text(&s));
	str_release(&s);
	return kept;
}

static void brackets_are_palindromes_with_equal_mean_places(void **state)
{
	static const char *const expected[] = {
		[2] = "ABBAABBA", [3] = "ABCCBAABCCBA", [4] = "ABCDDCBAABCDDCBA"};
	struct planner *p = *state;

	for (int n = 2; n <= 6; n++) {
		size_t count;
		int64_t places[6] = {0};

		make(p, n, "design: {boots: 4}\n", 8);
		count = p->plan.boot_count;
		assert_int_equal(count, 4 * n);
		if (n < 5)
			assert_string_equal(letters(p), expected[n]);
		for (size_t i = 0; i < count; i++) {
			const struct plan_boot *boot = &p->plan.boots[i];
			size_t in_block = (size_t)n * 2, at = i % in_block;
			size_t mirror = i - at + in_block - 1 - at;

			assert_int_equal(boot->ordinal, i + 1);
			assert_int_equal(boot->block, i / in_block + 1);
			assert_int_equal(boot->variant, p->plan.boots[mirror].variant);
			places[boot->variant] += (int64_t)i;
		}
		for (int v = 1; v < n; v++)
			assert_int_equal(places[v], places[0]);
	}
}

static void against_baselines_enclose_what_they_judge(void **state)
{
	static const char text[] =
		"experiment: x\nmachines: [" TEST_MACHINE "]\nbaseline: A\nvariants: [B, C]\n"
		"design: {boots: 2}\n"
		"kernels: {variants: {A: {prebuilt: {package: a}}, B: {prebuilt: {package: b}}, "
		"C: {prebuilt: {package: c}, against: V}, V: {prebuilt: {package: v}}}}\n"
		"suites:\n" TEST_SUITES;
	struct planner *p = *state;
	struct err err = ERR_INIT;

	assert_int_equal(
		experiment_read_text(&p->arena, "test.yaml", text, strlen(text), &p->e, &p->diag),
		0);
	assert_int_equal(plan_make(&p->arena, &p->e, &p->e.machines[0], 8, &p->plan, &err), 0);
	assert_string_equal(letters(p), "AVBCCBVA");
}

static void a_toggle_puts_each_variant_between_two_baselines(void **state)
{
	struct planner *p = *state;

	make(p, 3, "design: {order: toggle}\n", 8);
	assert_string_equal(letters(p), "ABACA");
	assert_int_equal(p->plan.boots[4].block, 1);
}

static void toggles_are_starts_of_the_kernel(void **state)
{
	struct planner *p = *state;

	make(p, 2, "design: {order: toggle, boots: 2}\n", 8);
	assert_string_equal(letters(p), "ABAABA");
	assert_int_equal(p->plan.boots[3].block, 2);
}

static void shuffled_blocks_hold_every_variant_once(void **state)
{
	struct planner *p = *state;
	bool differs = false;

	make(p, 5, "design: {order: shuffled, boots: 7}\n", 8);
	assert_int_equal(p->plan.boot_count, 35);
	for (size_t block = 0; block < 7; block++) {
		unsigned seen = 0;

		for (size_t i = 0; i < 5; i++) {
			const struct plan_boot *boot = &p->plan.boots[block * 5 + i];

			assert_int_equal(boot->block, block + 1);
			seen |= 1U << boot->variant;
			differs |= boot->variant != p->plan.boots[i].variant;
		}
		assert_int_equal(seen, 0x1f);
	}
	assert_true(differs);
}

/* Each of the 6 orders of 3 variants comes up about equally often: 600 blocks, 100 expected each,
 * standard deviation 9. Fixed seed: the outcome is the same every time. */
static void shuffling_is_even(void **state)
{
	struct planner *p = *state;
	int seen[27] = {0};

	make(p, 3, "design: {order: shuffled, boots: 600, runs: 1}\n", 8);
	for (size_t block = 0; block < 600; block++) {
		const struct plan_boot *boot = &p->plan.boots[block * 3];

		seen[boot[0].variant * 9 + boot[1].variant * 3 + boot[2].variant]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		assert_true(!seen[i] || (seen[i] > 65 && seen[i] < 135));
}

static void an_explicit_order_is_kept(void **state)
{
	struct planner *p = *state;

	make(p, 3, "design: {order: [A, C, A, B, A]}\n", 8);
	assert_string_equal(letters(p), "ACABA");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(p->plan.boots[i].block, 1);
}

static void the_same_input_gives_the_same_plan(void **state)
{
	static const char *const orders[] = {"bracketed", "shuffled"};
	struct planner *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		char *more = xasprintf(
			     "design: {order: %s, boots: 6, runs: 3, seed: 7}\n", orders[i]),
		     *other = xasprintf(
			     "design: {order: %s, boots: 6, runs: 3, seed: 8}\n", orders[i]);
		const char *first, *second;

		make(p, 4, more, 8);
		first = describe(p);
		make(p, 4, more, 8);
		assert_string_equal(describe(p), first);
		make(p, 4, other, 8);
		second = describe(p);
		assert_string_not_equal(second, first);
		free(more);
		free(other);
	}
}

#define RUNS                                                                         \
	" canary/c1w canary/c1 canary/c2"                                            \
	" alpha/by 100%1w alpha/by 100%1 alpha/by 50%1 alpha/by 100%2 alpha/by 50%2" \
	" beta/one1w beta/one1 beta/two1 beta/one2 beta/two2\n"

/* Pinned: a plan that was stored and one made today must agree, whatever the machine. */
static void a_known_seed_gives_the_known_plan(void **state)
{
	struct planner *p = *state;
	uint64_t zero = 0;

	assert_true(plan_random(&zero) == UINT64_C(0xe220a8397b1dcdaf));
	make(p, 2, "design: {boots: 2, runs: 2, warmup: 1, seed: 7}\nsaturation: [100%, 50%]\n", 8);
	assert_string_equal(describe(p), "1/1 0:" RUNS "1/2 1:" RUNS "1/3 1:" RUNS "1/4 0:" RUNS);
}

static void more_blocks_leave_the_first_ones_alone(void **state)
{
	struct planner *p = *state;
	const char *four, *eight;

	make(p, 3, "design: {order: shuffled, boots: 4}\n", 8);
	four = describe(p);
	make(p, 3, "design: {order: shuffled, boots: 8}\n", 8);
	eight = describe(p);
	assert_true(str_starts(eight, four));
}

static void runs_come_in_rounds_after_warm_ups(void **state)
{
	struct planner *p = *state;
	size_t at = 0;

	make(p, 2, "design: {boots: 4, runs: 3, warmup: 2}\nsaturation: [100%, 50%, 25%]\n", 8);
	for (size_t b = 0; b < p->plan.boot_count; b++) {
		const struct plan_boot *boot = &p->plan.boots[b];

		assert_int_equal(boot->run_count, 3 * 2 + (3 + 2 + 1) * 3);
		for (at = 0; at < boot->run_count;) {
			const struct plan_run *run = &boot->runs[at];
			const struct suite *suite = p->plan.conditions[run->condition].suite;
			size_t conditions = 0, first = run->condition;

			for (size_t c = 0; c < p->plan.condition_count; c++)
				conditions += p->plan.conditions[c].suite == suite;
			for (int w = 1; w <= 2; w++, at++) {
				assert_int_equal(boot->runs[at].kind, RUN_WARMUP);
				assert_int_equal(boot->runs[at].ordinal, w);
				assert_int_equal(boot->runs[at].condition, first);
			}
			for (size_t k = 0; k < 3 * conditions; k++, at++) {
				assert_int_equal(boot->runs[at].kind, RUN_MEASURED);
				assert_int_equal(boot->runs[at].ordinal, k / conditions + 1);
				assert_int_equal(boot->runs[at].condition, first + k % conditions);
			}
		}
	}
}

/* Both arms of a bracket have as many of them, and what is measured comes before all of them. */
static void counted_runs_come_after_what_is_measured(void **state)
{
	struct planner *p = *state;
	const char *plain;
	size_t timed, counted = 0;

	make(p, 2, "design: {boots: 4, runs: 2}\nsaturation: [100%, 50%]\n", 8);
	timed = p->plan.boots[0].run_count;
	plain = describe(p);
	make(p, 2,
		"design: {boots: 4, runs: 2}\nsaturation: [100%, 50%]\n"
		"functions: [schedule]\ncounter_runs: 2\n",
		8);
	for (size_t b = 0; b < p->plan.boot_count; b++) {
		const struct plan_boot *boot = &p->plan.boots[b];
		int seen[8] = {0};

		assert_int_equal(boot->run_count, timed + 2 * p->plan.condition_count);
		for (size_t i = 0; i < boot->run_count; i++) {
			assert_int_equal(boot->runs[i].kind == RUN_COUNTED, i >= timed);
			if (i < timed)
				continue;
			assert_int_equal(boot->runs[i].ordinal, ++seen[boot->runs[i].condition]);
			counted++;
		}
	}
	assert_int_equal(counted, 8 * 2 * p->plan.condition_count);
	make(p, 2, "design: {boots: 4, runs: 2}\nsaturation: [100%, 50%]\ncounters: []\n", 8);
	assert_string_equal(describe(p), plain);
}

/* Brackets compare like with like: all boots of a block run the suites in the same order. */
static void boots_of_a_block_share_their_order(void **state)
{
	struct planner *p = *state;
	bool differs = false;

	make(p, 2, "design: {boots: 12}\n", 8);
	for (size_t i = 0; i < p->plan.boot_count; i++) {
		const struct plan_boot *boot = &p->plan.boots[i];
		const struct plan_boot *first = &p->plan.boots[i - i % 4];

		assert_memory_equal(boot->runs, first->runs, boot->run_count * sizeof(*boot->runs));
		differs |= memcmp(boot->runs, p->plan.boots[0].runs,
				   boot->run_count * sizeof(*boot->runs)) != 0;
	}
	assert_true(differs);
}

static void saturations_collapse_on_small_machines(void **state)
{
	static const struct {
		int64_t cpus;
		size_t conditions;
	} cases[] = {{48, 4}, {8, 4}, {3, 3}, {1, 1}};
	struct planner *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make(p, 2, "saturation: [100%, 50%, 31.25%, 25%]\n", cases[i].cpus);
		assert_int_equal(p->plan.condition_count, cases[i].conditions + 3);
		assert_int_equal(p->plan.cpus, cases[i].cpus);
	}
}

static void time_is_estimated_from_what_suites_declare(void **state)
{
	struct planner *p = *state;

	make(p, 2, "design: {boots: 2, runs: 2, warmup: 1}\n", 8);
	/* alpha: 3 runs of 0.5 s; beta: 1 warm-up and 2 x 2 runs of 3 s; canary: 3 of 10 s */
	assert_int_equal(plan_boot_expect_ns(&p->plan, &p->plan.boots[0]),
		1500 * NS_PER_MS + 15 * NS_PER_S + 30 * NS_PER_S);
	assert_int_equal(
		plan_expect_ns(&p->plan, 0, 5 * NS_PER_S), 4 * (46500 * NS_PER_MS + 5 * NS_PER_S));
	assert_int_equal(plan_expect_ns(&p->plan, 3, 0), 46500 * NS_PER_MS);
}

static void too_many_conditions_are_refused(void **state)
{
	struct planner *p = *state;
	struct err err = ERR_INIT;
	struct str more = STR_INIT;

	str_add(&more, "  - suite: many\n    program: p\n    conditions: {c: {argv: [p], params: "
		       "{a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], b: [1, 2, 3, 4, 5, "
		       "6, 7, 8, 9, 10, 11, 12, 13, 14]}}}\n    metrics: {m: {unit: s, better: "
		       "lower, regex: '(.)'}}\nsaturation: [1%");
	for (int i = 2; i <= 50; i++)
		str_addf(&more, ", %d%%", i);
	str_add(&more, "]\n");
	read_experiment(p, 2, str_text(&more));
	assert_int_equal(plan_make(&p->arena, &p->e, &p->e.machines[0], 8, &p->plan, &err), 0);
	p->e.suites[0] = p->e.suites[3]; /* as if there were another one like it */
	assert_int_equal(
		plan_make(&p->arena, &p->e, &p->e.machines[0], 8, &p->plan, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "conditions"));
	str_release(&more);
}

static void silly_sizes_are_refused(void **state)
{
	struct planner *p = *state;
	struct err err = ERR_INIT;

	read_experiment(p, 26, "design: {boots: 1000, runs: 1000}\n");
	assert_int_equal(
		plan_make(&p->arena, &p->e, &p->e.machines[0], 8, &p->plan, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "26000 boots"));
}

static void extend(struct planner *p, const struct plan_extension *extension)
{
	struct err err = ERR_INIT;

	if (plan_extend(&p->arena, &p->plan, extension, &err))
		fail_msg("%s", err.text);
}

static void a_further_block_is_the_one_that_was_planned_at_once(void **state)
{
	static const char *const orders[] = {"bracketed", "shuffled"};
	static const size_t all[] = {0, 1, 2, 3};
	struct planner *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		char *four = xasprintf("design: {order: %s, boots: 4, seed: 7}\n", orders[i]);
		char *six = xasprintf("design: {order: %s, boots: 6, seed: 7}\n", orders[i]);
		struct plan_extension extension = {
			.conditions = all, .condition_count = 4, .runs = 9, .warmup = 1};
		const char *at_once;

		make(p, 3, six, 8);
		at_once = describe(p);
		make(p, 3, four, 8);
		while (p->plan.boot_count < 18) {
			extension.block = plan_next_block(&p->plan);
			extension.boot_count = plan_block_order(
				&p->arena, &p->plan, extension.block, NULL, &extension.variants);
			extend(p, &extension);
		}
		assert_string_equal(describe(p), at_once);
		free(four);
		free(six);
	}
}

static void with_looks_the_first_block_is_planned(void **state)
{
	struct planner *p = *state;

	make(p, 3, "design: {until: verdict, max: 12}\n", 8);
	assert_string_equal(letters(p), "ABCCBA");
}

static void a_block_can_leave_variants_and_conditions_out(void **state)
{
	static const bool wanted[] = {true, false, true};
	static const size_t conditions[] = {0, 2};
	struct planner *p = *state;
	struct plan_extension extension = {
		.block = 2, .conditions = conditions, .condition_count = 2, .runs = 2, .warmup = 1};
	const struct plan_boot *boot;

	make(p, 3, "design: {boots: 2}\n", 8);
	extension.boot_count =
		plan_block_order(&p->arena, &p->plan, 2, wanted, &extension.variants);
	extend(p, &extension);
	assert_string_equal(letters(p), "ABCCBAACCA");
	boot = &p->plan.boots[9];
	assert_int_equal(boot->ordinal, 10);
	assert_int_equal(boot->block, 2);
	assert_int_equal(boot->run_count, 2 * (1 + 2)); /* no canary */
	for (size_t i = 0; i < boot->run_count; i++)
		assert_true(boot->runs[i].condition == 0 || boot->runs[i].condition == 2);
	/* beta is warmed up by what is left of it */
	assert_string_equal(p->plan.conditions[2].name, "beta/two");
}

/* As a bisect does it: a boot of one variant, with some runs of one condition. */
static void single_boots_are_appended_to_an_adaptive_plan(void **state)
{
	static const size_t variants[] = {2, 0}, condition = 1;
	struct planner *p = *state;

	make(p, 3, "design: {order: adaptive}\n", 8);
	assert_int_equal(p->plan.boot_count, 0);
	assert_int_equal(plan_next_block(&p->plan), 1);
	for (int i = 0; i < 2; i++)
		extend(p, &(struct plan_extension){.block = i + 1,
				  .variants = &variants[i],
				  .boot_count = 1,
				  .conditions = &condition,
				  .condition_count = 1,
				  .runs = 3,
				  .warmup = 0});
	assert_string_equal(describe(p), "1/1 2: beta/one1 beta/one2 beta/one3\n"
					 "2/2 0: beta/one1 beta/one2 beta/one3\n");
}

static void extensions_out_of_range_are_refused(void **state)
{
	static const size_t zero[] = {0}, three[] = {3}, four[] = {4}, twice[] = {0, 0};
	static const struct plan_extension cases[] = {
		{1, 0, three, 1, zero, 1, 1, 0, "no such variant"},
		{1, 0, zero, 1, four, 1, 1, 0, "no such condition"},
		{1, 0, zero, 1, twice, 2, 1, 0, "a condition twice"},
		{1, 0, zero, 1, zero, 1, 0, 0, "no run"},
		{1, 0, zero, 0, zero, 1, 1, 0, "no boot"},
		{0, 0, zero, 1, zero, 1, 1, 0, "no block"},
		{1, 0, zero, 1, zero, 1, 6000000, 0, "too many runs"},
	};
	struct planner *p = *state;

	make(p, 3, "design: {boots: 2}\n", 8);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = ERR_INIT;

		if (plan_extend(&p->arena, &p->plan, &cases[i], &err) != ERR_USAGE)
			fail_msg("%s", cases[i].reason);
		assert_int_equal(p->plan.boot_count, 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			brackets_are_palindromes_with_equal_mean_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			against_baselines_enclose_what_they_judge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_toggle_puts_each_variant_between_two_baselines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			toggles_are_starts_of_the_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			shuffled_blocks_hold_every_variant_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shuffling_is_even, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_explicit_order_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_same_input_gives_the_same_plan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_known_seed_gives_the_known_plan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			more_blocks_leave_the_first_ones_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			runs_come_in_rounds_after_warm_ups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			counted_runs_come_after_what_is_measured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			boots_of_a_block_share_their_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			saturations_collapse_on_small_machines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			time_is_estimated_from_what_suites_declare, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many_conditions_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(silly_sizes_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_further_block_is_the_one_that_was_planned_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			with_looks_the_first_block_is_planned, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_block_can_leave_variants_and_conditions_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			single_boots_are_appended_to_an_adaptive_plan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			extensions_out_of_range_are_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
