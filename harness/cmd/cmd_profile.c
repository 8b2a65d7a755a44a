/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket profile: which functions a variant spends more time in than its baseline. */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "cmd/answer.h"
#include "cmd/study.h"
#include "model/name.h"
#include "report/profile.h"

/* Samples of a run that perf's file and its reading have room for; the rate is chosen by it. */
static const double samples_wanted = 100000;
enum { HZ_MAX = 499 };

struct options {
	struct global global;
	const char *variant, *condition, *in, *against, *machine, *again;
	int64_t boots, runs, hz, lines, jobs;
};

static const struct opt rows[] = {
	{.name = "VARIANT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, variant),
		.help = "the variant to look at"},
	{.name = "CONDITION",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, condition),
		.help = "what is run, as the report names it: 'hackbench/pairs 50%'"},
	{.name = "in",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, in),
		.arg = "EXPERIMENT",
		.help = "whose they are: number, name, or file; the newest when left out"},
	{.name = "against",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, against),
		.arg = "VARIANT",
		.help = "what it is compared with, instead of its baseline"},
	{.name = "machine",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, machine),
		.arg = "NAME",
		.help = "where, if the experiment has several machines"},
	{.name = "boots",
		.type = OPT_INT,
		.offset = offsetof(struct options, boots),
		.def = "2",
		.min = 2,
		.max = 100,
		.arg = "N",
		.help = "boots of each of the two; even"},
	{.name = "runs",
		.type = OPT_INT,
		.offset = offsetof(struct options, runs),
		.def = "3",
		.min = 1,
		.max = 100,
		.arg = "N",
		.help = "runs under perf in a boot"},
	{.name = "frequency",
		.type = OPT_INT,
		.offset = offsetof(struct options, hz),
		.def = "0",
		.min = 0,
		.max = 20000,
		.arg = "HZ",
		.help = "samples a second and CPU; 0: by the length of a run, at most 499"},
	{.name = "lines",
		.type = OPT_INT,
		.offset = offsetof(struct options, lines),
		.def = "20",
		.min = 1,
		.max = 100000,
		.arg = "N",
		.help = "functions that are listed"},
	{.name = "again",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, again),
		.arg = "EXPERIMENT",
		.help = "only print a profile that was made before"},
	JOBS_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static int print(struct cmd *cmd, int64_t id, int64_t lines, struct err *err)
{
	struct layout layout = answer_layout();
	struct str out = STR_INIT;
	struct profile profile;
	int ret = profile_load(cmd->store, id, cmd->arena, &profile, err);

	if (ret)
		return ret;
	if (cmd->global->json)
		profile_write_json(&profile, &out);
	else
		profile_write_text(&profile, (size_t)lines, &layout, &out);
	ui_write_text(&out);
	str_release(&out);
	return STATUS_FINE;
}

static int print_again(struct cmd *cmd, const struct options *options, struct err *err)
{
	int64_t id;
	int ret = store_open(cmd->db_path, STORE_READ, &cmd->store, err);

	if (!ret)
		ret = store_find(cmd->store, options->again, &id, err);
	return ret ? ret : print(cmd, id, options->lines, err);
}

/* The newest experiment that is no profile itself. */
static int find_newest(struct cmd *cmd, struct study *study, struct err *err)
{
	struct store_experiment *heads;
	size_t count;
	int ret = store_list(cmd->store, cmd->arena, &heads, &count, err);

	for (size_t i = 0; i < count && !ret; i++) {
		struct store_experiment head;

		if (heads[i].kind != KIND_EXPERIMENT)
			continue;
		ret = store_load_head(cmd->store, heads[i].id, cmd->arena, &head, err);
		if (!ret)
			ret = study_read_stored(cmd, &head, study, err);
		if (!ret && !study->experiment.profile_hz)
			return 0;
	}
	return ret ? ret
		   : err_set(err, ERR_NOT_FOUND,
			     "there is no experiment to profile yet; --in names its file");
}

/* From a file, or from what was stored with an experiment. */
static int read_study(
	struct cmd *cmd, const struct options *options, struct study *study, struct err *err)
{
	struct store_experiment head;
	int64_t id;
	int ret;

	if (options->in && file_exists(options->in)) {
		ret = study_read(cmd, options->in, study, err);
		return ret ? ret : study_open_store(cmd, study, STORE_WRITE, err);
	}
	ret = file_exists(cmd->db_path) ? store_open(cmd->db_path, STORE_WRITE, &cmd->store, err)
					: store_open(cmd->db_path, STORE_READ, &cmd->store, err);
	if (!ret && !options->in)
		return find_newest(cmd, study, err);
	if (!ret)
		ret = store_find(cmd->store, options->in, &id, err);
	if (!ret)
		ret = store_load_head(cmd->store, id, cmd->arena, &head, err);
	return ret ? ret : study_read_stored(cmd, &head, study, err);
}

static int keep_one_machine(struct study *study, const char *name, struct err *err)
{
	if (name)
		return study_keep_machine(&study->experiment, name, err);
	if (study->experiment.machine_count > 1)
		return err_set(err, ERR_USAGE,
			"experiment %s has several machines; --machine says which",
			study->experiment.name);
	return 0;
}

static void tell_conditions(
	const struct plan *plan, const char *name, bool several, struct err *err)
{
	struct str list = STR_INIT;

	for (size_t i = 0; i < plan->condition_count && list.len < 250; i++)
		if (!several || str_starts(plan->conditions[i].name, name))
			str_addf(&list, "%s'%s'", list.len ? ", " : "", plan->conditions[i].name);
	err_set(err, ERR_USAGE,
		several ? "'%.80s' is the start of several conditions: %s"
			: "the experiment has no condition '%.80s'; it has %s",
		name, str_text(&list));
	str_release(&list);
}

