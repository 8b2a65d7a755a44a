/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <jansson.h>

#include "base/clock.h"
#include "base/mem.h"

#include "agent/spec.h"

enum { SPEC_MAX_WORDS = 4096, SPEC_MAX_COMMANDS = 50 };

#define DEFAULT_STEP_NS (60 * NS_PER_S)

/* Each member has a reader; where it writes to is in the closure of its row. */
struct member {
	const char *name;
	int (*read)(const json_t *value, const struct member *m, void *out, struct err *err);
	size_t offset;
	int64_t min, max;
	bool required;
};

static int read_int(const json_t *value, const struct member *m, void *out, struct err *err)
{
	if (!json_is_integer(value) || json_integer_value(value) < m->min ||
		json_integer_value(value) > m->max)
		return err_set(err, ERR_USAGE, "%s must be a whole number from %lld to %lld",
			m->name, (long long)m->min, (long long)m->max);
	*(int64_t *)out = json_integer_value(value);
	return 0;
}

static int read_bool(const json_t *value, const struct member *m, void *out, struct err *err)
{
	if (!json_is_boolean(value))
		return err_set(err, ERR_USAGE, "%s must be true or false", m->name);
	*(bool *)out = json_is_true(value);
	return 0;
}

/* A C string: jansson lets \u0000 through only on demand, so its text has no NUL inside. */
static int read_text(const json_t *value, const struct member *m, void *out, struct err *err)
{
	char **text = out;

	if (!json_is_string(value))
		return err_set(err, ERR_USAGE, "%s must be a string", m->name);
	free(*text);
	*text = xstrdup(json_string_value(value));
	return 0;
}

static int read_folder(const json_t *value, const struct member *m, void *out, struct err *err)
{
	if (!json_is_string(value) || json_string_value(value)[0] != '/')
		return err_set(err, ERR_USAGE, "%s must be an absolute path", m->name);
	return read_text(value, m, out, err);
}

static int read_words(const json_t *value, const struct member *m, void *out, struct err *err)
{
	const json_t *word;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) < (size_t)m->min ||
		json_array_size(value) > SPEC_MAX_WORDS)
		return err_set(err, ERR_USAGE, "%s must be a list of %lld to %d strings", m->name,
			(long long)m->min, SPEC_MAX_WORDS);
	json_array_foreach(value, i, word)
	{
		if (!json_is_string(word))
			return err_set(
				err, ERR_USAGE, "%s: item %zu is not a string", m->name, i + 1);
		strv_add(out, json_string_value(word));
	}
	return 0;
}

static int read_env(const json_t *value, const struct member *m, void *out, struct err *err)
{
	const struct strv *env = out;
	int ret = read_words(value, m, out, err);

	for (size_t i = 0; ret == 0 && i < env->count; i++)
		if (!strchr(env->items[i], '=') || env->items[i][0] == '=')
			ret = err_set(err, ERR_USAGE, "env: item %zu is not NAME=VALUE", i + 1);
	return ret;
}

static int read_commands(const json_t *value, const struct member *m, void *out, struct err *err)
{
	struct spec_commands *commands = out;
	const json_t *command;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) > SPEC_MAX_COMMANDS)
		return err_set(err, ERR_USAGE, "%s must be a list of at most %d commands", m->name,
			SPEC_MAX_COMMANDS);
	json_array_foreach(value, i, command)
	{
		GROW(commands->items, commands->count, commands->capacity);
		commands->items[commands->count++] = (struct strv)STRV_INIT;
		if (read_words(command, m, &commands->items[i], err))
			return ERR_USAGE;
	}
	return 0;
}

static int read_links(const json_t *value, const struct member *m, void *out, struct err *err)
{
	struct run_spec *spec = out;
	const json_t *target;
	const char *name;

	if (!json_is_object(value) || json_object_size(value) > SPEC_MAX_WORDS)
		return err_set(err, ERR_USAGE, "%s must be an object of at most %d members",
			m->name, SPEC_MAX_WORDS);
	json_object_foreach((json_t *)value, name, target)
	{
		if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
			strcmp(name, "..") == 0)
			return err_set(err, ERR_USAGE, "links: \"%s\" is not a file name", name);
		if (!json_is_string(target) || json_string_value(target)[0] != '/')
			return err_set(
				err, ERR_USAGE, "links: %s must lead to an absolute path", name);
		strv_add(&spec->link_names, name);
		strv_add(&spec->link_targets, json_string_value(target));
	}
	return 0;
}

