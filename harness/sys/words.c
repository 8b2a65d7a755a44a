/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strv.h"
#include "sys/proc.h"

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *proc_find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *folders, *at, *found = NULL;

	if (!name[0])
		return NULL;
	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	folders = xasprintf("%s:/usr/sbin:/sbin", path && path[0] ? path : "/usr/bin:/bin");
	at = folders;
	while (at && !found) {
		char *folder = strsep(&at, ":");

		/* An empty part means the current folder to a shell; not to us. */
		if (folder[0] != '/')
			continue;
		found = xasprintf("%s/%s", folder, name);
		if (!is_program(found)) {
			free(found);
			found = NULL;
		}
	}
	free(folders);
	return found;
}

/* Appends the quoted part that begins at *at to the word and returns the byte behind the closing
 * quote, NULL when there is none. */
static const char *read_quoted(const char *at, struct str *word)
{
	char quote = *at++;

	for (; *at && *at != quote; at++) {
		bool escaped = quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1]);

		at += escaped;
		str_add_char(word, *at);
	}
	return *at ? at + 1 : NULL;
}

/* Reads one word; returns the byte behind it, NULL when a quote stays open. */
static const char *read_word(const char *at, struct str *word)
{
	while (at && *at && !strchr(" \t\r\n", *at)) {
		if (*at == '\'' || *at == '"') {
			at = read_quoted(at, word);
		} else if (*at == '\\') {
			if (!at[1])
				return NULL;
			str_add_char(word, at[1]);
			at += 2;
		} else {
			str_add_char(word, *at++);
		}
	}
	return at;
}

int proc_split_words(const char *text, struct strv *out, struct err *err)
{
	struct strv words = STRV_INIT;
	struct str word = STR_INIT;
	const char *at = text + strspn(text, " \t\r\n");

	while (at && *at) {
		str_reset(&word);
		at = read_word(at, &word);
		if (at) {
			strv_add(&words, str_text(&word));
			at += strspn(at, " \t\r\n");
		}
	}
	if (at)
		strv_add_all(out, strv_argv(&words));
	str_release(&word);
	strv_release(&words);
	return at ? 0
		  : err_set(err, ERR_USAGE,
			    "a quote or backslash is not closed in the command: %.200s", text);
}
