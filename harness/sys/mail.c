/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>

#include "base/mem.h"
#include "sys/mail.h"

enum { MAX_BYTES = 16 << 20, MAX_DEPTH = 8, MAX_HEADER_BYTES = 16384 };

struct span {
	const char *at, *end;
};

/* The next line with its newline; false at the end. */
static bool take_line(struct span *text, struct span *line)
{
	const char *newline;

	if (text->at >= text->end)
		return false;
	newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	line->at = text->at;
	line->end = newline ? newline + 1 : text->end;
	text->at = line->end;
	return true;
}

static bool is_blank(struct span line)
{
	while (line.at < line.end && (*line.at == '\r' || *line.at == '\n'))
		line.at++;
	return line.at == line.end;
}

/* "Name: value" or, inside a header, a folded line. */
static bool is_header(struct span line)
{
	const char *at = line.at;

	while (at < line.end && (isalnum((unsigned char)*at) || *at == '-'))
		at++;
	return at > line.at && at < line.end && *at == ':';
}

static bool has_prefix(struct span line, const char *prefix)
{
	size_t len = strlen(prefix);

	return (size_t)(line.end - line.at) >= len && !strncasecmp(line.at, prefix, len);
}

/* What matters of a message's or a part's header. */
struct header {
	struct str subject, type, encoding;
};

static void header_release(struct header *header)
{
	str_release(&header->subject);
	str_release(&header->type);
	str_release(&header->encoding);
}

