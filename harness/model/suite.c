/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "model/name.h"
#include "model/suite_file.h"
#include "model/template.h"

enum { METRICS_MAX = 100, ECHOES_MAX = 50, COMMANDS_MAX = 50 };

static void read_metric(const struct opt_ctx *ctx, const struct opt *rows, const struct ynode *name,
	const struct ynode *node, struct metric_spec *metric)
{
	/* also of one that cannot be read: the others are still looked for by their names */
	metric->name = name->text;
	metric->place = suite_file_place(name);
	(void)opt_node_check(ctx, name, "metrics", name->text, name_check); /* told in diag */
	if (opt_read_map(ctx, rows, node, metric, "a metric"))
		return;
	if (!metric->pattern)
		opt_node_error(ctx, name, "metric '%s' has neither regex, json, csv nor perf",
			metric->name);
	if ((metric->which == WHICH_NTH) != (metric->nth > 0))
		opt_node_error(
			ctx, name, "metric '%s': which: nth and nth: N go together", metric->name);
}

void suite_file_read_metrics(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct suite *suite = base;

	if (!opt_node_is(ctx, node, YNODE_MAP, row->name))
		return;
	if (!node->count || node->count > METRICS_MAX) {
		opt_node_error(ctx, node, "there are %zu metrics; 1 to %d are wanted", node->count,
			METRICS_MAX);
		return;
	}
	suite->metrics = arena_alloc(ctx->arena, node->count * sizeof(*suite->metrics));
	suite->metric_count = node->count;
	for (size_t i = 0; i < node->count; i++)
		read_metric(ctx, row->rows, node->keys[i], node->items[i], &suite->metrics[i]);
}

void suite_file_read_echoes(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct suite *suite = base;

	if (!opt_node_is(ctx, node, YNODE_SEQ, row->name))
		return;
	if (node->count > ECHOES_MAX) {
		opt_node_error(ctx, node, "there are more than %d echo checks", ECHOES_MAX);
		return;
	}
	suite->echoes = arena_alloc(ctx->arena, (node->count + 1) * sizeof(*suite->echoes));
	suite->echo_count = node->count;
	for (size_t i = 0; i < node->count; i++)
		/* what is wrong is in diag */
		(void)!opt_read_map(
			ctx, row->rows, node->items[i], &suite->echoes[i], "an echo check");
}

void suite_file_read_commands(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct command_list *commands = (void *)((char *)base + row->offset);
	const char *const *argv = NULL;
	const struct opt one = {row->name, OPT_LIST, 0, .min = 1, .max = 200};

	if (!opt_node_is(ctx, node, YNODE_SEQ, row->name))
		return;
	if (node->count > COMMANDS_MAX) {
		opt_node_error(
			ctx, node, "%s: there are more than %d commands", row->name, COMMANDS_MAX);
		return;
	}
	commands->items = arena_alloc(ctx->arena, (node->count + 1) * sizeof(*commands->items));
	for (size_t i = 0; i < node->count; i++) {
		argv = NULL;
		opt_read_value(ctx, &one, node->items[i], &argv);
		if (argv)
			commands->items[commands->count++] = argv;
	}
}

/* Whether any template of the condition uses the name. */
static bool condition_uses(
	const struct suite *suite, const struct condition_spec *spec, const char *name)
{
	for (const char *const *arg = spec->argv; *arg; arg++)
		if (template_uses(*arg, name))
			return true;
	for (size_t i = 0; i < suite->env.count; i++)
		if (template_uses(suite->env.items[i].value, name))
			return true;
	return false;
}

static void check_template(const struct opt_ctx *ctx, const struct condition_spec *spec,
	const char *what, const char *text)
{
	struct err err = ERR_INIT;

	if (template_check(text, &spec->params, &err))
		diag_add(ctx->diag, spec->place.file, spec->place.line, spec->place.column,
			"condition '%s': %s '%.60s': %s", spec->name, what, text, err.text);
}

static void check_argv(const struct opt_ctx *ctx, const struct condition_spec *spec,
	const char *what, const char *const *argv)
{
	for (; *argv; argv++)
		check_template(ctx, spec, what, *argv);
}

static void check_around(
	const struct opt_ctx *ctx, const struct suite *suite, const struct condition_spec *spec)
{
	for (size_t i = 0; i < suite->setup.count; i++)
		check_argv(ctx, spec, "setup", suite->setup.items[i]);
	for (size_t i = 0; i < suite->teardown.count; i++)
		check_argv(ctx, spec, "teardown", suite->teardown.items[i]);
	check_argv(ctx, spec, "server", suite->server);
	check_argv(ctx, spec, "server_version", suite->server_version);
	check_argv(ctx, spec, "ready", suite->ready);
}

