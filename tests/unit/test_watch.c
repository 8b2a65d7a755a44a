/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "model/validity.h"
#include "run/watch.h"

/* An agent's result of a 2 s run on 4 CPUs as it looks when nothing happened; each case changes a
 * few members. */
static const char quiet[] =
	"{\"wall_ns\": 2000000000, \"user_ns\": 6000000000, \"system_ns\": 1000000000,"
	" \"cgroup_cpu_ns\": 7000000000,"
	" \"window\": {\"wall_ns\": 100000000, \"busy_ns\": 20000000},"
	" \"before\": {\"realtime_ns\": 1000, \"monotonic_ns\": 500,"
	"  \"cpu\": {\"busy_ns\": 0, \"idle_ns\": 0, \"steal_ns\": 0},"
	"  \"throttle_core\": 5, \"throttle_package\": 5, \"taint\": 0,"
	"  \"cpus_online\": \"0-3\", \"governors\": \"performance\", \"swap_in\": 0,"
	"  \"swap_out\": 0},"
	" \"after\": {\"realtime_ns\": 2000001000, \"monotonic_ns\": 2000000500,"
	"  \"cpu\": {\"busy_ns\": 7100000000, \"idle_ns\": 900000000, \"steal_ns\": 10000000},"
	"  \"throttle_core\": 5, \"throttle_package\": 5, \"taint\": 0,"
	"  \"cpus_online\": \"0-3\", \"governors\": \"performance\", \"swap_in\": 3,"
	"  \"swap_out\": 0},"
	" \"kmsg\": {\"warnings\": 0, \"warning_lines\": []}}";

static const struct watch_run two_seconds = {2000000000, 10, 0, 4, 0, NULL, NULL};

static json_t *result_with(const char *change)
{
	struct err err = ERR_INIT;
	json_t *result = NULL, *changes = NULL;
	const char *key;
	json_t *value;

	if (json_parse(quiet, strlen(quiet), 1 << 16, &result, &err) ||
		json_parse(change, strlen(change), 1 << 16, &changes, &err))
		fail_msg("%s", err.text);
	json_object_foreach(changes, key, value)
	{
		json_t *old = json_object_get(result, key);

		if (json_is_object(value) && json_is_object(old) && json_object_size(value))
			json_object_update(old, value);
		else
			json_object_set(result, key, value);
	}
	json_decref(changes);
	return result;
}

/* The reasons that a result gives, joined by blanks. */
static const char *flags_of(struct arena *arena, const char *change, const struct watch_run *run,
	struct watch_boot *boot)
{
	json_t *result = result_with(change);
	struct store_flag *flags;
	struct str all = STR_INIT;
	const char *kept;
	size_t count;

	watch_flags(result, run, boot, arena, &flags, &count);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(validity_find(flags[i].reason));
		assert_true(flags[i].detail[0]);
		str_addf(&all, "%s%s", i ? " " : "", flags[i].reason);
	}
	kept = arena_strdup(arena, str_text(&all));
	str_release(&all);
	json_decref(result);
	return kept;
}

