/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "sys/yaml_text.h"

enum { TEXT_MAX_BYTES = 1 << 20 };

static void begin_line(struct yaml_text *text, size_t at)
{
	GROW(text->lines, text->line_count, text->line_capacity);
	text->lines[text->line_count++] = at;
}

/* Everything before the offset is valid UTF-8. */
static int refuse(const struct yaml_text *text, size_t offset, struct diag *diag, const char *fmt,
	unsigned value)
{
	size_t at = text->lines[text->line_count - 1];
	char said[80];
	int column = 1;

	for (; at < offset; column++) {
		uint32_t code;

		at += utf8_decode(text->text + at, offset - at, &code);
	}
	(void)snprintf(said, sizeof(said), fmt, value);
	diag_add(diag, text->name, (int)text->line_count, column, "%s", said);
	return ERR_USAGE;
}

/* Characters that break a line for YAML but not for an editor would make positions wrong; others
 * cannot be seen at all. */
static bool is_allowed(uint32_t code)
{
	if (code < 0x20)
		return code == '\t' || code == '\n' || code == '\r';
	return code < 0x7f || (code >= 0xa0 && code != 0x2028 && code != 0x2029 && code != 0xfeff &&
				      code != 0xfffe && code != 0xffff);
}

static int find_lines(struct yaml_text *text, struct diag *diag)
{
	size_t at = 0;

	begin_line(text, 0);
	while (at < text->len) {
		uint32_t code;
		size_t used = utf8_decode(text->text + at, text->len - at, &code);

		if (!used)
			return refuse(text, at, diag, "this byte (0x%02x) is not valid UTF-8",
				(unsigned char)text->text[at]);
		if (!is_allowed(code))
			return refuse(text, at, diag, "the character U+%04X is not allowed", code);
		if (code == '\r' && text->text[at + 1] != '\n')
			return refuse(text, at, diag,
				"a carriage return alone (U+%04X) does not end a line", code);
		at += used;
		if (code == '\n')
			begin_line(text, at);
	}
	return 0;
}

int yaml_text_init(
	struct yaml_text *text, const char *name, const char *bytes, size_t len, struct diag *diag)
{
	*text = (struct yaml_text){.name = name};
	if (len > TEXT_MAX_BYTES) {
		diag_add(diag, name, 1, 1, "the file is larger than 1 MiB");
		return ERR_USAGE;
	}
	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
		bytes += 3;
		len -= 3;
	}
	text->text = xmalloc(len + 1);
	if (len)
		memcpy(text->text, bytes, len);
	text->text[len] = '\0';
	text->len = len;
	return find_lines(text, diag);
}

void yaml_text_release(struct yaml_text *text)
{
	free(text->text);
	free(text->lines);
	*text = (struct yaml_text){.name = NULL};
}

bool yaml_text_tab_before(
	const struct yaml_text *text, size_t line, size_t column, size_t *tab_column)
{
	const char *start, *tab;
	size_t blanks;

	if (line >= text->line_count)
		return false;
	start = text->text + text->lines[line];
	blanks = strspn(start, " \t");
	tab = memchr(start, '\t', blanks);
	if (!tab || column > blanks)
		return false;
	*tab_column = (size_t)(tab - start);
	return true;
}
