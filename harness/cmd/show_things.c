/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "cmd/answer.h"
#include "cmd/show.h"
#include "model/store_counter.h"
#include "model/store_rows.h"
#include "model/store_rung.h"
#include "model/store_view.h"
#include "sys/json_put.h"

enum { STORED_JSON_MAX_BYTES = 4 << 20, KEY_DIGITS_MIN = 4 };

/* An object as JSON, or as YAML for a person to read. Freed. */
static void write_object(struct cmd *cmd, json_t *object)
{
	struct str out = STR_INIT;

	if (cmd->global->json) {
		answer_json(object);
		return;
	}
	opt_write_yaml(object, &out);
	ui_write_text(&out);
	str_release(&out);
	json_decref(object);
}

static json_t *stored(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (!*text || json_parse(text, strlen(text), STORED_JSON_MAX_BYTES, &value, &err))
		return json_null();
	return value;
}

/* Lines as a list. */
static json_t *lines_json(const char *text)
{
	json_t *out = json_array();

	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = xstrndup(text, len);

		json_push(out, json_text(line));
		free(line);
		text += len + (text[len] == '\n');
	}
	return out;
}

/* -1 stands for a number that is not known. */
static void put_known(json_t *object, const char *key, int64_t value)
{
	json_put(object, key, value < 0 ? json_null() : json_integer(value));
}

static json_t *raws_json(const struct store_raw_row *raws, size_t count)
{
	json_t *out = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *item = json_object();

		json_put_text(item, "kind", raws[i].kind);
		json_put_text(item, "path", raws[i].path);
		json_put_int(item, "bytes", raws[i].bytes);
		json_put_text(item, "sha256", raws[i].sha256);
		json_push(out, item);
	}
	return out;
}

static int put_raws(struct cmd *cmd, json_t *object, int64_t run_id, int64_t attempt_id,
	int64_t build_id, struct err *err)
{
	struct store_raw_row *raws;
	size_t count;
	int ret = store_load_raws(
		cmd->store, run_id, attempt_id, build_id, cmd->arena, &raws, &count, err);

	if (!ret)
		json_put(object, "files", raws_json(raws, count));
	return ret;
}

static int push_attempt(
	struct cmd *cmd, json_t *list, const struct store_attempt *attempt, struct err *err)
{
	json_t *out = json_object();
	int ret;

	json_put_int(out, "number", attempt->number);
	json_put_text(out, "method", attempt->method);
	json_put_text(out, "outcome", attempt->outcome);
	if (*attempt->reason)
		json_put_text(out, "reason", attempt->reason);
	if (*attempt->detail)
		json_put_text(out, "detail", attempt->detail);
	json_put_text(out, "kernel_boot_id", attempt->kernel_boot_id);
	json_put_bool(out, "weak_proof", attempt->weak);
	json_put(out, "proof", stored(attempt->proof));
	ret = put_raws(cmd, out, 0, attempt->id, 0, err);
	json_push(list, out);
	return ret;
}

/* How the machine was brought back in this boot; nothing where it needed not be. */
static int put_rungs(struct cmd *cmd, json_t *object, int64_t experiment_id, int64_t machine_id,
	int64_t boot_id, struct err *err)
{
	json_t *list = json_array();
	struct store_rung *rungs = NULL;
	size_t count = 0;
	int ret = store_load_rungs(
		cmd->store, experiment_id, machine_id, boot_id, cmd->arena, &rungs, &count, err);

	for (size_t i = 0; i < count; i++) {
		json_t *item = json_object();

		json_put_text(item, "step", rungs[i].kind);
		json_put_int(item, "began_ns", rungs[i].began_ns);
		json_put_int(item, "limit_ns", rungs[i].limit_ns);
		json_put_int(item, "took_ns", rungs[i].took_ns);
		json_put_text(item, "found", rungs[i].found);
		if (*rungs[i].detail)
			json_put_text(item, "detail", rungs[i].detail);
		json_push(list, item);
	}
	if (count)
		json_put(object, "recovery", list);
	else
		json_decref(list);
	return ret;
}

static int push_run(void *arg, const struct store_run_row *row)
{
	json_t *out = json_object();

	json_put_int(out, "run", row->id);
	json_put_int(out, "position", row->position);
	json_put_text(out, "condition", row->condition);
	json_put_text(out, "kind", run_kind_name(row->kind));
	json_put_int(out, "ordinal", row->ordinal);
	json_put_text(out, "state", store_state_name(row->state));
	if (*row->reason)
		json_put_text(out, "reason", row->reason);
	if (*row->flags)
		json_put(out, "flags", lines_json(row->flags));
	json_push(arg, out);
	return 0;
}