static void check_templates(
	const struct opt_ctx *ctx, const struct suite *suite, const struct condition_spec *spec)
{
	for (const char *const *arg = spec->argv; *arg; arg++)
		check_template(ctx, spec, "argv", *arg);
	for (size_t i = 0; i < suite->env.count; i++)
		check_template(ctx, spec, "env", suite->env.items[i].value);
	for (size_t i = 0; i < suite->echo_count; i++)
		if (suite->echoes[i].expect)
			check_template(ctx, spec, "echo", suite->echoes[i].expect);
	check_template(ctx, spec, "operations", suite->operations);
	check_template(ctx, spec, "tasks", suite->tasks);
	check_around(ctx, suite, spec);
	if (suite->program && strcmp(spec->argv[0], suite->program) != 0)
		diag_add(ctx->diag, spec->place.file, spec->place.line, spec->place.column,
			"condition '%s': argv begins with '%.60s', not with the program '%s'",
			spec->name, spec->argv[0], suite->program);
	if (!spec->duration_ns && condition_uses(suite, spec, "seconds"))
		diag_add(ctx->diag, spec->place.file, spec->place.line, spec->place.column,
			"condition '%s' uses {seconds} but has no duration", spec->name);
}

/* As the program can be asked. */
static int64_t whole_steps(const struct suite *suite, int64_t duration_ns)
{
	int64_t step = suite->duration_step_ns;

	return step ? (duration_ns + step - 1) / step * step : duration_ns;
}

/* A fixed amount of work whose length nobody told is taken for this long. */
static const int64_t unknown_ns = 10 * NS_PER_S;

static void settle_times(
	const struct opt_ctx *ctx, const struct suite *suite, struct condition_spec *spec)
{
	if (!spec->duration_ns)
		spec->duration_ns = suite->duration_ns;
	spec->duration_ns = whole_steps(suite, spec->duration_ns);
	if (!spec->expect_ns)
		spec->expect_ns = suite->expect_ns;
	if (!spec->expect_ns)
		spec->expect_ns = spec->duration_ns ? spec->duration_ns : unknown_ns;
	if (!spec->timeout_ns)
		spec->timeout_ns = suite->timeout_ns;
	if (!spec->timeout_ns)
		spec->timeout_ns = 5 * spec->expect_ns + 60 * NS_PER_S;
	if (spec->timeout_ns <= spec->duration_ns)
		diag_add(ctx->diag, spec->place.file, spec->place.line, spec->place.column,
			"condition '%s': the timeout is not longer than the duration", spec->name);
}

static void settle_text(struct arena *arena, struct suite *suite)
{
	struct str text = STR_INIT;
	json_t *json = suite_json(suite);
	char hex[SHA256_HEX_LEN + 1];

	opt_write_yaml(json, &text);
	json_decref(json);
	sha256_of(str_text(&text), text.len, hex);
	suite->text = arena_strdup(arena, str_text(&text));
	suite->sha256 = arena_strdup(arena, hex);
	str_release(&text);
}

static const char *find_pair(const struct pairs *pairs, const char *key)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (!strcmp(pairs->items[i].key, key))
			return pairs->items[i].value;
	return NULL;
}

static void check_duplicates(const struct opt_ctx *ctx, const struct suite *suite)
{
	for (size_t i = 0; i < suite->condition_count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(suite->conditions[i].name, suite->conditions[k].name) == 0)
				diag_add(ctx->diag, suite->conditions[i].place.file,
					suite->conditions[i].place.line,
					suite->conditions[i].place.column,
					"two conditions are called '%s'",
					suite->conditions[i].name);
}

static void check_server(const struct opt_ctx *ctx, const struct suite *suite)
{
	const char *mistake = NULL;

	if (!*suite->server && (*suite->ready || suite->ready_port))
		mistake = "ready and ready_port need a server";
	else if (!*suite->server && *suite->server_version)
		mistake = "server_version needs a server";
	else if (*suite->server && !*suite->ready && !suite->ready_port)
		mistake = "the server needs ready or ready_port";
	else if (*suite->version && suite->program &&
		 strcmp(suite->version[0], suite->program) != 0)
		mistake = "version does not begin with the program";
	if (mistake)
		diag_add(ctx->diag, suite->place.file, suite->place.line, suite->place.column, "%s",
			mistake);
}

static void check_pins(const struct opt_ctx *ctx, const struct suite *suite)
{
	for (size_t i = 0; i < suite->files_sha256.count; i++)
		if (!find_pair(&suite->files, suite->files_sha256.items[i].key))
			diag_add(ctx->diag, suite->place.file, suite->place.line,
				suite->place.column, "files_sha256: '%s' is none of the files",
				suite->files_sha256.items[i].key);
}

