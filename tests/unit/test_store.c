/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "model/schema.h"
#include "model/store_cells.h"
#include "model/store_db.h"
#include "model/store_result.h"
#include "model/store_rung.h"
#include "model/store_rows.h"
#include "model/store_view.h"

/* A lab of one machine, two variants and two conditions with two metrics each, on real SQLite. */
enum { BOOTS = 4, RUNS = 3, CONDITIONS = 2, METRICS = 2 };

static const char *const none[] = {NULL};
static const char *const argv[] = {"prog", "-w", "4", NULL};

struct lab {
	char folder[64];
	char path[96];
	struct store *store;
	struct arena arena;
	struct err err;
	struct variant variants[2];
	const struct variant *listed[2];
	struct metric_spec metrics[METRICS];
	struct condition_spec specs[CONDITIONS];
	struct suite suite;
	struct machine_spec machine;
	struct experiment experiment;
	struct condition conditions[CONDITIONS];
	struct plan_run runs[CONDITIONS * (RUNS + 1)];
	struct plan_boot boots[BOOTS];
	struct plan plan;
};

static void make_recipes(struct lab *lab)
{
	static const char *const features[] = {"NO_NI_RANDOM", NULL};

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
			.features = i ? features : none,
			.scheduler = none,
		};
		lab->listed[i] = &lab->variants[i];
	}
	lab->metrics[0] = (struct metric_spec){.name = "rate", .unit = "ops/s"};
	lab->metrics[1] = (struct metric_spec){.name = "time", .unit = "s", .better = BETTER_LOWER};
	lab->suite = (struct suite){
		.name = "fan",
		.sha256 = "00",
		.text = "suite: fan\n",
		.program = "prog",
		.metrics = lab->metrics,
		.metric_count = METRICS,
		.conditions = lab->specs,
		.condition_count = CONDITIONS,
	};
	lab->machine = (struct machine_spec){.name = "guest", .kind = MACHINE_LOCAL};
}

static void make_plan(struct lab *lab)
{
	size_t n = 0;

	for (size_t i = 0; i < CONDITIONS; i++) {
		lab->specs[i].name = i ? "wide" : "narrow";
		lab->conditions[i] = (struct condition){
			.suite = &lab->suite,
			.spec = &lab->specs[i],
			.name = arena_printf(&lab->arena, "fan/%s", lab->specs[i].name),
			.argv = argv,
			.env = none,
		};
		lab->runs[n++] = (struct plan_run){i, 1, true};
		for (int k = 1; k <= RUNS; k++)
			lab->runs[n++] = (struct plan_run){i, k, false};
	}
	for (int i = 0; i < BOOTS; i++)
		lab->boots[i] = (struct plan_boot){i + 1, 1, i == 1 || i == 2, lab->runs, n};
	lab->experiment = (struct experiment){
		.name = "first",
		.machines = &lab->machine,
		.machine_count = 1,
		.variants = lab->listed,
		.variant_count = 2,
		.listed_count = 2,
		.suites = &lab->suite,
		.suite_count = 1,
		.design = {.boots = 2, .runs = RUNS, .warmup = 1, .explicit_order = none},
		.gates = {-1, -1, 1, 5},
		.decide = none,
	};
	lab->plan = (struct plan){
		.experiment = &lab->experiment,
		.machine = &lab->machine,
		.cpus = 8,
		.conditions = lab->conditions,
		.condition_count = CONDITIONS,
		.boots = lab->boots,
		.boot_count = BOOTS,
	};
}

static int open_lab(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));

	snprintf(lab->folder, sizeof(lab->folder), "/tmp/kb-store-XXXXXX");
	if (!mkdtemp(lab->folder))
		return -1;
	snprintf(lab->path, sizeof(lab->path), "%s/results/kbracket.db", lab->folder);
	make_recipes(lab);
	make_plan(lab);
	*state = lab;
	return store_open(lab->path, STORE_WRITE, &lab->store, &lab->err);
}

static int close_lab(void **state)
{
	struct lab *lab = *state;

	store_close(lab->store);
	arena_release(&lab->arena);
	if (file_remove_tree(lab->folder, &lab->err))
		return -1;
	free(lab);
	return 0;
}

