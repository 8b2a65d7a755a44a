/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "fake_experiment.h"
#include "model/store_tally.h"
#include "zombies.h"

/* The engine's walk, on the fake machine of tests/fake_lab.h with the real agent and store. */

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

static void must_run(struct lab *lab)
{
	struct err err = ERR_INIT;

	if (lab_run(lab, &err))
		fail_msg("%s", err.text);
}

static void a_plan_is_walked_to_its_end(void **state)
{
	struct lab *lab = *state;
	struct store_view view;
	const struct store_boot *boot;

	must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	assert_int_equal(view.head.state, STATE_DONE);
	boot = &view.machines[0].boots[1];
	assert_int_equal(boot->state, STATE_DONE);
	assert_int_equal(boot->attempt_count, 1);
	assert_string_equal(boot->attempts[0].outcome, "proved");
	assert_false(boot->attempts[0].weak);
	assert_non_null(strstr(boot->attempts[0].proof, "2222222222222222"));
	assert_non_null(strstr(boot->attempts[0].proof, "\"features\":\"NO_NI_RANDOM"));
	assert_true(view.machines[0].facts[0] == '{');
	assert_string_equal(view.machines[0].conditions[0].program, "fixed");
	assert_int_equal(strlen(view.machines[0].conditions[0].program_sha256), 64);
	assert_string_equal(view.variants[1].build->release, "6.12.0-B");
	/* nothing is left to do */
	must_run(lab);
	lab_assert_whole(lab);
}

static void raw_output_is_kept(void **state)
{
	struct lab *lab = *state;
	struct store *store;
	struct store_view view;
	struct store_run *runs;
	struct store_raw_row *raws;
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	size_t count;

	must_run(lab);
	lab_view(lab, &view);
	store = lab_store(lab);
	assert_int_equal(store_load_runs(store, view.machines[0].boots[0].id, &lab->arena, &runs,
				 &count, &err),
		0);
	assert_int_equal(
		store_load_raws(store, runs[0].id, 0, 0, &lab->arena, &raws, &count, &err), 0);
	assert_true(count >= 1);
	assert_string_equal(raws[0].kind, "stdout");
	assert_int_equal(store_read_raw(store, &raws[0], &text, &err), 0);
	assert_string_equal(str_text(&text), "rate: 104\nrate: 204\ntime: 4\n");
	assert_int_equal(store_load_raws(store, 0, view.machines[0].boots[0].attempts[0].id, 0,
				 &lab->arena, &raws, &count, &err),
		0);
	assert_int_equal(count, 1);
	assert_string_equal(raws[0].kind, "console");
	str_release(&text);
	store_close(store);
}

static void a_kernel_that_hangs_costs_its_own_boot(void **state)
{
	struct lab *lab = *state;
	struct store_view view;

	lab_image(lab, "B", "2222222222222222", "hang");
	must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(view.head.state, STATE_DONE);
	assert_int_equal(view.machines[0].boots[0].state, STATE_DONE);
	assert_int_equal(view.machines[0].boots[1].state, STATE_FAILED);
	assert_string_equal(view.machines[0].boots[1].reason, "boot-failed");
	assert_int_equal(view.machines[0].boots[1].attempt_count, 2);
	assert_string_equal(
		view.machines[0].boots[1].attempts[1].detail, "it did not answer in time");
}

static void a_wrong_kernel_is_not_measured(void **state)
{
	struct lab *lab = *state;
	struct store_view view;

	lab_image(lab, "A", "1111111111111111", "wrong");
	must_run(lab);
	lab_view(lab, &view);
	assert_string_equal(view.machines[0].boots[0].reason, "wrong-kernel");
	assert_non_null(strstr(view.machines[0].boots[0].detail, "ffffffffffffffff"));
	assert_int_equal(view.machines[0].boots[1].state, STATE_DONE);
}

static void a_second_try_is_enough(void **state)
{
	struct lab *lab = *state;
	struct store_view view;

	lab_image(lab, "B", "2222222222222222", "flaky");
	must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	assert_string_equal(view.machines[0].boots[1].attempts[0].outcome, "failed");
	assert_string_equal(view.machines[0].boots[1].attempts[1].outcome, "proved");
}

