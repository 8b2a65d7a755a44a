/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket plan: prints what an experiment would do and how long it would take; changes nothing. */
#include "base/base.h"

#include "base/file.h"
#include "base/num.h"
#include "cmd/answer.h"
#include "cmd/detect.h"
#include "cmd/study.h"
#include "run/estimate.h"
#include "stat/sequential.h"
#include "sys/json_put.h"

struct options {
	struct global global;
	const char *file;
	double detect_pct; /* 0: not asked for */
	bool ask, runs;
};

static const struct opt rows[] = {
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, file),
		.help = "the experiment, as YAML"},
	{.name = "ask",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, ask),
		.help = "make contact with machines whose number of CPUs is not in their files"},
	{.name = "runs",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, runs),
		.help = "list every run, not only the boots"},
	{.name = "detect",
		.type = OPT_PCT,
		.offset = offsetof(struct options, detect_pct),
		.max = 100,
		.arg = "PCT",
		.help = "say how many boots and hours it takes to find a change of that size, by "
			"what the machine's earlier boots tell of its noise"},
	GLOBAL_ROWS(options),
	OPT_END,
};

/* How much there is to do. */
struct amount {
	struct estimate_left left;
	int64_t boots, runs;
};

/* What is told of a plan. */
struct outlook {
	const struct study *study;
	struct amount planned;
	struct amount most;	/* when every look asks for another block */
	struct detect *detects; /* one for each machine; NULL: not asked for */
};

static int measure(struct cmd *cmd, const struct study *study, const struct plan *plans,
	struct amount *out, struct err *err)
{
	struct estimate *estimate = NULL;
	int ret = estimate_new(cmd->store, &study->experiment, plans, &estimate, err);

	if (ret)
		return ret;
	*out = (struct amount){.left = estimate_left(estimate)};
	estimate_free(estimate);
	for (size_t m = 0; m < study->experiment.machine_count; m++)
		for (size_t b = 0; b < plans[m].boot_count; b++) {
			out->boots++;
			out->runs += (int64_t)plans[m].boots[b].run_count;
		}
	return 0;
}

static int look_ahead(
	struct cmd *cmd, const struct study *study, struct outlook *out, struct err *err)
{
	const char *path =
		cmd->global->db || cmd->global->results ? cmd->db_path : study->lab.database;
	struct plan *most = NULL;
	int ret = 0;

	*out = (struct outlook){.study = study};
	if (file_exists(path))
		ret = study_open_store(cmd, study, STORE_READ, err);
	if (!ret)
		ret = measure(cmd, study, study->plans, &out->planned, err);
	if (!ret)
		ret = study_plan_most(cmd, study, &most, err);
	if (!ret)
		ret = measure(cmd, study, most, &out->most, err);
	return ret;
}

/* Machines share the time of boots and runs by their numbers of runs. */
static int look_for_detection(
	struct cmd *cmd, double change_pct, struct outlook *outlook, struct err *err)
{
	const struct study *study = outlook->study;
	size_t machines = study->experiment.machine_count;
	int ret = 0;

	outlook->detects = arena_alloc(cmd->arena, (machines + 1) * sizeof(*outlook->detects));
	for (size_t m = 0; m < machines && !ret; m++) {
		const struct plan *plan = &study->plans[m];
		const struct amount *planned = &outlook->planned;
		double total = (double)(planned->left.boot_ns + planned->left.run_ns);
		int64_t runs = 0;

		for (size_t b = 0; b < plan->boot_count; b++)
			runs += (int64_t)plan->boots[b].run_count;
		ret = detect_make(cmd, plan, change_pct,
			(int64_t)(total * (double)runs / (double)planned->runs),
			&outlook->detects[m], err);
	}
	return ret;
}

static void add_run(struct str *out, const struct plan *plan, const struct plan_run *run)
{
	str_addf(out, "         %s, %s %d\n", plan->conditions[run->condition].name,
		run_kind_name(run->kind), run->ordinal);
}

static void add_condition(struct str *out, const struct condition *condition)
{
	str_addf(out, "  %-32s", condition->name);
	if (condition->workers)
		str_addf(out, " %4lld workers", (long long)condition->workers);
	if (condition->tasks && condition->tasks != condition->workers)
		str_addf(out, condition->workers ? ", %lld tasks" : " %4lld tasks",
			(long long)condition->tasks);
	if (condition->saturation_pct > 0)
		str_addf(out, ", %.4g%% of the CPUs", condition->effective_pct);
	if (condition->merged)
		str_addf(out, "; stands for %s too", condition->merged);
	str_add_char(out, '\n');
}