#define OK(lab, call)                                               \
	do {                                                        \
		if (call)                                           \
			fail_msg("%s: %s", #call, (lab)->err.text); \
	} while (0)

static int64_t create(struct lab *lab, const char *name, enum store_kind kind)
{
	static const struct store_ref refs[2] = {{"aaaa", "base"}, {"bbbb", "change"}};
	struct store_new what = {
		.kind = kind,
		.experiment = &lab->experiment,
		.spec = "experiment: first\n",
		.plans = &lab->plan,
		.refs = refs,
		.version = "test",
	};
	int64_t id;

	lab->experiment.name = name;
	OK(lab, store_create(lab->store, &what, &id, &lab->err));
	return id;
}

static void load(struct lab *lab, int64_t id, struct store_view *view)
{
	OK(lab, store_load(lab->store, id, &lab->arena, view, &lab->err));
}

static const struct store_build build = {
	.key = "k1",
	.commit = "aaaa",
	.tree = "tt",
	.release = "6.12.0-kb",
	.proc_version = "",
	.build_id = "b1d",
	.config_sha256 = "c0",
	.config = "CONFIG_X=y\n",
	.compiler = "gcc",
	.seconds = 90,
	.version = "test",
};

static void build_all(struct lab *lab, const struct store_view *view)
{
	for (size_t i = 0; i < view->variant_count; i++) {
		OK(lab, store_variant_started(lab->store, view->variants[i].id, &lab->err));
		OK(lab, store_variant_built(
				lab->store, view->variants[i].id, &build, NULL, 0, &lab->err));
	}
}

static double value_of(const struct store_run *run, size_t metric, int boot)
{
	return 100 * (double)(metric + 1) + 10 * boot + run->ordinal;
}

static void finish_run(struct lab *lab, const struct store_run *run, int64_t attempt,
	const struct store_metric *metrics, int boot, const struct store_flag *flag)
{
	/* Two samples of the first metric, one of the second. */
	const struct store_sample samples[] = {
		{metrics[0].id, 1, value_of(run, 0, boot) - 1, 0},
		{metrics[0].id, 2, value_of(run, 0, boot) + 1, 0},
		{metrics[1].id, 1, value_of(run, 1, boot), 419},
	};
	const struct store_raw raw = {"stdout", "raw/1/out.zst", "aa", 10};
	struct store_run_end end = {
		.run_id = run->id,
		.attempt_id = attempt,
		.started_ns = 5,
		.ended_ns = 9,
		.wall_ns = 4,
		.signal = -1,
		.user_ns = -1,
		.max_rss_bytes = -1,
		.environment = "{}",
		.samples = samples,
		.sample_count = 3,
		.flags = flag,
		.flag_count = flag ? 1 : 0,
		.raws = &raw,
		.raw_count = 1,
	};

	OK(lab, store_run_begin(lab->store, run->id, attempt, &lab->err));
	OK(lab, store_run_finish(lab->store, &end, &lab->err));
}

static int64_t start_boot(struct lab *lab, const struct store_boot *boot)
{
	struct store_attempt_end end = {
		.kernel_boot_id = "uuid", .proof = "{\"ok\":true}", .facts = "{\"cpu\":\"x\"}"};
	int64_t attempt;

	OK(lab, store_attempt_begin(lab->store, boot->id, "none", &attempt, &lab->err));
	OK(lab, store_attempt_finish(lab->store, attempt, &end, &lab->err));
	return attempt;
}

static void run_boot(struct lab *lab, const struct store_machine *machine, size_t index)
{
	const struct store_boot *boot = &machine->boots[index];
	int64_t attempt = start_boot(lab, boot);
	struct store_run *runs;
	size_t count;

	OK(lab, store_load_runs(lab->store, boot->id, &lab->arena, &runs, &count, &lab->err));
	for (size_t i = 0; i < count; i++)
		finish_run(lab, &runs[i], attempt,
			machine->conditions[runs[i].condition_position].metrics, boot->ordinal,
			NULL);
	OK(lab, store_boot_finish(lab->store, boot->id, NULL, NULL, &lab->err));
}

static void run_all(struct lab *lab, int64_t id)
{
	struct store_view view;

	load(lab, id, &view);
	build_all(lab, &view);
	for (size_t i = 0; i < view.machines[0].boot_count; i++)
		run_boot(lab, &view.machines[0], i);
	OK(lab, store_experiment_move(lab->store, id, STATE_DONE, &lab->err));
}

static void an_experiment_is_what_was_planned(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct store_view view;
	struct store_run *runs;
	size_t count;

	load(lab, id, &view);
	assert_string_equal(view.head.name, "first");
	assert_int_equal(view.head.state, STATE_PLANNED);
	assert_true(isnan(view.head.cv_pct));
	assert_true(view.head.margin_pct == 1);
	assert_int_equal(view.variant_count, 2);
	assert_null(view.variants[0].against);
	assert_ptr_equal(view.variants[1].against, &view.variants[0]);
	assert_string_equal(view.variants[1].ref_commit, "bbbb");
	assert_string_not_equal(view.variants[0].runtime_sha256, view.variants[1].runtime_sha256);
	assert_int_equal(view.machine_count, 1);
	assert_int_equal(view.machines[0].condition_count, CONDITIONS);
	assert_int_equal(view.machines[0].conditions[1].cpus, 8);
	assert_string_equal(view.machines[0].conditions[0].argv, "[\"prog\",\"-w\",\"4\"]");
	assert_true(view.machines[0].conditions[0].metrics[1].lower_is_better);
	assert_int_equal(view.machines[0].boot_count, BOOTS);
	assert_ptr_equal(view.machines[0].boots[2].variant, &view.variants[1]);
	assert_int_equal(view.policy_count, validity_reason_count);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	assert_int_equal(count, CONDITIONS * (RUNS + 1));
	assert_int_equal(runs[0].kind, RUN_WARMUP);
	assert_int_equal(runs[7].ordinal, 3);
	assert_int_equal(runs[7].condition_position, 1);
}

struct seen {
	size_t count;
	struct store_cell cells[64];
	double first_value[64];
};

static int see(void *arg, const struct store_cell *cell)
{
	struct seen *seen = arg;

	assert_true(seen->count < ARRAY_SIZE(seen->cells));
	seen->first_value[seen->count] = cell->values && cell->runs ? cell->values[0] : 0;
	seen->cells[seen->count++] = *cell;
	return 0;
}

static void cells_are_means_of_runs_in_order(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct seen seen = {0};
	struct store_view view;

	run_all(lab, id);
	load(lab, id, &view);
	OK(lab, store_each_boot_cell(lab->store, id, NULL, see, &seen, &lab->err));
	assert_int_equal(seen.count, CONDITIONS * METRICS * BOOTS);
	for (size_t i = 0; i < seen.count; i++) {
		const struct store_cell *cell = &seen.cells[i];
		size_t metric = i / BOOTS % METRICS;
		double first = 100 * (double)(metric + 1) + 10 * cell->boot_ordinal + 1;

		assert_int_equal(cell->boot_ordinal, i % BOOTS + 1);
		assert_int_equal(cell->metric_id,
			view.machines[0].conditions[i / BOOTS / METRICS].metrics[metric].id);
		assert_int_equal(cell->runs, RUNS);
		assert_true(seen.first_value[i] == first);
		assert_true(fabs(cell->mean - (first + 1)) < 1e-9);
		assert_true(fabs(cell->variance - 1) < 1e-9);
		assert_true(fabs(cell->ln_mean -
				    (log(first) + log(first + 1) + log(first + 2)) / 3) < 1e-12);
		assert_true(cell->time_ns > 0);
	}
}

static void policies_decide_which_runs_count(void **state)
{
	struct lab *lab = *state;
	const struct store_flag drop = {"clock-step", "by 3 s"}, keep = {"steal", "4 %"};
	int64_t id = create(lab, "first", KIND_EXPERIMENT), attempt;
	struct seen seen = {0}, again = {0}, kept = {0};
	struct store_view view;
	struct store_run *runs;
	size_t count;

	load(lab, id, &view);
	attempt = start_boot(lab, &view.machines[0].boots[0]);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	finish_run(lab, &runs[1], attempt, view.machines[0].conditions[0].metrics, 1, &drop);
	finish_run(lab, &runs[2], attempt, view.machines[0].conditions[0].metrics, 1, &keep);
	OK(lab, store_each_boot_cell(lab->store, id, NULL, see, &seen, &lab->err));
	assert_int_equal(seen.count, 0);
	OK(lab, store_each_boot_cell(lab->store, id,
			&(struct store_cell_options){.unfinished = true}, see, &seen, &lab->err));
	assert_int_equal(seen.count, METRICS);
	assert_int_equal(seen.cells[0].runs, 1);
	assert_int_equal(seen.cells[0].dropped, 1);
	assert_int_equal(seen.cells[0].flagged, 1);
	assert_int_equal(seen.cells[0].failed, 0);
	OK(lab, store_each_boot_cell(lab->store, id,
			&(struct store_cell_options){
				.unfinished = true, .kept = see, .kept_arg = &kept},
			see, &again, &lab->err));
	assert_int_equal(again.count, METRICS);
	assert_int_equal(again.cells[0].runs, 1);
	assert_int_equal(kept.count, METRICS);
	assert_int_equal(kept.cells[0].runs, 2);
	assert_int_equal(kept.cells[0].dropped, 1);
}

static void nothing_is_stored_twice(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT), attempt, again;
	struct store_view view;
	struct store_run *runs;
	size_t count;

	load(lab, id, &view);
	attempt = start_boot(lab, &view.machines[0].boots[0]);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	finish_run(lab, &runs[0], attempt, view.machines[0].conditions[0].metrics, 1, NULL);
	assert_int_equal(store_run_begin(lab->store, runs[0].id, attempt, &lab->err), ERR_USAGE);
	assert_int_equal(
		store_run_finish(lab->store,
			&(struct store_run_end){.run_id = runs[0].id, .attempt_id = attempt},
			&lab->err),
		ERR_USAGE);
	/* one that was never begun can't end either */
	assert_int_equal(
		store_run_finish(lab->store,
			&(struct store_run_end){.run_id = runs[1].id, .attempt_id = attempt},
			&lab->err),
		ERR_USAGE);
	assert_int_equal(
		store_run_interrupted(lab->store, runs[0].id, "", &again, &lab->err), ERR_USAGE);
	OK(lab, store_boot_finish(
			lab->store, view.machines[0].boots[0].id, "kernel-died", "", &lab->err));
	assert_int_equal(
		store_boot_finish(lab->store, view.machines[0].boots[0].id, NULL, NULL, &lab->err),
		ERR_USAGE);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	assert_int_equal(runs[0].state, STATE_DONE);
	assert_int_equal(runs[1].state, STATE_FAILED);
}

