/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judge on experiments that kbracket ran itself: calibration, failed boots, a canary. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "judge/judge.h"
#include "judge/noise.h"
#include "model/store_result.h"
#include "near.h"

enum { MAX_BOOTS = 12, RUNS = 4, CONDITIONS = 2 };

static const char *const none[] = {NULL};
static const char *const argv[] = {"prog", NULL};

/* A base kernel and a patched one; a workload and a canary, one metric each. */
struct lab {
	char folder[64];
	struct store *store;
	struct arena arena;
	struct variant variants[2];
	const struct variant *listed[2];
	struct metric_spec metric;
	struct condition_spec specs[CONDITIONS];
	struct suite suites[CONDITIONS];
	struct machine_spec machine;
	struct experiment experiment;
	struct condition conditions[CONDITIONS];
	struct plan_run runs[CONDITIONS * RUNS];
	struct plan_boot boots[MAX_BOOTS];
	struct plan plan;
	struct store_view view;
	struct store_verdict *verdicts;
	size_t verdict_count;
	const char *program, *server; /* SHA-256 of what the next boots run; NULL: not known */
};

#define OK(call)                                             \
	do {                                                 \
		struct err err = ERR_INIT;                   \
		if ((call) != 0)                             \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static int open_lab(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	char *path;

	snprintf(lab->folder, sizeof(lab->folder), "/tmp/kb-judge-XXXXXX");
	assert_non_null(mkdtemp(lab->folder));
	path = xasprintf("%s/kbracket.db", lab->folder);
	OK(store_open(path, STORE_WRITE, &lab->store, &err));
	free(path);
	*state = lab;
	return 0;
}

static int close_lab(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;

	store_close(lab->store);
	arena_release(&lab->arena);
	assert_int_equal(file_remove_tree(lab->folder, &err), 0);
	free(lab);
	return 0;
}

static void make_variants(struct lab *lab)
{
	for (size_t i = 0; i < 2; i++) {
		lab->variants[i] = (struct variant){
			.name = i ? "patched" : "base",
			.about = "",
			.tree = "/src/linux",
			.ref = "v6.12",
			.reverts = none,
			.picks = none,
			.patches = none,
			.lore_url = "",
			.config = {"defconfig", none},
			.arch = "x86_64",
			.cmdline = "",
			.features = none,
			.scheduler = none,
		};
		lab->listed[i] = &lab->variants[i];
	}
}

static void make_conditions(struct lab *lab)
{
	static const char *const names[] = {"work", "canary"};

	lab->metric = (struct metric_spec){.name = "rate", .unit = "ops/s"};
	for (size_t i = 0; i < CONDITIONS; i++) {
		lab->specs[i].name = names[i];
		lab->suites[i] = (struct suite){
			.name = names[i],
			.sha256 = "00",
			.text = "",
			.program = "prog",
			.control = i == 1,
			.metrics = &lab->metric,
			.metric_count = 1,
			.conditions = &lab->specs[i],
			.condition_count = 1,
		};
		lab->conditions[i] = (struct condition){
			.suite = &lab->suites[i],
			.spec = &lab->specs[i],
			.name = (char *)names[i],
			.argv = argv,
			.env = none,
		};
		for (int k = 0; k < RUNS; k++)
			lab->runs[i * RUNS + (size_t)k] = (struct plan_run){i, k + 1, false};
	}
}

/* An experiment whose boots are in the order of the letters. */
static int64_t create(struct lab *lab, const char *name, enum store_kind kind, const char *order)
{
	static const struct store_ref refs[2] = {{"aaaa", "base"}, {"bbbb", "change"}};
	size_t variants = kind == KIND_CALIBRATION ? 1 : 2;
	struct store_new what = {.kind = kind,
		.experiment = &lab->experiment,
		.spec = "",
		.plans = &lab->plan,
		.refs = refs,
		.version = "test"};
	int64_t id;

	make_variants(lab);
	make_conditions(lab);
	lab->machine = (struct machine_spec){.name = "guest", .kind = MACHINE_LOCAL};
	lab->experiment = (struct experiment){
		.name = name,
		.machines = &lab->machine,
		.machine_count = 1,
		.variants = lab->listed,
		.variant_count = variants,
		.listed_count = variants,
		.suites = lab->suites,
		.suite_count = CONDITIONS,
		.design = {.boots = 2, .runs = RUNS, .explicit_order = none},
		.gates = {-1, -1, 1, 5},
		.decide = none,
	};
	for (size_t i = 0; order[i]; i++)
		lab->boots[i] = (struct plan_boot){
			(int)i + 1, 1, (size_t)(order[i] - 'A'), lab->runs, CONDITIONS * RUNS};
	lab->plan = (struct plan){
		.experiment = &lab->experiment,
		.machine = &lab->machine,
		.cpus = 8,
		.conditions = lab->conditions,
		.condition_count = CONDITIONS,
		.boots = lab->boots,
		.boot_count = strlen(order),
	};
	OK(store_create(lab->store, &what, &id, &err));
	OK(store_load(lab->store, id, &lab->arena, &lab->view, &err));
	return id;
}

static void build(struct lab *lab)
{
	static const char *const keys[] = {"k-base", "k-patched"};

	for (size_t i = 0; i < lab->view.variant_count; i++) {
		const struct store_build build = {.key = keys[i],
			.commit = "",
			.tree = "",
			.release = "6.12",
			.proc_version = "",
			.build_id = keys[i],
			.config_sha256 = "",
			.compiler = "gcc",
			.version = "test"};

		OK(store_variant_started(lab->store, lab->view.variants[i].id, &err));
		OK(store_variant_built(
			lab->store, lab->view.variants[i].id, &build, NULL, 0, &err));
	}
}

static int64_t program_id(struct lab *lab, const char *name, const char *sha256)
{
	const struct store_binary binary = {name, sha256, "", ""};
	int64_t id = 0;

	if (sha256)
		OK(store_program(lab->store, &binary, &id, &err));
	return id;
}

/* Runs of a boot scatter by 1 % around level on the workload and around 50 on the canary. */
static void measure(struct lab *lab, size_t index, double level)
{
	static const double noise[RUNS] = {0.99, 1.01, 1.005, 0.995};
	const struct store_machine *machine = &lab->view.machines[0];
	const struct store_boot *boot = &machine->boots[index];
	const struct store_attempt_end up = {
		.detail = "", .kernel_boot_id = "uuid", .proof = "{}", .facts = "{}"};
	struct store_run *runs;
	int64_t attempt;
	size_t count;

	OK(store_attempt_begin(lab->store, boot->id, "none", &attempt, &err));
	OK(store_attempt_finish(lab->store, attempt, &up, &err));
	OK(store_load_runs(lab->store, boot->id, &lab->arena, &runs, &count, &err));
	assert_int_equal(count, CONDITIONS * RUNS);
	for (size_t i = 0; i < count; i++) {
		const struct store_condition *condition =
			&machine->conditions[runs[i].condition_position];
		const struct store_sample sample = {condition->metrics[0].id, 1,
			(condition->control ? 50 : level) * noise[runs[i].ordinal - 1], 0};
		const struct store_run_end end = {.run_id = runs[i].id,
			.attempt_id = attempt,
			.program_id = program_id(lab, "prog", lab->program),
			.server_id = program_id(lab, "daemon", lab->server),
			.started_ns = 1,
			.ended_ns = 2,
			.wall_ns = 1,
			.signal = -1,
			.detail = "",
			.samples = &sample,
			.sample_count = 1};

		OK(store_run_begin(lab->store, runs[i].id, attempt, &err));
		OK(store_run_finish(lab->store, &end, &err));
	}
	OK(store_boot_finish(lab->store, boot->id, NULL, NULL, &err));
}

static void judge(struct lab *lab, int64_t id)
{
	OK(judge_experiment(lab->store, id, "test", &err));
	OK(store_verdicts_load(
		lab->store, id, &lab->arena, &lab->verdicts, &lab->verdict_count, &err));
}

static const double earlier[] = {100, 100.3, 99.8, 100.1, 99.9, 100.2};

static void calibrate(struct lab *lab, size_t boots)
{
	const char *all = "AAAAAA";
	int64_t id = create(lab, "calibration", KIND_CALIBRATION, all + 6 - boots);

	build(lab);
	for (size_t i = 0; i < boots; i++)
		measure(lab, i, earlier[i]);
	/* Nothing to compare: no rows, and no failure. */
	judge(lab, id);
	assert_int_equal(lab->verdict_count, 0);
}

static void three_boots(struct lab *lab)
{
	int64_t id = create(lab, "aba", KIND_EXPERIMENT, "ABA");

	build(lab);
	measure(lab, 0, 100);
	measure(lab, 1, 110);
	measure(lab, 2, 100.2);
	judge(lab, id);
	assert_int_equal(lab->verdict_count, 2);
}

static void calibration_gives_three_boots_a_verdict(void **state)
{
	struct lab *lab = *state;
	const struct store_verdict *work, *canary;

	calibrate(lab, 6);
	three_boots(lab);
	work = &lab->verdicts[0];
	canary = &lab->verdicts[1];
	assert_string_equal(work->method, "moderated-t");
	assert_int_equal(work->word, VERDICT_IMPROVED);
	assert_true(work->headline);
	assert_int_equal(work->family, 1);
	assert_near(work->q, work->p, 0);
	assert_near(work->drift, 0.002, 1e-9);
	assert_true(work->drift_expected > 0.005 && work->drift_expected < 0.1);
	/* The canary is judged by itself and decides nothing. */
	assert_int_equal(canary->word, VERDICT_INCONCLUSIVE);
	assert_near(canary->effect, 0, 1e-12);
	assert_near(canary->q, canary->p, 0);
	assert_int_equal(canary->family, 0);
	assert_false(canary->headline);
}

static void without_enough_history_it_has_none(void **state)
{
	struct lab *lab = *state;

	calibrate(lab, 5);
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "estimate");
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_true(isnan(lab->verdicts[0].drift_expected));
	/* Older experiments teach too: seven boots of two sessions, five degrees of freedom. */
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "moderated-t");
}

