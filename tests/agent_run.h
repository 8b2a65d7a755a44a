/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_AGENT_RUN_H
#define KB_TESTS_AGENT_RUN_H

/* For the tests of kbracket-agent: a folder to work in, and runs of the real program. */

#include "base/base.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strv.h"
#include "base/wire.h"
#include "sys/proc.h"

/* What one call of the agent gave. */
struct answer {
	struct proc_result end;
	struct wire_reply reply; /* into end.out */
	json_t *result;		 /* of the reply; NULL without one */
};

static char *folder; /* 0700, ours, new for every test */

KB_UNUSED static int make_test_folder(void **state KB_UNUSED)
{
	folder = xstrdup("/tmp/kb-agent-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

KB_UNUSED static int remove_test_folder(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;
	int ret = file_remove_tree(folder, &err);

	free(folder);
	return ret;
}

KB_UNUSED static char *in_folder(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

/* The agent lies beside the tests: build/tests/x, build/kbracket-agent. */
static char *agent_path(void)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *dir, *path;

	assert_true(len > 0);
	self[len] = '\0';
	dir = path_dir(self);
	path = xasprintf("%s/../kbracket-agent", dir);
	free(dir);
	return path;
}

/* Runs the agent with these words, and the text as stdin. */
KB_UNUSED static struct answer call(const char *input, const char *const *words)
{
	struct answer answer = {.end = PROC_RESULT_INIT};
	struct strv argv = STRV_INIT;
	char *path = agent_path();
	struct err err = ERR_INIT;
	const struct wire_part *part;

	strv_add(&argv, path);
	strv_add_all(&argv, words);
	assert_int_equal(proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
					  .input = input,
					  .input_len = input ? strlen(input) : 0,
					  .timeout_ns = 120 * NS_PER_S,
					  .max_output_bytes = 16 << 20},
				 &answer.end, &err),
		0);
	if (answer.end.exit_code == 0 && wire_parse(str_text(&answer.end.out), answer.end.out.len,
						 &answer.reply, &err) == 0) {
		part = wire_find(&answer.reply, "result");
		assert_non_null(part);
		answer.result = json_loadb(part->bytes, part->len, 0, NULL);
		assert_non_null(answer.result);
	}
	strv_release(&argv);
	free(path);
	return answer;
}

#define CALL(input, ...) call((input), (const char *const[]){__VA_ARGS__, NULL})

KB_UNUSED static void answer_release(struct answer *answer)
{
	json_decref(answer->result);
	proc_result_release(&answer->end);
}

/* A spec for "sh -c SCRIPT" with a timeout, an output limit and further members (", ..." or ""). */
KB_UNUSED static char *shell_spec(
	const char *script, int64_t timeout_ns, int64_t output_bytes, const char *more)
{
	json_t *text = json_string(script);
	char *quoted = json_dumps(text, JSON_ENCODE_ANY);
	char *spec = xasprintf("{\"argv\": [\"sh\", \"-c\", %s], \"timeout_ns\": %lld, "
			       "\"output_bytes\": %lld%s}",
		quoted, (long long)timeout_ns, (long long)output_bytes, more);

	json_decref(text);
	free(quoted);
	return spec;
}

/* Runs a script in a run folder of that name, to its end. */
KB_UNUSED static struct answer run_script(const char *name, const char *script, const char *more)
{
	char *spec = shell_spec(script, 60 * NS_PER_S, 1 << 20, more), *dir = in_folder(name);
	struct answer answer = CALL(spec, "run", "--spec-on-stdin", dir);

	free(spec);
	free(dir);
	return answer;
}

KB_UNUSED static const char *result_text(const struct answer *answer, const char *key)
{
	const char *text = json_string_value(json_object_get(answer->result, key));

	return text ? text : "";
}

KB_UNUSED static int64_t result_int(const struct answer *answer, const char *key)
{
	const json_t *value = json_object_get(answer->result, key);

	assert_non_null(value);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

KB_UNUSED static bool result_true(const struct answer *answer, const char *key)
{
	const json_t *value = json_object_get(answer->result, key);

	assert_true(json_is_boolean(value));
	return json_is_true(value);
}

/* A part as text; freed by the caller. */
KB_UNUSED static char *part_text(const struct answer *answer, const char *name)
{
	const struct wire_part *part = wire_find(&answer->reply, name);

	assert_non_null(part);
	return xstrndup(part->bytes, part->len);
}

KB_UNUSED static char *file_text(const char *path)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_read(path, 16 << 20, &text, &err), 0);
	str_add(&text, "");
	return str_take(&text);
}

/* Waits until a file has that many lines. */
KB_UNUSED static void wait_for_lines(const char *path, int count)
{
	int lines = 0;

	while (lines < count) {
		struct str text = STR_INIT;

		lines = 0;
		if (file_exists(path) && file_read(path, 1 << 20, &text, NULL) == 0)
			for (size_t i = 0; i < text.len; i++)
				lines += text.text[i] == '\n';
		str_release(&text);
		clock_sleep_ns(2 * NS_PER_MS);
	}
}

/* No process of these numbers (one a line) is left, zombies included. */
KB_UNUSED static void assert_gone(const char *pids)
{
	int count = 0;

	for (const char *at = pids; *at; at += *at == '\n') {
		long pid = strtol(at, (char **)&at, 10);

		assert_true(pid > 1);
		assert_int_equal(kill((pid_t)pid, 0), -1);
		assert_int_equal(errno, ESRCH);
		count++;
	}
	assert_true(count > 0);
}

/* Each of these processes ends, within 30 s; who reaps it is not our business. */
KB_UNUSED static void wait_until_dead(const char *pids)
{
	for (const char *at = pids; *at; at += *at == '\n') {
		char *path = xasprintf("/proc/%ld/stat", strtol(at, (char **)&at, 10)), *name_end;
		int64_t deadline = clock_now_ns() + 30 * NS_PER_S;
		struct str stat = STR_INIT;

		while (file_read_line(path, &stat, NULL) == 0 &&
			(name_end = strrchr(stat.text, ')')) && name_end[2] != 'Z' &&
			name_end[2] != 'X') {
			assert_true(clock_now_ns() < deadline);
			clock_sleep_ns(5 * NS_PER_MS);
		}
		str_release(&stat);
		free(path);
	}
}

#endif