/* The condition with that name, or the only one that the name is the start of. */
static const struct condition *find_condition(
	const struct plan *plan, const char *name, struct err *err)
{
	const struct condition *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < plan->condition_count; i++) {
		const struct condition *condition = &plan->conditions[i];

		if (strcmp(condition->name, name) == 0)
			return condition;
		if (!str_starts(condition->name, name))
			continue;
		found = condition;
		count++;
	}
	if (count == 1)
		return found;
	tell_conditions(plan, name, count > 0, err);
	return NULL;
}

static int find_variant(const struct experiment *experiment, const char *name, struct err *err)
{
	struct nearest nearest;
	int found = experiment_variant_index(experiment, name);

	if (found >= 0)
		return found;
	nearest_init(&nearest, name);
	for (size_t i = 0; i < experiment->variant_count; i++)
		nearest_try(&nearest, experiment->variants[i]->name);
	return err_set(err, ERR_USAGE, "experiment %s has no variant '%.60s'%s", experiment->name,
		name, nearest_hint(&nearest));
}

/* The two kernels alone, one the other's baseline. */
static int keep_pair(struct arena *arena, struct experiment *experiment,
	const struct options *options, struct err *err)
{
	const struct variant **pair = arena_alloc(arena, 3 * sizeof(*pair));
	struct variant *copies = arena_alloc(arena, 2 * sizeof(*copies));
	int variant = find_variant(experiment, options->variant, err), against;

	if (variant < 0)
		return variant;
	against = options->against ? find_variant(experiment, options->against, err)
				   : (int)experiment_baseline_of(experiment, (size_t)variant);
	if (against < 0)
		return against;
	if (variant == against)
		return err_set(err, ERR_USAGE,
			"%s cannot be compared with itself; --against names another variant",
			options->variant);
	copies[0] = *experiment->variants[against];
	copies[1] = *experiment->variants[variant];
	for (size_t i = 0; i < 2; i++) {
		copies[i].against = NULL;
		pair[i] = &copies[i];
	}
	experiment->variants = pair;
	experiment->variant_count = experiment->listed_count = 2;
	return 0;
}

static int64_t rate_for(const struct condition *condition)
{
	double seconds = (double)condition->spec->expect_ns / (double)NS_PER_S;
	double hz = samples_wanted / ((double)condition->cpus * (seconds > 0.01 ? seconds : 0.01));

	return hz > HZ_MAX ? HZ_MAX : hz < 1 ? 1 : (int64_t)hz;
}

/* The condition alone, its suite without the others. */
static void keep_condition(
	struct arena *arena, struct experiment *experiment, const struct condition *condition)
{
	struct suite *suite = arena_copy(arena, condition->suite, 1, sizeof(*suite));

	suite_keep_condition(arena, suite, condition->spec);
	experiment->suites = suite;
	experiment->suite_count = 1;
	if (condition->saturation_pct > 0) {
		experiment->saturations_pct =
			arena_copy(arena, &condition->saturation_pct, 1, sizeof(double));
		experiment->saturation_count = 1;
	}
}

static void set_design(
	struct arena *arena, struct experiment *experiment, const struct options *options)
{
	static const char *const none[] = {NULL};
	struct design *design = &experiment->design;

	design->order = ORDER_BRACKETED;
	design->until = UNTIL_BOOTS;
	design->max_boots = 0;
	design->boots = options->boots;
	design->runs = options->runs;
	design->warmup = 1;
	experiment->decide = none;
	experiment->counting = (struct counting){none, none, THREADS_SUITE, 1};
	experiment->name = arena_printf(arena, "%.50s-profile", experiment->name);
}

/* From the experiment to one of two kernels and one condition, under perf. */
static int narrow(
	struct cmd *cmd, const struct options *options, struct study *study, struct err *err)
{
	struct experiment *experiment = &study->experiment;
	const struct condition *condition = NULL;
	int ret = keep_one_machine(study, options->machine, err);

	if (!ret)
		ret = keep_pair(cmd->arena, experiment, options, err);
	if (!ret)
		ret = study_plan(cmd, study, true, err);
	if (!ret) {
		condition = find_condition(&study->plans[0], options->condition, err);
		ret = condition ? 0 : ERR_USAGE;
	}
	if (ret)
		return ret;
	experiment->profile_hz = options->hz ? options->hz : rate_for(condition);
	keep_condition(cmd->arena, experiment, condition);
	set_design(cmd->arena, experiment, options);
	return study_plan(cmd, study, true, err);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct study study = {0};
	int64_t id;
	int ret;

	if (options->again && !options->variant)
		return print_again(cmd, options, err);
	if (options->again || !options->condition)
		return err_set(err, ERR_USAGE,
			"a variant and a condition are wanted, or --again and a profile");
	if (options->boots % 2)
		return err_set(err, ERR_USAGE, "the number of boots is even: A B B A");
	ret = read_study(cmd, options, &study, err);
	study.engine.jobs = options->jobs;
	if (!ret)
		ret = narrow(cmd, options, &study, err);
	if (!ret)
		ret = study_resolve(cmd, &study, err);
	if (!ret)
		ret = study_create(cmd, &study, KIND_EXPERIMENT, &id, err);
	if (!ret)
		ret = study_walk(cmd, &study, id, err);
	if (!ret)
		ret = store_experiment_move(cmd->store, id, STATE_DONE, err);
	return ret ? ret : print(cmd, id, options->lines, err);
}

const struct verb verb_profile = {
	.name = "profile",
	.summary = "which functions a variant spends more time in",
	.about = "Boots a variant and its baseline in brackets and runs one condition under "
		 "`perf record`, in runs of their own. Prints which functions gained or lost "
		 "samples between the two. What perf wrote is kept with the runs.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