static int write_boot(struct cmd *cmd, const struct store_view *view,
	const struct store_machine *machine, const struct store_boot *boot, struct err *err)
{
	struct store_run_filter filter = {.boot_id = boot->id};
	json_t *out = json_object(), *attempts = json_array(), *runs = json_array();
	int ret = 0;

	json_put_int(out, "experiment", view->head.id);
	json_put_text(out, "machine", machine->name);
	json_put_int(out, "boot", boot->ordinal);
	json_put_int(out, "block", boot->block);
	json_put_text(out, "variant", boot->variant->name);
	json_put_text(out, "state", store_state_name(boot->state));
	if (*boot->reason)
		json_put_text(out, "reason", boot->reason);
	if (*boot->detail)
		json_put_text(out, "detail", boot->detail);
	if (*boot->start)
		json_put_text(out, "start", boot->start);
	ret = put_rungs(cmd, out, view->head.id, machine->id, boot->id, err);
	for (size_t a = 0; a < boot->attempt_count && !ret; a++)
		ret = push_attempt(cmd, attempts, &boot->attempts[a], err);
	json_put(out, "attempts", attempts);
	if (!ret)
		ret = store_each_run(cmd->store, &filter, push_run, runs, err);
	json_put(out, "runs", runs);
	if (ret)
		json_decref(out);
	else
		write_object(cmd, out);
	return ret;
}

static const struct store_machine *find_machine(
	const struct store_view *view, const char *name, struct err *err)
{
	if (!name && view->machine_count == 1)
		return &view->machines[0];
	for (size_t m = 0; name && m < view->machine_count; m++)
		if (strcmp(view->machines[m].name, name) == 0)
			return &view->machines[m];
	err_set(err, ERR_USAGE,
		name ? "experiment %lld has no machine '%.60s'"
		     : "experiment %lld has several machines; --machine says which",
		(long long)view->head.id, name);
	return NULL;
}

int show_boot(struct cmd *cmd, int64_t experiment_id, const char *machine_name, int ordinal,
	struct err *err)
{
	const struct store_machine *machine;
	struct store_view view;
	int ret = store_load(cmd->store, experiment_id, cmd->arena, &view, err);

	if (ret)
		return ret;
	machine = find_machine(&view, machine_name, err);
	if (!machine)
		return ERR_USAGE;
	for (size_t b = 0; b < machine->boot_count; b++)
		if (machine->boots[b].ordinal == ordinal)
			return write_boot(cmd, &view, machine, &machine->boots[b], err);
	return err_set(err, ERR_NOT_FOUND, "experiment %lld has no boot %d on %s",
		(long long)experiment_id, ordinal, machine->name);
}

/* What a run did, without its samples. */
static int make_run(void *arg, const struct store_run_row *row)
{
	json_t *out = json_object();

	json_put_int(out, "run", row->id);
	json_put_text(out, "machine", row->machine);
	json_put_int(out, "boot", row->boot);
	json_put_text(out, "variant", row->variant);
	json_put_text(out, "condition", row->condition);
	json_put_text(out, "kind", run_kind_name(row->kind));
	json_put_int(out, "ordinal", row->ordinal);
	json_put_int(out, "try", row->attempt_try);
	json_put_text(out, "state", store_state_name(row->state));
	json_put_text(out, "reason", row->reason);
	json_put_text(out, "detail", row->detail);
	json_put(out, "flags", lines_json(row->flags));
	json_put_text(out, "program", row->program);
	json_put_text(out, "program_version", row->program_version);
	json_put_text(out, "program_built", row->program_built);
	json_put_text(out, "program_sha256", row->program_sha256);
	if (*row->server) {
		json_put_text(out, "server", row->server);
		json_put_text(out, "server_version", row->server_version);
		json_put_text(out, "server_built", row->server_built);
		json_put_text(out, "server_sha256", row->server_sha256);
	}
	put_known(out, "exit_code", row->exit_code);
	put_known(out, "signal", row->signal);
	json_put_int(out, "started_ns", row->started_ns);
	put_known(out, "wall_ns", row->wall_ns);
	put_known(out, "user_ns", row->user_ns);
	put_known(out, "system_ns", row->system_ns);
	put_known(out, "max_rss_bytes", row->max_rss_bytes);
	put_known(out, "voluntary_switches", row->voluntary_switches);
	put_known(out, "involuntary_switches", row->involuntary_switches);
	json_put_int(out, "reading", row->reading);
	json_put(out, "environment", stored(row->environment));
	*(json_t **)arg = out;
	return 0;
}

static json_t *samples_json(const struct store_value *values, size_t count)
{
	json_t *out = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *item = json_object();

		json_put_text(item, "metric", values[i].metric);
		json_put_text(item, "unit", values[i].unit);
		json_put_int(item, "reading", values[i].reading);
		json_put_int(item, "ordinal", values[i].ordinal);
		json_put_num(item, "value", values[i].value);
		if (values[i].observations)
			json_put_int(item, "observations", values[i].observations);
		json_push(out, item);
	}
	return out;
}

