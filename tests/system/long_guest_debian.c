/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An experiment from its file to its report on real boots of Debian's kernel in a small guest: once
 * undisturbed, and once with kbracket killed in a boot, in a run and in a transaction. About four
 * minutes without KVM on two idle cores.
 */
#include "base/base.h"

#include "real_lab.h"

enum {
	BOOTS = 4,
	CONDITIONS = 4, /* two suites, two saturations; one metric each */
	RUNS = 2,
	WARMUPS = 2, /* one for each suite */
	RUNS_OF_BOOT = CONDITIONS * RUNS + WARMUPS,
};

static const char kernels[] = "variants:\n"
			      "  random:\n"
			      "    prebuilt: { package: linux-image-cloud-amd64 }\n"
			      "    features: [NI_RANDOM]\n"
			      "  no-random: { like: random, features: [NO_NI_RANDOM] }\n";

static const char machine[] = "machine: guest\n"
			      "connect: { qemu: { cpus: 4, llcs: 2, memory: 768M } }\n"
			      "cmdline: quiet nokaslr mitigations=off\n"
			      "boot_timeout: 10m\n";

static const char experiment[] =
	"experiment: debian\n"
	"machines: [guest]\n"
	"kernels: ../kernels/debian.yaml\n"
	"baseline: random\n"
	"variants: [no-random]\n"
	"suites: [wakefan, canary]\n"
	"saturation: [100%, 50%]\n"
	"duration: 300ms\n"
	"design: { order: bracketed, boots: 2, runs: 2, warmup: 1, seed: 5 }\n"
	"policies: { short: flag }\n";

static struct real_lab *lab;

/* What a report's verdicts say that the exit code must be. */
static int code_of(json_t *report)
{
	int regressed = 0, open = 0, all = 0;
	json_t *result = NULL;
	size_t i;

	json_array_foreach(json_object_get(report, "results"), i, result)
	{
		json_t *verdict = json_array_get(json_object_get(result, "verdicts"), 0);
		const char *word = json_get_text(verdict, "verdict", "");

		all += *word != '\0';
		if (!json_get_bool(verdict, "headline", false))
			continue;
		regressed += !strcmp(word, "regressed");
		open += !strcmp(word, "inconclusive") || !strcmp(word, "invalid");
	}
	assert_int_equal(all, CONDITIONS);
	return regressed ? 1 : open ? 4 : 0;
}

static void check_exit_code(int code)
{
	json_t *report = real_lab_json(lab, code, "report");

	assert_int_equal(code, code_of(report));
	json_decref(report);
}

/* The experiment is complete, whatever happened on the way. */
static void check_stored(void)
{
	real_lab_assert_whole(lab);
	real_lab_assert_count(lab, BOOTS, "SELECT count(*) FROM boot WHERE state = 'done'");
	real_lab_assert_count(lab, 0, "SELECT count(*) FROM boot WHERE state <> 'done'");
	real_lab_assert_count(lab, BOOTS * CONDITIONS * RUNS,
		"SELECT count(*) FROM run WHERE state = 'done' AND kind = 0");
	real_lab_assert_count(lab, BOOTS * CONDITIONS * RUNS,
		"SELECT count(*) FROM sample JOIN run r ON r.id = run_id WHERE r.kind = 0");
}

/* The proof of a boot: what was expected was read out of the image before any boot. */
static void check_proof(int boot, const char *build_id, struct strv *boot_ids)
{
	char *words = xasprintf("show boot %d", boot);
	json_t *shown = real_lab_json(lab, 0, words);
	json_t *attempts = json_object_get(shown, "attempts");
	json_t *attempt = json_array_get(attempts, json_array_size(attempts) - 1);
	json_t *proof = json_object_get(attempt, "proof"), *file = NULL;
	json_t *expected = json_object_get(proof, "expected");
	json_t *seen = json_object_get(proof, "seen");
	const char *id = json_get_text(seen, "boot_id", "");
	bool random = !strcmp(json_get_text(shown, "variant", ""), "random");
	int64_t console = 0;
	size_t i;

	assert_string_equal(json_get_text(attempt, "outcome", ""), "proved");
	assert_string_equal(json_get_text(attempt, "method", ""), "kexec");
	assert_false(json_get_bool(attempt, "weak_proof", true));
	assert_string_equal(json_get_text(expected, "build_id", ""), build_id);
	assert_string_equal(json_get_text(seen, "build_id", ""), build_id);
	assert_string_equal(json_get_text(attempt, "kernel_boot_id", ""), id);
	assert_int_equal(strlen(id), 36);
	assert_string_not_equal(json_get_text(expected, "other_than_boot_id", ""), id);
	assert_false(strv_has(boot_ids, id));
	strv_add(boot_ids, id);
	assert_int_equal(json_get_int(seen, "cpus_online", 0), 4);
	/* " NI_RANDOM" is not a part of "NO_NI_RANDOM" */
	assert_int_equal(random, strstr(json_get_text(seen, "features", ""), " NI_RANDOM") != NULL);
	assert_int_equal(
		!random, strstr(json_get_text(seen, "features", ""), "NO_NI_RANDOM") != NULL);
	json_array_foreach(json_object_get(attempt, "files"), i,
		file) if (!strcmp(json_get_text(file, "kind", ""), "console")) console =
		json_get_int(file, "bytes", 0);
	assert_true(console > 0);
	assert_true(json_array_size(json_object_get(shown, "runs")) >= RUNS_OF_BOOT);
	json_decref(shown);
	free(words);
}