/* Boots of another binary of the same benchmark say nothing about this one's noise. */
static void history_of_another_program_is_none(void **state)
{
	struct lab *lab = *state;

	lab->program = "aaaa";
	calibrate(lab, 6);
	lab->program = "bbbb";
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "estimate");
	assert_true(isnan(lab->verdicts[0].drift_expected));
	/* nor do those of which nobody knows what they ran */
	lab->program = NULL;
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "estimate");
	lab->program = "aaaa";
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "moderated-t");
	lab->server = "cccc";
	three_boots(lab);
	assert_string_equal(lab->verdicts[0].method, "estimate");
}

static void noise_is_that_of_the_newest_program(void **state)
{
	static const char *const names[] = {"work"};
	struct lab *lab = *state;
	struct noise *noises;
	size_t count;

	lab->program = "aaaa";
	calibrate(lab, 6);
	OK(noise_load(lab->store, "guest", names, 1, &lab->arena, &noises, &count, &err));
	assert_int_equal(count, 1);
	assert_int_equal(noises[0].history.boots, 6);
	lab->program = "bbbb";
	three_boots(lab);
	OK(noise_load(lab->store, "guest", names, 1, &lab->arena, &noises, &count, &err));
	assert_int_equal(count, 1);
	assert_int_equal(noises[0].history.boots, 3);
}