bool metric_is_pooled(const struct metric_spec *metric)
{
	return metric->percentile > 0 && metric->which == WHICH_ALL;
}

/* A metric's name, or a template. */
static void check_counting(const struct opt_ctx *ctx, const struct suite *suite)
{
	struct nearest nearest;
	bool found = !*suite->operations || strchr(suite->operations, '{') != NULL;

	nearest_init(&nearest, suite->operations);
	for (size_t i = 0; i < suite->metric_count; i++) {
		found = found || !strcmp(suite->metrics[i].name, suite->operations);
		nearest_try(&nearest, suite->metrics[i].name);
	}
	if (!found)
		diag_add(ctx->diag, suite->place.file, suite->place.line, suite->place.column,
			"operations: there is no metric '%.60s'%s", suite->operations,
			nearest_hint(&nearest));
	if (suite->counter_threads == THREADS_SUITE)
		diag_add(ctx->diag, suite->place.file, suite->place.line, suite->place.column,
			"counter_threads is all or main in a suite");
}

int suite_read_node(
	struct arena *arena, const struct ynode *node, struct suite *out, struct diag *diag)
{
	const struct opt_ctx ctx = {arena, opt_dir_of(arena, node->file), diag};
	struct suite suite = {.place = suite_file_place(node)};
	size_t before = diag->count;

	/* what is wrong is in diag; the conditions that were read are checked all the same */
	(void)!opt_read_map(&ctx, suite_opts, node, &suite, "a suite");
	check_duplicates(&ctx, &suite);
	check_pins(&ctx, &suite);
	check_server(&ctx, &suite);
	check_counting(&ctx, &suite);
	for (size_t i = 0; i < suite.condition_count; i++) {
		struct condition_spec *spec = &suite.conditions[i];

		settle_times(&ctx, &suite, spec);
		check_templates(&ctx, &suite, spec);
		spec->by_saturation = condition_uses(&suite, spec, "workers") ||
				      condition_uses(&suite, spec, "saturation");
	}
	if (diag->count != before)
		return ERR_USAGE;
	settle_text(arena, &suite);
	*out = suite;
	return 0;
}

int suite_read(struct arena *arena, const char *path, struct suite *out, struct diag *diag)
{
	const struct ynode *node;

	if (yaml_read_file(arena, path, &node, diag))
		return ERR_USAGE;
	return suite_read_node(arena, node, out, diag);
}

void suite_set_duration(struct arena *arena, struct suite *suite, int64_t duration_ns)
{
	duration_ns = whole_steps(suite, duration_ns);
	if (suite->duration_ns)
		suite->duration_ns = duration_ns;
	for (size_t i = 0; i < suite->condition_count; i++) {
		struct condition_spec *spec = &suite->conditions[i];
		int64_t more = duration_ns - spec->duration_ns;

		if (!spec->duration_ns)
			continue;
		spec->duration_ns = duration_ns;
		spec->expect_ns = spec->expect_ns + more > 0 ? spec->expect_ns + more : duration_ns;
		if (more > 0)
			spec->timeout_ns += 5 * more;
	}
	settle_text(arena, suite);
}

void suite_keep_condition(
	struct arena *arena, struct suite *suite, const struct condition_spec *condition)
{
	suite->conditions = arena_copy(arena, condition, 1, sizeof(*condition));
	suite->condition_count = 1;
	settle_text(arena, suite);
}

const char *suite_file_name(struct arena *arena, const struct suite *suite, const char *name)
{
	return arena_printf(arena, "%s.%s", suite->name, name);
}

int suite_pin_files(struct arena *arena, struct suite *suite, struct err *err)
{
	const struct pairs *files = &suite->files;
	struct pairs pins = {arena_alloc(arena, (files->count + 1) * sizeof(*pins.items)), 0};

	for (size_t i = 0; i < files->count; i++) {
		const struct pair *file = &files->items[i];
		const char *pinned = find_pair(&suite->files_sha256, file->key);
		char hex[SHA256_HEX_LEN + 1];
		struct err why = ERR_INIT;

		if (sha256_of_file(file->value, hex, &why))
			return err_set(err, ERR_USAGE, "suite '%s': its file '%s': %.600s%s%s",
				suite->name, file->key, why.text,
				suite->homepage[0] ? "; where to get it: " : "", suite->homepage);
		if (pinned && strcmp(pinned, hex) != 0)
			return err_set(err, ERR_USAGE,
				"suite '%s': the file %.300s has the SHA-256 %.12s..., where "
				"%.12s... "
				"is asked for",
				suite->name, file->value, hex, pinned);
		pins.items[pins.count++] = (struct pair){file->key, arena_strdup(arena, hex)};
	}
	suite->files_sha256 = pins;
	if (files->count)
		settle_text(arena, suite);
	return 0;
}
