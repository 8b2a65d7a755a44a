/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_GIT_REPO_H
#define KB_TESTS_GIT_REPO_H

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/strv.h"
#include "sys/proc.h"

/* For tests that make real repositories with git itself. */

/* Runs git in a folder; returns its output without the last newline, valid until the next call. */
__attribute__((sentinel)) static const char *git(const char *folder, ...)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=1700000000 +0100", "GIT_COMMITTER_DATE=1700000000 +0100",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow",
		"GIT_CONFIG_VALUE_0=always", "GIT_CONFIG_KEY_1=safe.directory",
		"GIT_CONFIG_VALUE_1=*", NULL};
	static char *last;
	struct proc_spec spec = {.env = env, .cwd = folder, .timeout_ns = INT64_C(60000000000)};
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	struct str out = STR_INIT;
	const char *word;
	va_list ap;

	strv_add_many(&argv, "git", "-c", "init.defaultBranch=main", NULL);
	va_start(ap, folder);
	while ((word = va_arg(ap, const char *)))
		strv_add(&argv, word);
	va_end(ap);
	spec.argv = strv_argv(&argv);
	if (proc_check(&spec, &out, &err))
		fail_msg("git: %s", err.text);
	strv_release(&argv);
	free(last);
	last = str_take(&out);
	if (*last && last[strlen(last) - 1] == '\n')
		last[strlen(last) - 1] = '\0';
	return last;
}

/* Opening a repository with libgit2 1.5 leaks what it takes from PCRE2 to match names in its
 * config. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2-8.so";
}

#endif
