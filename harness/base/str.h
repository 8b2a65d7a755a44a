/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_STR_H
#define KB_BASE_STR_H

#include "base/base.h"

#include <stdarg.h>

/* Growable text. text is never NULL after str_init or the first append, and
 * always ends with a NUL that len does not count (bytes may hold more NULs). */
struct str {
	char *text;
	size_t len;
	size_t capacity;
};

#define STR_INIT           \
	{                  \
		NULL, 0, 0 \
	}

void str_release(struct str *s); /* frees; ready for use again; NULL is fine */
void str_reset(struct str *s);	 /* empties, keeps the memory */
void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t len);
void str_add_char(struct str *s, char c);
KB_PRINTF(2, 3) void str_addf(struct str *s, const char *fmt, ...);
void str_vaddf(struct str *s, const char *fmt, va_list ap);
/* The text so far, "" when nothing was added; borrowed. */
const char *str_text(const struct str *s);
/* Hands the text to the caller, who frees it; s is empty afterwards. */
char *str_take(struct str *s);

bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
/* Number of edits (insert, delete, change, swap of neighbours) from a to b; for "did you mean". */
size_t str_distance(const char *a, const char *b);
/* Appends text with control characters, invalid UTF-8 and direction marks written as \xNN,
 * so that nothing from outside reaches a terminal or a line-based file raw. */
void str_add_safe(struct str *s, const char *text, size_t len);

#endif
