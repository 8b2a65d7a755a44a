/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <dirent.h>

#include "base/clock.h"
#include "base/stop.h"
#include "fake_experiment.h"

/* Several machines in one experiment, each with its worker process. The machines and the builder
 * are the fake ones of tests/fake_lab.h; processes, signals and the database are real. */

static int set_up(void **state)
{
	*state = lab_new_for(2, "");
	return 0;
}

static int tear_down(void **state)
{
	lab_free(*state);
	return 0;
}

static const struct store_boot *boot_of(const struct store_view *view, size_t machine, size_t boot)
{
	return &view->machines[machine].boots[boot];
}

/* Each machine's first program waits for the other machine's. */
static void machines_are_walked_at_the_same_time(void **state)
{
	struct lab *lab = *state;

	fake_line(lab->workdirs[0], "meet", lab->workdirs[1]);
	fake_line(lab->workdirs[1], "meet", lab->workdirs[0]);
	lab_must_run(lab);
	lab_assert_whole(lab);
}

static void what_is_built_is_built_once(void **state KB_UNUSED)
{
	struct lab *lab = lab_new_for(MAX_MACHINES, "");
	char *path = xasprintf("%s/builds", lab->folder);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int calls = 0;

	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(file_read(path, 4096, &text, &err), 0);
	for (size_t i = 0; i < text.len; i++)
		calls += text.text[i] == '\n';
	assert_int_equal(calls, 2); /* variants */
	str_release(&text);
	free(path);
	lab_free(lab);
}

static void assert_parked(struct lab *lab, const char *why)
{
	struct store *store = lab_store(lab);
	struct store_event_row *events;
	struct err err = ERR_INIT;
	size_t count, parked = 0;

	assert_int_equal(store_load_events(store, lab->id, &lab->arena, &events, &count, &err), 0);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(events[i].kind, STORE_EVENT_PARKED) != 0)
			continue;
		parked++;
		if (!strstr(events[i].text, why))
			fail_msg("%s", events[i].text);
	}
	assert_int_equal(parked, 1);
	store_close(store);
}

/* All boots of a machine are done, in as many kernel starts. */
static void assert_done(struct lab *lab, size_t machine)
{
	struct store_view view;

	lab_view(lab, &view);
	for (size_t b = 0; b < FAKE_BOOTS; b++) {
		assert_int_equal(boot_of(&view, machine, b)->state, STATE_DONE);
		assert_int_equal(boot_of(&view, machine, b)->attempt_count, 1);
	}
}

static void a_machine_that_is_off_is_parked_and_gone_on_with_later(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;
	struct store_view view;

	lab_set_on(lab, 0, "off");
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	assert_string_equal(err.text, "1 of 2 machines is parked: box: machine 'box': no answer");
	assert_parked(lab, "no answer");
	assert_done(lab, 1);
	lab_view(lab, &view);
	assert_int_equal(view.head.state, STATE_INTERRUPTED);
	assert_int_equal(boot_of(&view, 0, 0)->state, STATE_PLANNED);
	lab_unset_on(lab, 0, "off");
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_done(lab, 0);
	assert_done(lab, 1); /* not once more */
}

static void a_machine_that_dies_for_good_in_a_run_is_parked(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;
	struct store_view view;

	lab_set_on(lab, 1, "die");
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	assert_parked(lab, "it does not come back");
	assert_done(lab, 0);
	lab_view(lab, &view);
	assert_string_equal(boot_of(&view, 1, 0)->reason, "kernel-died");
	assert_int_equal(boot_of(&view, 1, 1)->state, STATE_PLANNED);
	lab_unset_on(lab, 1, "die");
	lab_unset_on(lab, 1, "dead");
	lab_unset_on(lab, 1, "broken");
	lab_must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(boot_of(&view, 1, 1)->state, STATE_DONE);
}

static void a_worker_that_is_killed_holds_up_nobody(void **state)
{
	struct lab *lab = *state;

	if (!HAS_FAULT_POINTS)
		skip();
	lab_lose_worker_at(lab, "box2/stored:2");
	assert_parked(lab, "its worker process was ended by signal 9");
	assert_done(lab, 0);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_done(lab, 1); /* its kernel was still there */
}

/* Its workers die with it, and the next one need not wait for more than that. */
static void kbracket_is_killed_with_all_its_workers(void **state)
{
	struct lab *lab = *state;

	if (!HAS_FAULT_POINTS)
		skip();
	lab_kill_at(lab, "box/stored:2");
	lab_kill_at(lab, "box2/transaction:3");
	lab_must_run(lab);
	lab_assert_whole(lab);
}

static void wait_for_file(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	while (!file_exists(path))
		usleep(10000);
	free(path);
}

static pid_t start_catching(struct lab *lab)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = ERR_INIT;

		stop_catch_signals();
		_exit(lab_run(lab, &err) == ERR_INTERRUPTED ? 42 : 1);
	}
	return pid;
}

static void a_stop_ends_all_in_order(void **state)
{
	struct lab *lab = *state;
	struct store_progress progress;
	struct store *store;
	struct err err = ERR_INIT;
	pid_t pid;

	for (size_t m = 0; m < 2; m++)
		lab_set_on(lab, m, "slow");
	pid = start_catching(lab);
	for (size_t m = 0; m < 2; m++)
		wait_for_file(lab->workdirs[m], "busy");
	kill(pid, SIGINT);
	assert_int_equal(WEXITSTATUS(lab_wait(pid)), 42);
	store = lab_store(lab);
	assert_int_equal(store_progress(store, lab->id, &progress, &err), 0);
	assert_int_equal(progress.runs[STATE_STARTED], 0);
	store_close(store);
	for (size_t m = 0; m < 2; m++)
		lab_unset_on(lab, m, "slow");
	lab_must_run(lab);
	lab_assert_whole(lab);
}

