/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/stop.h"
#include "fake_experiment.h"

/* kbracket is killed (SIGKILL) and resumed: each sample is there exactly once, with its value. The
 * machine is the fake one of tests/fake_lab.h; the killing is real. */

static int set_up(void **state)
{
	*state = lab_new("");
	return 0;
}

static int tear_down(void **state)
{
	lab_free(*state);
	return 0;
}

/* long_resume.c has all points. */
static void killed_beside_a_living_machine(void **state KB_UNUSED)
{
	lab_kill_and_resume(NULL, "build", 1);
	lab_kill_and_resume(NULL, "booted", 1);
	lab_kill_and_resume(NULL, "ran", 1);
	lab_kill_and_resume(NULL, "transaction:7", 1);
}

static void killed_with_a_dying_machine(void **state KB_UNUSED)
{
	lab_kill_and_resume("volatile", "run:2", 2);
	lab_kill_and_resume("volatile", "transaction:5", 2);
}

static void wait_for(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	int i;

	for (i = 0; i < 1000 && !file_exists(path); i++)
		usleep(10000);
	assert_in_range(i, 0, 999);
	free(path);
}

struct counted {
	enum store_state wanted;
	int64_t count;
};

static int count_run(void *arg, const struct store_run_row *row)
{
	struct counted *counted = arg;

	counted->count += row->state == counted->wanted;
	return 0;
}

static int64_t count_runs(struct lab *lab, enum store_state wanted)
{
	struct store *store = lab_store(lab);
	struct counted counted = {wanted, 0};
	struct err err = ERR_INIT;

	if (store_each_run(store, &(struct store_run_filter){.experiment_id = lab->id}, count_run,
		    &counted, &err))
		fail_msg("%s", err.text);
	store_close(store);
	return counted.count;
}

/* Kills kbracket while the program runs. */
static void kill_in_a_run(struct lab *lab)
{
	pid_t pid;

	lab_set(lab, "slow");
	pid = lab_start(lab, NULL);
	wait_for(lab->workdir, "busy");
	lab_unset(lab, "slow");
	kill(pid, SIGKILL);
	assert_true(lab_was_killed(lab_wait(pid)));
}

static void a_run_that_went_on_alone_is_collected(void **state)
{
	struct lab *lab = *state;

	kill_in_a_run(lab);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(count_runs(lab, STATE_INTERRUPTED), 0);
}

static void a_run_that_was_lost_is_kept_and_run_again(void **state)
{
	struct lab *lab = *state;

	lab_set(lab, "volatile");
	kill_in_a_run(lab);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(count_runs(lab, STATE_INTERRUPTED), 1);
}

/* The agent dies with us, or with the connection, before it starts the program: nothing was run. */
static void a_run_that_never_began_is_made_again(void **state)
{
	struct lab *lab = *state;

	lab_set(lab, "half");
	lab_kill_at(lab, "ran");
	lab_set(lab, "half");
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(count_runs(lab, STATE_INTERRUPTED), 2);
	assert_int_equal(count_runs(lab, STATE_FAILED), 0);
}

/* A boot that goes on in a fresh kernel start is warmed up again, and says so. */
static void a_second_start_is_warmed_up_and_noted(void **state)
{
	struct lab *lab = *state;
	struct store_event_row *events;
	struct store *store;
	struct err err = ERR_INIT;
	bool noted = false;
	size_t count;

	lab_set(lab, "volatile");
	lab_kill_at(lab, "stored:2");
	lab_must_run(lab);
	lab_assert_whole(lab);
	/* one warm-up in each boot, and one again in the first boot's second start */
	assert_int_equal(
		count_runs(lab, STATE_DONE), FAKE_BOOTS * (FAKE_CONDITIONS * FAKE_RUNS + 1) + 1);
	store = lab_store(lab);
	assert_int_equal(store_load_events(store, lab->id, &lab->arena, &events, &count, &err), 0);
	for (size_t i = 0; i < count; i++)
		noted = noted || !strcmp(events[i].kind, "second-start");
	assert_true(noted);
	store_close(store);
}

/* SIGINT asks for an orderly end: the program is ended on the machine too. */
static void a_stop_ends_the_run_and_is_resumed(void **state)
{
	struct lab *lab = *state;
	pid_t pid;

	lab_set(lab, "slow");
	pid = fork();
	if (pid == 0) {
		struct err err = ERR_INIT;

		stop_catch_signals();
		_exit(lab_run(lab, &err) == ERR_INTERRUPTED ? 42 : 1);
	}
	wait_for(lab->workdir, "busy");
	kill(pid, SIGINT);
	assert_int_equal(WEXITSTATUS(lab_wait(pid)), 42);
	assert_int_equal(count_runs(lab, STATE_INTERRUPTED), 1);
	assert_int_equal(count_runs(lab, STATE_STARTED), 0);
	lab_unset(lab, "slow");
	lab_must_run(lab);
	lab_assert_whole(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_beside_a_living_machine),
		cmocka_unit_test(killed_with_a_dying_machine),
		TEST(a_run_that_went_on_alone_is_collected),
		TEST(a_run_that_was_lost_is_kept_and_run_again),
		TEST(a_run_that_never_began_is_made_again),
		TEST(a_second_start_is_warmed_up_and_noted),
		TEST(a_stop_ends_the_run_and_is_resumed),
	};

	if (!HAS_FAULT_POINTS) {
		printf("built without -DKB_FAULT_POINTS\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