static void each_reason_has_its_sign(void **state KB_UNUSED)
{
	static const struct {
		const char *change, *flags;
	} cases[] = {
		{"{}", ""},
		{"{\"wall_ns\": 1700000000}", "short"},
		{"{\"wall_ns\": 2300000000}", "short"},
		{"{\"wall_ns\": 2190000000}", ""},
		{"{\"kmsg\": {\"warnings\": 1, \"warning_lines\": [\"usb 1: odd\"]}}",
			"kernel-warning"},
		{"{\"kmsg\": {\"warnings\": 1, \"warning_lines\": [\"BUG: bad\"]}}", "kernel-bug"},
		{"{\"kmsg\": {\"warnings\": 1, \"warning_lines\": [\"rcu: INFO: rcu_sched "
		 "self-detected stall on CPU\"]}}",
			"kernel-bug"},
		{"{\"kmsg\": {\"warnings\": 1, \"warning_lines\": [\"mce: [Hardware Error]: x\"]}}",
			"hardware-error"},
		/* the agent keeps the first lines only: the others are just warnings */
		{"{\"kmsg\": {\"warnings\": 3, \"warning_lines\": [\"BUG: bad\", \"BUG: 2\"]}}",
			"kernel-bug kernel-warning"},
		{"{\"before\": {\"oom_kills\": 1}, \"after\": {\"oom_kills\": 2}}",
			"out-of-memory"},
		{"{\"disk_free_bytes\": 1000}", "disk-full"},
		{"{\"disk_free_bytes\": 2000000}", ""},
		{"{\"heat\": {\"reached\": false, \"mc\": 71500, \"waited_ns\": 1000, "
		 "\"wanted_mc\": 60000}}",
			"temperature"},
		{"{\"heat\": {\"reached\": true}}", ""},
		{"{\"before\": {\"sched_ext\": {\"state\": \"enabled\", \"ops\": \"x\", "
		 "\"enable_seq\": 1}}, \"after\": {\"sched_ext\": {\"state\": \"disabled\", "
		 "\"ops\": null, \"enable_seq\": 1}}}",
			"scheduler"},
		{"{\"before\": {\"sched_ext\": {\"state\": \"enabled\", \"ops\": \"x\", "
		 "\"enable_seq\": 1}}, \"after\": {\"sched_ext\": {\"state\": \"enabled\", "
		 "\"ops\": \"x\", \"enable_seq\": 2}}}",
			"scheduler"},
		{"{\"after\": {\"taint\": 512}}", "taint"},
		{"{\"after\": {\"throttle_core\": 6}}", "throttled"},
		{"{\"after\": {\"throttle_package\": 9}}", "throttled"},
		{"{\"after\": {\"cpu\": {\"busy_ns\": 7100000000, \"steal_ns\": 90000000}}}",
			"steal"},
		{"{\"after\": {\"cpu\": {\"busy_ns\": 7100000000, \"steal_ns\": 79000000}}}", ""},
		{"{\"window\": {\"wall_ns\": 100000000, \"busy_ns\": 60000000}}", "busy-before"},
		{"{\"window\": {\"wall_ns\": 100000000, \"busy_ns\": 50000000}}", ""},
		{"{\"after\": {\"cpu\": {\"busy_ns\": 7900000000, \"steal_ns\": 0}}}", "busy"},
		{"{\"after\": {\"cpu\": {\"busy_ns\": 7700000000, \"steal_ns\": 0}}}", ""},
		{"{\"after\": {\"realtime_ns\": 2100001000}}", "clock-step"},
		{"{\"after\": {\"realtime_ns\": 1900001000}}", "clock-step"},
		{"{\"after\": {\"realtime_ns\": 2010001000}}", ""},
		{"{\"after\": {\"swap_in\": 17}}", "swapping"},
		{"{\"after\": {\"swap_out\": 40}}", "swapping"},
		{"{\"after\": {\"governors\": \"powersave\"}}", "governor"},
		{"{\"after\": {\"cpus_online\": \"0-2\"}}", "cpus-changed"},
		{"{\"before\": null}", "no-environment"},
		{"{\"before\": null, \"wall_ns\": 100}", "short no-environment"},
		{"{\"before\": null, \"wall_ns\": null}", "short no-environment"},
		{"{\"before\": null, \"wall_ns\": null, \"state\": \"not-started\"}", ""},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct watch_boot boot = WATCH_BOOT_INIT;
		const char *flags = flags_of(&arena, cases[i].change, &two_seconds, &boot);

		if (strcmp(flags, cases[i].flags))
			fail_msg("%s: '%s', expected '%s'", cases[i].change, flags, cases[i].flags);
	}
	arena_release(&arena);
}

static void allowed_lines_are_no_sign(void **state KB_UNUSED)
{
	static const char *const allow[] = {"^usb [0-9]+: odd$", "^Spurious", NULL};
	struct watch_run run = two_seconds;
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct arena arena = ARENA_INIT;

	run.dmesg_allow = allow;
	assert_string_equal(flags_of(&arena,
				    "{\"kmsg\": {\"warnings\": 2, \"warning_lines\": "
				    "[\"usb 1: odd\", \"Spurious LAPIC\"]}}",
				    &run, &boot),
		"");
	assert_string_equal(flags_of(&arena,
				    "{\"kmsg\": {\"warnings\": 2, \"warning_lines\": "
				    "[\"usb 1: odd\", \"other\"]}}",
				    &run, &boot),
		"kernel-warning");
	arena_release(&arena);
}

