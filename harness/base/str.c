/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

static void str_reserve(struct str *s, size_t more)
{
	size_t need = s->len + more + 1;

	if (need <= s->capacity)
		return;
	s->capacity = need < 2 * s->capacity ? 2 * s->capacity : need + 32;
	s->text = xrealloc(s->text, s->capacity, 1);
}

void str_release(struct str *s)
{
	if (!s)
		return;
	free(s->text);
	*s = (struct str)STR_INIT;
}

void str_reset(struct str *s)
{
	s->len = 0;
	if (s->text)
		s->text[0] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_bytes(s, text, strlen(text));
}

void str_add_bytes(struct str *s, const void *bytes, size_t len)
{
	str_reserve(s, len);
	if (len)
		memcpy(s->text + s->len, bytes, len);
	s->len += len;
	s->text[s->len] = '\0';
}

void str_add_char(struct str *s, char c)
{
	str_add_bytes(s, &c, 1);
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	if (!fmt)
		BUG("no format");
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		BUG("format '%s' cannot be printed", fmt);
	str_reserve(s, (size_t)len);
	(void)vsnprintf(s->text + s->len, (size_t)len + 1, fmt, ap);
	s->len += (size_t)len;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(s, fmt, ap);
	va_end(ap);
}

const char *str_text(const struct str *s)
{
	return s->text ? s->text : "";
}

char *str_take(struct str *s)
{
	char *text = s->text ? s->text : xstrdup("");

	*s = (struct str)STR_INIT;
	return text;
}

bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
	size_t len = strlen(text), tail = strlen(suffix);

	return len >= tail && strcmp(text + len - tail, suffix) == 0;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964), three rows of the table at a time. */
size_t str_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), width = lb + 1, result;
	size_t *rows = xcalloc(3 * width, sizeof(*rows));
	size_t *before = rows, *above = rows + width, *here = rows + 2 * width;

	for (size_t j = 0; j <= lb; j++)
		above[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *oldest = before;

		here[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

			here[j] = min_size(change, 1 + min_size(above[j], here[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				here[j] = min_size(here[j], before[j - 2] + 1);
		}
		before = above;
		above = here;
		here = oldest;
	}
	result = above[lb];
	free(rows);
	return result;
}

void str_add_safe(struct str *s, const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code;
		size_t used = utf8_decode(text + at, len - at, &code);
		bool plain = used && utf8_is_plain(code);
		size_t step = used ? used : 1;

		if (plain) {
			str_add_bytes(s, text + at, step);
		} else {
			for (size_t i = 0; i < step; i++)
				str_addf(s, "\\x%02x", (unsigned char)text[at + i]);
		}
		at += step;
	}
}