static void check_proofs(void)
{
	char *build_id = real_lab_text(lab, "SELECT build_id FROM build");
	struct strv boot_ids = STRV_INIT;

	real_lab_assert_count(lab, 1, "SELECT count(*) FROM build");
	assert_int_equal(strlen(build_id), 40);
	for (int boot = 1; boot <= BOOTS; boot++)
		check_proof(boot, build_id, &boot_ids);
	strv_release(&boot_ids);
	free(build_id);
}

static int expect_measured(int code)
{
	if (code != 0 && code != 1 && code != 4)
		real_lab_fail(lab, "the experiment was not measured", code);
	return code;
}

static void an_experiment_is_booted_and_measured(void **state KB_UNUSED)
{
	int code;

	real_lab_results(lab, "undisturbed");
	code = expect_measured(real_lab_call(lab, "run configs/debian.yaml"));
	real_lab_expect(lab, "debian on guest");
	real_lab_expect(lab, "wakefan/fan");
	real_lab_expect(lab, "canary/arithmetic");
	real_lab_expect(lab, "no-random");
	real_lab_expect(lab, "kbracket show 1 --spec > again.yaml");
	check_stored();
	check_proofs();
	check_exit_code(code);
	real_lab_assert_count(lab, BOOTS * RUNS_OF_BOOT, "SELECT count(*) FROM run");
	/* A B B A, and none of it needed a second try */
	real_lab_assert_count(lab, BOOTS,
		"SELECT count(*) FROM boot b JOIN variant v ON v.id = b.variant_id"
		" WHERE v.name = CASE WHEN b.ordinal IN (1, 4) THEN 'random' ELSE 'no-random' END");
	real_lab_assert_count(lab, BOOTS, "SELECT count(*) FROM attempt");
	assert_processes_end(lab->folder);
}

/* The kernel of boot 2 has begun to talk, and it is not proved yet. */
static bool boot_is_under_way(struct real_lab *in, const void *arg KB_UNUSED)
{
	static const char sql[] = "SELECT count(*) FROM attempt a JOIN boot b ON b.id = a.boot_id"
				  " WHERE b.ordinal = 2 AND a.outcome = 'started'";
	char *console = xasprintf("%s/killed/raw/1/guest/boot-002/console-1", in->folder);
	bool talks = file_size(console) > 0;

	free(console);
	return talks && real_lab_count(in, sql) == 1;
}

/* A measured run of boot 2 or later has begun. */
static bool run_is_under_way(struct real_lab *in, const void *arg KB_UNUSED)
{
	return real_lab_count(in, "SELECT count(*) FROM run r JOIN boot b ON b.id = r.boot_id"
				   " WHERE r.state = 'started' AND r.kind = 0 AND b.ordinal >= 2"
				   " AND r.position > 3") == 1;
}

static void kill_when(
	const char *words, bool (*holds)(struct real_lab *in, const void *arg), const char *what)
{
	struct proc *proc = real_lab_start(lab, words);

	real_lab_wait(lab, proc, holds, NULL, what);
	real_lab_kill(proc);
}

static void a_killed_experiment_is_finished(void **state KB_UNUSED)
{
	int code;

	real_lab_results(lab, "killed");
	kill_when("run configs/debian.yaml", boot_is_under_way, "a boot");
	real_lab_assert_count(
		lab, 0, "SELECT count(*) FROM attempt WHERE outcome = 'proved' AND boot_id = 2");
	kill_when("resume", run_is_under_way, "a run");
	real_lab_assert_count(lab, 1, "SELECT count(*) FROM run WHERE state = 'started'");
#ifdef KB_FAULT_POINTS
	assert_int_equal(setenv("KB_FAULT", "transaction:3", 1), 0);
	assert_int_equal(real_lab_call(lab, "resume"), 128 + SIGKILL);
	assert_int_equal(unsetenv("KB_FAULT"), 0);
	real_lab_assert_count(lab, 1, "SELECT count(*) FROM run WHERE state = 'started'");
#endif
	code = expect_measured(real_lab_call(lab, "resume"));
	check_stored();
	check_proofs();
	check_exit_code(code);
	/* what was cut short is kept, and was done again */
	assert_true(
		real_lab_count(lab, "SELECT count(*) FROM run WHERE state = 'interrupted'") >= 1);
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM run i WHERE i.state = 'interrupted' AND NOT EXISTS"
		" (SELECT 1 FROM run d WHERE d.state = 'done' AND d.boot_id = i.boot_id"
		"  AND d.condition_id = i.condition_id AND d.kind = i.kind"
		"  AND d.ordinal = i.ordinal AND d.try > i.try)");
	assert_processes_end(lab->folder);
}

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new("kernels/cache");
	real_lab_write(lab, "kernels/debian.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml", machine);
	real_lab_write(lab, "configs/debian.yaml", experiment);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_experiment_is_booted_and_measured),
		cmocka_unit_test(a_killed_experiment_is_finished),
	};
	struct arena arena = ARENA_INIT;
	struct build kernel;

	need_program("qemu-system-x86_64");
	find_test_kernel(&arena, &kernel);
	arena_release(&arena);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
