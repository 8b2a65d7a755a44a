/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>
#include <stdarg.h>

#include "run/outcome.h"

enum { MAX_RESULT = 1 << 20 };

/* Members of the result that are columns of the run. */
static const struct {
	const char *key;
	size_t offset;
	int64_t unknown;
} numbers[] = {
	{"started_wall_ns", offsetof(struct outcome, started_ns), 0},
	{"ended_wall_ns", offsetof(struct outcome, ended_ns), 0},
	{"wall_ns", offsetof(struct outcome, wall_ns), -1},
	{"exit_code", offsetof(struct outcome, exit_code), -1},
	{"signal", offsetof(struct outcome, signal), -1},
	{"user_ns", offsetof(struct outcome, user_ns), -1},
	{"system_ns", offsetof(struct outcome, system_ns), -1},
	{"max_rss_bytes", offsetof(struct outcome, max_rss_bytes), -1},
	{"voluntary_switches", offsetof(struct outcome, voluntary_switches), -1},
	{"involuntary_switches", offsetof(struct outcome, involuntary_switches), -1},
};

static void set(struct outcome *outcome, const char *reason, const char *fmt, ...) KB_PRINTF(3, 4);

static void set(struct outcome *outcome, const char *reason, const char *fmt, ...)
{
	va_list args;

	outcome->reason = reason;
	va_start(args, fmt);
	(void)vsnprintf(outcome->detail, sizeof(outcome->detail), fmt, args);
	va_end(args);
}

/* Why there are no numbers, the gravest reason first. */
static void judge(struct outcome *outcome)
{
	const json_t *result = outcome->result;
	const char *state = json_get_text(result, "state", "");
	const char *error = json_get_text(result, "error", "no reason was given");
	int64_t survivors = json_get_int(result, "survivors", 0);

	if (!strcmp(state, "not-started"))
		set(outcome, "not-started", "%.300s", error);
	else if (strcmp(state, "ended"))
		set(outcome, "lost", "%.300s", error);
	else if (json_get_bool(result, "cancelled", false))
		set(outcome, "cancelled", "it was ended before its time");
	else if (json_get_text(result, "around_error", "")[0])
		set(outcome, "surroundings", "%.300s", json_get_text(result, "around_error", ""));
	else if (json_get_bool(result, "timed_out", false))
		set(outcome, "timeout", "it ran into its timeout and was killed");
	else if (json_get_bool(result, "output_limit", false))
		set(outcome, "output-limit", "it printed more than the suite allows");
	else if (survivors > 0)
		set(outcome, "survivors", "%lld of its processes could not be killed",
			(long long)survivors);
	else if (outcome->signal == SIGXFSZ && !json_get_bool(result, "tmpfs", true))
		set(outcome, "signal",
			"killed for a file of more than 256 MiB, which is the bound without root");
	else if (outcome->signal > 0)
		set(outcome, "signal", "killed by signal %lld (%s)", (long long)outcome->signal,
			outcome->signal < NSIG ? strsignal((int)outcome->signal) : "unknown");
	else if (outcome->exit_code < 0)
		set(outcome, "lost", "how it ended is not known");
	else if (outcome->exit_code)
		set(outcome, "exit", "exit %lld", (long long)outcome->exit_code);
}

int outcome_parse(struct str *stream, struct outcome *out, struct err *err)
{
	struct outcome outcome = {.reason = NULL};
	const struct wire_part *result;
	int ret = wire_parse(str_text(stream), stream->len, &outcome.parts, err);

	if (ret)
		return ret;
	result = wire_find(&outcome.parts, "result");
	if (!result)
		return err_set(err, ERR_INFRA, "the agent's reply has no result");
	ret = json_parse(result->bytes, result->len, MAX_RESULT, &outcome.result, err);
	if (ret)
		return err_set(err, ERR_INFRA, "the agent's result is damaged");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		int64_t value = json_get_int(outcome.result, numbers[i].key, numbers[i].unknown);

		memcpy((char *)&outcome + numbers[i].offset, &value, sizeof(value));
	}
	judge(&outcome);
	outcome.stream = *stream;
	*stream = (struct str)STR_INIT;
	*out = outcome;
	return 0;
}

void outcome_release(struct outcome *outcome)
{
	str_release(&outcome->stream);
	json_decref(outcome->result);
	outcome->result = NULL;
}

const char *outcome_part(const struct outcome *outcome, const char *name, size_t *len)
{
	const struct wire_part *part = wire_find(&outcome->parts, name);

	*len = part ? part->len : 0;
	return part ? part->bytes : "";
}

char *outcome_environment(const struct outcome *outcome)
{
	json_t *rest = json_copy(outcome->result);
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)json_object_del(rest, numbers[i].key); /* absent is fine */
	json_write(rest, false, &text);
	json_decref(rest);
	return str_take(&text);
}