static void an_interrupted_run_is_kept_and_planned_again(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT), attempt, again;
	struct store_view view;
	struct store_progress progress;
	struct store_run *runs;
	size_t count;

	load(lab, id, &view);
	attempt = start_boot(lab, &view.machines[0].boots[0]);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	OK(lab, store_run_begin(lab->store, runs[0].id, attempt, &lab->err));
	OK(lab, store_run_interrupted(lab->store, runs[0].id, "kbracket ended", &again, &lab->err));
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	assert_int_equal(count, CONDITIONS * (RUNS + 1));
	assert_int_equal(runs[0].id, again);
	assert_int_equal(runs[0].attempt_try, 2);
	assert_int_equal(runs[0].state, STATE_PLANNED);
	OK(lab, store_progress(lab->store, id, &progress, &lab->err));
	assert_int_equal(progress.current_boot, 1);
	assert_int_equal(progress.runs[STATE_PLANNED], BOOTS * CONDITIONS * (RUNS + 1));
	assert_int_equal(progress.runs[STATE_INTERRUPTED], 0);
}

static void a_failed_build_costs_its_own_boots(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct store_view view;

	load(lab, id, &view);
	OK(lab, store_variant_started(lab->store, view.variants[1].id, &lab->err));
	OK(lab, store_variant_failed(lab->store, view.variants[1].id, "no rule", &lab->err));
	load(lab, id, &view);
	assert_string_equal(view.variants[1].reason, "no rule");
	assert_int_equal(view.machines[0].boots[0].state, STATE_PLANNED);
	assert_int_equal(view.machines[0].boots[1].state, STATE_FAILED);
	assert_string_equal(view.machines[0].boots[2].reason, "build-failed");
	assert_int_equal(view.machines[0].boots[3].state, STATE_PLANNED);
}

