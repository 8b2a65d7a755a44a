/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "run/watch.h"

/* A result as the agent gives it, quiet unless the caller changes it. */
static json_t *quiet_result(int64_t monotonic_s)
{
	json_t *side = json_pack("{s:I, s:I, s:i, s:s, s:s, s:i, s:i, s:{s:I, s:I, s:I}}",
		"realtime_ns", (json_int_t)(monotonic_s * NS_PER_S), "monotonic_ns",
		(json_int_t)(monotonic_s * NS_PER_S), "taint", 0, "governors", "performance",
		"cpus_online", "0-7", "swap_in", 0, "swap_out", 0, "cpu", "busy_ns", (json_int_t)0,
		"idle_ns", (json_int_t)0, "steal_ns", (json_int_t)0);
	json_t *after = json_deep_copy(side);

	return json_pack(
		"{s:I, s:o, s:o}", "wall_ns", (json_int_t)NS_PER_S, "before", side, "after", after);
}

/* Flags of a result that came when our clock stood at here_s; takes the reference. */
static bool has_flag(struct watch_boot *boot, json_t *result, int64_t here_s, const char *reason)
{
	struct watch_run run = {.cpus = 8, .clock_here_ns = here_s * NS_PER_S};
	struct arena arena = ARENA_INIT;
	struct store_flag *flags;
	size_t count;
	bool found = false;

	watch_flags(result, &run, boot, &arena, &flags, &count);
	for (size_t i = 0; i < count; i++)
		found = found || strcmp(flags[i].reason, reason) == 0;
	if (!reason[0])
		found = count > 0;
	arena_release(&arena);
	json_decref(result);
	return found;
}

static void a_quiet_machine_has_no_flags(void **state KB_UNUSED)
{
	struct watch_boot boot = WATCH_BOOT_INIT;

	for (int64_t s = 100; s < 200; s += 10)
		assert_false(has_flag(&boot, quiet_result(s), 5000 + s, ""));
}

static void a_clock_of_another_speed_is_seen(void **state KB_UNUSED)
{
	static const struct {
		int64_t there_s, here_s;
		bool flagged;
	} cases[] = {{160, 1010, true}, {103, 1020, true}, {111, 1010, false}, {199, 1100, false},
		{190, 1100, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct watch_boot boot = WATCH_BOOT_INIT;

		assert_false(has_flag(&boot, quiet_result(100), 1000, "clock-rate"));
		assert_true(has_flag(&boot, quiet_result(cases[i].there_s), cases[i].here_s,
				    "clock-rate") == cases[i].flagged);
	}
}

static void a_result_that_came_late_says_nothing_of_the_clock(void **state KB_UNUSED)
{
	struct watch_boot boot = WATCH_BOOT_INIT;

	assert_false(has_flag(&boot, quiet_result(100), 1000, "clock-rate"));
	assert_false(has_flag(&boot, quiet_result(500), 0, "clock-rate"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_machine_has_no_flags),
		cmocka_unit_test(a_clock_of_another_speed_is_seen),
		cmocka_unit_test(a_result_that_came_late_says_nothing_of_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