static json_t *counters_json(const struct store_counter *counters, size_t count)
{
	json_t *out = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *item = json_object();

		json_put_text(item, "counter", counters[i].name);
		json_put_text(item, "unit", counters[i].unit);
		json_put_int(item, "reading", counters[i].reading);
		json_put_num(item, "total", counters[i].total);
		json_put_num(item, "value", counters[i].value);
		json_put_num(item, "counted_pct", counters[i].counted_pct);
		if (*counters[i].reason)
			json_put_text(item, "reason", counters[i].reason);
		json_push(out, item);
	}
	return out;
}

/* Raw output for a person: line by line, made safe. */
static void write_raw_text(const struct store_raw_row *raw, const struct str *content)
{
	const char *at = str_text(content), *end = at + content->len;
	struct str out = STR_INIT;

	str_addf(&out, "\n--- %s, %lld bytes\n", raw->kind, (long long)raw->bytes);
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		str_add_safe(&out, at, (size_t)(stop - at));
		str_add_char(&out, '\n');
		at = newline ? newline + 1 : end;
	}
	ui_write_text(&out);
	str_release(&out);
}

static int add_raw(
	struct cmd *cmd, json_t *contents, const struct store_raw_row *raw, struct err *err)
{
	struct str content = STR_INIT;
	int ret;

	if (strcmp(raw->kind, "perf-data") == 0) /* nothing to read for people */
		return 0;
	ret = store_read_raw(cmd->store, raw, &content, err);

	if (!ret && contents)
		json_put_text(contents, raw->kind, str_text(&content));
	else if (!ret)
		write_raw_text(raw, &content);
	str_release(&content);
	return ret;
}

/* The run's record, then its raw output: within the object for JSON, below it for a person. */
static int write_run(struct cmd *cmd, json_t *run, int64_t run_id, struct err *err)
{
	json_t *contents = cmd->global->json ? json_object() : NULL;
	struct store_raw_row *raws;
	size_t count;
	int ret = store_load_raws(cmd->store, run_id, 0, 0, cmd->arena, &raws, &count, err);

	if (ret) {
		json_decref(contents);
		json_decref(run);
		return ret;
	}
	json_put(run, "files", raws_json(raws, count));
	if (!contents)
		write_object(cmd, run);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_raw(cmd, contents, &raws[i], err);
	if (contents) {
		json_put(run, "output", contents);
		if (ret)
			json_decref(run);
		else
			write_object(cmd, run);
	}
	return ret;
}

int show_run(struct cmd *cmd, int64_t run_id, struct err *err)
{
	struct store_run_filter filter = {.run_id = run_id};
	struct store_counter *counters;
	struct store_value *values;
	json_t *run = NULL;
	size_t count, counter_count;
	int ret = store_each_run(cmd->store, &filter, make_run, &run, err);

	if (!ret && !run)
		return err_set(err, ERR_NOT_FOUND,
			"there is no run %lld; `kbracket show boot N` lists the runs of a boot",
			(long long)run_id);
	if (!ret)
		ret = store_load_samples(cmd->store, run_id, cmd->arena, &values, &count, err);
	if (!ret)
		ret = store_load_counters(
			cmd->store, run_id, cmd->arena, &counters, &counter_count, err);
	if (ret) {
		json_decref(run);
		return ret;
	}
	json_put(run, "samples", samples_json(values, count));
	if (counter_count)
		json_put(run, "counters", counters_json(counters, counter_count));
	return write_run(cmd, run, run_id, err);
}

static const struct store_build *find_build(const struct store_view *view, const char *which)
{
	for (size_t v = 0; v < view->variant_count; v++) {
		const struct store_build *build = view->variants[v].build;

		if (build &&
			(strcmp(view->variants[v].name, which) == 0 ||
				(strlen(which) >= KEY_DIGITS_MIN && str_starts(build->key, which))))
			return build;
	}
	return NULL;
}

int show_build(struct cmd *cmd, int64_t experiment_id, const char *which, struct err *err)
{
	const struct store_build *build;
	struct store_view view;
	json_t *out;
	int ret = store_load(cmd->store, experiment_id, cmd->arena, &view, err);

	if (ret)
		return ret;
	build = find_build(&view, which);
	if (!build)
		return err_set(err, ERR_NOT_FOUND,
			"experiment %lld has no build of '%.64s', nor one with such a key",
			(long long)experiment_id, which);
	out = json_object();
	json_put_text(out, "key", build->key);
	json_put_text(out, "release", build->release);
	json_put_text(out, "build_id", build->build_id);
	json_put_text(out, "proc_version", build->proc_version);
	json_put_text(out, "commit", build->commit);
	json_put_text(out, "tree", build->tree);
	json_put_text(out, "config_sha256", build->config_sha256);
	json_put_text(out, "compiler", build->compiler);
	json_put_int(out, "seconds", build->seconds);
	json_put_text(out, "kbracket", build->version);
	ret = put_raws(cmd, out, 0, 0, build->id, err);
	if (ret)
		json_decref(out);
	else
		write_object(cmd, out);
	return ret;
}
