/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real program with an experiment on several machines: two that are this host in folders of
 * their own, not booted, and one that nobody answers for.
 */
#include "cli_lab.h"

static void make_machines(struct bench *bench)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{"configs/machines/there.yaml", "machine: there\nconnect: local\nboot: none\n"
						"workdir: %s/work-there\n"},
		{"ssh-config", "Host gone\n  HostName 127.0.0.1\n  Port 1\n"},
		{"configs/machines/gone.yaml",
			"machine: gone\nconnect: { ssh: { to: gone, config: %s/ssh-config } }\n"
			"boot: none\ncpus: 2\nboot_timeout: 1s\n"},
		{"configs/two.yaml",
			"experiment: two\nmachines: [here, there]\nkernels: ../kernels/two.yaml\n"
			"baseline: base\nvariants: [same]\nsuites: [canary]\n"
			"saturation: [100%%]\nduration: 1s\n"
			"design: { boots: 2, runs: 3, warmup: 1, seed: 1 }\n"},
		{"configs/grows.yaml",
			"experiment: grows\nmachines: [gone, here, there]\n"
			"kernels: ../kernels/two.yaml\nbaseline: base\nvariants: [same]\n"
			"suites: [{ suite: five, program: echo,\n"
			"  conditions: { one: { argv: [echo, \"5\"] } },\n"
			"  metrics: { n: { unit: n, better: higher, regex: '^([0-9])$' } } }]\n"
			"design: { until: verdict, max: 6, runs: 2, warmup: 0, seed: 1 }\n"},
		{"configs/three.yaml",
			"experiment: three\nmachines: [gone, here, there]\n"
			"kernels: ../kernels/two.yaml\nbaseline: base\nvariants: [same]\n"
			"suites: [canary]\nsaturation: [100%%]\nduration: 100ms\n"
			"design: { boots: 2, runs: 1, warmup: 1, seed: 1 }\n"},
	};

	make_lab(bench);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		write_lab_file(bench, files[i].name, files[i].text);
}

static struct proc *start(struct bench *bench)
{
	char *path = program(), *config = xasprintf("%s/configs/two.yaml", bench->folder);
	char *results = xasprintf("--results=%s", bench->results);
	const char *const argv[] = {path, results, "run", config, NULL};
	struct err err = ERR_INIT;
	struct proc *proc;

	assert_int_equal(proc_start(&(struct proc_spec){.argv = argv}, &proc, &err), 0);
	free(path);
	free(config);
	free(results);
	return proc;
}

static int64_t runs_begun(json_t *machine)
{
	json_t *runs = json_object_get(machine, "runs");

	return json_get_int(runs, "started", 0) + json_get_int(runs, "done", 0);
}

/* What status says as JSON, once every machine has begun with a run. */
static json_t *status_of_all(struct bench *bench, size_t machines)
{
	for (;;) {
		json_t *status = NULL, *list;
		size_t begun = 0;

		if (call(bench, "status --json") == 0)
			assert_int_equal(json_parse(str_text(&bench->out), bench->out.len, 1 << 20,
						 &status, NULL),
				0);
		list = json_object_get(status, "machines");
		for (size_t m = 0; m < json_array_size(list); m++)
			begun += runs_begun(json_array_get(list, m)) > 0;
		if (begun == machines)
			return status;
		json_decref(status);
		clock_sleep_ns(20 * NS_PER_MS);
	}
}

static void stop(struct proc *proc)
{
	struct proc_result result = PROC_RESULT_INIT;

	assert_int_equal(kill(proc_pid(proc), SIGINT), 0);
	while (proc_alive(proc, &result))
		clock_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(result.exit_code, 130);
	proc_result_release(&result);
	proc_free(proc);
}

static const char *state_of(json_t *status, size_t machine)
{
	return json_get_text(
		json_array_get(json_object_get(status, "machines"), machine), "state", "");
}

static void one_status_tells_of_all_machines(void **state)
{
	struct bench *bench = *state;
	struct proc *proc;
	json_t *status;

	make_machines(bench);
	proc = start(bench);
	status = status_of_all(bench, 2);
	assert_int_equal(json_get_int(status, "pid", 0), proc_pid(proc));
	assert_string_equal(state_of(status, 0), "working");
	assert_string_equal(state_of(status, 1), "working");
	json_decref(status);
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "here: working, ");
	expect_text(&bench->out, "there: working, ");
	stop(proc);
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "experiment 1, two: interrupted\n");
	expect_text(&bench->out, "there: stopped, ");
	expect_measured(call(bench, "resume"), bench);
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "boots  8 of 8 done");
	expect_text(&bench->out, "here: done, 4 of 4 boots");
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",done,"), 32);
}

static void a_machine_that_is_gone_is_told_and_the_others_reported(void **state)
{
	struct bench *bench = *state;

	make_machines(bench);
	expect_code(bench, 3, "run %s/configs/three.yaml", bench->folder);
	expect_text(&bench->chatter, "machine gone is parked, its plan stays: ");
	expect_text(&bench->chatter, "1 of 3 machines is parked: gone: ");
	expect_text(&bench->out, "Not finished: 8 of 12 boots.");
	expect_text(&bench->out, "gone is parked with its plan: ");
	expect_text(&bench->out, "On one host and measured at the same time: here, there. They");
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "gone: parked, 0 of 4 boots: ");
	expect_text(&bench->out, "there: done, 4 of 4 boots");
	expect_code(bench, 0, "export");
	assert_int_equal(count_of(&bench->out, ",done,"), 16);
}

/* A machine's results ask for more boots of that machine, whatever becomes of another one. Equal
 * numbers tell nothing after one look, and after a second one that they never will. */
static void each_machine_takes_its_looks(void **state)
{
	struct bench *bench = *state;

	make_machines(bench);
	expect_code(bench, 3, "run %s/configs/grows.yaml", bench->folder);
	expect_text(&bench->chatter, "here: look 2: 4 boots with 1 of 1 conditions");
	expect_text(&bench->chatter, "there: look 2: 4 boots with 1 of 1 conditions");
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "here: done, 8 of 8 boots");
	expect_text(&bench->out, "there: done, 8 of 8 boots");
	expect_text(&bench->out, "gone: parked, 0 of 4 boots");
	/* nothing more is asked for */
	expect_code(bench, 3, "resume");
	expect_code(bench, 0, "status");
	expect_text(&bench->out, "here: done, 8 of 8 boots");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			one_status_tells_of_all_machines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_machine_takes_its_looks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_machine_that_is_gone_is_told_and_the_others_reported, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