static void a_failed_build_costs_its_own_boots(void **state)
{
	struct lab *lab = *state;
	struct store_view view;

	lab_image(lab, "A", "1111111111111111", "no-build");
	must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(view.variants[0].state, STATE_FAILED);
	assert_string_equal(view.machines[0].boots[0].reason, "build-failed");
	assert_int_equal(view.machines[0].boots[1].state, STATE_DONE);
}

static void a_kernel_that_dies_in_a_run_costs_its_boot(void **state)
{
	struct lab *lab = *state;
	struct store_progress progress;
	struct store_view view;
	struct store *store;
	struct err err = ERR_INIT;

	lab_image(lab, "A", "1111111111111111", "late");
	must_run(lab);
	lab_view(lab, &view);
	assert_string_equal(view.machines[0].boots[0].reason, "kernel-died");
	assert_int_equal(view.machines[0].boots[1].state, STATE_DONE);
	store = lab_store(lab);
	assert_int_equal(store_progress(store, lab->id, &progress, &err), 0);
	assert_int_equal(progress.runs[STATE_FAILED], FAKE_CONDITIONS * (FAKE_RUNS + 1) - 1);
	store_close(store);
}

static int check_death_under_counters(void *arg, const struct store_run_row *row)
{
	int *counted = arg;

	if (row->kind == RUN_COUNTED) {
		(*counted)++;
		assert_int_equal(row->state, row->boot == 1 ? STATE_FAILED : STATE_DONE);
		assert_string_equal(row->reason, row->boot == 1 ? "kernel-died" : "");
	} else
		assert_int_equal(row->state, STATE_DONE);
	return 0;
}

/* What was measured before is whole: counting comes last, and no verdict uses it. */
static void a_kernel_that_dies_under_counters_costs_their_runs(void **state)
{
	struct lab *lab = lab_new("functions: [schedule]\n");
	struct store_view view;
	struct store *store;
	struct err err = ERR_INIT;
	int counted = 0;

	lab_free(*state);
	*state = lab;
	lab_image(lab, "A", "1111111111111111", "counts");
	must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[0].state, STATE_DONE);
	assert_int_equal(view.machines[0].boots[0].attempt_count, 1);
	store = lab_store(lab);
	if (store_each_run(store, &(struct store_run_filter){.experiment_id = lab->id},
		    check_death_under_counters, &counted, &err))
		fail_msg("%s", err.text);
	assert_int_equal(counted, FAKE_BOOTS * FAKE_CONDITIONS);
	store_close(store);
}

struct failed_runs {
	int count;
	const char *reason;
};

static int count_failed(void *arg, const struct store_run_row *row)
{
	struct failed_runs *failed = arg;

	assert_int_equal(row->state, STATE_FAILED);
	assert_string_equal(row->reason, failed->reason);
	failed->count++;
	return 0;
}

static void assert_all_failed(struct lab *lab, const char *reason)
{
	struct store *store = lab_store(lab);
	struct failed_runs failed = {0, reason};
	struct err err = ERR_INIT;

	if (store_each_run(store, &(struct store_run_filter){.experiment_id = lab->id},
		    count_failed, &failed, &err))
		fail_msg("%s", err.text);
	assert_true(failed.count > 0);
	store_close(store);
}

static void a_failing_program_is_a_row_with_its_reason(void **state)
{
	struct lab *lab = *state;

	lab_set(lab, "failing");
	must_run(lab);
	assert_all_failed(lab, "exit");
}

static void output_without_numbers_is_unparsable(void **state)
{
	struct lab *lab = *state;

	lab_set(lab, "silent");
	must_run(lab);
	assert_all_failed(lab, "unparsable");
}

