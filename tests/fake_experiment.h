/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FAKE_EXPERIMENT_H
#define KB_TESTS_FAKE_EXPERIMENT_H

#include "base/base.h"

#include <stdarg.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "model/store_rows.h"
#include "model/store_view.h"
#include "fake_lab.h"

/*
 * An experiment on the fake machine, or on several: variants A and B, boots A B, two conditions,
 * one warm-up and two measured runs of each. Its program prints numbers that are known beforehand,
 * and does what files in the folder of its machine tell it to.
 */
#ifdef KB_FAULT_POINTS
enum { HAS_FAULT_POINTS = true };
#else
enum { HAS_FAULT_POINTS = false };
#endif

enum { FAKE_BOOTS = 2, FAKE_CONDITIONS = 2, FAKE_RUNS = 2, MAX_MACHINES = 3 };

struct lab {
	char folder[64];
	size_t machines;
	char workdirs[MAX_MACHINES][96];
	const char *workdir; /* of the first machine */
	char database[96];
	struct arena arena;
	struct experiment experiment;
	struct plan plans[MAX_MACHINES];
	struct engine_options options;
	int64_t id; /* in the store */
};

#define LAB_PROGRAM                                                                \
	"#!/bin/sh\n"                                                              \
	"S=${0%/*}\n"                                                              \
	"if [ -e $S/late ]; then touch $S/dead; sleep 1; fi\n"                     \
	"if grep -qs 1 $S/root/proc/sys/kernel/sched_schedstats; then"             \
	"  touch $S/dead; sleep 1; fi\n"                                           \
	"if [ -e $S/slow ]; then touch $S/busy; sleep 1.5; fi\n"                   \
	"if [ -e $S/cut-run ]; then mv $S/cut-run $S/cut; fi\n"                    \
	"if [ -e $S/die ]; then touch $S/dead $S/broken; sleep 1; fi\n"            \
	"if [ -e $S/meet ]; then touch $S/here; until [ -e $(cat $S/meet)/here ];" \
	"  do sleep 0.05; done; fi\n"                                              \
	"if [ -e $S/fill ]; then cat /dev/zero >$(cat $S/fill) 2>/dev/null; fi\n"  \
	"if [ -e $S/failing ]; then exit 3; fi\n"                                  \
	"if [ -e $S/silent ]; then exit 0; fi\n"                                   \
	"echo rate: $((100 + $1)); echo rate: $((200 + $1)); echo time: $1\n"

/* Values that each run of a condition with that many workers has. */
static inline double lab_value(const char *metric, int64_t workers, int ordinal)
{
	return strcmp(metric, "rate") ? (double)workers : 100.0 * ordinal + (double)workers;
}

static inline void lab_image(
	struct lab *lab, const char *name, const char *build_id, const char *mode)
{
	char *text = xasprintf("6.12.0-%s %s %s", name, build_id, mode);

	fake_line(lab->folder, name, text);
	free(text);
}

static inline void lab_set_on(struct lab *lab, size_t machine, const char *flag)
{
	fake_line(lab->workdirs[machine], flag, "");
}

static inline void lab_unset_on(struct lab *lab, size_t machine, const char *flag)
{
	char *path = xasprintf("%s/%s", lab->workdirs[machine], flag);

	(void)unlink(path);
	free(path);
}

static inline void lab_set(struct lab *lab, const char *flag)
{
	lab_set_on(lab, 0, flag);
}

static inline void lab_unset(struct lab *lab, const char *flag)
{
	lab_unset_on(lab, 0, flag);
}

/* "box", "box2", ... */
static inline char *lab_machines_text(const struct lab *lab)
{
	struct str text = STR_INIT;

	for (size_t m = 0; m < lab->machines; m++) {
		char number[24] = "";

		if (m)
			(void)snprintf(number, sizeof(number), "%zu", m + 1);
		str_addf(&text,
			"%s{machine: box%s, connect: {ssh: nowhere%s}, cpus: 4, workdir: %s,\n"
			"  boot_timeout: 1s, programs: {fixed: %s/fixed.sh}}",
			m ? ",\n  " : "", number, number, lab->workdirs[m], lab->folder);
	}
	return str_take(&text);
}

static inline char *lab_text(const struct lab *lab, const char *more)
{
	const char *f = lab->folder;
	char *machines = lab_machines_text(lab), *text;

	text = xasprintf(
		"experiment: fake\n"
		"machines: [%s]\n"
		"baseline: A\n"
		"kernels: {variants: {\n"
		"  A: {prebuilt: {image: %s/A}}, B: {prebuilt: {image: %s/B},\n"
		"      features: [NO_NI_RANDOM]}}}\n"
		"variants: [B]\n"
		"saturation: [100%%, 50%%]\n"
		"suites:\n"
		"  - suite: fixed\n"
		"    program: fixed\n"
		"    conditions: {by: {argv: [fixed, \"{workers}\"]}}\n"
		"    expect: 100ms\n"
		"    timeout: 60s\n"
		"    metrics:\n"
		"      rate: {unit: ops/s, better: higher, regex: '^rate: ([0-9]+)$', which: all}\n"
		"      time: {unit: s, better: lower, regex: '^time: ([0-9]+)$'}\n"
		"design: {order: [A, B], runs: 2, warmup: 1}\n"
		"%s",
		machines, f, f, more);
	free(machines);
	return text;
}

