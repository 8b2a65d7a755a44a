/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "run/outcome.h"
#include "run/profiling.h"
#include "run/raw.h"

/* perf ends the program when its file gets larger than the first. Reading that file in an emulated
 * guest takes its time. */
#define DATA_LIMIT "64M"
enum { DATA_BYTES = 80 << 20, TEXT_BYTES = 16 << 20, TRIAL_BYTES = 65536, RESULT_BYTES = 2 << 20 };
#define TRIAL_NS (60 * NS_PER_S)
#define READ_NS (600 * NS_PER_S)

static const char *data_path(struct rig *rig)
{
	return arena_printf(&rig->engine->arena, "%s/profile.data",
		rig->remote.ops->workdir(rig->remote.machine));
}

bool profiling_wants(const struct rig *rig, const struct store_run *run)
{
	return rig->engine->experiment->profile_hz && run->kind == RUN_MEASURED;
}

const char *const *profiling_prefix(struct rig *rig)
{
	const char *const argv[] = {rig->perf_path, "record", "-q", "-a", "-g", "-B", "-N", "-F",
		arena_printf(&rig->engine->arena, "%lld",
			(long long)rig->engine->experiment->profile_hz),
		"--max-size", DATA_LIMIT, "-o", data_path(rig), "--", NULL};

	return arena_copy(&rig->engine->arena, argv, ARRAY_SIZE(argv), sizeof(*argv));
}

static char *spec_of(const char *const *argv, int64_t timeout_ns, int64_t output_bytes)
{
	json_t *o = json_object(), *list = json_array();
	struct str text = STR_INIT;

	for (size_t i = 0; argv[i]; i++)
		json_array_append_new(list, json_text(argv[i]));
	json_object_set_new(o, "argv", list);
	json_object_set_new(o, "timeout_ns", json_integer(timeout_ns));
	json_object_set_new(o, "output_bytes", json_integer(output_bytes));
	json_write(o, false, &text);
	json_decref(o);
	return str_take(&text);
}

/* A command under the agent, beside the plan. 0 with outcome filled in when it ended with 0; else
 * *why says what was wrong. ERR_INTERRUPTED when a stop was asked for. */
static int call(struct rig *rig, const char *const *argv, int64_t timeout_ns, int64_t bytes,
	struct outcome *outcome, struct str *why)
{
	char *place = xasprintf("%s/profiling", rig->remote.ops->workdir(rig->remote.machine));
	char *spec = spec_of(argv, timeout_ns, bytes);
	const char *arguments[] = {"run", "--spec-on-stdin", place, "--forget", place, NULL};
	struct remote_call ask = {.arguments = arguments,
		.input = spec,
		.timeout_ns = timeout_ns + TRIAL_NS,
		.max_bytes = 2 * (size_t)bytes + RESULT_BYTES};
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct err err = ERR_INIT;
	int ret = remote_call(&rig->remote, &ask, &answer, &err);

	if (!ret && answer.end != REMOTE_OK)
		ret = err_set(&err, ERR_INFRA, "%s", str_text(&answer.reason));
	if (!ret)
		ret = outcome_parse(&answer.out, outcome, &err);
	if (ret)
		str_add(why, err.text);
	arguments[0] = "forget";
	arguments[1] = place;
	arguments[2] = NULL;
	ask.input = NULL;
	ask.timeout_ns = TRIAL_NS;
	if (!ret) /* what stays behind when this fails is one folder, which the next call removes */
		(void)!remote_call(&rig->remote, &ask, &answer, NULL);
	remote_answer_release(&answer);
	free(spec);
	free(place);
	return ret;
}

/* The first line that a program complained in; a heading is none. */
static void add_complaint(struct str *out, const struct outcome *outcome)
{
	static const char heading[] = "Error:";
	size_t len, end;
	const char *text = outcome_part(outcome, "stderr", &len);

	for (;;) {
		while (len && strchr(" \t\r\n", *text)) {
			text++;
			len--;
		}
		for (end = 0; end < len && !strchr("\r\n", text[end]);)
			end++;
		if (end != strlen(heading) || strncmp(text, heading, end) != 0)
			break;
		text += end;
		len -= end;
	}
	str_add_safe(out, text, end > 200 ? 200 : end);
	if (!end)
		str_add(out, outcome->detail);
}

