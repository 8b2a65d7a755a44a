/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_CLI_H
#define KB_TESTS_CLI_H

/* The real program, called as a person does, with a results folder of the test's own. */

#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "sys/json.h"
#include "sys/proc.h"

/* A folder of its own for each test; `text` holds the answer and the chatter of the last call. */
struct bench {
	char folder[64];
	char *results;
	struct str out, chatter;
};

KB_UNUSED static int set_up(void **state)
{
	struct bench *bench = xcalloc(1, sizeof(*bench));

	(void)snprintf(bench->folder, sizeof(bench->folder), "/tmp/kb-cli-XXXXXX");
	if (!mkdtemp(bench->folder))
		return -1;
	bench->results = xasprintf("%s/results", bench->folder);
	*state = bench;
	return 0;
}

KB_UNUSED static int tear_down(void **state)
{
	struct bench *bench = *state;
	struct err err = ERR_INIT;
	int ret = file_remove_tree(bench->folder, &err);

	str_release(&bench->out);
	str_release(&bench->chatter);
	free(bench->results);
	free(bench);
	return ret;
}

/* Beside the tests, in the build folder that they were built in; freed by the caller. */
KB_UNUSED static char *program(void)
{
	const char *build = getenv("KB_BUILD");

	return xasprintf("%s/kbracket", build ? build : "build");
}

/* Runs `kbracket WORDS` with the test's results folder; returns the exit code. output_fd > 0 is its
 * stdout. */
KB_UNUSED static int call_to(struct bench *bench, int output_fd, const char *words)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	char *path = program();
	int code;

	strv_add(&argv, path);
	strv_addf(&argv, "--results=%s", bench->results);
	assert_int_equal(proc_split_words(words, &argv, &err), 0);
	if (proc_run(&(struct proc_spec){.argv = strv_argv(&argv),
			     .timeout_ns = 300 * NS_PER_S,
			     .max_output_bytes = 64 << 20,
			     .output_fd = output_fd},
		    &result, &err))
		fail_msg("%s: %s", words, err.text);
	if (result.signal)
		fail_msg("%s: signal %d: %s", words, result.signal, str_text(&result.err_out));
	str_reset(&bench->out);
	str_reset(&bench->chatter);
	str_add(&bench->out, str_text(&result.out));
	str_add(&bench->chatter, str_text(&result.err_out));
	code = result.exit_code;
	proc_result_release(&result);
	strv_release(&argv);
	free(path);
	return code;
}

static int call(struct bench *bench, const char *fmt, ...) KB_PRINTF(2, 3);
KB_UNUSED static int call(struct bench *bench, const char *fmt, ...)
{
	struct str words = STR_INIT;
	va_list ap;
	int code;

	va_start(ap, fmt);
	str_vaddf(&words, fmt, ap);
	va_end(ap);
	code = call_to(bench, 0, str_text(&words));
	str_release(&words);
	return code;
}

#define expect_code(bench, code, ...)                                                  \
	do {                                                                           \
		int got_code = call(bench, __VA_ARGS__);                               \
		if (got_code != (code))                                                \
			fail_msg("exit %d, not %d\n%s%s", got_code, (code),            \
				str_text(&(bench)->out), str_text(&(bench)->chatter)); \
	} while (0)

KB_UNUSED static void expect_text(const struct str *text, const char *part)
{
	if (!strstr(str_text(text), part))
		fail_msg("'%s' is not in:\n%s", part, str_text(text));
}

KB_UNUSED static void hash_of_database(const struct bench *bench, char hex[SHA256_HEX_LEN + 1])
{
	char *path = xasprintf("%s/kbracket.db", bench->results);
	struct err err = ERR_INIT;

	assert_int_equal(sha256_of_file(path, hex, &err), 0);
	free(path);
}

#endif