static void evidence_cannot_be_changed(void **state)
{
	static const char *const attempts[] = {
		"UPDATE sample SET value = 1",
		"DELETE FROM sample",
		"UPDATE raw SET path = 'x'",
		"DELETE FROM flag",
		"UPDATE facts SET json = ''",
		"DELETE FROM raw WHERE 1",
		"UPDATE build SET build_id = ''",
	};
	const struct store_flag flag = {"steal", "4 %"};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT), count;
	struct store_view view;
	struct store_run *runs;
	size_t n;

	load(lab, id, &view);
	build_all(lab, &view);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs, &n,
			&lab->err));
	finish_run(lab, &runs[0], start_boot(lab, &view.machines[0].boots[0]),
		view.machines[0].conditions[0].metrics, 1, &flag);
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		if (!db_run(lab->store->db, &lab->err, attempts[i], ""))
			fail_msg("%s was possible", attempts[i]);
		assert_non_null(strstr(lab->err.text, "evidence is never"));
	}
	OK(lab, db_get_int(lab->store->db, &count, &lab->err, "SELECT count(*) FROM sample", ""));
	assert_int_equal(count, 3);
}

static void history_is_of_the_same_kernel_and_condition(void **state)
{
	struct lab *lab = *state;
	static const char *const other[] = {"prog", "-w", "5", NULL};
	int64_t old = create(lab, "old", KIND_CALIBRATION), id;
	struct seen seen = {0};
	struct store_view view;

	run_all(lab, old);
	lab->conditions[1].argv = other;
	id = create(lab, "new", KIND_EXPERIMENT);
	run_all(lab, id);
	load(lab, id, &view);
	OK(lab, store_each_history_cell(lab->store, id, view.machines[0].id, view.variants[0].id,
			10, see, &seen, &lab->err));
	/* the baseline's two boots, one condition of two */
	assert_int_equal(seen.count, 2 * METRICS);
	for (size_t i = 0; i < seen.count; i++) {
		assert_int_equal(seen.cells[i].experiment_id, old);
		assert_int_equal(
			seen.cells[i].metric_id, view.machines[0].conditions[0].metrics[i / 2].id);
		assert_int_equal(seen.cells[i].boot_ordinal, i % 2 ? 4 : 1);
		assert_int_equal(seen.cells[i].runs, RUNS);
	}
	seen.count = 0;
	OK(lab, store_each_history_cell(lab->store, id, view.machines[0].id, view.variants[0].id, 1,
			see, &seen, &lab->err));
	assert_int_equal(seen.count, METRICS);
	assert_int_equal(seen.cells[0].boot_ordinal, 4);
	seen.count = 0;
	OK(lab, store_each_history_cell(lab->store, old, view.machines[0].id, view.variants[0].id,
			10, see, &seen, &lab->err));
	assert_int_equal(seen.count, 0);
	/* a block that was repeated is no history */
	OK(lab, db_script(lab->store->db,
			"INSERT INTO extension SELECT experiment_id, machine_id, 1, 2, 1, '[0]',"
			" '[0]', 1, 0, 'repeat', 0 FROM boot LIMIT 1",
			&lab->err));
	OK(lab, store_each_history_cell(lab->store, id, view.machines[0].id, view.variants[0].id,
			10, see, &seen, &lab->err));
	assert_int_equal(seen.count, 0);
}

static void a_new_reading_replaces_what_counts(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct seen seen = {0};
	struct store_view view;
	struct store_value *values;
	struct store_run *runs;
	struct store_sample sample = {.ordinal = 1, .value = 7};
	size_t count;

	run_all(lab, id);
	load(lab, id, &view);
	sample.metric_id = view.machines[0].conditions[0].metrics[0].id;
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[0].id, &lab->arena, &runs,
			&count, &lab->err));
	for (size_t i = 1; i <= RUNS; i++)
		OK(lab, store_reading_add(lab->store, runs[i].id,
				&(struct store_reading){.samples = &sample, .sample_count = 1},
				&lab->err));
	OK(lab, store_each_boot_cell(lab->store, id, NULL, see, &seen, &lab->err));
	assert_true(seen.cells[0].mean == 7);
	assert_int_equal(seen.cells[BOOTS].boot_ordinal, 2); /* the other metric lost its values */
	OK(lab, store_load_samples(
			lab->store, runs[1].id, &lab->arena, &values, &count, &lab->err));
	assert_int_equal(count, 4);
	assert_int_equal(values[0].observations, 0);
	assert_int_equal(values[2].observations, 419);
	assert_int_equal(values[3].reading, 2);
}

