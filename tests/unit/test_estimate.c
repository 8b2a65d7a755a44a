/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "run/estimate.h"
#include "experiments.h"
#include "reading.h"

struct planned {
	struct arena arena;
	struct experiment experiment;
	struct plan plan;
	struct estimate *estimate;
};

static int set_up(void **state)
{
	struct planned *p = xcalloc(1, sizeof(*p));
	struct diag diag = DIAG_INIT;
	char *text = experiment_text(2, "design: {boots: 2, runs: 3, warmup: 1}\n");
	struct err err = ERR_INIT;

	if (experiment_read_text(&p->arena, "test.yaml", text, strlen(text), &p->experiment, &diag))
		fail_msg("%s", messages(&p->arena, &diag));
	if (plan_make(&p->arena, &p->experiment, &p->experiment.machines[0], 8, &p->plan, &err) ||
		estimate_new(NULL, &p->experiment, &p->plan, &p->estimate, &err))
		fail_msg("%s", err.text);
	free(text);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct planned *p = *state;

	estimate_free(p->estimate);
	arena_release(&p->arena);
	free(p);
	return 0;
}

static size_t run_count(const struct plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->boot_count; i++)
		count += plan->boots[i].run_count;
	return count;
}

static void a_plan_is_estimated_from_declarations(void **state)
{
	struct planned *p = *state;
	struct estimate_left left = estimate_left(p->estimate);

	assert_int_equal(left.boots, p->plan.boot_count);
	assert_int_equal(left.runs, run_count(&p->plan));
	/* both variants are one recipe but for sysctls */
	assert_int_equal(left.builds, 1);
	assert_false(left.measured);
	assert_true(left.run_ns >= plan_boot_expect_ns(&p->plan, &p->plan.boots[0]));
}

static void what_is_seen_replaces_what_was_declared(void **state)
{
	struct planned *p = *state;
	int64_t boots = (int64_t)p->plan.boot_count;
	struct estimate_left left;

	estimate_booted(p->estimate, 0, 10 * NS_PER_S);
	left = estimate_left(p->estimate);
	assert_int_equal(left.boot_ns, (boots - 1) * 10 * NS_PER_S);
	estimate_booted(p->estimate, 0, 20 * NS_PER_S);
	left = estimate_left(p->estimate);
	assert_int_equal(left.boot_ns, (boots - 2) * 15 * NS_PER_S);
	/* one that failed counts down and teaches nothing */
	estimate_booted(p->estimate, 0, -1);
	left = estimate_left(p->estimate);
	assert_int_equal(left.boot_ns, (boots - 3) * 15 * NS_PER_S);
}

/* A condition that was not seen yet is expected to need as much extra as those that were. */
static void overhead_is_learned_from_other_conditions(void **state)
{
	struct planned *p = *state;
	int64_t before = estimate_left(p->estimate).run_ns, after;
	int64_t declared = p->plan.conditions[0].spec->expect_ns;

	estimate_ran(p->estimate, 0, 0, declared + 100 * NS_PER_S);
	after = estimate_left(p->estimate).run_ns;
	assert_true(after > before + ((int64_t)run_count(&p->plan) - 2) * 90 * NS_PER_S);
}

static void nothing_is_left_at_the_end(void **state)
{
	struct planned *p = *state;
	struct estimate_left left;

	for (size_t i = 0; i < p->experiment.variant_count; i++)
		estimate_built(p->estimate, i, NS_PER_S);
	for (size_t i = 0; i < p->plan.boot_count; i++) {
		estimate_booted(p->estimate, 0, NS_PER_S);
		for (size_t k = 0; k < p->plan.boots[i].run_count; k++)
			estimate_ran(p->estimate, 0, p->plan.boots[i].runs[k].condition, NS_PER_S);
	}
	left = estimate_left(p->estimate);
	assert_int_equal(left.build_ns + left.boot_ns + left.run_ns, 0);
	assert_int_equal(left.builds + left.boots + left.runs, 0);
	assert_true(left.measured);
	/* one more than planned does no harm */
	estimate_booted(p->estimate, 0, NS_PER_S);
	assert_int_equal(estimate_left(p->estimate).boots, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plan_is_estimated_from_declarations),
		TEST(what_is_seen_replaces_what_was_declared),
		TEST(overhead_is_learned_from_other_conditions),
		TEST(nothing_is_left_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