static void a_machine_that_is_lost_keeps_its_plan(void **state)
{
	struct lab *lab = *state;
	struct store_view view;
	struct err err = ERR_INIT;

	lab_image(lab, "A", "1111111111111111", "hang");
	lab_set(lab, "broken");
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	lab_view(lab, &view);
	assert_int_equal(view.head.state, STATE_INTERRUPTED);
	assert_int_equal(view.machines[0].boots[1].state, STATE_PLANNED);
	lab_unset(lab, "broken");
	lab_unset(lab, "dead");
	must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[0].state, STATE_FAILED);
	assert_int_equal(view.machines[0].boots[0].attempt_count, 2);
	assert_int_equal(view.machines[0].boots[1].state, STATE_DONE);
}

static void a_machine_that_loads_no_kernel_costs_no_boot(void **state)
{
	struct lab *lab = *state;
	struct store_view view;
	struct err err = ERR_INIT;

	lab_set(lab, "refuses");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(lab_run(lab, &err), ERR_INFRA);
		assert_non_null(strstr(err.text, "it loads no kernel"));
	}
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[0].state, STATE_STARTED);
	assert_string_equal(view.machines[0].boots[0].attempts[0].reason, "refused");
	lab_unset(lab, "refuses");
	must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[0].state, STATE_DONE);
	assert_int_equal(view.machines[0].boots[0].attempt_count, 4);
	lab_assert_whole(lab);
}

static void an_agent_that_is_gone_costs_no_run(void **state)
{
	struct lab *lab = *state;
	struct store_progress progress;
	struct store_event_row *events;
	struct store *store;
	struct err err = ERR_INIT;
	size_t count, told = 0;

	lab_set(lab, "tidied");
	must_run(lab);
	store = lab_store(lab);
	if (store_progress(store, lab->id, &progress, &err) ||
		store_load_events(store, lab->id, &lab->arena, &events, &count, &err))
		fail_msg("%s", err.text);
	store_close(store);
	assert_int_equal(progress.runs[STATE_FAILED], 0);
	for (size_t i = 0; i < count; i++)
		told += !strcmp(events[i].kind, "agent");
	assert_int_equal(told, 1);
	lab_assert_whole(lab);
}

static void a_missing_program_is_told_before_anything_is_measured(void **state)
{
	struct lab *lab = *state;
	char *path = xasprintf("%s/fixed.sh", lab->folder);
	struct err err = ERR_INIT;

	lab->experiment.machines[0].programs.count = 0;
	assert_int_equal(lab_run(lab, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "there is no program 'fixed' on machine 'box'"));
	free(path);
}

static void two_engines_never_share_an_experiment(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;
	char *busy = xasprintf("%s/busy", lab->workdir);
	pid_t other;

	lab_set(lab, "slow");
	other = lab_start(lab, NULL);
	for (int i = 0; i < 500 && !file_exists(busy); i++)
		usleep(20000);
	assert_int_equal(lab_run(lab, &err), ERR_TIMEOUT);
	assert_non_null(strstr(err.text, "another kbracket works on this experiment"));
	lab_unset(lab, "slow");
	assert_int_equal(lab_wait(other), 0);
	lab_assert_whole(lab);
	free(busy);
}

static char *machine_line(const struct lab *lab, const char *name)
{
	char *path = xasprintf("%s/root/%s", lab->workdir, name);
	struct str line = STR_INIT;
	struct err err = ERR_INIT;

	if (file_read_line(path, &line, &err))
		fail_msg("%s", err.text);
	free(path);
	return str_take(&line);
}

static void assert_switches(const struct lab *lab, const char *feature, const char *sysctl)
{
	char *features = machine_line(lab, "sys/kernel/debug/sched/features"), *value;

	assert_int_equal(strncmp(features, feature, strlen(feature)), 0);
	free(features);
	if (!*sysctl)
		return;
	value = machine_line(lab, "proc/sys/kernel/knob");
	assert_string_equal(value, sysctl);
	free(value);
}

/* A machine that is never booted: switches are put back after each boot, also by the kbracket that
 * goes on after another one was killed. */