static void an_import_of_means_gives_means(void **state)
{
	static const char *const names[] = {"A", "P", NULL};
	struct lab *lab = *state;
	struct store_import_row rows[2] = {
		{.machine = "box",
			.variant = "A",
			.boot = 1,
			.block = 1,
			.suite = "sembench",
			.condition = "sembench 815",
			.workers = 815,
			.cpus = 48,
			.metric = "rate",
			.unit = "ops/s",
			.value = 100,
			.runs = 9,
			.cv_pct = 1.24},
	};
	struct store_import what = {"lin", "", names, 1, 5, "test", rows, 2, false};
	struct seen seen = {0};
	struct store_view view;
	int64_t id;

	rows[1] = rows[0];
	rows[1].variant = "P";
	rows[1].boot = 2;
	rows[1].value = 102;
	rows[1].cv_pct = NAN;
	OK(lab, store_import(lab->store, &what, &id, &lab->err));
	load(lab, id, &view);
	assert_true(view.head.means_only);
	assert_ptr_equal(view.variants[1].against, &view.variants[0]);
	OK(lab, store_each_boot_cell(lab->store, id, NULL, see, &seen, &lab->err));
	assert_int_equal(seen.count, 2);
	assert_null(seen.cells[0].values);
	assert_int_equal(seen.cells[0].runs, 9);
	assert_true(fabs(seen.cells[0].ln_mean - log(100)) < 1e-12);
	assert_true(fabs(sqrt(seen.cells[0].ln_variance) - 0.0124) < 1e-9);
	assert_true(isnan(seen.cells[1].ln_variance));
	rows[1].run = 1;
	assert_int_equal(store_import(lab->store, &what, &id, &lab->err), ERR_USAGE);
	assert_true(str_starts(lab->err.text, "row 2"));
	rows[1].run = 0;
	rows[1].unit = "s";
	assert_int_equal(store_import(lab->store, &what, &id, &lab->err), ERR_USAGE);
}

static void an_import_of_runs_keeps_flags_and_warmups(void **state)
{
	static const char *const names[] = {"A", NULL};
	struct lab *lab = *state;
	struct store_import_row rows[3];
	struct store_import what = {"runs", "", names, 1, 5, "test", rows, 3, false};
	struct store_view view;
	struct seen seen = {0};
	int64_t id;

	for (int i = 0; i < 3; i++)
		rows[i] = (struct store_import_row){.machine = "box",
			.variant = "A",
			.boot = 1,
			.block = 1,
			.suite = "s",
			.condition = "s/c",
			.metric = "rate",
			.unit = "ops/s",
			.run = i ? i : 1,
			.warmup = i == 0,
			.start = "cold",
			.flags = i == 2 ? "steal clock-step" : "",
			.ordinal = 1,
			.value = 100 + i};
	OK(lab, store_import(lab->store, &what, &id, &lab->err));
	OK(lab, store_each_boot_cell(lab->store, id, NULL, see, &seen, &lab->err));
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.cells[0].runs, 1);
	assert_int_equal(seen.cells[0].dropped, 1);
	assert_true(seen.cells[0].mean == 101);
	load(lab, id, &view);
	assert_string_equal(view.machines[0].boots[0].start, "cold");
	rows[1].start = "kexec";
	assert_int_equal(store_import(lab->store, &what, &id, &lab->err), ERR_USAGE);
	assert_non_null(strstr(lab->err.text, "block, variant or start differs"));
	rows[1].start = "cold";
	rows[1].flags = "sunspots";
	assert_int_equal(store_import(lab->store, &what, &id, &lab->err), ERR_USAGE);
	rows[1] = rows[2];
	assert_int_equal(store_import(lab->store, &what, &id, &lab->err), ERR_USAGE);
}

static int count_sample(void *arg, const struct store_sample_row *row)
{
	size_t *count = arg;

	assert_string_equal(row->machine, "guest");
	assert_int_equal(row->attempt_try, 1);
	*count += 1;
	return 0;
}

static int count_run(void *arg, const struct store_run_row *row)
{
	size_t *count = arg;

	assert_int_equal(row->state, STATE_DONE);
	assert_int_equal(row->signal, -1);
	assert_int_equal(row->wall_ns, 4);
	*count += 1;
	return 0;
}

static void every_row_can_be_exported(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	size_t samples = 0, runs = 0;

	run_all(lab, id);
	OK(lab, store_each_sample(lab->store, id, count_sample, &samples, &lab->err));
	assert_int_equal(samples, BOOTS * CONDITIONS * (RUNS + 1) * 3);
	OK(lab, store_each_run(lab->store, &(struct store_run_filter){.experiment_id = id},
			count_run, &runs, &lab->err));
	assert_int_equal(runs, BOOTS * CONDITIONS * (RUNS + 1));
}