static void add_plan(
	struct str *out, const struct outlook *outlook, const struct plan *plan, bool runs)
{
	const struct experiment *experiment = &outlook->study->experiment;

	str_addf(out, "\nmachine %s (%s, %lld CPUs, boots by %s)\n", plan->machine->name,
		machine_kind_name(plan->machine->kind), (long long)plan->cpus,
		boot_method_name(plan->machine->boot));
	for (size_t c = 0; c < plan->condition_count; c++)
		add_condition(out, &plan->conditions[c]);
	str_add_char(out, '\n');
	for (size_t b = 0; b < plan->boot_count; b++) {
		const struct plan_boot *boot = &plan->boots[b];

		str_addf(out, "  boot %3d  block %2d  %-20s %zu runs\n", boot->ordinal, boot->block,
			experiment->variants[boot->variant]->name, boot->run_count);
		for (size_t r = 0; r < boot->run_count && runs; r++)
			add_run(out, plan, &boot->runs[r]);
	}
}

static void add_variant(struct str *out, const struct study *study, size_t v)
{
	const struct store_ref *ref = &study->refs[v];

	str_addf(out, "  %-20s", study->experiment.variants[v]->name);
	if (*ref->commit)
		str_addf(out, " %.12s", ref->commit);
	if (*ref->subject) {
		str_add_char(out, ' ');
		str_add_safe(out, ref->subject, strlen(ref->subject));
	}
	str_add_char(out, '\n');
}

static void add_time(struct str *out, const char *what, int count, int64_t ns)
{
	if (!count)
		return;
	str_addf(out, "  %d %s%s, ", count, what, count == 1 ? "" : "s");
	num_add_duration(out, ns);
	str_add_char(out, '\n');
}

/* What the looks after every block may ask for, and how sure a verdict has to be at them. */
static void add_looks(struct str *out, const struct outlook *outlook)
{
	const struct experiment *experiment = &outlook->study->experiment;
	int looks = experiment_looks(experiment);
	double levels[SEQUENTIAL_LOOKS_MAX];

	str_addf(out, "A look after every block; at most %d look%s, %lld boots, %lld runs, about ",
		looks, looks == 1 ? "" : "s", (long long)outlook->most.boots,
		(long long)outlook->most.runs);
	num_add_duration(out, outlook->most.left.wall_ns);
	str_add_char(out, '\n');
	if (experiment->design.until == UNTIL_WIDTH) {
		str_addf(out,
			"  until no 95 %% interval reaches further than %g %% to either side\n",
			experiment->design.until_pct);
		return;
	}
	sequential_levels(sequential_pocock, experiment->gates.alpha_pct / 100, looks, levels);
	str_add(out, "  levels of p:");
	for (int k = 0; k < looks; k++)
		str_addf(out, "%s %.3g %%", k ? "," : "", 100 * levels[k]);
	str_add_char(out, '\n');
}

static void write_text(const struct outlook *outlook, bool runs)
{
	const struct study *study = outlook->study;
	const struct amount *planned = &outlook->planned;
	const struct estimate_left *left = &planned->left;
	char *design = experiment_design_line(&study->experiment);
	struct str out = STR_INIT;

	str_addf(&out, "%s: %s\n", study->experiment.name, design);
	for (size_t v = 0; v < study->experiment.variant_count; v++)
		add_variant(&out, study, v);
	for (size_t m = 0; m < study->experiment.machine_count; m++)
		add_plan(&out, outlook, &study->plans[m], runs);
	str_addf(&out, "\n%lld boots, %lld runs, about ", (long long)planned->boots,
		(long long)planned->runs);
	num_add_duration(&out, left->wall_ns);
	str_addf(&out, " (%s%s)\n",
		left->measured ? "by what was measured before" : "by what the suites declare",
		study->experiment.machine_count > 1 ? "; machines work at the same time" : "");
	add_time(&out, "build", left->builds, left->build_ns);
	add_time(&out, "boot", left->boots, left->boot_ns);
	add_time(&out, "run", left->runs, left->run_ns);
	if (experiment_looks(&study->experiment))
		add_looks(&out, outlook);
	for (size_t m = 0; outlook->detects && m < study->experiment.machine_count; m++)
		detect_add_text(&outlook->detects[m], &out);
	ui_write_text(&out);
	str_release(&out);
	free(design);
}

