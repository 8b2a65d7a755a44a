/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine on a real guest: kexec boots, kernels that fail, and kbracket killed in between. Slow:
 * each start of a kernel takes seconds to half a minute without KVM. */
#include "base/base.h"

#include "guest_lab.h"

/* A kernel that panics at once and one that is not the expected one: each costs its own boot. */
static void bad_kernels_cost_their_own_boots(void **state KB_UNUSED)
{
	struct lab *lab =
		guest_lab(1, "panics: {like: A, cmdline: rdinit=/absent}, wrong: {like: A}",
			"panics, wrong", "panics, wrong, A", "200s");
	const struct store_boot *boots;
	struct store_view view;
	struct err err = ERR_INIT;

	if (lab_run(lab, &err))
		fail_msg("%s", err.text);
	lab_view(lab, &view);
	boots = view.machines[0].boots;
	assert_string_equal(boots[0].reason, "boot-failed");
	assert_non_null(strstr(boots[0].detail, "panic"));
	assert_string_equal(boots[1].reason, "wrong-kernel");
	assert_int_equal(boots[2].state, STATE_DONE);
	assert_int_equal(boots[2].attempt_count, 1);
	lab_free(lab);
}

static void killed_in_a_transaction_and_resumed(void **state KB_UNUSED)
{
	struct lab *lab = guest_lab(1, "B: {like: A}", "B", "A, B", "200s");

	lab_kill_at(lab, "transaction:3");
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_kernels_cost_their_own_boots),
		cmocka_unit_test(killed_in_a_transaction_and_resumed),
	};

	if (!HAS_FAULT_POINTS)
		skip_program("built without -DKB_FAULT_POINTS");
	guest_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
