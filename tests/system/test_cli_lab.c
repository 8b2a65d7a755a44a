/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real program as a person calls it in a lab: experiments on this host, from their files to
 * their reports, and suites that are tried.
 */
#include "cli_lab.h"

#include <sys/stat.h>

static void a_lab_is_made_once(void **state)
{
	struct bench *bench = *state;
	char *lab = xasprintf("%s/lab", bench->folder);
	char *config = xasprintf("%s/configs/quickstart.yaml", lab);

	expect_code(bench, 0, "init %s", lab);
	assert_true(file_exists(config));
	expect_code(bench, 2, "init %s", lab);
	free(lab);
	free(config);
}

static void an_experiment_runs_from_its_file_to_its_report(void **state)
{
	char before[SHA256_HEX_LEN + 1], after[SHA256_HEX_LEN + 1];
	struct bench *bench = *state;

	make_lab(bench);
	expect_code(bench, 0, "plan %s/configs/aa.yaml --runs", bench->folder);
	expect_text(&bench->out, "4 boots, 16 runs");
	assert_int_equal(count_of(&bench->out, "warm-up 1\n"), 4);
	assert_false(file_exists(bench->results));
	expect_measured(call(bench, "run %s/configs/aa.yaml", bench->folder), bench);
	expect_text(&bench->out, "canary/arithmetic: rounds, rounds/s, higher is better");
	expect_text(&bench->out, "here was never booted");
	expect_text(&bench->out, "kbracket show 1 --spec > again.yaml");
	expect_text(&bench->chatter, "experiment 1: aa");
	hash_of_database(bench, before);
	expect_code(bench, 0, "plan %s/configs/aa.yaml --detect 2%% --json", bench->folder);
	expect_text(&bench->out, "\"change_pct\": 2.0");
	expect_code(bench, 0, "plan %s/configs/aa.yaml --detect 2%%", bench->folder);
	expect_text(&bench->out, "to detect 2 % on here (power 80 %, FDR 5 % over ");
	expect_code(bench, 2, "plan %s/configs/aa.yaml --detect 0.1%%", bench->folder);
	expect_text(&bench->chatter, "is called equivalent, however many boots show it");
	hash_of_database(bench, after);
	assert_string_equal(before, after);
	expect_code(bench, 0, "judge --as welch");
	expect_text(&bench->out, "As welch: ");
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",done,"), 16);
	expect_code(bench, 0, "show boot 2");
	expect_text(&bench->out, "outcome: proved");
	expect_code(bench, 0, "show run 2");
	expect_text(&bench->out, "--- stdout");
	expect_text(&bench->out, "canary: ");
	expect_code(bench, 0, "reread");
	expect_text(&bench->out, "16 runs read again: 0 with other values");
	expect_measured(call(bench, "resume"), bench);
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",done,"), 16);
	/* what was stored can be run again */
	expect_code(bench, 0, "show 1 --spec");
	expect_text(&bench->out, "experiment: aa");
	expect_code(bench, 0, "calibrate %s/configs/aa.yaml here --boots 2", bench->folder);
	expect_text(&bench->out, "A calibration");
	expect_text(&bench->out, "boot 2, base");
	expect_text(&bench->out, "between boots");
	expect_code(bench, 2, "calibrate %s/configs/aa.yaml hree", bench->folder);
	expect_code(bench, 2, "build %s/configs/aa.yaml bsae", bench->folder);
	expect_code(bench, 0, "show");
	assert_int_equal(count_of(&bench->out, "calibration"), 1);
}