static void verdicts_are_replaced(void **state)
{
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct store_verdict verdict = {.word = VERDICT_REGRESSED,
		.reason = "",
		.method = "pooled t",
		.word_kept = "",
		.further_boots = -1,
		.effect = -0.02,
		.q = NAN,
		.headline = true};
	struct store_verdict *loaded;
	struct store_view view;
	size_t count;

	load(lab, id, &view);
	verdict.machine_id = view.machines[0].id;
	verdict.metric_id = view.machines[0].conditions[1].metrics[0].id;
	verdict.variant_id = view.variants[1].id;
	verdict.against_id = view.variants[0].id;
	for (int i = 0; i < 2; i++)
		OK(lab, store_verdicts_replace(lab->store, id, &verdict, 1, "test", &lab->err));
	OK(lab, store_verdicts_load(lab->store, id, &lab->arena, &loaded, &count, &lab->err));
	assert_int_equal(count, 1);
	assert_int_equal(loaded[0].condition_id, view.machines[0].conditions[1].id);
	assert_int_equal(loaded[0].word, VERDICT_REGRESSED);
	assert_int_equal(loaded[0].further_boots, -1);
	assert_true(loaded[0].effect == -0.02);
	assert_true(isnan(loaded[0].q));
	assert_true(loaded[0].headline);
}

static void experiments_are_found_by_name_and_number(void **state)
{
	struct lab *lab = *state;
	int64_t first, second, found;
	struct store_experiment *list;
	char number[16];
	size_t count;

	assert_int_equal(store_find(lab->store, NULL, &found, &lab->err), ERR_NOT_FOUND);
	first = create(lab, "newidle", KIND_EXPERIMENT);
	second = create(lab, "newidle", KIND_EXPERIMENT);
	OK(lab, store_find(lab->store, "newidle", &found, &lab->err));
	assert_int_equal(found, second);
	snprintf(number, sizeof(number), "%d", (int)first);
	OK(lab, store_find(lab->store, number, &found, &lab->err));
	assert_int_equal(found, first);
	assert_int_equal(store_find(lab->store, "newidel", &found, &lab->err), ERR_NOT_FOUND);
	assert_non_null(strstr(lab->err.text, "nearest name is 'newidle'"));
	OK(lab, store_list(lab->store, &lab->arena, &list, &count, &lab->err));
	assert_int_equal(count, 2);
	assert_int_equal(list[0].id, second);
}

static void how_a_boot_was_started_is_kept(void **state)
{
	static const char *const methods[] = {"kexec", "reboot", "direct", "toggle"};
	static const char *const starts[] = {"kexec", "cold", "cold", ""};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT), attempt;
	struct store_view view;

	load(lab, id, &view);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		OK(lab, store_attempt_begin(lab->store, view.machines[0].boots[i].id, methods[i],
				&attempt, &lab->err));
	load(lab, id, &view);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		assert_string_equal(view.machines[0].boots[i].start, starts[i]);
}

static void the_way_back_is_kept_with_its_boot(void **state)
{
	static const struct store_rung steps[] = {
		{"look", 1000, 60, 2, "nothing", "Connection refused"},
		{"power", 2000, 90, 7, "own", ""}};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT), machine;
	struct store_rung *rungs;
	struct store_view view;
	const char **paths;
	size_t count;

	load(lab, id, &view);
	machine = view.machines[0].id;
	OK(lab, store_rung_add(lab->store, id, machine, 0, &steps[0], &lab->err));
	for (int i = 0; i < 2; i++)
		OK(lab, store_rung_add(lab->store, id, machine, view.machines[0].boots[1].id,
				&steps[i], &lab->err));
	OK(lab, store_load_rungs(lab->store, id, machine, view.machines[0].boots[1].id, &lab->arena,
			&rungs, &count, &lab->err));
	assert_int_equal(count, 2);
	assert_string_equal(rungs[0].detail, "Connection refused");
	assert_string_equal(rungs[1].kind, "power");
	assert_string_equal(rungs[1].found, "own");
	assert_int_equal(rungs[1].began_ns, 2000);
	assert_int_equal(rungs[1].limit_ns, 90);
	assert_int_equal(rungs[1].took_ns, 7);
	OK(lab, store_load_rungs(
			lab->store, id, machine, 0, &lab->arena, &rungs, &count, &lab->err));
	assert_int_equal(count, 1);
	assert_int_not_equal(db_run(lab->store->db, &lab->err, "DELETE FROM rung", ""), 0);
	OK(lab, store_prune(lab->store, id, &lab->arena, &paths, &count, &lab->err));
	OK(lab, store_load_rungs(
			lab->store, id, machine, 0, &lab->arena, &rungs, &count, &lab->err));
	assert_int_equal(count, 0);
}

static void pruning_leaves_other_experiments(void **state)
{
	struct lab *lab = *state;
	int64_t first = create(lab, "first", KIND_EXPERIMENT);
	int64_t second = create(lab, "second", KIND_EXPERIMENT), left;
	struct seen seen = {0};
	const char **paths;
	size_t count;

	run_all(lab, first);
	run_all(lab, second);
	OK(lab, store_prune(lab->store, first, &lab->arena, &paths, &count, &lab->err));
	assert_int_equal(count, 1);
	assert_string_equal(paths[0], "raw/1/out.zst");
	OK(lab, store_each_boot_cell(lab->store, second, NULL, see, &seen, &lab->err));
	assert_int_equal(seen.count, CONDITIONS * METRICS * BOOTS);
	OK(lab, db_get_int(lab->store->db, &left, &lab->err, "SELECT count(*) FROM sample", ""));
	assert_int_equal(left, BOOTS * CONDITIONS * (RUNS + 1) * 3);
	/* the way is shut again */
	assert_int_not_equal(db_run(lab->store->db, &lab->err, "DELETE FROM sample", ""), 0);
}

