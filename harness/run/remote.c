/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "run/remote.h"

enum { MAX_REASON = 300, MAX_JSON = 1 << 20 };

void remote_answer_release(struct remote_answer *answer)
{
	str_release(&answer->out);
	str_release(&answer->reason);
}

/* The last line of what was complained about, without the agent's own name. */
static void add_reason(const struct proc_result *result, struct str *out)
{
	static const char prefix[] = "kbracket-agent: ";
	const char *text = str_text(&result->err_out);
	size_t len = result->err_out.len, start;

	while (len && text[len - 1] == '\n')
		len--;
	for (start = len; start && text[start - 1] != '\n';)
		start--;
	if (str_starts(text + start, prefix))
		start += strlen(prefix);
	if (len > start)
		str_add_safe(
			out, text + start, len - start > MAX_REASON ? MAX_REASON : len - start);
	else
		proc_describe(result, out);
}

static enum remote_end end_of(const struct proc_result *result)
{
	if (result->signal || result->exit_code < 0 || result->exit_code > REMOTE_BUSY)
		return REMOTE_FAILED;
	return (enum remote_end)result->exit_code;
}

int remote_call(const struct remote *remote, const struct remote_call *call,
	struct remote_answer *answer, struct err *err)
{
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {
		.timeout_ns = call->timeout_ns,
		.max_output_bytes = call->max_bytes,
		.input = call->input,
		.input_len = call->input ? strlen(call->input) : 0,
		.ignore_stop = call->urgent || remote->urgent,
	};
	struct proc_result result = PROC_RESULT_INIT;
	int ret;

	strv_add(&argv, remote->ops->agent(remote->machine));
	strv_add_all(&argv, call->arguments);
	spec.argv = strv_argv(&argv);
	ret = remote->ops->exec(remote->machine, &spec, &result, err);
	if (!ret && result.timed_out)
		ret = err_set(err, ERR_TIMEOUT, "the agent's '%s' did not end in time",
			call->arguments[0]);
	else if (!ret && result.output_limit)
		ret = err_set(err, ERR_INFRA, "the agent's '%s' answered more than is allowed",
			call->arguments[0]);
	if (!ret) {
		answer->end = end_of(&result);
		str_add_bytes(&answer->out, str_text(&result.out), result.out.len);
		if (answer->end != REMOTE_OK)
			add_reason(&result, &answer->reason);
	}
	proc_result_release(&result);
	strv_release(&argv);
	return ret;
}

int remote_json_in(const struct remote *remote, const char *const *arguments, int64_t timeout_ns,
	json_t **out, struct err *err)
{
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct remote_call call = {.arguments = arguments, .timeout_ns = timeout_ns};
	int ret = remote_call(remote, &call, &answer, err);

	if (!ret && answer.end != REMOTE_OK)
		ret = err_set(err, answer.end == REMOTE_NOT_FOUND ? ERR_NOT_FOUND : ERR_INFRA, "%s",
			str_text(&answer.reason));
	if (!ret)
		ret = json_parse(str_text(&answer.out), answer.out.len, MAX_JSON, out, err);
	if (ret == ERR_INVALID) /* of an answer, not of a measurement */
		ret = ERR_INFRA;
	if (ret && err)
		err->code = (enum err_code)ret;
	remote_answer_release(&answer);
	if (ret)
		(void)err_wrap(err, "the agent's '%s'", arguments[0]);
	return ret;
}

int remote_json(
	const struct remote *remote, const char *const *arguments, json_t **out, struct err *err)
{
	return remote_json_in(remote, arguments, 60 * NS_PER_S, out, err);
}