static void a_run_may_overrun_by_a_bound_of_its_own(void **state KB_UNUSED)
{
	static const struct watch_run run = {2000000000, 10, 50, 4, 0, NULL, NULL};
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct arena arena = ARENA_INIT;

	assert_string_equal(flags_of(&arena, "{\"wall_ns\": 1700000000}", &run, &boot), "short");
	assert_string_equal(flags_of(&arena, "{\"wall_ns\": 2900000000}", &run, &boot), "");
	assert_string_equal(flags_of(&arena, "{\"wall_ns\": 3100000000}", &run, &boot), "short");
	arena_release(&arena);
}

/* A machine that does not tell (null) is not suspected. */
static void what_is_not_known_is_no_sign(void **state KB_UNUSED)
{
	static const char unknown[] =
		"{\"cgroup_cpu_ns\": null, \"window\": null, \"kmsg\": null,"
		" \"before\": {\"cpu\": null, \"throttle_core\": null, \"throttle_package\": null,"
		"  \"taint\": null, \"governors\": null, \"cpus_online\": null,"
		"  \"swap_in\": null, \"realtime_ns\": null},"
		" \"after\": {\"taint\": null, \"governors\": null, \"cpus_online\": null}}";
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct arena arena = ARENA_INIT;

	assert_string_equal(flags_of(&arena, unknown, &two_seconds, &boot), "");
	arena_release(&arena);
}

static void fixed_work_has_no_length(void **state KB_UNUSED)
{
	struct watch_run fixed = {0, 0, 0, 4, 0, NULL, NULL};
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct arena arena = ARENA_INIT;

	assert_string_equal(flags_of(&arena, "{\"wall_ns\": 1000000000}", &fixed, &boot), "");
	arena_release(&arena);
}

/* What changed between two runs shows in the second one; a taint is told once. */
static void a_boot_is_held_to_its_beginning(void **state KB_UNUSED)
{
	static const char slower[] = "{\"before\": {\"governors\": \"powersave\"},"
				     " \"after\": {\"governors\": \"powersave\"}}";
	static const char tainted[] = "{\"before\": {\"taint\": 512}, \"after\": {\"taint\": 512}}";
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct arena arena = ARENA_INIT;

	assert_string_equal(flags_of(&arena, "{}", &two_seconds, &boot), "");
	assert_string_equal(flags_of(&arena, slower, &two_seconds, &boot), "governor");
	assert_string_equal(flags_of(&arena, tainted, &two_seconds, &boot), "taint");
	assert_string_equal(flags_of(&arena, tainted, &two_seconds, &boot), "");
	arena_release(&arena);
}

/* What a machine sends is hostile: types are not what they should be. */
static void nonsense_is_survived(void **state KB_UNUSED)
{
	static const char *const nonsense[] = {
		"{\"before\": 7, \"after\": [], \"window\": \"x\", \"kmsg\": 3}",
		"{\"kmsg\": {\"warnings\": 9, \"warning_lines\": [7]}}",
		"{\"kmsg\": {\"warnings\": 1, \"warning_lines\": [\"\\u001b[31m\"]}}",
		"{\"wall_ns\": \"fast\", \"before\": {\"cpu\": 1}}",
		"{\"after\": {\"realtime_ns\": -9223372036854775807}}",
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		struct watch_boot boot = WATCH_BOOT_INIT;

		assert_non_null(flags_of(&arena, nonsense[i], &two_seconds, &boot));
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_has_its_sign),
		cmocka_unit_test(allowed_lines_are_no_sign),
		cmocka_unit_test(a_run_may_overrun_by_a_bound_of_its_own),
		cmocka_unit_test(what_is_not_known_is_no_sign),
		cmocka_unit_test(fixed_work_has_no_length),
		cmocka_unit_test(a_boot_is_held_to_its_beginning),
		cmocka_unit_test(nonsense_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