/* Where nothing is compared, a cell without any value says so. The plan has tasks, no workers. */
static void a_boot_without_a_value_is_told(void **state)
{
	static const char experiment[] =
		"experiment: rare\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\n"
		"suites: [{ suite: rare, program: echo, tasks: '3', conditions: { one: { argv: "
		"[echo, \"5\"] } },\n"
		"  metrics: { often: { unit: n, better: higher, regex: '^([0-9])$' },\n"
		"    rarely: { unit: n, better: lower, optional: true, regex: '^rare ([0-9])$' } } "
		"}]\n"
		"design: { order: [base], runs: 2, warmup: 0 }\n";
	struct bench *bench = *state;

	make_lab(bench);
	write_lab_file(bench, "configs/rare.yaml", experiment);
	expect_code(bench, 0, "plan %s/configs/rare.yaml", bench->folder);
	expect_text(&bench->out, "  rare/one                            3 tasks\n");
	expect_code(bench, 0, "run %s/configs/rare.yaml", bench->folder);
	expect_text(&bench->out, "  boot 1, base     5.000  cv 0.0%\n");
	expect_text(&bench->out, "  boot 1, base     no data\n");
	assert_int_equal(count_of(&bench->out, "    between boots  -\n"), 2);
}

static void wait_for_runs(struct bench *bench, int64_t wanted)
{
	int64_t deadline = clock_now_ns() + 120 * NS_PER_S, done = 0;

	while (done < wanted) {
		json_t *root = NULL;
		struct err err = ERR_INIT;

		if (clock_now_ns() > deadline)
			fail_msg("no run was done");
		clock_sleep_ns(20 * NS_PER_MS);
		if (call(bench, "status --json") != 0 ||
			json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err))
			continue;
		done = json_get_int(json_object_get(root, "runs"), "done", 0);
		json_decref(root);
	}
}

/* Starts configs/slow.yaml and returns when its first run is done. */
static struct proc *start_slow(struct bench *bench)
{
	char *path = program(), *config = xasprintf("%s/configs/slow.yaml", bench->folder);
	char *results = xasprintf("--results=%s", bench->results);
	const char *const argv[] = {path, results, "run", config, NULL};
	struct err err = ERR_INIT;
	struct proc *proc;

	assert_int_equal(proc_start(&(struct proc_spec){.argv = argv}, &proc, &err), 0);
	wait_for_runs(bench, 1);
	free(path);
	free(config);
	free(results);
	return proc;
}

static void interrupt(struct proc *proc)
{
	struct proc_result result = PROC_RESULT_INIT;

	assert_int_equal(kill(proc_pid(proc), SIGINT), 0);
	while (proc_alive(proc, &result))
		clock_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(result.exit_code, 130);
	proc_result_release(&result);
	proc_free(proc);
}

static char *stat_interval(void)
{
	struct str text = STR_INIT;

	assert_int_equal(file_read("/proc/sys/vm/stat_interval", 64, &text, NULL), 0);
	return str_take(&text);
}

static void what_was_set_is_set_back_at_a_stop(void **state)
{
	struct bench *bench = *state;
	char *before = stat_interval(), *during, *after;
	struct proc *proc;

	if (access("/proc/sys/vm/stat_interval", W_OK) != 0)
		skip();
	make_lab(bench);
	write_lab_file(bench, "kernels/two.yaml",
		"variants:\n  base: { sysctls: { vm.stat_interval: '7' } }\n"
		"  same: { like: base }\n");
	proc = start_slow(bench);
	during = stat_interval();
	interrupt(proc);
	after = stat_interval();
	assert_string_equal(during, "7\n");
	assert_string_equal(after, before);
	free(before);
	free(during);
	free(after);
}

/* ^C is an orderly end, and resume finishes the plan with every run once. */
static void a_stopped_experiment_is_resumed(void **state)
{
	struct bench *bench = *state;
	struct proc *proc;

	make_lab(bench);
	proc = start_slow(bench);
	/* it is worked on */
	expect_code(bench, 3, "prune 1 --yes");
	expect_text(&bench->chatter, "another kbracket works on this experiment");
	interrupt(proc);
	(void)call(bench, "report");
	expect_text(&bench->out, "Not finished");
	expect_measured(call(bench, "resume"), bench);
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",done,"), 16);
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "boots  4 of 4 done");
}