static void what_is_not_there_is_said(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "broken", KIND_EXPERIMENT, "ABBA");

	judge(lab, id);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INVALID);
	assert_non_null(strstr(lab->verdicts[0].reason, "not measured yet"));
	build(lab);
	measure(lab, 0, 100);
	for (size_t i = 1; i < 3; i++) {
		const struct store_boot *boot = &lab->view.machines[0].boots[i];
		const struct store_attempt_end down = {
			.reason = "boot-failed", .detail = "", .kernel_boot_id = ""};
		int64_t attempt;

		OK(store_attempt_begin(lab->store, boot->id, "none", &attempt, &err));
		OK(store_attempt_finish(lab->store, attempt, &down, &err));
		OK(store_boot_finish(lab->store, boot->id, "boot-failed", "", &err));
	}
	measure(lab, 3, 100);
	judge(lab, id);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INVALID);
	assert_string_equal(
		lab->verdicts[0].reason, "no boot of 'patched' was measured: boot-failed");
	assert_int_equal(lab->verdicts[0].against_boots, 2);
	assert_near(lab->verdicts[0].drift, 0, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			calibration_gives_three_boots_a_verdict, open_lab, close_lab),
		cmocka_unit_test_setup_teardown(
			without_enough_history_it_has_none, open_lab, close_lab),
		cmocka_unit_test_setup_teardown(
			history_of_another_program_is_none, open_lab, close_lab),
		cmocka_unit_test_setup_teardown(
			noise_is_that_of_the_newest_program, open_lab, close_lab),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_said, open_lab, close_lab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