static void a_strange_database_is_refused(void **state)
{
	struct lab *lab = *state;
	struct store *other;
	struct db *db;
	char path[128];

	snprintf(path, sizeof(path), "%s/other.db", lab->folder);
	assert_int_equal(store_open(path, STORE_READ, &other, &lab->err), ERR_NOT_FOUND);
	OK(lab, db_open(path, DB_READ_WRITE, &db, &lab->err));
	OK(lab, db_script(db, "CREATE TABLE t (x)", &lab->err));
	db_close(db);
	assert_int_equal(store_open(path, STORE_WRITE, &other, &lab->err), ERR_USAGE);
	OK(lab, db_script(lab->store->db, "PRAGMA user_version = 99", &lab->err));
	assert_int_equal(store_open(lab->path, STORE_READ, &other, &lab->err), ERR_USAGE);
	assert_non_null(strstr(lab->err.text, "newer kbracket"));
}

/* As the first kbracket wrote it, with a sample in it. */
static void an_older_database_is_brought_up(void **state)
{
	struct lab *lab = *state;
	struct store_value *values;
	struct store *old;
	struct db *db;
	char path[128];
	size_t count;
	int64_t kexecs;

	snprintf(path, sizeof(path), "%s/old.db", lab->folder);
	OK(lab, db_open(path, DB_READ_WRITE, &db, &lab->err));
	OK(lab, db_script(db, schema_steps[0], &lab->err));
	OK(lab, db_script(db,
			"PRAGMA foreign_keys = OFF; PRAGMA application_id = 0x6b627231;"
			"INSERT INTO metric (id, condition_id, position, name, unit, better)"
			" VALUES (3, 1, 0, 'm', 's', 'lower');"
			"INSERT INTO boot (id, experiment_id, machine_id, ordinal, block,"
			" variant_id, state) VALUES (5, 1, 1, 1, 1, 1, 'done');"
			"INSERT INTO attempt (boot_id, number, method, started_ns, outcome)"
			" VALUES (5, 1, 'kexec', 1, 'proved');"
			"INSERT INTO sample VALUES (7, 1, 3, 1, 2.5); PRAGMA user_version = 1",
			&lab->err));
	db_close(db);
	OK(lab, store_open(path, STORE_READ, &old, &lab->err));
	OK(lab, store_load_samples(old, 7, &lab->arena, &values, &count, &lab->err));
	assert_int_equal(count, 1);
	assert_true(values[0].value == 2.5);
	assert_int_equal(values[0].observations, 0);
	OK(lab, db_get_int(old->db, &kexecs, &lab->err,
			"SELECT count(*) FROM boot WHERE id = 5 AND start = 'kexec'", ""));
	assert_int_equal(kexecs, 1);
	store_close(old);
}

/* Two processes open a database that is not there yet and both create experiments in it. */
static void two_processes_share_a_database(void **state)
{
	struct lab *lab = *state;
	struct store_experiment *list;
	size_t count;
	pid_t children[2];

	store_close(lab->store);
	lab->store = NULL;
	OK(lab, file_remove_tree(lab->path, &lab->err));
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			if (store_open(lab->path, STORE_WRITE, &lab->store, &lab->err))
				_exit(1);
			for (int k = 0; k < 5; k++)
				create(lab, "shared", KIND_EXPERIMENT);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		int status = -1;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	OK(lab, store_open(lab->path, STORE_WRITE, &lab->store, &lab->err));
	OK(lab, store_list(lab->store, &lab->arena, &list, &count, &lab->err));
	assert_int_equal(count, 10);
}

static int skip_run(void *arg KB_UNUSED, const struct store_run_row *row KB_UNUSED)
{
	return 0;
}

