/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "fake_experiment.h"

/* kbracket is killed (SIGKILL) at every named point and resumed, as in test_resume.c; with two
 * machines as a whole, and only the worker that reaches the point. */

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

/* Points of the process that was called, and then of a machine's worker: those of its life, of two
 * boots, and of six runs in the first and more in the second. */
static const char *const of_all[] = {
	"build-begun", "build", "built", "build-begun:2", "build:2", "built:2", "workers"};
static const char *const of_worker[] = {"worker", "boot", "booted", "proved", "run", "ran", "raw",
	"transaction", "stored", "run:2", "ran:3", "raw:4", "transaction:5", "stored:5",
	"boot-done", "boot:2", "booted:2", "proved:2", "run:7", "ran:8", "raw:9", "transaction:10",
	"stored:10", "boot-done:2", "machine-walked"};

/* Which of the two machines it is takes turns. */
static void at_worker(size_t i, char fault[32])
{
	(void)snprintf(fault, 32, "box%s/%s", i % 2 ? "2" : "", of_worker[i]);
}

/* Killed in one way and resumed: whole, with every boot in as few kernel starts as may be. */
static void two_machines_killed(const char *fault, bool worker_only, const char *flag, int starts)
{
	struct lab *lab = lab_new_for(2, "");
	struct store_view view;

	for (size_t m = 0; flag && m < 2; m++)
		lab_set_on(lab, m, flag);
	if (worker_only)
		lab_lose_worker_at(lab, fault);
	else
		lab_kill_at(lab, fault);
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	for (size_t m = 0; m < 2; m++)
		for (int b = 0; b < FAKE_BOOTS; b++)
			assert_in_range(view.machines[m].boots[b].proved, 1, starts);
	lab_free(lab);
}

static void two_machines_killed_anywhere(void **state KB_UNUSED)
{
	char fault[32];

	for (size_t i = 0; i < ARRAY_SIZE(of_all); i++)
		two_machines_killed(of_all[i], false, NULL, 1);
	for (size_t i = 0; i < ARRAY_SIZE(of_worker); i++) {
		at_worker(i, fault);
		two_machines_killed(fault, false, NULL, 1);
	}
}

static void one_of_two_workers_killed_anywhere(void **state KB_UNUSED)
{
	char fault[32];

	for (size_t i = 0; i < ARRAY_SIZE(of_worker); i++) {
		at_worker(i, fault);
		two_machines_killed(fault, true, NULL, 1);
	}
}

/* Both machines die with kbracket. */
static void two_dying_machines_killed_anywhere(void **state KB_UNUSED)
{
	char fault[32];

	for (size_t i = 0; i < ARRAY_SIZE(of_worker); i += 3) {
		at_worker(i, fault);
		two_machines_killed(fault, false, "volatile", 2);
	}
}

/* One experiment, killed at one point after the other, now as a whole and now in a worker. */
static void two_machines_killed_again_and_again(void **state KB_UNUSED)
{
	struct lab *lab = lab_new_for(2, "");

	lab_kill_at(lab, "built");
	lab_kill_at(lab, "box2/boot");
	lab_lose_worker_at(lab, "box2/ran");
	lab_kill_at(lab, "box2/resumed");
	lab_kill_at(lab, "box2/raw:2");
	lab_lose_worker_at(lab, "box2/transaction");
	lab_kill_at(lab, "box2/stored");
	lab_lose_worker_at(lab, "box2/boot-done");
	lab_kill_at(lab, "box2/run:2");
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
		cmocka_unit_test(two_machines_killed_anywhere),
		cmocka_unit_test(one_of_two_workers_killed_anywhere),
		cmocka_unit_test(two_dying_machines_killed_anywhere),
		cmocka_unit_test(two_machines_killed_again_and_again),
	};

	if (!HAS_FAULT_POINTS) {
		printf("built without -DKB_FAULT_POINTS\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