static void switches_are_put_back(void **state)
{
	struct lab *lab = *state;
	struct machine_spec *spec = &lab->experiment.machines[0];
	struct pair knob = {"kernel.knob", "7"};
	struct variant switched = *lab->experiment.variants[1];
	struct machine machine = {.spec = spec};
	char *image = xasprintf("%s/A", lab->folder);
	pid_t pid;

	spec->boot = BOOT_NONE;
	switched.sysctls = (struct pairs){&knob, 1};
	lab->experiment.variants[1] = &switched;
	fake_come_up(&machine, &(struct boot_image){image, "", "", "", "", false}, NULL);
	fake_line(lab->workdir, "root/proc/sys/kernel/knob", "3");
	pid = lab_start(lab, "stored:7"); /* in the second boot, of the switched variant */
	assert_int_equal(lab_was_killed(lab_wait(pid)), HAS_FAULT_POINTS);
	if (HAS_FAULT_POINTS)
		assert_switches(lab, "NO_NI_RANDOM", "7");
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_switches(lab, "NI_RANDOM", "3");
	free(image);
}

/* Another experiment after a kill -9, with another value: what it finds is not the original. */
static void the_original_outlives_a_killed_experiment(void **state)
{
	struct lab *lab = *state;
	struct machine_spec *spec = &lab->experiment.machines[0];
	struct pair knob = {"kernel.knob", "7"}, other = {"kernel.knob", "8"};
	struct variant switched = *lab->experiment.variants[1];
	struct machine machine = {.spec = spec};
	char *image = xasprintf("%s/A", lab->folder);

	if (!HAS_FAULT_POINTS) {
		free(image);
		skip();
	}
	spec->boot = BOOT_NONE;
	switched.sysctls = (struct pairs){&knob, 1};
	lab->experiment.variants[1] = &switched;
	fake_come_up(&machine, &(struct boot_image){image, "", "", "", "", false}, NULL);
	fake_line(lab->workdir, "root/proc/sys/kernel/knob", "3");
	lab_kill_at(lab, "stored:7"); /* in the second boot, of the switched variant */
	assert_switches(lab, "NO_NI_RANDOM", "7");
	switched.sysctls = (struct pairs){&other, 1};
	lab_create(lab);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_switches(lab, "NI_RANDOM", "3");
	free(image);
}

/* A machine's own settings: for every boot anew, put back at the end; what can't be set is noted
 * once, and nothing is lost by it. */
static void a_machine_is_tuned_and_put_back(void **state)
{
	struct lab *lab = *state;
	struct machine_spec *spec = &lab->experiment.machines[0];
	struct machine machine = {.spec = spec};
	struct store_view view;
	const char *proof;
	char *image = xasprintf("%s/A", lab->folder), *value;

	spec->tune.turbo = "off";
	spec->tune.nmi_watchdog = "off";
	fake_come_up(&machine, &(struct boot_image){image, "", "", "", "", false}, NULL);
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	proof = view.machines[0].boots[0].attempts[0].proof;
	assert_non_null(strstr(proof, "this machine has none"));
	assert_non_null(strstr(proof, "\"nmi_watchdog\",\"before\":\"1\",\"after\":\"0\""));
	value = machine_line(lab, "proc/sys/kernel/nmi_watchdog");
	assert_string_equal(value, "1");
	free(value);
	free(image);
}

static char *replaced(char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *whole;

	if (!at)
		fail_msg("no %s", from);
	whole = xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	free(text);
	return whole;
}

/* A lab whose B is A with a feature off, toggled inside one boot. */
static struct lab *toggle_lab(void)
{
	struct lab *lab = lab_folder();
	char *text = lab_text(lab, ""),
	     *image = xasprintf("{prebuilt: {image: %s/B},", lab->folder);

	lab_image(lab, "A", "1111111111111111", "ok");
	text = replaced(text, image, "{like: A,");
	text = replaced(text, "order: [A, B]", "order: toggle");
	lab_plan(lab, text);
	lab_create(lab);
	free(image);
	free(text);
	return lab;
}

