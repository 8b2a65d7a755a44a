/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket suite try: what a suite would store, of one run here or of output that is at hand. */
#include "base/base.h"

#include <unistd.h>

#include "backend/reader.h"
#include "base/file.h"
#include "base/num.h"
#include "cmd/answer.h"
#include "cmd/places.h"
#include "cmd/study.h"
#include "run/trial.h"
#include "sys/json_put.h"
#include "sys/proc.h"

enum { OUTPUT_MAX_BYTES = 64 << 20 };

struct options {
	struct global global;
	const char *what, *file, *output, *err_output, *condition;
	int64_t cpus;
	double saturation_pct;
};

static int check_what(const char *text, struct err *err)
{
	return strcmp(text, "try") ? err_set(err, ERR_USAGE, "must be try") : 0;
}

static const struct opt rows[] = {
	{.name = "WHAT",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, what),
		.check = check_what,
		.help = "try: one run, and what would be stored of it"},
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_PATH,
		.offset = offsetof(struct options, file),
		.help = "the suite's file"},
	{.name = "OUTPUT",
		.positional = true,
		.type = OPT_PATH,
		.offset = offsetof(struct options, output),
		.help = "a file with what the program printed on stdout, to be read instead of "
			"running it"},
	{.name = "stderr",
		.type = OPT_PATH,
		.offset = offsetof(struct options, err_output),
		.arg = "FILE",
		.help = "the same of stderr"},
	{.name = "condition",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, condition),
		.arg = "NAME",
		.help = "which one; the file's first when left out"},
	{.name = "saturation",
		.type = OPT_PCT,
		.offset = offsetof(struct options, saturation_pct),
		.def = "100%",
		.max = 10000,
		.arg = "PCT",
		.help = "workers in per cent of the CPUs"},
	{.name = "cpus",
		.type = OPT_INT,
		.offset = offsetof(struct options, cpus),
		.max = MACHINE_CPUS_MAX,
		.arg = "N",
		.help = "the CPUs of the machine that OUTPUT is from, when they are not this "
			"host's"},
	GLOBAL_ROWS(options),
	OPT_END,
};

/* What was seen of a run. */
struct seen {
	struct program_output output;
	const char *how;    /* it ended; NULL: it was not run */
	const char *reason; /* why it gives no numbers; NULL: it may give some */
	const struct store_flag *flags;
	size_t flag_count;
};

static const struct condition *pick(
	struct cmd *cmd, const struct options *options, const struct suite *suite, struct err *err)
{
	int64_t cpus = options->cpus ? options->cpus : sysconf(_SC_NPROCESSORS_ONLN);
	struct condition *conditions;
	size_t count;

	if (suite_expand(
		    cmd->arena, suite, cpus, &options->saturation_pct, 1, &conditions, &count, err))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (!options->condition || !strcmp(conditions[i].spec->name, options->condition))
			return &conditions[i];
	err_set(err, ERR_USAGE, "the suite %s has no condition '%.60s'; it has %s%s", suite->name,
		options->condition, conditions[0].spec->name, count > 1 ? " and others" : "");
	return NULL;
}

static int read_output(const struct options *options, struct str *out, struct str *err_out,
	struct seen *seen, struct err *err)
{
	int ret = options->output ? file_read(options->output, OUTPUT_MAX_BYTES, out, err) : 0;

	if (!ret && options->err_output)
		ret = file_read(options->err_output, OUTPUT_MAX_BYTES, err_out, err);
	seen->output =
		(struct program_output){str_text(out), out->len, str_text(err_out), err_out->len};
	return ret;
}

/* The program as an experiment on a `local` machine finds it. */
static const char *find_program(struct cmd *cmd, const struct suite *suite, struct err *err)
{
	const char *path = NULL;
	char *found;

	if (suite->native) {
		path = arena_printf(cmd->arena, "%s/%s", places_native(cmd->arena), suite->program);
	} else {
		found = proc_find_program(suite->program);
		path = found ? arena_strdup(cmd->arena, found) : NULL;
		free(found);
	}
	if (!path)
		err_set(err, ERR_USAGE, "there is no program '%s' here%s%s", suite->program,
			suite->homepage[0] ? "; it is to be had at " : "", suite->homepage);
	return path;
}

static int run_here(struct cmd *cmd, struct suite *suite, const struct condition *condition,
	struct trial *trial, struct seen *seen, struct err *err)
{
	const char *program = find_program(cmd, suite, err);
	struct str how = STR_INIT;
	int ret;

	if (!program || suite_pin_files(cmd->arena, suite, err))
		return ERR_USAGE;
	ret = trial_run(condition, places_agent(cmd->arena), program, cmd->arena, trial, err);
	if (ret)
		return ret;
	seen->output.out = outcome_part(&trial->outcome, "stdout", &seen->output.out_len);
	seen->output.err_out = outcome_part(&trial->outcome, "stderr", &seen->output.err_len);
	seen->reason = trial->outcome.reason ? trial->outcome.detail : NULL;
	seen->flags = trial->flags;
	seen->flag_count = trial->flag_count;
	if (trial->outcome.wall_ns >= 0) {
		if (trial->outcome.exit_code >= 0)
			str_addf(&how, "exit %lld after ", (long long)trial->outcome.exit_code);
		else
			str_add(&how, "ended after ");
		num_add_duration(&how, trial->outcome.wall_ns);
		seen->how = arena_strdup(cmd->arena, str_text(&how));
	}
	str_release(&how);
	return 0;
}

