/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/json_put.h"
#include "sys/regex.h"
#include "model/name.h"
#include "model/suite_file.h"

/* What a suite's file may say: the tables, the rules for single words, and writing it back. */

static const char *const better_names[] = {
	[BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower", NULL};
static const char *const reader_names[] = {[READER_REGEX] = "regex",
	[READER_JSON] = "json",
	[READER_CSV] = "csv",
	[READER_PERF] = "perf",
	NULL};
static const char *const which_names[] = {[WHICH_ONLY] = "only",
	[WHICH_FIRST] = "first",
	[WHICH_LAST] = "last",
	[WHICH_ALL] = "all",
	[WHICH_SUM] = "sum",
	[WHICH_NTH] = "nth",
	NULL};
static const char *const stream_names[] = {
	[STREAM_STDOUT] = "stdout", [STREAM_STDERR] = "stderr", [STREAM_BOTH] = "both", NULL};

const char *const suite_thread_names[] = {
	[THREADS_SUITE] = "suite", [THREADS_ALL] = "all", [THREADS_MAIN] = "main", NULL};

static int check_regex_groups(const char *text, int groups, struct err *err)
{
	struct regex *regex = NULL;
	int ret = regex_compile(text, &regex, err);

	if (ret)
		return err_wrap(err, "is not a regular expression");
	if (regex_groups(regex) < groups)
		ret = err_set(err, ERR_USAGE, "has no group (...) around the value");
	else if (regex_group_number(regex, "value") >= METRIC_GROUPS_MAX ||
		 regex_group_number(regex, "count") >= METRIC_GROUPS_MAX)
		ret = err_set(err, ERR_USAGE,
			"has too many groups before the one that is asked for: %d are looked at; "
			"(?:...) makes none",
			METRIC_GROUPS_MAX - 1);
	regex_free(regex);
	return ret;
}

static int check_regex(const char *text, struct err *err)
{
	return check_regex_groups(text, 0, err);
}

static int check_value_regex(const char *text, struct err *err)
{
	return check_regex_groups(text, 1, err);
}

static int check_column(const char *text, struct err *err)
{
	return *text ? name_check_line(text, err)
		     : err_set(err, ERR_USAGE, "is empty: nothing has that name");
}

static int check_json_path(const char *text, struct err *err)
{
	if (*text != '/')
		return err_set(err, ERR_USAGE,
			"is not a path such as /jobs/0/iops: it begins with a slash");
	for (const char *at = text; (at = strchr(at, '~')); at++)
		if (at[1] != '0' && at[1] != '1')
			return err_set(err, ERR_USAGE,
				"has a ~ that is neither ~0 (a tilde) nor ~1 (a slash)");
	return name_check_line(text, err);
}

static int check_sha256(const char *text, struct err *err)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64
		       ? 0
		       : err_set(err, ERR_USAGE, "is not a SHA-256 of 64 hex digits");
}

static int check_unit(const char *text, struct err *err)
{
	if (!*text || strlen(text) > 32)
		return err_set(err, ERR_USAGE, "is not a unit of 1 to 32 characters");
	return name_check_line(text, err);
}

int suite_file_check_param(const char *text, struct err *err)
{
	static const char *const taken[] = {
		"workers", "cpus", "saturation", "seconds", "max", "min"};
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

	if (!*text || strspn(text, allowed) != strlen(text) || strlen(text) > 32 ||
		(text[0] >= '0' && text[0] <= '9'))
		return err_set(
			err, ERR_USAGE, "is not the name of a parameter: a-z, 0-9 and _ only");
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (strcmp(taken[i], text) == 0)
			return err_set(err, ERR_USAGE, "is a word that templates know already");
	return 0;
}

/* regex:, json:, csv: and perf: are four keys for one pattern. */
static void read_pattern(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct metric_spec *metric = base;
	const char *text = opt_node_text(ctx, node, row->name);
	int reader = 0;

	while (strcmp(reader_names[reader], row->name) != 0)
		reader++;
	if (!text || !opt_node_check(ctx, node, row->name, text, row->check))
		return;
	if (metric->pattern)
		opt_node_error(ctx, node, "%s: the metric has %s already; one reader is wanted",
			row->name, reader_names[metric->reader]);
	metric->reader = (enum metric_reader)reader;
	metric->pattern = text;
}

static json_t *pattern_json(const struct opt *row, const void *base)
{
	const struct metric_spec *metric = base;

	return strcmp(reader_names[metric->reader], row->name) == 0 ? json_text(metric->pattern)
								    : NULL;
}

static void keep_params(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	if (opt_node_is(ctx, node, YNODE_MAP, row->name))
		((struct condition_draft *)base)->params = node;
}

static json_t *params_json(const struct opt *row KB_UNUSED, const void *base)
{
	static const struct opt pairs = {
		"params", OPT_PAIRS, .offset = offsetof(struct condition_spec, params)};

	return opt_json_value(&pairs, base);
}

static json_t *conditions_json(const struct opt *row, const void *base)
{
	const struct suite *suite = base;
	json_t *map = json_object();

	for (size_t i = 0; i < suite->condition_count; i++)
		json_put(
			map, suite->conditions[i].name, opt_json(row->rows, &suite->conditions[i]));
	return map;
}

static json_t *metrics_json(const struct opt *row, const void *base)
{
	const struct suite *suite = base;
	json_t *map = json_object();

	for (size_t i = 0; i < suite->metric_count; i++)
		json_put(map, suite->metrics[i].name, opt_json(row->rows, &suite->metrics[i]));
	return map;
}

static json_t *echoes_json(const struct opt *row, const void *base)
{
	const struct suite *suite = base;
	json_t *list;

	if (!suite->echo_count)
		return NULL;
	list = json_array();
	for (size_t i = 0; i < suite->echo_count; i++)
		json_push(list, opt_json(row->rows, &suite->echoes[i]));
	return list;
}

static json_t *words_json(const char *const *words)
{
	json_t *list = json_array();

	for (; *words; words++)
		json_push(list, json_text(*words));
	return list;
}

static json_t *commands_json(const struct opt *row, const void *base)
{
	const struct command_list *commands = (const void *)((const char *)base + row->offset);
	json_t *list;

	if (!commands->count)
		return NULL;
	list = json_array();
	for (size_t i = 0; i < commands->count; i++)
		json_push(list, words_json(commands->items[i]));
	return list;
}

/* clang-format off */

#define CONDITION(member) offsetof(struct condition_draft, spec.member)
const struct opt condition_opts[] = {
	{"argv", OPT_LIST, CONDITION(argv), .required = true, .min = 1, .max = 200,
		.help = "argument list; templates"},
	{"params", OPT_CUSTOM, .read = keep_params, .json = params_json,
		.help = "parameter and value, or list of values that makes a condition of each"},
	{"duration", OPT_DURATION, CONDITION(duration_ns), .max = 86400e9,
		.help = "asked of the program as {seconds}; without it the work is fixed"},
	{"expect", OPT_DURATION, CONDITION(expect_ns), .max = 86400e9,
		.help = "about how long a run takes"},
	{"timeout", OPT_DURATION, CONDITION(timeout_ns), .max = 2 * 86400e9,
		.help = "when a run is ended"},
	OPT_END};

#define METRIC(member) offsetof(struct metric_spec, member)
const struct opt metric_opts[] = {
	{"unit", OPT_TEXT, METRIC(unit), .required = true, .check = check_unit,
		.help = "of the stored values"},
	{"better", OPT_CHOICE, METRIC(better), .required = true, .choices = better_names,
		.help = "higher or lower"},
	{"regex", OPT_CUSTOM, .read = read_pattern, .json = pattern_json,
		.check = check_value_regex, .help = "the value is group 1"},
	{"json", OPT_CUSTOM, .read = read_pattern, .json = pattern_json,
		.check = check_json_path, .help = "path of the value in JSON output"},
	{"csv", OPT_CUSTOM, .read = read_pattern, .json = pattern_json,
		.check = check_column, .help = "column of the value in CSV output"},
	{"perf", OPT_CUSTOM, .read = read_pattern, .json = pattern_json,
		.check = check_column, .help = "event whose count perf stat prints"},
	{"within", OPT_TEXT, METRIC(within), .check = check_regex,
		.help = "a regular expression; only what it matches is looked at"},
	{"which", OPT_CHOICE, METRIC(which), .def = "only", .choices = which_names,
		.help = "which match counts; with only, a second match makes the run invalid"},
	{"nth", OPT_INT, METRIC(nth), .min = 0, .max = 1e6,
		.help = "for which: nth, from 1"},
	{"percentile", OPT_PCT, METRIC(percentile), .min = 0.001, .max = 99.9999,
		.help = "which percentile the value is; with which: all, that is taken of the values"},
	{"min_count", OPT_INT, METRIC(min_count), .min = 0, .max = 1e12,
		.help = "a value with fewer observations behind it counts as absent"},
	{"from", OPT_CHOICE, METRIC(from), .def = "stdout", .choices = stream_names,
		.help = "where the program prints it"},
	{"scale", OPT_DOUBLE, METRIC(scale), .def = "1", .min = 1e-15, .max = 1e15,
		.help = "the value read is multiplied by this"},
	{"optional", OPT_BOOL, METRIC(optional),
		.help = "its absence does not make the run invalid"},
	{"zero_ok", OPT_BOOL, METRIC(zero_ok),
		.help = "0 is a measurement; otherwise it makes the run invalid"},
	OPT_END};

#define ECHO(member) offsetof(struct echo_check, member)
const struct opt echo_opts[] = {
	{"regex", OPT_TEXT, ECHO(pattern), .required = true, .check = check_value_regex,
		.help = "group 1 is what the program says it does"},
	{"expect", OPT_TEXT, ECHO(expect), .required = true,
		.help = "what that must be; a template"},
	{"from", OPT_CHOICE, ECHO(from), .def = "stdout", .choices = stream_names,
		.help = "where the program prints it"},
	OPT_END};

#define SUITE(member) offsetof(struct suite, member)
const struct opt suite_opts[] = {
	{"suite", OPT_TEXT, SUITE(name), .required = true, .check = name_check,
		.help = "its name"},
	{"about", OPT_TEXT, SUITE(about), .def = "", .check = name_check_line,
		.help = "what it measures, in one line"},
	{"homepage", OPT_TEXT, SUITE(homepage), .def = "", .check = name_check_line,
		.help = "where to get the program"},
	{"program", OPT_TEXT, SUITE(program), .required = true, .check = name_check,
		.help = "the program; every argv begins with it"},
	{"version", OPT_LIST, SUITE(version), .min = 1, .max = 20,
		.help = "argument list; the first line that it prints is stored as the program's"},
	{"optional", OPT_BOOL, SUITE(optional),
		.help = "it is left out on machines without the program"},
	{"native", OPT_BOOL, SUITE(native),
		.help = "one of kbracket's own workloads"},
	{"control", OPT_BOOL, SUITE(control),
		.help = "no kernel change should move it; never part of the headline"},
	{"tasks_per_worker", OPT_INT, SUITE(tasks_per_worker), .def = "1", .min = 1, .max = 1000,
		.help = "runnable tasks that one worker is"},
	{"extra_tasks", OPT_INT, SUITE(extra_tasks), .min = 0, .max = 100000,
		.help = "runnable tasks besides the workers"},
	{"tasks", OPT_TEXT, SUITE(tasks), .def = "", .check = name_check_line,
		.help = "runnable tasks of a condition, a template, instead of these two"},
	{"on_second", OPT_BOOL, SUITE(on_second),
		.help = "start at a second's edge"},
	{"env", OPT_PAIRS, SUITE(env), .max = 100, .check_key = name_check_env,
		.check = name_check_line, .help = "environment; values are templates"},
	{"files", OPT_PAIRS, SUITE(files), .max = 100, .path = true, .check_key = name_check,
		.check = name_check_line,
		.help = "input: name in the folder that the program starts in, path here"},
	{"files_sha256", OPT_PAIRS, SUITE(files_sha256), .max = 100, .check_key = name_check,
		.check = check_sha256, .help = "what they must be"},
	{"setup", OPT_CUSTOM, SUITE(setup), .read = suite_file_read_commands,
		.json = commands_json, .help = "argument lists, run before each run; templates"},
	{"server", OPT_LIST, SUITE(server), .min = 1, .max = 200,
		.help = "argument list of what serves the program during a run; templates"},
	{"server_version", OPT_LIST, SUITE(server_version), .min = 1, .max = 20,
		.help = "argument list that prints the server's version, beginning with it"},
	{"ready", OPT_LIST, SUITE(ready), .min = 1, .max = 200,
		.help = "argument list; the server is ready once it exits with 0; templates"},
	{"ready_port", OPT_INT, SUITE(ready_port), .min = 0, .max = 65535,
		.help = "the server is ready once it takes connections there, on 127.0.0.1"},
	{"teardown", OPT_CUSTOM, SUITE(teardown), .read = suite_file_read_commands,
		.json = commands_json, .help = "argument lists, run after each run; templates"},
	{"step", OPT_DURATION, SUITE(step_ns), .def = "60s", .min = 1e6, .max = 3600e9,
		.help = "time for each of these commands, and for the server to be ready"},
	{"fail_if", OPT_LIST, SUITE(fail_if), .max = 100, .check = check_regex,
		.help = "regular expressions; output that matches one makes the run invalid"},
	{"echo", OPT_CUSTOM, .rows = echo_opts, .read = suite_file_read_echoes,
		.json = echoes_json,
		.help = "what the program prints about its own parameters, and must print"},
	{"tolerance", OPT_PCT, SUITE(tolerance_pct), .max = 1000,
		.help = "how far a timed run's length may be off; without it, not looked at"},
	{"overrun", OPT_PCT, SUITE(overrun_pct), .max = 10000,
		.help = "the same for a run that lasts longer; without it, as tolerance"},
	{"operations", OPT_TEXT, SUITE(operations), .def = "", .check = name_check_line,
		.help = "what counts are divided by: a metric's name (a rate is multiplied by the "
			"run's seconds), or a template such as \"{workers * loops}\""},
	{"counter_threads", OPT_CHOICE, SUITE(counter_threads), .def = "all",
		.choices = suite_thread_names,
		.help = "whose events are counted: all, or main, the program's first thread alone"},
	{"output", OPT_BYTES, SUITE(output_bytes), .def = "1M", .min = 4096, .max = 1 << 30,
		.help = "bound of stdout and of stderr; more makes the run invalid"},
	{"duration", OPT_DURATION, SUITE(duration_ns), .max = 86400e9,
		.help = "of conditions that do not say"},
	{"duration_step", OPT_DURATION, SUITE(duration_step_ns), .max = 3600e9,
		.help = "durations are rounded up to a multiple of it; without it, any will do"},
	{"expect", OPT_DURATION, SUITE(expect_ns), .max = 86400e9,
		.help = "of conditions that do not say"},
	{"timeout", OPT_DURATION, SUITE(timeout_ns), .max = 2 * 86400e9,
		.help = "of conditions that do not say"},
	{"conditions", OPT_CUSTOM, .required = true, .rows = condition_opts,
		.read = suite_file_read_conditions, .json = conditions_json,
		.help = "name and call of each condition"},
	{"metrics", OPT_CUSTOM, .required = true, .rows = metric_opts,
		.read = suite_file_read_metrics, .json = metrics_json,
		.help = "name and reader of each metric"},
	OPT_END};

/* clang-format on */

json_t *suite_json(const struct suite *suite)
{
	return opt_json(suite_opts, suite);
}