static void assert_toggled(struct lab *lab)
{
	static const char *const methods[] = {"fake", "toggle", "toggle"};
	struct store_view view;

	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boot_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct store_boot *boot = &view.machines[0].boots[i];

		assert_int_equal(boot->state, STATE_DONE);
		assert_int_equal(boot->variant->position, i % 2);
		assert_int_equal(boot->attempt_count, 1);
		assert_string_equal(boot->attempts[0].method, methods[i]);
		assert_string_equal(boot->attempts[0].kernel_boot_id,
			view.machines[0].boots[0].attempts[0].kernel_boot_id);
		assert_int_equal(
			strstr(boot->attempts[0].proof, "\"after\":\"off\"") != NULL, i % 2);
	}
}

static void a_toggle_is_in_one_boot(void **state KB_UNUSED)
{
	struct lab *lab = toggle_lab();

	lab_must_run(lab);
	assert_toggled(lab);
	assert_switches(lab, "NI_RANDOM", "");
	lab_free(lab);
}

/* Killed in its second part it goes on in the same boot; after a restart it can't. */
static void a_toggle_goes_on_in_its_boot_only(void **state KB_UNUSED)
{
	struct lab *lab;
	struct store_view view;

	if (!HAS_FAULT_POINTS)
		skip();
	lab = toggle_lab();
	lab_kill_at(lab, "stored:7");
	lab_must_run(lab);
	assert_toggled(lab);
	lab_free(lab);
	lab = toggle_lab();
	lab_kill_at(lab, "stored:7");
	lab_set(lab, "volatile");
	lab_must_run(lab);
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[0].state, STATE_DONE);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(view.machines[0].boots[i].state, STATE_FAILED);
		assert_string_equal(view.machines[0].boots[i].reason, "toggle-lost");
	}
	lab_free(lab);
}

/* Hooks tell what they were called with; one fails before every run of B. */
static void hooks_are_called_and_their_failures_told(void **state)
{
	static const char script[] = "#!/bin/sh\n"
				     "echo \"$KBRACKET_HOOK $KBRACKET_MACHINE $KBRACKET_VARIANT "
				     "$KBRACKET_RELEASE\" >>\"$1\"\n"
				     "test -d \"$KBRACKET_RESULTS\" || exit 9\n"
				     "test \"$KBRACKET_HOOK$KBRACKET_VARIANT\" != before-runB\n";
	struct lab *lab = *state;
	char *program = xasprintf("%s/hook.sh", lab->folder),
	     *log = xasprintf("%s/log", lab->folder);
	const char *const argv[] = {program, log, NULL};
	struct hook hooks[6];
	struct str text = STR_INIT;
	struct store_tally *tallies;
	struct store *store;
	struct err err = ERR_INIT;
	size_t count;
	int64_t flagged = 0;

	fake_write(lab->folder, "hook.sh", script, strlen(script));
	assert_int_equal(chmod(program, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		hooks[i] = (struct hook){(enum hook_point)i, argv, 60 * NS_PER_S, HOOK_FLAG};
	lab->experiment.hooks = hooks;
	lab->experiment.hook_count = ARRAY_SIZE(hooks);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(file_read(log, 1 << 20, &text, &err), 0);
	assert_true(str_starts(text.text, "before-experiment   \nbefore-boot box A 6.12.0-A\n"
					  "before-run box A 6.12.0-A\nafter-run box A 6.12.0-A\n"));
	assert_non_null(
		strstr(text.text, "after-boot box A 6.12.0-A\nbefore-boot box B 6.12.0-B\n"));
	assert_true(str_ends(text.text, "after-boot box B 6.12.0-B\nafter-experiment   \n"));
	store = lab_store(lab);
	assert_int_equal(
		store_load_tallies(store, lab->id, &lab->arena, &tallies, &count, &err), 0);
	for (size_t i = 0; i < count; i++)
		flagged += strcmp(tallies[i].reason, "hook") ? 0 : tallies[i].runs;
	assert_int_equal(flagged, FAKE_CONDITIONS * FAKE_RUNS); /* warm-ups are not told of */
	store_close(store);
	str_release(&text);
	free(program);
	free(log);
}

static void a_hook_may_stop_the_experiment(void **state)
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
	int runs, boots;
	int64_t first_left_ns, last_left_ns;
};

static void listen(void *arg, const struct progress *progress)
{
	struct told *told = arg;

	told->runs += progress->kind == PROGRESS_RUN_END;
	told->boots += progress->kind == PROGRESS_BOOT_END;
	if (progress->kind == PROGRESS_BUILD && !told->first_left_ns)
		told->first_left_ns = progress->left_ns;
	if (progress->kind == PROGRESS_END)
		told->last_left_ns = progress->left_ns;
	if (progress->kind == PROGRESS_RUN)
		assert_int_equal(progress->boots, FAKE_BOOTS);
}

static void progress_counts_down(void **state)
{
	struct lab *lab = *state;
	struct told told = {0};

	lab->options.progress = listen;
	lab->options.arg = &told;
	must_run(lab);
	assert_int_equal(told.boots, FAKE_BOOTS);
	assert_true(told.runs >= FAKE_BOOTS * FAKE_CONDITIONS * FAKE_RUNS);
	assert_true(told.first_left_ns > 0);
	assert_int_equal(told.last_left_ns, 0);
}

/* A machine that keeps its disk would fill up with folders of runs. */
static void nothing_of_a_run_stays_on_the_machine(void **state)
{
	struct lab *lab = *state;
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;

	must_run(lab);
	assert_int_equal(file_list(lab->workdir, &names, &err), 0);
	assert_true(strv_has(&names, "kbracket-agent"));
	for (size_t i = 0; i < names.count; i++)
		if (str_starts(names.items[i], "run-"))
			fail_msg("%s is still there", names.items[i]);
	strv_release(&names);
}

/* The agent's supervisor outlives the agent that was called, and becomes our child. */
static void no_zombies_are_gathered(void **state)
{
	struct lab *lab = *state;

	must_run(lab);
	/* the last one may not have been seen to end */
	assert_in_range(children_in_state('Z'), 0, 1);
}

static int cut_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	int ret = fake_exec(machine, spec, result, err);

	if (!ret && result->out.len > 1)
		result->out.len /= 2;
	return ret;
}

