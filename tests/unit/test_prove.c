/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "run/prove.h"

static const char *const wanted[] = {"NO_NI_RANDOM", NULL};

static const struct prove_expect complete = {
	.booted = true,
	.build_id = "ab12",
	.release = "6.12.0-kb1",
	.proc_version = "Linux version 6.12.0-kb1 (kbracket)",
	.cmdline = "quiet  panic=5",
	.old_boot_id = "old",
	.cpus = 8,
	.features = wanted,
};

static const char good[] =
	"{\"build_id\": \"ab12\", \"release\": \"6.12.0-kb1\", \"cpus_online\": 8, \"taint\": 4608,"
	" \"version\": \"Linux version 6.12.0-kb1 (kbracket)\", \"boot_id\": \"new\","
	" \"cmdline\": \"console=ttyS0 panic=5 quiet\","
	" \"features\": \"HRTICK NO_NI_RANDOM\"}";

static struct prove_answer prove(
	struct arena *arena, const struct prove_expect *expect, const char *change)
{
	struct prove_answer answer;
	struct err err = ERR_INIT;
	json_t *seen = NULL, *changes = NULL;

	if (json_parse(good, strlen(good), 4096, &seen, &err) ||
		json_parse(change, strlen(change), 4096, &changes, &err))
		fail_msg("%s", err.text);
	json_object_update(seen, changes);
	prove_check(expect, seen, NULL, arena, &answer);
	json_decref(seen);
	json_decref(changes);
	return answer;
}

static void the_right_kernel_is_proved(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct prove_answer answer = prove(&arena, &complete, "{}");

	assert_null(answer.reason);
	assert_false(answer.weak);
	assert_string_equal(answer.boot_id, "new");
	assert_non_null(strstr(answer.json, "\"expected\":{\"build_id\":\"ab12\""));
	arena_release(&arena);
}

static void anything_else_is_not(void **state KB_UNUSED)
{
	static const struct {
		const char *change, *reason, *detail;
	} cases[] = {
		{"{\"build_id\": \"ab13\"}", "wrong-kernel",
			"the build-id is 'ab13', expected 'ab12'"},
		{"{\"build_id\": null}", "wrong-kernel", "the build-id is '', expected 'ab12'"},
		{"{\"release\": \"6.1.0\"}", "wrong-kernel",
			"the release is '6.1.0', expected '6.12.0-kb1'"},
		{"{\"cmdline\": \"quiet panic=55\"}", "wrong-kernel",
			"the command line is 'quiet panic=55', expected 'panic=5'"},
		{"{\"boot_id\": \"old\"}", "same-boot",
			"the boot_id is 'old', expected 'another one than before'"},
		{"{\"boot_id\": 7}", "wrong-kernel", "the boot_id is '', expected 'an id'"},
		{"{\"cpus_online\": 7}", "cpus", "the number of online CPUs is '7', expected '8'"},
		{"{\"features\": \"HRTICK NI_RANDOM\"}", "features",
			"the list of scheduler features is 'HRTICK NI_RANDOM', expected "
			"'NO_NI_RANDOM'"},
		{"{\"taint\": 128}", "tainted",
			"the kernel's taint is '128', expected 'no oops and no machine check'"},
		{"{\"release\": \"\\u001b]0;x\"}", "wrong-kernel",
			"the release is '\\x1b]0;x', expected '6.12.0-kb1'"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct prove_answer answer = prove(&arena, &complete, cases[i].change);

		if (!answer.reason)
			fail_msg("%s was proved", cases[i].change);
		assert_string_equal(answer.reason, cases[i].reason);
		assert_string_equal(answer.detail, cases[i].detail);
	}
	arena_release(&arena);
}

static void without_a_build_id_the_proof_is_weak(void **state KB_UNUSED)
{
	struct prove_expect expect = complete;
	struct arena arena = ARENA_INIT;
	struct prove_answer answer;

	expect.build_id = "";
	answer = prove(&arena, &expect, "{\"build_id\": null}");
	assert_null(answer.reason);
	assert_true(answer.weak);
	answer = prove(&arena, &expect, "{\"version\": \"Linux version 6.12.0-kb1 (other)\"}");
	assert_string_equal(answer.reason, "wrong-kernel");
	arena_release(&arena);
}

static void a_machine_that_is_not_booted_keeps_its_kernel(void **state KB_UNUSED)
{
	struct prove_expect expect = complete;
	struct arena arena = ARENA_INIT;
	struct prove_answer answer;

	expect.booted = false;
	expect.old_boot_id = NULL;
	answer = prove(&arena, &expect, "{\"release\": \"any\", \"cmdline\": \"\"}");
	assert_null(answer.reason);
	assert_true(answer.weak);
	answer = prove(&arena, &expect, "{\"features\": \"NI_RANDOM\"}");
	assert_string_equal(answer.reason, "features");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_kernel_is_proved),
		cmocka_unit_test(anything_else_is_not),
		cmocka_unit_test(without_a_build_id_the_proof_is_weak),
		cmocka_unit_test(a_machine_that_is_not_booted_keeps_its_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