static struct str *wanted(struct header *header, struct span line, size_t *skip)
{
	static const struct {
		const char *name;
		size_t offset;
	} known[] = {
		{"Subject:", offsetof(struct header, subject)},
		{"Content-Type:", offsetof(struct header, type)},
		{"Content-Transfer-Encoding:", offsetof(struct header, encoding)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (has_prefix(line, known[i].name)) {
			*skip = strlen(known[i].name);
			return (struct str *)((char *)header + known[i].offset);
		}
	return NULL;
}

static void add_value(struct str *value, const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	if (value->len + (size_t)(end - at) > MAX_HEADER_BYTES)
		return;
	if (value->len && at < end)
		str_add_char(value, ' ');
	str_add_bytes(value, at, (size_t)(end - at));
}

/* Reads header lines up to the empty one; what follows stays in *text. */
static void read_header(struct span *text, struct header *header)
{
	struct str *value = NULL;
	struct span line, before = *text;
	size_t skip = 0;

	while (take_line(text, &line) && !is_blank(line)) {
		bool folded = *line.at == ' ' || *line.at == '\t';

		if (!folded && !is_header(line)) {
			*text = before; /* the header ended without an empty line */
			return;
		}
		if (!folded) {
			skip = 0;
			value = wanted(header, line, &skip);
		}
		if (value)
			add_value(value, line.at + (folded ? 0 : skip), line.end);
		before = *text;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 2045 section 6.7; a "=" that starts no code is kept. */
static void add_quoted_printable(struct span text, struct str *out)
{
	while (text.at < text.end) {
		size_t left = (size_t)(text.end - text.at);
		int high = left > 2 ? hex_digit(text.at[1]) : -1;
		int low = left > 2 ? hex_digit(text.at[2]) : -1;

		if (*text.at != '=') {
			str_add_char(out, *text.at++);
		} else if (left > 1 && text.at[1] == '\n') {
			text.at += 2;
		} else if (left > 2 && text.at[1] == '\r' && text.at[2] == '\n') {
			text.at += 3;
		} else if (high >= 0 && low >= 0) {
			str_add_char(out, (char)(high * 16 + low));
			text.at += 3;
		} else {
			str_add_char(out, *text.at++);
		}
	}
}

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *hit = c ? strchr(digits, c) : NULL;

	return hit ? (int)(hit - digits) : -1;
}

static int add_base64(struct span text, struct str *out, struct err *err)
{
	unsigned bits = 0;
	int count = 0;

	for (; text.at < text.end && *text.at != '='; text.at++) {
		int digit = base64_digit(*text.at);

		if (isspace((unsigned char)*text.at))
			continue;
		if (digit < 0)
			return err_set(err, ERR_USAGE, "a mail's base64 text is damaged");
		bits = bits << 6 | (unsigned)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			str_add_char(out, (char)(bits >> count & 0xff));
		}
	}
	return 0;
}

/* Appends without carriage returns before newlines: mails travel with CRLF. */
static void add_without_cr(const char *bytes, size_t len, struct str *out)
{
	const char *end = bytes + len;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *stop = newline ? newline : end;

		str_add_bytes(out, bytes,
			(size_t)(stop - bytes) - (newline && stop > bytes && stop[-1] == '\r'));
		if (newline)
			str_add_char(out, '\n');
		bytes = newline ? newline + 1 : end;
	}
}

static int add_body(const struct header *header, struct span body, struct str *out, struct err *err)
{
	const char *encoding = str_text(&header->encoding);
	struct str decoded = STR_INIT;
	int ret = 0;

	if (!strncasecmp(encoding, "quoted-printable", 16))
		add_quoted_printable(body, &decoded);
	else if (!strncasecmp(encoding, "base64", 6))
		ret = add_base64(body, &decoded, err);
	else
		str_add_bytes(&decoded, body.at, (size_t)(body.end - body.at));
	if (ret == 0)
		add_without_cr(str_text(&decoded), decoded.len, out);
	str_release(&decoded);
	return ret;
}

/* The boundary parameter of a multipart type; NULL when there is none. Freed by the caller. */
static char *boundary_of(const char *type)
{
	const char *at = strcasestr(type, "boundary=");
	size_t len;

	if (!at)
		return NULL;
	at += strlen("boundary=");
	if (*at == '"')
		len = strcspn(++at, "\"");
	else
		len = strcspn(at, "; \t");
	return len && len <= 70 ? xasprintf("--%.*s", (int)len, at) : NULL;
}

static int add_entity(struct span text, int depth, struct str *out, struct err *err);

static int add_parts(
	const char *boundary, struct span text, int depth, struct str *out, struct err *err)
{
	struct span line, part = {NULL, NULL};
	int ret = 0;

	while (ret == 0 && take_line(&text, &line)) {
		if (!has_prefix(line, boundary))
			continue;
		if (part.at) {
			part.end = line.at;
			ret = add_entity(part, depth + 1, out, err);
		}
		part.at = line.end;
		if (!strncmp(line.at + strlen(boundary), "--", 2))
			return ret;
	}
	if (ret == 0 && part.at) {
		part.end = text.end;
		ret = add_entity(part, depth + 1, out, err);
	}
	return ret;
}

/* Text, and what is declared as a patch whatever its name. */
static bool is_text(const char *type)
{
	return !*type || !strncasecmp(type, "text/plain", 10) || !strncasecmp(type, "text/x-", 7) ||
	       strcasestr(type, ".patch") || strcasestr(type, ".diff");
}

static int add_entity(struct span text, int depth, struct str *out, struct err *err)
{
	struct header header = {STR_INIT, STR_INIT, STR_INIT};
	const char *type;
	char *boundary;
	int ret = 0;

	if (depth > MAX_DEPTH)
		return err_set(
			err, ERR_USAGE, "a mail with parts nested deeper than %d", MAX_DEPTH);
	read_header(&text, &header);
	type = str_text(&header.type);
	if (header.subject.len && !depth)
		str_addf(out, "Subject: %s\n\n", str_text(&header.subject));
	if (!strncasecmp(type, "multipart/", 10)) {
		boundary = boundary_of(type);
		ret = boundary ? add_parts(boundary, text, depth, out, err)
			       : err_set(err, ERR_USAGE, "a multipart mail without a boundary");
		free(boundary);
	} else if (is_text(type)) {
		ret = add_body(&header, text, out, err);
	}
	header_release(&header);
	return ret;
}

/* "From someone Thu Jan  1 00:00:00 1970": the line before each message of an mbox. */
static bool is_from_line(struct span line)
{
	const char *end = line.end;

	while (end > line.at && isspace((unsigned char)end[-1]))
		end--;
	if (!has_prefix(line, "From ") || end - line.at < 20)
		return false;
	for (int i = 1; i <= 4; i++)
		if (!isdigit((unsigned char)end[-i]))
			return false;
	return end[-5] == ' ';
}

int mail_add_text(const char *bytes, size_t len, struct str *out, struct err *err)
{
	struct span text = {bytes, bytes + len}, line, message;
	bool blank = true;
	int ret = 0;

	if (len > MAX_BYTES)
		return err_set(err, ERR_USAGE, "a mail of more than 16 MiB");
	if (!take_line(&text, &line))
		return 0;
	if (!is_from_line(line) && !is_header(line)) {
		str_add_bytes(out, bytes, len);
		return 0;
	}
	message.at = is_from_line(line) ? line.end : bytes;
	while (ret == 0 && take_line(&text, &line)) {
		if (blank && is_from_line(line)) {
			message.end = line.at;
			ret = add_entity(message, 0, out, err);
			message.at = line.end;
		}
		blank = is_blank(line);
	}
	message.end = bytes + len;
	return ret ? ret : add_entity(message, 0, out, err);
}
