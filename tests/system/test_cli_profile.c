/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbracket profile on this host, as a person calls it, with the real perf. Tests that need one that
 * may look at the whole machine are skipped where there is none.
 */
#include "base/base.h"

#include <sys/stat.h>

#include "cli_lab.h"

static bool perf_may_look(const struct bench *bench)
{
	char *file = path_join(bench->folder, "trial.data");
	const char *const argv[] = {
		"perf", "record", "-q", "-a", "-F", "99", "-o", file, "--", "true", NULL};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;
	bool may = !proc_run(&(struct proc_spec){.argv = argv, .timeout_ns = 60 * NS_PER_S},
			   &result, &err) &&
		   result.exit_code == 0;

	proc_result_release(&result);
	free(file);
	return may;
}

/* Real samples of our own workload on this host: they come back, and say where the time went. */
static void a_profile_is_made(void **state)
{
	static const char experiment[] =
		"experiment: spin\nmachines: [here]\nkernels: ../kernels/two.yaml\n"
		"baseline: base\nvariants: [same]\nsuites: [wakefan, hackbench]\n"
		"saturation: [100%%, 50%%]\nduration: 300ms\n"
		"design: { boots: 2, runs: 1, warmup: 0, seed: 1 }\n";
	struct bench *bench = *state;
	char *file = xasprintf("%s/configs/spin.yaml", bench->folder);

	make_lab(bench);
	write_lab_file(bench, "configs/spin.yaml", experiment);
	expect_code(bench, 2, "profile sane wakefan/fan --in %s", file);
	expect_text(&bench->chatter, "has no variant 'sane'; did you mean 'same'?");
	expect_code(bench, 2, "profile base wakefan/fan --in %s", file);
	expect_text(&bench->chatter, "base cannot be compared with itself");
	expect_code(bench, 2, "profile same wakefan --in %s", file);
	expect_text(&bench->chatter, "'wakefan' is the start of several conditions: 'wakefan/fan");
	expect_code(bench, 2, "profile same wakefun --in %s", file);
	expect_text(&bench->chatter, "no condition 'wakefun'; it has 'wakefan/fan 100%'");
	expect_code(bench, 2, "profile same");
	if (!perf_may_look(bench)) {
		free(file);
		skip();
	}
	expect_code(bench, 0,
		"profile same 'wakefan/fan 100%%' --runs 1 --frequency 997 "
		"--in %s",
		file);
	expect_text(&bench->out, "kbracket: profile of same against base, wakefan/fan 100%");
	expect_text(&bench->out, "with boots as the");
	expect_code(bench, 0, "profile --again 1 --json");
	expect_text(&bench->out, "\"function\": \"wakefan: native_burn\"");
	expect_text(&bench->out, "\"runs_without_profile\": 0");
	expect_code(bench, 0, "show boot 1 --json");
	expect_code(bench, 0, "show run 2");
	expect_text(&bench->out, "kind: perf-data");
	expect_text(&bench->out, "--- profile, ");
	expect_code(bench, 0, "show 1 --spec");
	expect_text(&bench->out, "profile: 997");
	expect_code(bench, 0, "report 1 --allow-inconclusive");
	expect_text(&bench->out, "under perf at"); /* the line may end there */
	free(file);
}

/* A machine whose perf may not look is found before anything is measured. */
static void a_perf_that_cannot_look_is_told(void **state)
{
	static const char machine[] = "machine: here\nconnect: local\nboot: none\n"
				      "workdir: %s/work\nprograms: { perf: %s/perf }\n";
	static const char perf[] = "#!/bin/sh\nprintf 'Error:\\nAccess is limited.\\nConsider\\n'"
				   " >&2\nexit 255\n";
	struct bench *bench = *state;
	char *path = path_join(bench->folder, "perf");

	make_lab(bench);
	write_lab_file(bench, "perf", perf);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
	write_lab_file(bench, "configs/machines/here.yaml", machine);
	expect_code(bench, 2, "profile same canary --in %s/configs/aa.yaml", bench->folder);
	expect_text(&bench->chatter,
		"perf record cannot look at the whole machine (Access is limited.);");
	expect_text(&bench->chatter, "sysctl kernel.perf_event_paranoid=-1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_profile_is_made),
		TEST(a_perf_that_cannot_look_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