/* Every mistake at once, and nothing started. */
static void wrong_files_start_nothing(void **state)
{
	static const char wrong[] = "experiment: a b\nmachines: [nowhere]\nkernel: x\n"
				    "design: { boots: many }\n";
	struct bench *bench = *state;
	struct err err = ERR_INIT;
	char *path = xasprintf("%s/configs/wrong.yaml", bench->folder);

	make_lab(bench);
	assert_int_equal(file_write_atomic(path, wrong, strlen(wrong), 0644, &err), 0);
	expect_code(bench, 2, "run %s", path);
	expect_text(&bench->chatter, "wrong.yaml:1:13: ");
	expect_text(&bench->chatter, "wrong.yaml:3:1: ");
	expect_text(&bench->chatter, "did you mean 'kernels'?");
	expect_text(&bench->chatter, "wrong.yaml:4:");
	assert_false(file_exists(bench->results));
	/* a kernel that would not be booted is not measured */
	write_lab_file(bench, "kernels/two.yaml",
		"variants:\n  base: { prebuilt: { package: linux-image-amd64 } }\n"
		"  same: { like: base }\n");
	expect_code(bench, 2, "run %s/configs/aa.yaml", bench->folder);
	expect_text(&bench->chatter, "variant 'base' names a kernel, and machine 'here' is never "
				     "booted");
	assert_false(file_exists(bench->results));
	free(path);
}

/* A suite's input is copied, lies where the program starts, and stays what it was. */
static void a_suite_brings_its_files(void **state)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{"suites/words.yaml", "suite: words\nprogram: cat\nfiles: { in: words.txt }\n"
				      "conditions:\n  all: { argv: [cat, in], expect: 10ms }\n"
				      "metrics:\n  n: { unit: words, better: higher, regex: "
				      "'^([0-9]+) words$' }\n"},
		{"suites/words.txt", "42 words\n"},
		{"configs/words.yaml",
			"experiment: words\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
			"baseline: base\nvariants: [same]\nsuites: [words]\nsaturation: [100%%]\n"
			"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n"},
	};
	struct bench *bench = *state;
	char *changed = xasprintf("%s/suites/words.txt", bench->folder);
	char *again = xasprintf("%s/configs/again.yaml", bench->folder);
	struct err err = ERR_INIT;

	make_lab(bench);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		write_lab_file(bench, files[i].name, files[i].text);
	expect_code(bench, 0, "suite try %s/suites/words.yaml", bench->folder);
	expect_text(&bench->out, "n 1: 42 words (higher is better)");
	expect_measured(call(bench, "run %s/configs/words.yaml", bench->folder), bench);
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",42,"), 4);
	expect_code(bench, 0, "show 1 --spec");
	expect_text(&bench->out, "files_sha256:");
	assert_int_equal(file_write_atomic(again, bench->out.text, bench->out.len, 0644, &err), 0);
	assert_int_equal(file_write_atomic(changed, "43 words\n", 9, 0644, &err), 0);
	expect_code(bench, 2, "run %s", again);
	expect_text(&bench->chatter, "suite 'words': the file ");
	assert_int_equal(unlink(changed), 0);
	expect_code(bench, 2, "run %s/configs/words.yaml", bench->folder);
	expect_text(&bench->chatter, "suite 'words': its file 'in': cannot open ");
	expect_code(bench, 0, "report --allow-inconclusive");
	free(changed);
	free(again);
}