#define AT(field) offsetof(struct run_spec, field)
static const struct member members[] = {
	{"argv", read_words, AT(argv), 1, 0, true},
	{"timeout_ns", read_int, AT(timeout_ns), 1, INT64_C(7) * 86400 * NS_PER_S, true},
	{"output_bytes", read_int, AT(output_bytes), 1, INT64_C(1) << 30, true},
	{"env", read_env, AT(env), 0, 0, false},
	{"cwd", read_folder, AT(cwd), 0, 0, false},
	{"work_bytes", read_int, AT(work_bytes), 0, INT64_C(1) << 40, false},
	{"links", read_links, 0, 0, 0, false},
	{"settle_ns", read_int, AT(settle_ns), 0, 60 * NS_PER_S, false},
	{"heat_mc", read_int, AT(heat_mc), 0, 1000000, false},
	{"heat_within_mc", read_int, AT(heat_within_mc), 0, 1000000, false},
	{"heat_wait_ns", read_int, AT(heat_wait_ns), 0, 3600 * NS_PER_S, false},
	{"on_second", read_bool, AT(on_second), 0, 0, false},
	{"kmsg_after", read_int, AT(kmsg_after), -1, INT64_MAX, false},
	{"id", read_text, AT(id), 0, 0, false},
	{"setup", read_commands, AT(setup), 1, 0, false},
	{"teardown", read_commands, AT(teardown), 1, 0, false},
	{"server", read_words, AT(server), 1, 0, false},
	{"ready", read_words, AT(ready), 1, 0, false},
	{"ready_port", read_int, AT(ready_port), 0, 65535, false},
	{"perf", read_folder, AT(perf), 0, 0, false},
	{"events", read_words, AT(events), 0, 0, false},
	{"main_thread", read_bool, AT(main_thread), 0, 0, false},
	{"functions", read_words, AT(functions), 0, 0, false},
	{"step_ns", read_int, AT(step_ns), 1, 3600 * NS_PER_S, false},
};

static const struct member *find_member(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strcmp(members[i].name, name) == 0)
			return &members[i];
	return NULL;
}

static int read_members(json_t *root, struct run_spec *spec, struct err *err)
{
	const struct member *m;
	const char *name;
	json_t *value;
	int ret;

	json_object_foreach(root, name, value)
	{
		m = find_member(name);
		if (!m)
			return err_set(err, ERR_USAGE, "unknown member \"%.40s\"", name);
		ret = m->read(value, m, (char *)spec + m->offset, err);
		if (ret)
			return ret;
	}
	for (m = members; m < members + ARRAY_SIZE(members); m++)
		if (m->required && !json_object_get(root, m->name))
			return err_set(err, ERR_USAGE, "%s is missing", m->name);
	if (spec->cwd && (spec->link_names.count || spec->work_bytes))
		return err_set(err, ERR_USAGE, "links and work_bytes need the default cwd");
	if (spec->events.count && !spec->perf)
		return err_set(err, ERR_USAGE, "events need perf");
	if (!spec->server.count && (spec->ready.count || spec->ready_port))
		return err_set(err, ERR_USAGE, "ready and ready_port need a server");
	return 0;
}

int spec_parse(const char *bytes, size_t len, struct run_spec *spec, struct err *err)
{
	json_error_t where;
	json_t *root;
	int ret;

	memset(spec, 0, sizeof(*spec));
	spec->kmsg_after = -1;
	spec->step_ns = DEFAULT_STEP_NS;
	if (len > SPEC_MAX_BYTES)
		return err_set(
			err, ERR_USAGE, "the run's spec is larger than %d bytes", SPEC_MAX_BYTES);
	root = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return err_set(err, ERR_USAGE, "the run's spec is no JSON: line %d: %s", where.line,
			where.text);
	ret = json_is_object(root) ? read_members(root, spec, err)
				   : err_set(err, ERR_USAGE, "it is no object");
	if (ret)
		(void)err_wrap(err, "the run's spec");
	json_decref(root);
	return ret;
}

bool spec_has_around(const struct run_spec *spec)
{
	return spec->setup.count || spec->server.count || spec->teardown.count;
}

static void commands_release(struct spec_commands *commands)
{
	for (size_t i = 0; i < commands->count; i++)
		strv_release(&commands->items[i]);
	free(commands->items);
}

void spec_release(struct run_spec *spec)
{
	strv_release(&spec->argv);
	strv_release(&spec->env);
	strv_release(&spec->link_names);
	strv_release(&spec->link_targets);
	commands_release(&spec->setup);
	commands_release(&spec->teardown);
	strv_release(&spec->server);
	strv_release(&spec->ready);
	strv_release(&spec->events);
	strv_release(&spec->functions);
	free(spec->perf);
	free(spec->cwd);
	free(spec->id);
	memset(spec, 0, sizeof(*spec));
}
