/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "fake_experiment.h"

/* A plan that is extended while it is walked: killed (SIGKILL) anywhere and resumed, every boot and
 * every sample is there exactly once. The machine is the fake one of tests/fake_lab.h; the killing
 * is real. */

enum { BOOTS = 5 };

/* After A B: once more B alone with one condition, then A B for it, as a block. */
static const size_t single[] = {1}, pair[] = {0, 1}, first[] = {0}, second[] = {1};
static const struct plan_extension steps[] = {
	{2, 0, single, 1, second, 1, 3, 1, "one more boot"},
	{3, 1, pair, 2, first, 1, 2, 0, "repeat of block 1"},
};

static int die(const char *what, const struct err *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	return 1;
}

/* What a caller of the engine does: makes the stored plan again, walks it, appends, walks. */
static int walk_and_extend(struct lab *lab)
{
	struct plan_extension *done;
	struct err err = ERR_INIT;
	struct store *store;
	size_t count;

	if (store_open(lab->database, STORE_WRITE, &store, &err) ||
		store_load_extensions(store, lab->id, "box", &lab->arena, &done, &count, &err))
		return die("open", &err);
	for (size_t i = 0; i < count; i++)
		if (plan_extend(&lab->arena, &lab->plans[0], &done[i], &err))
			return die("again", &err);
	for (;; count++) {
		if (engine_run(store, lab->id, &lab->experiment, lab->plans, &lab->options, &err))
			return die("walk", &err);
		if (count == ARRAY_SIZE(steps))
			break;
		if (plan_extend(&lab->arena, &lab->plans[0], &steps[count], &err) ||
			store_extend(store, lab->id, "box", &lab->plans[0], &steps[count], &err))
			return die("extend", &err);
	}
	store_close(store);
	return 0;
}

static int in_child(struct lab *lab, const char *fault)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fault)
			setenv("KB_FAULT", fault, 1);
		_exit(walk_and_extend(lab));
	}
	return lab_wait(pid);
}

struct seen {
	int runs[BOOTS][FAKE_CONDITIONS][4]; /* rates by boot, condition and ordinal */
};

static int see(void *arg, const struct store_sample_row *row)
{
	struct seen *seen = arg;

	assert_true(row->value == lab_value(row->metric, row->workers, row->ordinal));
	assert_in_range(row->boot, 1, BOOTS);
	assert_in_range(row->run, 1, 3);
	if (row->kind == RUN_MEASURED && !strcmp(row->metric, "rate"))
		seen->runs[row->boot - 1][row->workers == 4 ? 0 : 1][row->run]++;
	return 0;
}

static void assert_all_once(struct lab *lab)
{
	static const int runs[BOOTS][FAKE_CONDITIONS] = {{2, 2}, {2, 2}, {0, 3}, {2, 0}, {2, 0}};
	static const int blocks[BOOTS] = {1, 1, 2, 3, 3}, variants[BOOTS] = {0, 1, 1, 0, 1};
	struct store *store = lab_store(lab);
	struct seen seen = {0};
	struct err err = ERR_INIT;
	struct store_view view;

	if (store_each_sample(store, lab->id, see, &seen, &err))
		fail_msg("%s", err.text);
	for (int b = 0; b < BOOTS; b++)
		for (int c = 0; c < FAKE_CONDITIONS; c++)
			for (int r = 1; r <= 3; r++) /* a run has two samples of the rate */
				assert_int_equal(seen.runs[b][c][r], r <= runs[b][c] ? 2 : 0);
	store_close(store);
	lab_view(lab, &view);
	assert_int_equal(view.head.state, STATE_STARTED);
	assert_int_equal(view.machines[0].boot_count, BOOTS);
	for (int b = 0; b < BOOTS; b++) {
		assert_int_equal(view.machines[0].boots[b].state, STATE_DONE);
		assert_int_equal(view.machines[0].boots[b].block, blocks[b]);
		assert_int_equal(view.machines[0].boots[b].variant->position, variants[b]);
	}
}

static void boots_are_appended_and_walked(void **state KB_UNUSED)
{
	struct lab *lab = lab_new("");
	struct plan_extension *kept;
	struct store *store;
	struct err err = ERR_INIT;
	size_t count;

	assert_int_equal(in_child(lab, NULL), 0);
	assert_all_once(lab);
	store = lab_store(lab);
	assert_int_equal(
		store_load_extensions(store, lab->id, "box", &lab->arena, &kept, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(kept[1].reason, "repeat of block 1");
	assert_int_equal(kept[1].repeats, 1);
	assert_int_equal(kept[0].runs, 3);
	assert_int_equal(kept[0].variants[0], 1);
	store_close(store);
	/* nothing is left to do, nothing is appended again */
	assert_int_equal(in_child(lab, NULL), 0);
	assert_all_once(lab);
	lab_free(lab);
}

static void killed_anywhere_nothing_is_lost_or_doubled(void **state KB_UNUSED)
{
	static const char *const faults[] = {
		"boot-done:2", "boot:3", "ran:12", "boot-done:3", "stored:16", "boot-done:5"};

	if (!HAS_FAULT_POINTS)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct lab *lab = lab_new("");

		if (!lab_was_killed(in_child(lab, faults[i])))
			fail_msg("%s: not killed", faults[i]);
		assert_int_equal(in_child(lab, NULL), 0);
		assert_all_once(lab);
		lab_free(lab);
	}
}

/* Without what was appended the plan is not the stored one. */
static void a_plan_without_what_was_appended_is_refused(void **state KB_UNUSED)
{
	struct lab *lab = lab_new("");
	struct err err = ERR_INIT;

	assert_int_equal(in_child(lab, NULL), 0);
	assert_int_equal(lab_run(lab, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "was planned differently"));
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boots_are_appended_and_walked),
		cmocka_unit_test(killed_anywhere_nothing_is_lost_or_doubled),
		cmocka_unit_test(a_plan_without_what_was_appended_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
