/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/feature.h"

enum { NAME_MAX_LEN = 64 };

/* Bytes of the name that text begins with; 0 when that is none. */
static size_t name_len(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return len <= NAME_MAX_LEN ? len : 0;
}

static bool has_word(const char *list, const char *before, const char *name)
{
	size_t prefix = strlen(before), len = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, " \n")) {
		at += strspn(at, " \n");
		if (strcspn(at, " \n") == prefix + len && strncmp(at, before, prefix) == 0 &&
			strncmp(at + prefix, name, len) == 0)
			return true;
	}
	return false;
}

bool feature_on(const char *list, const char *name)
{
	return *name && has_word(list, "", name);
}

bool feature_listed(const char *list, const char *name)
{
	return *name && (has_word(list, "", name) || has_word(list, "NO_", name));
}

static void add_once(struct strv *out, const char *name, size_t len)
{
	char *copy = xstrndup(name, len);

	if (!strv_has(out, copy))
		strv_add(out, copy);
	free(copy);
}

void feature_list_on(const char *list, struct strv *out)
{
	for (const char *at = list; *at;) {
		size_t len = name_len(at);

		if (len && len == strcspn(at, " \n") && !str_starts(at, "NO_"))
			add_once(out, at, len);
		at += strcspn(at, " \n");
		at += strspn(at, " \n");
	}
}

/* Those of one line, which ends at `end`. */
static void add_of_line(const char *line, const char *end, struct strv *out)
{
	static const char *const calls[] = {"SCHED_FEAT(", "sched_feat("};

	for (const char *at = line; at < end; at++)
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
			size_t len;

			if (!str_starts(at, calls[i]))
				continue;
			len = name_len(at + strlen(calls[i]));
			if (len)
				add_once(out, at + strlen(calls[i]), len);
		}
}

static void add_of_lines(const char *diff, const char *kinds, struct strv *out)
{
	const char *end;

	for (const char *line = diff; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		if (strchr(kinds, *line))
			add_of_line(line, end, out);
	}
}

void feature_list_touched(const char *diff, struct strv *out)
{
	add_of_lines(diff, "+-", out);
	add_of_lines(diff, " ", out);
}