/* The process of that name below another one; 0: none. */
static pid_t find_worker(pid_t parent, const char *name)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (!found && (entry = readdir(folder))) {
		char *path = xasprintf("/proc/%s/stat", entry->d_name), comm[32] = "";
		struct str line = STR_INIT;
		struct err err = ERR_INIT;
		int ppid = 0;

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			!file_read_line(path, &line, &err) &&
			sscanf(str_text(&line), "%*d (%31[^)]) %*c %d", comm, &ppid) == 2 &&
			ppid == parent && !strcmp(comm, name))
			found = (pid_t)strtol(entry->d_name, NULL, 10);
		str_release(&line);
		free(path);
	}
	closedir(folder);
	return found;
}

static pid_t freeze(pid_t parent, const char *name)
{
	pid_t worker;

	while (!(worker = find_worker(parent, name)))
		usleep(10000);
	kill(worker, SIGSTOP);
	return worker;
}

static void wait_until_done(struct lab *lab, size_t machine)
{
	for (;;) {
		struct store_view view;

		lab_view(lab, &view);
		if (boot_of(&view, machine, FAKE_BOOTS - 1)->state == STATE_DONE)
			return;
		usleep(50000);
	}
}

static void a_frozen_worker_holds_up_nobody(void **state)
{
	struct lab *lab = *state;
	pid_t pid, worker;

	pid = lab_start(lab, NULL);
	worker = freeze(pid, "kb:box2");
	wait_until_done(lab, 0);
	kill(worker, SIGCONT);
	assert_int_equal(lab_wait(pid), 0);
	lab_assert_whole(lab);
}

static void a_frozen_worker_dies_with_kbracket(void **state)
{
	struct lab *lab = *state;
	pid_t pid = lab_start(lab, NULL);

	(void)freeze(pid, "kb:box2");
	wait_until_done(lab, 0);
	kill(pid, SIGKILL);
	assert_true(lab_was_killed(lab_wait(pid)));
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_done(lab, 0);
}

/* Somebody ends one worker: its machine is parked in order, with no run left behind. */
static void a_worker_that_is_asked_to_stop_is_parked(void **state)
{
	struct lab *lab = *state;
	pid_t pid;

	lab_set_on(lab, 1, "slow");
	pid = lab_start(lab, NULL);
	wait_for_file(lab->workdirs[1], "busy");
	kill(find_worker(pid, "kb:box2"), SIGTERM);
	assert_int_equal(WEXITSTATUS(lab_wait(pid)), 1);
	assert_parked(lab, "its worker process was asked to stop");
	assert_done(lab, 0);
	lab_unset_on(lab, 1, "slow");
	lab_must_run(lab);
	lab_assert_whole(lab);
}

/* The connection breaks in a run of one machine: what that run gave is collected by another one. */
static void a_connection_that_breaks_costs_nothing(void **state)
{
	struct lab *lab = *state;

	lab_set_on(lab, 1, "cut-run");
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_done(lab, 0);
	assert_done(lab, 1);
}

/* What is no machine's fault ends the work on all. */
static void a_hook_that_stops_stops_all(void **state)
{
	static const char *const argv[] = {"false", NULL};
	struct hook hook = {HOOK_BEFORE_RUN, argv, 60 * NS_PER_S, HOOK_STOP};
	struct lab *lab = *state;
	struct err err = ERR_INIT;

	lab->experiment.hooks = &hook;
	lab->experiment.hook_count = 1;
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "hook before-run: false"));
	lab->experiment.hook_count = 0;
	lab_must_run(lab);
	lab_assert_whole(lab);
}

struct told {
	int ends[2];
	int64_t last_left_ns;
	bool both;
};

static void listen_to(void *arg, const struct progress *progress)
{
	struct told *told = arg;

	if (progress->kind == PROGRESS_END)
		told->last_left_ns = progress->left_ns;
	if (progress->kind == PROGRESS_PROVED) {
		told->ends[strcmp(progress->machine, "box") != 0]++;
		assert_int_equal(progress->boots, FAKE_BOOTS);
		assert_in_range(progress->boot, 1, FAKE_BOOTS);
		assert_non_null(progress->variant);
		assert_true(str_starts(progress->text, "6.12.0-"));
	}
	told->both = told->both || progress->at_work == 2;
}

static void progress_comes_from_all(void **state)
{
	struct lab *lab = *state;
	struct told told = {.last_left_ns = -1};
	struct err err = ERR_INIT;

	lab->options.progress = listen_to;
	lab->options.arg = &told;
	fake_line(lab->workdirs[0], "meet", lab->workdirs[1]);
	fake_line(lab->workdirs[1], "meet", lab->workdirs[0]);
	if (lab_run(lab, &err))
		fail_msg("%s", err.text);
	assert_int_equal(told.ends[0], FAKE_BOOTS);
	assert_int_equal(told.ends[1], FAKE_BOOTS);
	assert_true(told.both);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(machines_are_walked_at_the_same_time),
		cmocka_unit_test(what_is_built_is_built_once),
		TEST(a_machine_that_is_off_is_parked_and_gone_on_with_later),
		TEST(a_machine_that_dies_for_good_in_a_run_is_parked),
		TEST(a_worker_that_is_killed_holds_up_nobody),
		TEST(kbracket_is_killed_with_all_its_workers),
		TEST(a_stop_ends_all_in_order),
		TEST(a_frozen_worker_holds_up_nobody),
		TEST(a_frozen_worker_dies_with_kbracket),
		TEST(a_worker_that_is_asked_to_stop_is_parked),
		TEST(a_connection_that_breaks_costs_nothing),
		TEST(a_hook_that_stops_stops_all),
		TEST(progress_comes_from_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