static int try_perf(struct rig *rig, struct err *err)
{
	const char *const *prefix = profiling_prefix(rig);
	struct strv argv = STRV_INIT;
	struct outcome outcome;
	struct str why = STR_INIT;
	int ret;

	strv_add_all(&argv, prefix);
	strv_add(&argv, "true");
	ret = call(rig, strv_argv(&argv), TRIAL_NS, TRIAL_BYTES, &outcome, &why);
	if (ret) {
		ret = err_set(err, (enum err_code)ret, "machine '%s': perf: %s",
			rig->plan->machine->name, str_text(&why));
	} else {
		add_complaint(&why, &outcome);
		if (outcome.reason)
			ret = err_set(err, ERR_USAGE,
				"machine '%s': perf record cannot look at the whole machine (%s); "
				"it takes root, or `sysctl kernel.perf_event_paranoid=-1` there, "
				"and a perf that fits the kernel",
				rig->plan->machine->name, str_text(&why));
		outcome_release(&outcome);
	}
	strv_release(&argv);
	str_release(&why);
	return ret;
}

int profiling_check(struct rig *rig, struct err *err)
{
	return rig->engine->experiment->profile_hz ? try_perf(rig, err) : 0;
}

struct piece {
	const char *kind;
	const char *const *argv;
	int64_t bytes;
};

static int keep_piece(struct rig *rig, const struct store_boot *boot, const struct store_run *run,
	const struct piece *piece, struct arena *arena, struct store_raw *raws, size_t *count,
	struct err *err)
{
	char *name = xasprintf("run-%03d.%d-%s", run->position, run->attempt_try, piece->kind);
	char *path = rig_raw_path(rig, boot, name);
	struct str why = STR_INIT;
	struct outcome outcome;
	size_t len = 0;
	int ret = call(rig, piece->argv, READ_NS, piece->bytes, &outcome, &why);

	if (!ret) {
		const char *bytes = outcome_part(&outcome, "stdout", &len);

		if (outcome.reason || !len)
			add_complaint(&why, &outcome);
		else
			ret = raw_keep(arena, store_folder(rig->engine->store), path, piece->kind,
				bytes, len, &raws[*count], err);
		*count += !ret && !why.len;
		outcome_release(&outcome);
	} else if (ret == ERR_INTERRUPTED) {
		ret = err_set(err, ret, "%s", str_text(&why));
	} else {
		ret = 0;
	}
	if (!ret && why.len)
		engine_note(rig->engine, boot->id, "no-profile", "run %lld has no %s: %s",
			(long long)run->id, piece->kind, str_text(&why));
	str_release(&why);
	free(path);
	free(name);
	return ret;
}

int profiling_keep(struct rig *rig, const struct store_boot *boot, const struct store_run *run,
	struct arena *arena, struct store_raw *raws, size_t *count, struct err *err)
{
	const char *data = data_path(rig);
	const char *const text[] = {rig->perf_path, "report", "-i", data, "--stdio", "--children",
		"-g", "none", "-F", "overhead_children,sample,dso,sym", "-t", "|", NULL};
	const char *const raw[] = {"cat", data, NULL};
	const char *const remove[] = {
		"rm", "-f", data, arena_printf(&rig->engine->arena, "%s.old", data), NULL};
	const struct piece pieces[] = {
		{PROFILING_TEXT, text, TEXT_BYTES}, {PROFILING_DATA, raw, DATA_BYTES}};
	struct outcome outcome;
	struct str ignored = STR_INIT;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces) && !ret; i++)
		ret = keep_piece(rig, boot, run, &pieces[i], arena, raws, count, err);
	if (!ret && !call(rig, remove, TRIAL_NS, TRIAL_BYTES, &outcome, &ignored))
		outcome_release(&outcome);
	str_release(&ignored);
	return ret;
}
