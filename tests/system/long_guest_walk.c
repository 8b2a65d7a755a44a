/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine on two real guests, killed in a build, in a boot, in a run and in the transaction; and
 * kernels that hang or die late. 5 to 20 minutes. */
#include "base/base.h"

#include "guest_lab.h"

static void two_guests_killed_again_and_again(void **state KB_UNUSED)
{
	static const char *const faults[] = {"built", "boot", "booted", "run:2", "transaction:2",
		"raw", "boot-done", "booted", "stored:2", "transaction"};
	struct lab *lab = guest_lab(2, "B: {like: A}", "B", "A, B", "200s");

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		lab_kill_at(lab, faults[i]);
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_free(lab);
}

static void hanging_and_dying_kernels_cost_their_own_boots(void **state KB_UNUSED)
{
	struct lab *lab = guest_lab(1,
		"hangs: {like: A, cmdline: rdinit=/bin/cat}, dies: {like: A, cmdline: "
		"kbracket.late=1}",
		"hangs, dies", "hangs, dies, A", "60s");
	const struct store_boot *boots;
	struct store_view view;
	struct err err = ERR_INIT;

	if (lab_run(lab, &err))
		fail_msg("%s", err.text);
	lab_view(lab, &view);
	boots = view.machines[0].boots;
	assert_string_equal(boots[0].reason, "boot-failed");
	assert_int_equal(boots[0].attempt_count, 2);
	assert_string_equal(boots[1].reason, "kernel-died");
	assert_int_equal(boots[1].attempt_count, 1);
	assert_int_equal(boots[2].state, STATE_DONE);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_guests_killed_again_and_again),
		cmocka_unit_test(hanging_and_dying_kernels_cost_their_own_boots),
	};

	if (!HAS_FAULT_POINTS)
		skip_program("built without -DKB_FAULT_POINTS");
	guest_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