/* Reads an experiment's text and plans it. */
static inline void lab_plan(struct lab *lab, const char *text)
{
	struct diag diag = DIAG_INIT;
	struct str messages = STR_INIT;
	struct err err = ERR_INIT;

	if (experiment_read_text(
		    &lab->arena, "fake.yaml", text, strlen(text), &lab->experiment, &diag)) {
		diag_write(&diag, &messages);
		fail_msg("%s", str_text(&messages));
	}
	for (size_t i = 0; i < lab->experiment.machine_count; i++)
		if (plan_make(&lab->arena, &lab->experiment, &lab->experiment.machines[i], 4,
			    &lab->plans[i], &err))
			fail_msg("%s", err.text);
}

static inline void lab_create(struct lab *lab)
{
	static const struct store_ref refs[4] = {{"", ""}, {"", ""}, {"", ""}, {"", ""}};
	struct store_new what = {
		.experiment = &lab->experiment,
		.spec = "experiment: fake\n",
		.plans = lab->plans,
		.refs = refs,
		.version = "test",
	};
	struct store *store;
	struct err err = ERR_INIT;

	if (store_open(lab->database, STORE_WRITE, &store, &err) ||
		store_create(store, &what, &lab->id, &err))
		fail_msg("%s", err.text);
	store_close(store);
}

/* A folder, programs and options; no experiment yet. */
static inline struct lab *lab_folder_for(size_t machines)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	const char *build = getenv("KB_BUILD");
	char *program;

	(void)snprintf(lab->folder, sizeof(lab->folder), "%s/kb-lab-XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(lab->folder))
		BUG("mkdtemp");
	lab->machines = machines;
	lab->workdir = lab->workdirs[0];
	for (size_t m = 0; m < machines; m++) {
		(void)snprintf(lab->workdirs[m], sizeof(lab->workdirs[m]), "%s/machine-%zu",
			lab->folder, m + 1);
		if (mkdir(lab->workdirs[m], 0700))
			BUG("mkdir %s", lab->workdirs[m]);
	}
	(void)snprintf(lab->database, sizeof(lab->database), "%s/results/kbracket.db", lab->folder);
	fake_write(lab->folder, "fixed.sh", LAB_PROGRAM, strlen(LAB_PROGRAM));
	program = xasprintf("%s/fixed.sh", lab->folder);
	(void)chmod(program, 0755);
	free(program);
	lab->options = (struct engine_options){
		.ops = &fake_ops,
		.build_cache = lab->folder,
		.machine_cache = lab->folder,
		.agent = arena_printf(&lab->arena, "%s/kbracket-agent", build ? build : "build"),
		.native_dir = lab->folder,
		.version = "test",
	};
	return lab;
}

static inline struct lab *lab_folder(void)
{
	return lab_folder_for(1);
}

/* With an experiment on fake machines that is not in the store yet; more is added to its text. */
static inline struct lab *lab_make_for(size_t machines, const char *more)
{
	struct lab *lab = lab_folder_for(machines);
	char *text;

	lab_image(lab, "A", "1111111111111111", "ok");
	lab_image(lab, "B", "2222222222222222", "ok");
	text = lab_text(lab, more);
	lab_plan(lab, text);
	free(text);
	return lab;
}

static inline struct lab *lab_make(const char *more)
{
	return lab_make_for(1, more);
}

/* The same, planned. */
static inline struct lab *lab_new_for(size_t machines, const char *more)
{
	struct lab *lab = lab_make_for(machines, more);

	lab_create(lab);
	return lab;
}

static inline struct lab *lab_new(const char *more)
{
	return lab_new_for(1, more);
}

static inline void lab_free(struct lab *lab)
{
	struct err err = ERR_INIT;

	if (file_remove_tree(lab->folder, &err))
		print_message("%s\n", err.text);
	arena_release(&lab->arena);
	free(lab);
}

/* The engine in this process. */
static inline int lab_run(struct lab *lab, struct err *err)
{
	struct store *store;
	int ret = store_open(lab->database, STORE_WRITE, &store, err);

	if (ret)
		return ret;
	ret = engine_run(store, lab->id, &lab->experiment, lab->plans, &lab->options, err);
	if (!ret)
		ret = store_experiment_move(store, lab->id, STATE_DONE, err);
	store_close(store);
	return ret;
}

/* The engine in a child, as another kbracket. At the point all of it dies, or only the worker that
 * reaches it. */
static inline pid_t lab_start_for(struct lab *lab, const char *fault, bool worker_only)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = ERR_INIT;
		int ret;

		if (fault)
			setenv("KB_FAULT", fault, 1);
		if (fault && !worker_only)
			setenv("KB_FAULT_ALL", "1", 1);
		ret = lab_run(lab, &err);
		if (ret)
			fprintf(stderr, "engine: %s\n", err.text);
		_exit(ret ? 1 : 0);
	}
	return pid;
}