/* What is around a run is there while it lasts, and its failure the run's reason. */
static void a_suite_brings_its_server(void **state)
{
	static const char suite[] =
		"suite: served\nprogram: sh\n"
		"version: [sh, -c, 'echo; echo served 1.2; exit 3']\n"
		"setup: [[mkdir, data], [sh, -c, 'echo {workers} > data/in']]\n"
		"server: [sh, -c, 'cp data/in data/out; %s']\n"
		"server_version: [sleep, -c, 'no such option']\n"
		"ready: [test, -s, data/out]\nteardown: [[sh, -c, 'echo bye']]\n"
		"conditions:\n  all: { argv: [sh, -c, 'cat data/out; sleep 0.3; "
		"echo {workers}'], expect: 10ms }\n"
		"metrics:\n  n: { unit: workers, better: higher, which: first, regex: "
		"'^([0-9]+)' }\n";
	static const char experiment[] =
		"experiment: served\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\nvariants: [same]\nsuites: [served]\nsaturation: [100%%]\n"
		"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n";
	struct bench *bench = *state;
	char *good = xasprintf(suite, "exec sleep 60"),
	     *bad = xasprintf(suite, "echo full; exit 9");

	make_lab(bench);
	write_lab_file(bench, "suites/served.yaml", good);
	write_lab_file(bench, "configs/served.yaml", experiment);
	expect_code(bench, 0, "suite try %s/suites/served.yaml --cpus 2", bench->folder);
	expect_text(&bench->out, "n 1: 2 workers (higher is better)");
	expect_measured(call(bench, "run %s/configs/served.yaml", bench->folder), bench);
	expect_code(bench, 0, "show run 1");
	expect_text(&bench->out, "served 1.2");
	expect_text(&bench->out, "server: sleep\nserver_version: \"/usr/bin/sleep: invalid");
	expect_text(&bench->out, "server_sha256: ");
	expect_code(bench, 0, "report --allow-inconclusive");
	expect_text(&bench->out, "; server sleep /usr/bin/sleep:");
	write_lab_file(bench, "suites/served.yaml", bad);
	(void)call(bench, "run %s/configs/served.yaml", bench->folder);
	expect_text(&bench->chatter, "the server ended with exit 9 (full)");
	free(good);
	free(bad);
}

/* Of how many observations a percentile is one stands beside it. */
static void observations_are_stored(void **state)
{
	struct bench *bench = *state;

	make_lab(bench);
	write_lab_file(bench, "suites/counted.yaml",
		"suite: counted\nprogram: echo\nconditions:\n"
		"  all: { argv: [echo, 'p99: 5 (418 samples)'], expect: 10ms }\n"
		"metrics:\n  p99: { unit: us, better: lower, min_count: 100, regex: "
		"'^p99: (?<value>[0-9]+) .(?<count>[0-9]+) samples' }\n");
	write_lab_file(bench, "configs/counted.yaml",
		"experiment: counted\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\nvariants: [same]\nsuites: [counted]\nsaturation: [100%%]\n"
		"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n");
	expect_measured(call(bench, "run %s/configs/counted.yaml", bench->folder), bench);
	expect_code(bench, 0, "show run 1 --json");
	expect_text(&bench->out, "\"observations\": 418");
	expect_code(bench, 0, "reread --suites %s/suites", bench->folder);
	expect_text(&bench->out, "4 runs read again: 0 with other values");
}

/* A program that was changed between two boots of an experiment is no change of the kernel. */
static void a_changed_program_is_no_kernel_change(void **state)
{
	struct bench *bench = *state;
	const char *build = getenv("KB_BUILD");
	char *original = xasprintf("%s/suites/canary", build ? build : "build");
	char *copy = xasprintf("%s/canary", bench->folder);
	struct str bytes = STR_INIT;
	struct err err = ERR_INIT;

	make_lab(bench);
	write_lab_file(bench, "configs/machines/here.yaml",
		"machine: here\nconnect: local\nboot: none\nworkdir: %s/work\n"
		"programs: { canary: %s/canary }\n");
	assert_int_equal(file_read(original, 64 << 20, &bytes, &err), 0);
	assert_int_equal(file_write_atomic(copy, bytes.text, bytes.len, 0755, &err), 0);
	interrupt(start_slow(bench));
	str_add_char(&bytes, 'x');
	assert_int_equal(file_write_atomic(copy, bytes.text, bytes.len, 0755, &err), 0);
	expect_code(bench, 2, "resume");
	expect_text(&bench->chatter, "suite 'canary': the program 'canary' on machine 'here' is "
				     "not the one that earlier boots");
	assert_int_equal(file_write_atomic(copy, bytes.text, bytes.len - 1, 0755, &err), 0);
	expect_measured(call(bench, "resume"), bench);
	expect_code(bench, 0, "report --allow-inconclusive");
	expect_text(&bench->out, ", built by "); /* gcc and clang both say it */
	str_release(&bytes);
	free(original);
	free(copy);
}

