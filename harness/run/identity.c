/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "model/store_result.h"
#include "run/identity.h"
#include "run/outcome.h"

/* Where a program that nobody named a path for is looked up: the agent's own PATH. */
static const char *const folders[] = {
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

/* Asks for the SHA-256 of every place where a program could be. */
static int digest(struct rig *rig, const char *name, json_t **out, struct err *err)
{
	const char *known = rig->remote.ops->program_path(rig->remote.machine, name);
	struct strv arguments = STRV_INIT;
	int ret;

	strv_add(&arguments, "digest");
	if (known || name[0] == '/')
		strv_add(&arguments, known ? known : name);
	else
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
			strv_addf(&arguments, "%s/%s", folders[i], name);
	ret = remote_json(&rig->remote, strv_argv(&arguments), out, err);
	strv_release(&arguments);
	return ret;
}

enum { VERSION_BYTES = 65536, VERSION_LINE = 200 };
#define VERSION_NS (10 * NS_PER_S)

/* The first line that is not blank, safe to print. */
static void add_first_line(struct str *out, const char *text, size_t len)
{
	size_t end;

	while (len && strchr(" \t\r\n", *text)) {
		text++;
		len--;
	}
	for (end = 0; end < len && end < VERSION_LINE && !strchr("\r\n", text[end]);)
		end++;
	str_add_safe(out, text, end);
}

static char *version_spec(const struct identity *found)
{
	json_t *o = json_object(), *argv = json_array();
	struct str text = STR_INIT;

	for (size_t i = 0; i < argv_count(found->version); i++)
		json_array_append_new(argv, json_text(i ? found->version[i] : found->path));
	json_object_set_new(o, "argv", argv);
	json_object_set_new(o, "timeout_ns", json_integer(VERSION_NS));
	json_object_set_new(o, "output_bytes", json_integer(VERSION_BYTES));
	json_write(o, false, &text);
	json_decref(o);
	return str_take(&text);
}

/* What the program says that it is: as a run of its own, under the agent. A program that says
 * nothing has no version; that is no reason to stop. */
void identity_ask_version(struct rig *rig, const struct identity *found, struct str *out)
{
	const char *workdir = rig->remote.ops->workdir(rig->remote.machine);
	char *place = xasprintf("%s/version", workdir), *spec;
	const char *arguments[] = {"run", "--spec-on-stdin", place, "--forget", place, NULL};
	struct remote_call call = {
		.arguments = arguments, .timeout_ns = VERSION_NS + 60 * NS_PER_S};
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct outcome outcome;
	const char *text;
	size_t len;

	spec = version_spec(found);
	call.input = spec;
	if (!remote_call(&rig->remote, &call, &answer, NULL) && answer.end == REMOTE_OK &&
		!outcome_parse(&answer.out, &outcome, NULL)) {
		text = outcome_part(&outcome, "stdout", &len);
		add_first_line(out, text, len);
		text = outcome_part(&outcome, "stderr", &len);
		if (!out->len)
			add_first_line(out, text, len);
		outcome_release(&outcome);
	}
	arguments[0] = "forget";
	arguments[1] = place;
	arguments[2] = NULL;
	call.input = NULL;
	(void)!remote_call(&rig->remote, &call, &answer, NULL); /* one small folder else */
	remote_answer_release(&answer);
	free(spec);
	free(place);
}

int identity_find(struct rig *rig, struct identity *found, struct err *err)
{
	json_t *digests = NULL, *entry = NULL;
	const char *sha256 = "";
	size_t i;
	int ret = digest(rig, found->name, &digests, err);

	if (ret)
		return ret;
	json_array_foreach(digests, i, entry)
	{
		sha256 = json_get_text(entry, "sha256", "");
		if (sha256[0])
			break;
	}
	if (sha256[0]) {
		found->path = arena_strdup(
			&rig->engine->arena, json_get_text(entry, "path", found->name));
		found->sha256 = arena_strdup(&rig->engine->arena, sha256);
		found->built = arena_strdup(&rig->engine->arena, json_get_text(entry, "built", ""));
	}
	json_decref(digests);
	return 0;
}

int identity_store(struct rig *rig, const struct identity *found, int64_t *id, struct err *err)
{
	struct store_binary binary = {
		.name = found->name, .sha256 = found->sha256, .built = found->built};
	struct str version = STR_INIT;
	int ret;

	if (*found->version)
		identity_ask_version(rig, found, &version);
	binary.version = str_text(&version);
	ret = store_program(rig->engine->store, &binary, id, err);
	str_release(&version);
	return ret;
}