/* As the sqlite3 shell leaves it: no foreign keys; and, worse, no checks. */
static void what_another_program_broke_is_refused(void **state)
{
	static const char *const broken[] = {
		"UPDATE boot SET variant_id = 999",
		"UPDATE boot SET state = 'zzz'",
		"DELETE FROM variant WHERE position = 1",
		"DELETE FROM machine",
		"DELETE FROM suite",
		"DELETE FROM condition WHERE position = 1",
		"UPDATE run SET state = 'zzz' WHERE id = 3",
		"UPDATE variant SET state = 'zzz'",
		"UPDATE variant SET against_id = 999",
		"UPDATE variant SET build_id = 999",
		"UPDATE policy SET policy = 'zzz'",
		"UPDATE experiment SET state = 'zzz'",
		"UPDATE experiment SET kind = 'zzz'",
	};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct store_run_filter one = {.run_id = 3};
	struct store_progress progress;
	struct store_view view;

	run_all(lab, id);
	OK(lab, db_script(lab->store->db,
			"PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;",
			&lab->err));
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		OK(lab, db_begin(lab->store->db, &lab->err));
		OK(lab, db_script(lab->store->db, broken[i], &lab->err));
		if (store_load(lab->store, id, &lab->arena, &view, &lab->err) != ERR_INFRA)
			fail_msg("%s: not refused", broken[i]);
		assert_non_null(strstr(lab->err.text, "is damaged"));
		assert_int_equal(store_progress(lab->store, id, &progress, &lab->err), ERR_INFRA);
		assert_int_equal(
			store_each_run(lab->store, &one, skip_run, NULL, &lab->err), ERR_INFRA);
		db_rollback(lab->store->db);
	}
	OK(lab, store_load(lab->store, id, &lab->arena, &view, &lab->err));
	OK(lab, store_each_run(lab->store, &one, skip_run, NULL, &lab->err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lab, close_lab)

static void what_is_appended_is_kept_with_its_reason(void **state)
{
	static const size_t variants[] = {1, 0}, conditions[] = {1};
	const struct plan_extension extension = {
		3, 1, variants, 2, conditions, 1, 2, 1, "repeat of block 1"};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct plan_extension *kept;
	struct store_view view;
	struct store_run *runs;
	const char **paths;
	size_t count;

	run_all(lab, id);
	OK(lab, plan_extend(&lab->arena, &lab->plan, &extension, &lab->err));
	OK(lab, store_extend(lab->store, id, "guest", &lab->plan, &extension, &lab->err));
	load(lab, id, &view);
	assert_int_equal(view.head.state, STATE_STARTED);
	assert_int_equal(view.machines[0].boot_count, BOOTS + 2);
	assert_int_equal(view.machines[0].boots[BOOTS].variant->position, 1);
	assert_int_equal(view.machines[0].boots[BOOTS].block, 3);
	assert_int_equal(view.machines[0].boots[BOOTS].state, STATE_PLANNED);
	OK(lab, store_load_runs(lab->store, view.machines[0].boots[BOOTS + 1].id, &lab->arena,
			&runs, &count, &lab->err));
	assert_int_equal(count, 3);
	assert_int_equal(runs[0].kind, RUN_WARMUP);
	assert_int_equal(runs[2].condition_position, 1);
	assert_int_equal(runs[2].ordinal, 2);
	OK(lab, store_load_extensions(
			lab->store, id, "guest", &lab->arena, &kept, &count, &lab->err));
	assert_int_equal(count, 1);
	assert_int_equal(kept[0].block, 3);
	assert_int_equal(kept[0].repeats, 1);
	assert_int_equal(kept[0].boot_count, 2);
	assert_int_equal(kept[0].variants[0], 1);
	assert_int_equal(kept[0].condition_count, 1);
	assert_int_equal(kept[0].conditions[0], 1);
	assert_int_equal(kept[0].runs, 2);
	assert_int_equal(kept[0].warmup, 1);
	assert_string_equal(kept[0].reason, "repeat of block 1");
	/* another kbracket that came to the same conclusion is too late */
	assert_int_equal(store_extend(lab->store, id, "guest", &lab->plan, &extension, &lab->err),
		ERR_USAGE);
	assert_non_null(strstr(lab->err.text, "another kbracket"));
	load(lab, id, &view);
	assert_int_equal(view.machines[0].boot_count, BOOTS + 2);
	OK(lab, store_prune(lab->store, id, &lab->arena, &paths, &count, &lab->err));
}

static void what_was_appended_is_not_believed_blindly(void **state)
{
	static const size_t variants[] = {1}, conditions[] = {0};
	static const char *const damages[] = {"UPDATE extension SET variants = '[1.5]'",
		"UPDATE extension SET variants = '{}'", "UPDATE extension SET conditions = '[-1]'",
		"UPDATE extension SET conditions = '[0'"};
	const struct plan_extension extension = {
		2, 0, variants, 1, conditions, 1, 1, 0, "one more"};
	struct lab *lab = *state;
	int64_t id = create(lab, "first", KIND_EXPERIMENT);
	struct plan_extension *kept;
	struct store_view view;
	size_t count;

	OK(lab, plan_extend(&lab->arena, &lab->plan, &extension, &lab->err));
	OK(lab, store_extend(lab->store, id, "guest", &lab->plan, &extension, &lab->err));
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		OK(lab, db_script(lab->store->db, damages[i], &lab->err));
		assert_int_equal(store_load_extensions(lab->store, id, "guest", &lab->arena, &kept,
					 &count, &lab->err),
			ERR_INFRA);
	}
	OK(lab, db_script(lab->store->db, "UPDATE extension SET runs = -1", &lab->err));
	assert_int_equal(store_load(lab->store, id, &lab->arena, &view, &lab->err), ERR_INFRA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_experiment_is_what_was_planned),
		TEST(cells_are_means_of_runs_in_order),
		TEST(policies_decide_which_runs_count),
		TEST(nothing_is_stored_twice),
		TEST(an_interrupted_run_is_kept_and_planned_again),
		TEST(a_failed_build_costs_its_own_boots),
		TEST(evidence_cannot_be_changed),
		TEST(history_is_of_the_same_kernel_and_condition),
		TEST(a_new_reading_replaces_what_counts),
		TEST(an_import_of_means_gives_means),
		TEST(an_import_of_runs_keeps_flags_and_warmups),
		TEST(every_row_can_be_exported),
		TEST(verdicts_are_replaced),
		TEST(experiments_are_found_by_name_and_number),
		TEST(how_a_boot_was_started_is_kept),
		TEST(the_way_back_is_kept_with_its_boot),
		TEST(pruning_leaves_other_experiments),
		TEST(a_strange_database_is_refused),
		TEST(an_older_database_is_brought_up),
		TEST(what_another_program_broke_is_refused),
		TEST(two_processes_share_a_database),
		TEST(what_is_appended_is_kept_with_its_reason),
		TEST(what_was_appended_is_not_believed_blindly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