/* Answers that are cut off are the machine's fault, not a measurement that must not be used. */
static void an_agent_that_is_not_understood_is_infrastructure(void **state)
{
	struct lab *lab = *state;
	struct backend_ops ops = fake_ops;
	struct err err = ERR_INIT;

	ops.exec = cut_exec;
	lab->options.ops = &ops;
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	assert_int_equal(err.code, ERR_INFRA);
	assert_non_null(strstr(err.text, "the agent's '"));
	lab->options.ops = &fake_ops;
	must_run(lab);
	lab_assert_whole(lab);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plan_is_walked_to_its_end),
		TEST(raw_output_is_kept),
		TEST(a_kernel_that_hangs_costs_its_own_boot),
		TEST(a_wrong_kernel_is_not_measured),
		TEST(a_second_try_is_enough),
		TEST(a_failed_build_costs_its_own_boots),
		TEST(a_kernel_that_dies_in_a_run_costs_its_boot),
		TEST(a_kernel_that_dies_under_counters_costs_their_runs),
		TEST(a_failing_program_is_a_row_with_its_reason),
		TEST(output_without_numbers_is_unparsable),
		TEST(a_machine_that_is_lost_keeps_its_plan),
		TEST(a_machine_that_loads_no_kernel_costs_no_boot),
		TEST(an_agent_that_is_gone_costs_no_run),
		TEST(a_missing_program_is_told_before_anything_is_measured),
		TEST(two_engines_never_share_an_experiment),
		TEST(switches_are_put_back),
		TEST(the_original_outlives_a_killed_experiment),
		TEST(a_machine_is_tuned_and_put_back),
		TEST(a_toggle_is_in_one_boot),
		TEST(hooks_are_called_and_their_failures_told),
		TEST(a_hook_may_stop_the_experiment),
		TEST(a_toggle_goes_on_in_its_boot_only),
		TEST(progress_counts_down),
		TEST(nothing_of_a_run_stays_on_the_machine),
		TEST(no_zombies_are_gathered),
		TEST(an_agent_that_is_not_understood_is_infrastructure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
