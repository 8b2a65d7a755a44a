/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_WIRE_H
#define KB_BASE_WIRE_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * How kbracket-agent hands several files back in one stream, so that a run costs one ssh command:
 *
 *	kbracket-reply 1\n
 *	part NAME LENGTH\n
 *	<LENGTH bytes>\n
 *	...
 *	end COUNT\n
 *
 * NAME is 1 to 31 of a-z 0-9 . _ -, LENGTH and COUNT are decimal without leading zeros. A stream
 * that was cut anywhere has no valid end line. Bytes of a part may be anything.
 */
enum { WIRE_MAX_PARTS = 8, WIRE_MAX_NAME = 31 };

struct wire_part {
	char name[WIRE_MAX_NAME + 1];
	const char *bytes; /* into the parsed stream; not ended by NUL */
	size_t len;
};

struct wire_reply {
	struct wire_part parts[WIRE_MAX_PARTS];
	size_t count;
};

/* Parses a whole stream of hostile bytes; the parts point into it. ERR_INFRA says what is wrong
 * (cut, noise before the reply, a part twice, bytes after the end) and leaves *out untouched. */
KB_MUST_CHECK int wire_parse(
	const char *bytes, size_t len, struct wire_reply *out, struct err *err);
/* NULL when there is no such part. */
const struct wire_part *wire_find(const struct wire_reply *reply, const char *name);

/* The writer's side: the first line; the line before a part's bytes (one "\n" follows them); the
 * last line. */
void wire_add_start(struct str *s);
void wire_add_part(struct str *s, const char *name, size_t len);
void wire_add_end(struct str *s, size_t count);

#endif