static inline pid_t lab_start(struct lab *lab, const char *fault)
{
	return lab_start_for(lab, fault, false);
}

/* Its exit status as of waitpid. */
static inline int lab_wait(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid)
		fail_msg("waitpid");
	return status;
}

static inline void lab_must_run(struct lab *lab)
{
	assert_int_equal(lab_wait(lab_start(lab, NULL)), 0);
}

static inline struct store *lab_store(struct lab *lab)
{
	struct store *store;
	struct err err = ERR_INIT;

	if (store_open(lab->database, STORE_READ, &store, &err))
		fail_msg("%s", err.text);
	return store;
}

static inline void lab_view(struct lab *lab, struct store_view *view)
{
	struct store *store = lab_store(lab);
	struct err err = ERR_INIT;

	if (store_load(store, lab->id, &lab->arena, view, &err))
		fail_msg("%s", err.text);
	store_close(store);
}

/* How often each measured sample is there. */
struct lab_count {
	const struct lab *lab;
	int seen[MAX_MACHINES][FAKE_BOOTS][FAKE_CONDITIONS][FAKE_RUNS][3];
};

static inline int lab_count_sample(void *arg, const struct store_sample_row *row)
{
	struct lab_count *count = arg;
	int condition = row->workers == 4 ? 0 : 1, machine = 0;
	int metric = strcmp(row->metric, "rate") ? 2 : row->ordinal - 1;

	while (strcmp(count->lab->experiment.machines[machine].name, row->machine))
		machine++;
	assert_true(row->value == lab_value(row->metric, row->workers, row->ordinal));
	assert_in_range(row->boot, 1, FAKE_BOOTS);
	assert_in_range(metric, 0, 2);
	if (row->kind == RUN_WARMUP)
		return 0;
	assert_in_range(row->run, 1, FAKE_RUNS);
	count->seen[machine][row->boot - 1][condition][row->run - 1][metric]++;
	return 0;
}

static inline int lab_print_failure(void *arg KB_UNUSED, const struct store_run_row *row)
{
	if (row->state != STATE_DONE)
		print_message("boot %d run %d try %d %s: %s: %s\n", row->boot, row->position,
			row->attempt_try, store_state_name(row->state), row->reason, row->detail);
	return 0;
}

static inline void lab_assert_run(const int seen[3], int boot, int condition, int run)
{
	for (int s = 0; s < 3; s++)
		if (seen[s] != 1)
			fail_msg("boot %d condition %d run %d sample %d: %d times", boot + 1,
				condition, run + 1, s, seen[s]);
}

/* Every (boot, condition, run, metric, ordinal) exactly once, its value included. */
static inline void lab_assert_whole(struct lab *lab)
{
	struct store *store = lab_store(lab);
	struct lab_count count = {.lab = lab};
	struct err err = ERR_INIT;
	struct store_progress progress;

	if (store_each_sample(store, lab->id, lab_count_sample, &count, &err) ||
		store_progress(store, lab->id, &progress, &err))
		fail_msg("%s", err.text);
	if (progress.runs[STATE_FAILED] &&
		store_each_run(store, &(struct store_run_filter){.experiment_id = lab->id},
			lab_print_failure, NULL, &err))
		fail_msg("%s", err.text);
	store_close(store);
	for (size_t m = 0; m < lab->experiment.machine_count; m++)
		for (int b = 0; b < FAKE_BOOTS; b++)
			for (int c = 0; c < FAKE_CONDITIONS; c++)
				for (int r = 0; r < FAKE_RUNS; r++)
					lab_assert_run(count.seen[m][b][c][r], b, c, r);
	assert_int_equal(progress.boots[STATE_DONE], FAKE_BOOTS * lab->experiment.machine_count);
	assert_int_equal(progress.runs[STATE_PLANNED] + progress.runs[STATE_STARTED], 0);
}

/* SIGKILL came. */
static inline bool lab_was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Another kbracket works on the lab until it reaches the point and is killed there. */
static inline void lab_kill_at(struct lab *lab, const char *fault)
{
	int status = lab_wait(lab_start(lab, fault));

	if (!lab_was_killed(status))
		fail_msg("%s: not killed, status %#x", fault, status);
}

/* Only the worker that reaches the point is killed: kbracket ends by itself, with an error. */
static inline void lab_lose_worker_at(struct lab *lab, const char *fault)
{
	int status = lab_wait(lab_start_for(lab, fault, true));

	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		fail_msg("%s: not parked, status %#x", fault, status);
}

/* Killed at the point, then resumed: nothing is lost or doubled. starts: how many kernel starts a
 * boot may have been measured in. */
static inline void lab_kill_and_resume(const char *flag, const char *fault, int starts)
{
	struct lab *lab = lab_new("");
	struct store_view view;

	if (flag)
		lab_set(lab, flag);
	lab_kill_at(lab, fault);
	lab_must_run(lab);
	lab_assert_whole(lab);
	lab_view(lab, &view);
	for (int i = 0; i < FAKE_BOOTS; i++)
		assert_in_range(view.machines[0].boots[i].proved, 1, starts);
	lab_free(lab);
}

#endif