/* Nor is one that somebody replaces while the experiment goes on. */
static void a_program_that_changes_between_boots_stops_it(void **state)
{
	struct bench *bench = *state;
	char *server = xasprintf("%s/serve", bench->folder);

	make_lab(bench);
	write_lab_file(bench, "serve", "#!/bin/sh\nexec sleep 60\n");
	write_lab_file(bench, "suites/served.yaml",
		"suite: served\nprogram: echo\nserver: [%s/serve]\nready: [true]\n"
		"conditions:\n  all: { argv: [echo, '42'], expect: 10ms }\n"
		"metrics:\n  n: { unit: things, better: higher, regex: '^([0-9]+)' }\n");
	write_lab_file(bench, "configs/served.yaml",
		"experiment: served\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\nvariants: [same]\nsuites: [served]\nsaturation: [100%%]\n"
		"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n"
		"hooks: [{ at: after-boot, run: [sh, -c, 'echo >> %s/serve'] }]\n");
	assert_int_equal(chmod(server, 0755), 0);
	expect_code(bench, 2, "run %s/configs/served.yaml", bench->folder);
	expect_text(&bench->chatter, "suite 'served': the program '");
	expect_text(&bench->chatter, "is not the one that earlier boots");
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",42,"), 1);
	free(server);
}

/* One suite without its program costs nothing but itself, where the lab says so. */
static void a_missing_program_is_told(void **state)
{
	static const char suite[] =
		"suite: absent\nprogram: kb-no-such-program\nhomepage: https://absent.example\n%s"
		"conditions:\n  all: { argv: [kb-no-such-program], expect: 10ms }\n"
		"metrics:\n  n: { unit: things, better: higher, regex: '([0-9]+)' }\n";
	static const char present[] =
		"suite: present\nprogram: echo\n"
		"conditions:\n  all: { argv: [echo, '42'], expect: 10ms }\n"
		"metrics:\n  n: { unit: things, better: higher, regex: '([0-9]+)' }\n";
	static const char experiment[] =
		"experiment: absent\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\nvariants: [same]\nsuites: [absent, present]\n"
		"saturation: [100%%]\n"
		"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n";
	struct bench *bench = *state;
	char *needed = xasprintf(suite, ""), *optional = xasprintf(suite, "optional: true\n");

	make_lab(bench);
	write_lab_file(bench, "suites/present.yaml", present);
	write_lab_file(bench, "suites/absent.yaml", needed);
	write_lab_file(bench, "configs/absent.yaml", experiment);
	expect_code(bench, 2, "run %s/configs/absent.yaml", bench->folder);
	expect_text(&bench->chatter, "there is no program 'kb-no-such-program' on machine 'here'");
	expect_text(&bench->chatter, "https://absent.example");
	write_lab_file(bench, "suites/absent.yaml", optional);
	(void)call(bench, "run %s/configs/absent.yaml", bench->folder);
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",42,"), 4);
	/* what is left is decided or not: the suite that was left out is not among it */
	expect_code(bench, 0, "report --allow-inconclusive");
	expect_text(
		&bench->out, "skipped (optional): absent, program kb-no-such-program not found");
	expect_text(&bench->out, "https://absent.example");
	assert_int_equal(count_of(&bench->out, "no-program"), 0);
	(void)call(bench, "report --json");
	expect_text(&bench->out, "\"invalid\": 0,");
	expect_text(&bench->out, "\"not_measured\": 0,");
	free(needed);
	free(optional);
}

