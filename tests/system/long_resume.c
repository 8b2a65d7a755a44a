/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "fake_experiment.h"

/* kbracket is killed (SIGKILL) at every named point and resumed, as in test_resume.c. */

/* The machine lives on, as a host on the network does: a proved kernel is gone on with. */
static void killed_anywhere_beside_a_living_machine(void **state KB_UNUSED)
{
	static const char *const faults[] = {"build-begun", "build", "built", "boot", "booted",
		"proved", "run", "ran", "raw", "transaction", "stored", "run:4", "ran:5", "raw:6",
		"transaction:7", "stored:5", "boot-done", "boot:2", "boot-done:2"};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		lab_kill_and_resume(NULL, faults[i], 1);
}

/* The machine dies with kbracket, as a guest does: the kernel is started and proved again. */
static void killed_anywhere_with_a_dying_machine(void **state KB_UNUSED)
{
	static const char *const faults[] = {
		"boot", "proved", "run:2", "ran:3", "raw:4", "transaction:5", "stored:2"};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		lab_kill_and_resume("volatile", faults[i], 2);
}

static void killed_again_and_again(void **state KB_UNUSED)
{
	static const char *const faults[] = {"built", "boot", "ran", "resumed", "raw",
		"transaction", "stored", "boot-done", "run", "resumed", "raw:2"};
	struct lab *lab = lab_new("");

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		lab_kill_at(lab, faults[i]);
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_anywhere_beside_a_living_machine),
		cmocka_unit_test(killed_anywhere_with_a_dying_machine),
		cmocka_unit_test(killed_again_and_again),
	};

	if (!HAS_FAULT_POINTS) {
		printf("built without -DKB_FAULT_POINTS\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
