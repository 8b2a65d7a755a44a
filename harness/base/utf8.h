/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_UTF8_H
#define KB_BASE_UTF8_H

#include "base/base.h"

/* Reads one code point from at most len bytes. Returns the number of bytes used and sets
 * *code, or 0 when the bytes are not valid UTF-8 (overlong forms, surrogates and values above
 * U+10FFFF are invalid) or len is 0. */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *code);

/* False for what changes a terminal or the order of its text: control characters (C0, DEL, C1) and
 * marks of direction. */
bool utf8_is_plain(uint32_t code);

/* Offset of the first byte that is not valid UTF-8; len when all of it is valid. */
size_t utf8_valid_prefix(const char *bytes, size_t len);

/* Number of terminal columns: one per code point. Invalid bytes count as one column each. */
size_t utf8_columns(const char *text);

#endif
