/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_PATCH_INT_H
#define KB_SYS_PATCH_INT_H

/* Between patch.c (mail and file headers) and patch_hunk.c (hunks). */

#include "base/base.h"

#include "sys/patch.h"

struct patch_parser {
	struct arena *arena;
	const char *name;
	const char *at, *end;
	int line; /* of the line at `at`, from 1 */
	struct err *err;
	struct patch *patch;
	size_t file_capacity, lines_seen;
};

struct patch_text_line {
	const char *text;
	size_t len; /* without "\n"; a "\r" before it is cut off in headers only */
};

/* ERR_USAGE with the patch's name and the present line in front of what is wrong. */
int patch_bad(struct patch_parser *p, const char *what);
/* The line at the present place; false at the end. */
bool patch_peek(const struct patch_parser *p, struct patch_text_line *line);
void patch_advance(struct patch_parser *p, const struct patch_text_line *line);
bool patch_line_starts(const struct patch_text_line *line, const char *prefix);
/* The rest of a header line behind its prefix, in the arena, without a carriage return. */
char *patch_line_rest(
	struct patch_parser *p, const struct patch_text_line *line, const char *prefix);

/* All hunks of a file, from its first "@@ -" line on. */
KB_MUST_CHECK int patch_read_hunks(struct patch_parser *p, struct patch_file *file);

#endif