/* What is read of output that is at hand is what the golden cases say. */
static void a_suite_is_tried_on_output(void **state)
{
	struct bench *bench = *state;

	expect_code(bench, 0,
		"suite try suites/schbench.yaml --cpus 2 --stderr "
		"tests/golden/suites/schbench/m1-t2-r10-default-i/stderr");
	expect_text(&bench->out, "schbench/locked 100%, 2 CPUs, 2 workers, 3 tasks\n");
	expect_text(&bench->out, "  wakeup_p99 1: 43968 us (lower is better), of 419 "
				 "observations\n");
	expect_code(bench, 4,
		"suite try suites/hackbench-groups.yaml --condition groups.groups=4 "
		"--stderr tests/golden/suites/hackbench-groups/sigterm/stderr -- "
		"tests/golden/suites/hackbench-groups/sigterm/stdout");
	expect_text(&bench->out, "\ninvalid: the program says \"longjmp'ing out!\"\n");
	expect_code(bench, 2, "suite try suites/canary.yaml --condition nonsense");
	expect_text(&bench->chatter, "it has arithmetic");
	expect_code(bench, 2, "suite tri suites/canary.yaml");
	expect_code(bench, 2, "suite try Makefile");
	assert_false(file_exists(bench->results));
}

static void a_suite_is_tried_here(void **state)
{
	struct bench *bench = *state;
	json_t *root = NULL;
	struct err err = ERR_INIT;

	expect_code(bench, 0, "suite try suites/wave.yaml --saturation 50%% --json");
	assert_int_equal(
		json_parse(str_text(&bench->out), bench->out.len, 1 << 20, &root, &err), 0);
	assert_int_equal(json_array_size(json_object_get(root, "samples")), 1);
	assert_true(json_is_null(json_object_get(root, "invalid")));
	assert_non_null(strstr(json_get_text(root, "ended", ""), "exit 0 after "));
	json_decref(root);
	assert_false(file_exists(bench->results));
}

/* Neither the program nor its server goes on, and the tear-down is made. */
static void a_trial_that_is_stopped_leaves_nothing(void **state)
{
	struct bench *bench = *state;
	char *path = program(), *suite = xasprintf("%s/suites/slow.yaml", bench->folder);
	char *pids = xasprintf("%s/pids", bench->folder),
	     *over = xasprintf("%s/over", bench->folder);
	const char *const argv[] = {path, "suite", "try", suite, NULL};
	struct str list = STR_INIT;
	struct err err = ERR_INIT;
	struct proc *proc;

	write_lab_file(bench, "suites/slow.yaml",
		"suite: slow\nprogram: sh\n"
		"server: [sh, -c, 'echo $$ >>%s/pids; exec sleep 1000']\nready: ['true']\n"
		"teardown: [[touch, %s/over]]\n"
		"conditions:\n"
		"  c: { argv: [sh, -c, 'echo $$ >>%s/pids; exec sleep 1000'], timeout: 1h }\n"
		"metrics: { m: { unit: u, better: lower, regex: '(x)' } }\n");
	assert_int_equal(proc_start(&(struct proc_spec){.argv = argv}, &proc, &err), 0);
	for (int tries = 0; tries < 3000 && count_of(&list, "\n") < 2; tries++) {
		clock_sleep_ns(10 * NS_PER_MS);
		if (file_exists(pids))
			assert_int_equal(file_read(pids, 4096, &list, &err), 0);
	}
	assert_int_equal(count_of(&list, "\n"), 2);
	interrupt(proc);
	for (const char *at = list.text; *at; at += *at == '\n')
		assert_int_equal(kill((pid_t)strtol(at, (char **)&at, 10), 0), -1);
	assert_true(file_exists(over));
	str_release(&list);
	free(over);
	free(pids);
	free(suite);
	free(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_lab_is_made_once),
		TEST(an_experiment_runs_from_its_file_to_its_report),
		TEST(a_boot_without_a_value_is_told),
		TEST(what_was_set_is_set_back_at_a_stop),
		TEST(a_stopped_experiment_is_resumed),
		TEST(wrong_files_start_nothing),
		TEST(a_suite_brings_its_files),
		TEST(a_suite_brings_its_server),
		TEST(a_changed_program_is_no_kernel_change),
		TEST(a_program_that_changes_between_boots_stops_it),
		TEST(a_missing_program_is_told),
		TEST(observations_are_stored),
		TEST(a_suite_is_tried_on_output),
		TEST(a_suite_is_tried_here),
		TEST(a_trial_that_is_stopped_leaves_nothing),
	};

	(void)setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