static void add_words(struct str *out, const char *const *words)
{
	for (; *words; words++) {
		str_add_char(out, ' ');
		str_add_safe(out, *words, strlen(*words));
	}
}

static void tell_text(const struct condition *condition, const struct seen *seen,
	const struct reading *reading, const char *invalid)
{
	const struct suite *suite = condition->suite;
	struct str out = STR_INIT;

	str_addf(&out, "%s, %lld CPUs", condition->name, (long long)condition->cpus);
	if (condition->workers)
		str_addf(&out, ", %lld workers, %lld tasks", (long long)condition->workers,
			(long long)condition->tasks);
	str_add(&out, "\n$");
	add_words(&out, condition->env);
	add_words(&out, condition->argv);
	str_addf(&out, "\n%s%s", seen->how ? seen->how : "", seen->how ? "\n" : "");
	for (size_t i = 0; i < reading->count; i++) {
		const struct metric_spec *metric = &suite->metrics[reading->values[i].metric];

		str_addf(&out, "  %s %d: ", metric->name, reading->values[i].ordinal);
		num_add_double(&out, reading->values[i].value);
		str_addf(&out, " %s (%s is better)", metric->unit,
			metric->better == BETTER_HIGHER ? "higher" : "lower");
		if (reading->values[i].observations)
			str_addf(&out, ", of %lld observations",
				(long long)reading->values[i].observations);
		str_add_char(&out, '\n');
	}
	if (invalid) {
		str_add(&out, "invalid: ");
		str_add_safe(&out, invalid, strlen(invalid));
		str_add_char(&out, '\n');
	}
	for (size_t i = 0; i < seen->flag_count; i++)
		str_addf(&out, "flag: %s: %s\n", seen->flags[i].reason, seen->flags[i].detail);
	ui_write_text(&out);
	str_release(&out);
}

static void tell_json(const struct condition *condition, const struct seen *seen,
	const struct reading *reading, const char *invalid)
{
	const struct suite *suite = condition->suite;
	json_t *o = json_object(), *samples = json_array(), *flags = json_array();

	for (size_t i = 0; i < reading->count; i++) {
		json_t *sample = json_object();

		json_put_text(sample, "metric", suite->metrics[reading->values[i].metric].name);
		json_put_int(sample, "ordinal", reading->values[i].ordinal);
		json_put_num(sample, "value", reading->values[i].value);
		json_put_text(sample, "unit", suite->metrics[reading->values[i].metric].unit);
		if (reading->values[i].observations)
			json_put_int(sample, "observations", reading->values[i].observations);
		json_push(samples, sample);
	}
	for (size_t i = 0; i < seen->flag_count; i++) {
		json_t *flag = json_object();

		json_put_text(flag, "reason", seen->flags[i].reason);
		json_put_text(flag, "detail", seen->flags[i].detail);
		json_push(flags, flag);
	}
	json_put_text(o, "condition", condition->name);
	json_put_int(o, "cpus", condition->cpus);
	json_put_int(o, "workers", condition->workers);
	json_put_int(o, "tasks", condition->tasks);
	json_put_text(o, "ended", seen->how);
	json_put_text(o, "invalid", invalid);
	json_put(o, "samples", samples);
	json_put(o, "flags", flags);
	answer_json(o);
}

static int try_condition(struct cmd *cmd, const struct options *options, struct suite *suite,
	const struct condition *condition, struct err *err)
{
	struct str out = STR_INIT, err_out = STR_INIT;
	struct trial trial = {.outcome = {.reason = NULL}};
	struct reading reading = READING_INIT;
	struct seen seen = {.how = NULL};
	struct err why = ERR_INIT;
	bool given = options->output || options->err_output;
	int ret = given ? read_output(options, &out, &err_out, &seen, err)
			: run_here(cmd, suite, condition, &trial, &seen, err);
	const char *invalid = seen.reason;

	if (!ret && !invalid && reader_read(condition, &seen.output, &reading, &why))
		invalid = why.text;
	if (!ret && cmd->global->json)
		tell_json(condition, &seen, &reading, invalid);
	else if (!ret)
		tell_text(condition, &seen, &reading, invalid);
	reading_release(&reading);
	outcome_release(&trial.outcome);
	str_release(&out);
	str_release(&err_out);
	return ret ? ret : invalid ? STATUS_OPEN : STATUS_FINE;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	const struct condition *condition;
	struct diag diag = DIAG_INIT;
	struct suite suite;

	if (suite_read(cmd->arena, options->file, &suite, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	condition = pick(cmd, options, &suite, err);
	return condition ? try_condition(cmd, options, &suite, condition, err) : ERR_USAGE;
}

const struct verb verb_suite = {
	.name = "suite",
	.summary = "try a suite: one run, and what would be stored",
	.about = "Runs one condition of a suite once on this host, as an experiment would, or "
		 "takes output that is at hand, and shows every sample that would be stored, or "
		 "why there is none. Nothing is stored. Ends with 4 when the run is invalid.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
