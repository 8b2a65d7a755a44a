/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/utf8.h"

size_t utf8_decode(const char *bytes, size_t len, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *b = (const unsigned char *)bytes;
	size_t need;
	uint32_t c;

	if (!len)
		return 0;
	need = b[0] < 0x80   ? 1
	       : b[0] < 0xc0 ? 0
	       : b[0] < 0xe0 ? 2
	       : b[0] < 0xf0 ? 3
	       : b[0] < 0xf8 ? 4
			     : 0;
	if (!need || need > len)
		return 0;
	c = need == 1 ? b[0] : b[0] & (0x7fu >> need);
	for (size_t i = 1; i < need; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	if (c < smallest[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return need;
}

/* Marks that reorder text on a terminal: U+061C, U+200E..F, U+202A..E, U+2066..9. */
static bool is_direction_mark(uint32_t code)
{
	return code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool utf8_is_plain(uint32_t code)
{
	return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && !is_direction_mark(code);
}

size_t utf8_valid_prefix(const char *bytes, size_t len)
{
	size_t at = 0;
	uint32_t code;

	while (at < len) {
		size_t used = utf8_decode(bytes + at, len - at, &code);

		if (!used)
			break;
		at += used;
	}
	return at;
}

size_t utf8_columns(const char *text)
{
	size_t len = strlen(text), at = 0, columns = 0;
	uint32_t code;

	while (at < len) {
		size_t used = utf8_decode(text + at, len - at, &code);

		at += used ? used : 1;
		columns++;
	}
	return columns;
}