static json_t *boot_json(const struct experiment *experiment, const struct plan *plan,
	const struct plan_boot *boot, bool runs)
{
	json_t *out = json_object(), *list = json_array();

	json_put_int(out, "boot", boot->ordinal);
	json_put_int(out, "block", boot->block);
	json_put_text(out, "variant", experiment->variants[boot->variant]->name);
	json_put_int(out, "run_count", (int64_t)boot->run_count);
	for (size_t r = 0; r < boot->run_count && runs; r++) {
		json_t *run = json_object();

		json_put_text(run, "condition", plan->conditions[boot->runs[r].condition].name);
		json_put_int(run, "ordinal", boot->runs[r].ordinal);
		json_put_text(run, "kind", run_kind_name(boot->runs[r].kind));
		json_push(list, run);
	}
	if (runs)
		json_put(out, "runs", json_incref(list));
	json_decref(list);
	return out;
}

static json_t *machine_plan_json(const struct study *study, size_t m, bool runs)
{
	const struct plan *plan = &study->plans[m];
	json_t *out = json_object(), *conditions = json_array(), *boots = json_array();

	json_put_text(out, "machine", plan->machine->name);
	json_put_int(out, "cpus", plan->cpus);
	for (size_t c = 0; c < plan->condition_count; c++) {
		const struct condition *condition = &plan->conditions[c];
		json_t *item = json_object();

		json_put_text(item, "condition", condition->name);
		json_put_int(item, "workers", condition->workers);
		json_put_int(item, "tasks", condition->tasks);
		json_put_num(item, "saturation_pct", condition->saturation_pct);
		json_put_num(item, "effective_pct", condition->effective_pct);
		json_put_text(item, "merged", condition->merged);
		json_push(conditions, item);
	}
	json_put(out, "conditions", conditions);
	for (size_t b = 0; b < plan->boot_count; b++)
		json_push(boots, boot_json(&study->experiment, plan, &plan->boots[b], runs));
	json_put(out, "boots", boots);
	return out;
}

static void write_json(const struct outlook *outlook, bool runs)
{
	const struct study *study = outlook->study;
	const struct estimate_left *left = &outlook->planned.left;
	json_t *out = json_object(), *variants = json_array(), *machines = json_array();

	json_put_text(out, "name", study->experiment.name);
	for (size_t v = 0; v < study->experiment.variant_count; v++) {
		json_t *item = json_object();

		json_put_text(item, "name", study->experiment.variants[v]->name);
		json_put_text(item, "commit", study->refs[v].commit);
		json_put_text(item, "subject", study->refs[v].subject);
		json_push(variants, item);
	}
	json_put(out, "variants", variants);
	for (size_t m = 0; m < study->experiment.machine_count; m++)
		json_push(machines, machine_plan_json(study, m, runs));
	json_put(out, "machines", machines);
	json_put_int(out, "boots", outlook->planned.boots);
	json_put_int(out, "runs", outlook->planned.runs);
	json_put_int(out, "build_ns", left->build_ns);
	json_put_int(out, "boot_ns", left->boot_ns);
	json_put_int(out, "run_ns", left->run_ns);
	json_put_int(out, "wall_ns", left->wall_ns);
	json_put_bool(out, "measured", left->measured);
	json_put_int(out, "looks", experiment_looks(&study->experiment));
	if (experiment_looks(&study->experiment)) {
		json_put_int(out, "most_boots", outlook->most.boots);
		json_put_int(out, "most_runs", outlook->most.runs);
		json_put_int(out, "most_ns", outlook->most.left.wall_ns);
	}
	if (outlook->detects) {
		json_t *detects = json_array();

		for (size_t m = 0; m < study->experiment.machine_count; m++)
			json_push(detects, detect_json(&outlook->detects[m]));
		json_put(out, "detect", detects);
	}
	answer_json(out);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct study study = {0};
	struct outlook outlook;
	int ret = study_read(cmd, options->file, &study, err);

	if (!ret)
		ret = study_plan(cmd, &study, options->ask, err);
	if (!ret)
		ret = study_resolve(cmd, &study, err);
	if (!ret)
		ret = look_ahead(cmd, &study, &outlook, err);
	if (!ret && options->detect_pct > 0)
		ret = look_for_detection(cmd, options->detect_pct, &outlook, err);
	if (ret)
		return ret;
	if (cmd->global->json)
		write_json(&outlook, options->runs);
	else
		write_text(&outlook, options->runs);
	return 0;
}

const struct verb verb_plan = {
	.name = "plan",
	.summary = "what an experiment would do, and for how long",
	.about = "Prints the kernels with their commits, the conditions with their workers, "
		 "every boot in its order, and an estimate of the time from earlier runs or "
		 "from what the suites declare. Nothing is built, booted or stored.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
