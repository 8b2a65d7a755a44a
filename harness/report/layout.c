/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/utf8.h"
#include "report/layout.h"

static const char *const colour_codes[] = {
	[COLOUR_NONE] = "",
	[COLOUR_BAD] = "\033[1;31m",
	[COLOUR_GOOD] = "\033[32m",
	[COLOUR_OPEN] = "\033[33m",
	[COLOUR_INVALID] = "\033[35m",
	[COLOUR_TITLE] = "\033[1m",
};

const char *layout_plus_minus(const struct layout *layout)
{
	return layout->utf8 ? "\u00b1" : "+-";
}

const char *layout_times(const struct layout *layout)
{
	return layout->utf8 ? "\u00d7" : "x";
}

void layout_add_safe(const struct layout *layout, struct str *out, const char *text)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, text, strlen(text));
	for (size_t i = 0; i < safe.len; i++) {
		unsigned char c = (unsigned char)safe.text[i];

		if (c > 0x7e && !layout->utf8)
			str_addf(out, "\\x%02x", c);
		else
			str_add_char(out, (char)c);
	}
	str_release(&safe);
}

void layout_add_coloured(
	const struct layout *layout, struct str *out, enum colour colour, const char *text)
{
	if (!layout->colour || colour == COLOUR_NONE) {
		str_add(out, text);
		return;
	}
	str_add(out, colour_codes[colour]);
	str_add(out, text);
	str_add(out, "\033[0m");
}

size_t layout_columns_bytes(const char *text, size_t columns)
{
	size_t len = strlen(text), at = 0;
	uint32_t code;

	for (size_t n = 0; n < columns && at < len; n++) {
		size_t used = utf8_decode(text + at, len - at, &code);

		at += used ? used : 1;
	}
	return at;
}

size_t layout_line_end(const char *text, size_t columns)
{
	size_t fit = layout_columns_bytes(text, columns), cut = fit;

	if (!text[fit] || text[fit] == ' ')
		return fit;
	while (cut > 0 && text[cut - 1] != ' ')
		cut--;
	while (cut > 0 && text[cut - 1] == ' ')
		cut--;
	return cut ? cut : fit;
}

void layout_paragraph(
	const struct layout *layout, struct str *out, int first, int rest, const char *text)
{
	struct str safe = STR_INIT;
	const char *left;
	int before = first;

	layout_add_safe(layout, &safe, text);
	left = str_text(&safe);
	do {
		size_t used = layout_line_end(left, (size_t)(layout->columns - before));

		str_addf(out, "%*s%.*s\n", before, "", (int)used, left);
		left += used;
		left += strspn(left, " ");
		before = rest;
	} while (*left);
	str_release(&safe);
}

void layout_ends(const struct layout *layout, struct str *out, const char *left, const char *right)
{
	struct str l = STR_INIT, r = STR_INIT;
	int used;

	layout_add_safe(layout, &l, left);
	layout_add_safe(layout, &r, right);
	used = (int)(utf8_columns(str_text(&l)) + utf8_columns(str_text(&r)));
	if (used + 2 <= layout->columns) {
		layout_add_coloured(layout, out, COLOUR_TITLE, str_text(&l));
		str_addf(out, "%*s%s\n", layout->columns - used, "", str_text(&r));
	} else {
		layout_paragraph(layout, out, 0, 2, left);
		layout_paragraph(layout, out, 2, 2, right);
	}
	str_release(&l);
	str_release(&r);
}
