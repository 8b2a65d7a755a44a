/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/csv.h"

/* In front of a file it says that this is UTF-8, and is no part of the first field. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

void csv_init(struct csv *csv, const char *bytes, size_t len)
{
	*csv = (struct csv){.bytes = bytes, .len = len};
	if (len >= 3 && memcmp(bytes, byte_order_mark, 3) == 0)
		csv->at = 3;
}

void csv_release(struct csv *csv)
{
	str_release(&csv->text);
}

static int fail(const struct csv *csv, struct err *err, const char *what)
{
	return err_set(err, ERR_USAGE, "line %d: %s", csv->line, what);
}

static bool at_line_end(const struct csv *csv)
{
	if (csv->at >= csv->len || csv->bytes[csv->at] == '\n')
		return true;
	return csv->bytes[csv->at] == '\r' && csv->at + 1 < csv->len &&
	       csv->bytes[csv->at + 1] == '\n';
}

static void skip_line_end(struct csv *csv)
{
	if (csv->at < csv->len && csv->bytes[csv->at] == '\r')
		csv->at++;
	if (csv->at < csv->len)
		csv->at++;
	csv->ended++;
}

/* The inside of a quoted field; at is behind the opening quote. */
static int read_quoted(struct csv *csv, struct err *err)
{
	for (;;) {
		char c;

		if (csv->at >= csv->len)
			return fail(csv, err, "a quote is never closed");
		if (csv->text.len > CSV_RECORD_MAX)
			return fail(csv, err, "the record is longer than 64 KiB");
		c = csv->bytes[csv->at++];
		if (c == '\0')
			return fail(csv, err, "it holds a NUL byte");
		if (c == '"') {
			if (csv->at >= csv->len || csv->bytes[csv->at] != '"')
				break;
			csv->at++;
		}
		if (c == '\n')
			csv->ended++;
		str_add_char(&csv->text, c);
	}
	if (!at_line_end(csv) && csv->bytes[csv->at] != ',')
		return fail(csv, err, "text follows a closing quote");
	return 0;
}

static int read_plain(struct csv *csv, struct err *err)
{
	while (!at_line_end(csv) && csv->bytes[csv->at] != ',') {
		char c = csv->bytes[csv->at++];

		if (c == '\0')
			return fail(csv, err, "it holds a NUL byte");
		if (csv->text.len > CSV_RECORD_MAX)
			return fail(csv, err, "the record is longer than 64 KiB");
		str_add_char(&csv->text, c);
	}
	return 0;
}

int csv_next(struct csv *csv, struct err *err)
{
	size_t starts[CSV_FIELDS_MAX];

	str_reset(&csv->text);
	csv->count = 0;
	while (csv->at < csv->len && at_line_end(csv))
		skip_line_end(csv);
	if (csv->at >= csv->len)
		return 0;
	csv->line = csv->ended + 1;
	for (;;) {
		int ret;

		if (csv->count == CSV_FIELDS_MAX)
			return fail(csv, err, "it has more than 1024 fields");
		starts[csv->count++] = csv->text.len;
		if (csv->at < csv->len && csv->bytes[csv->at] == '"') {
			csv->at++;
			ret = read_quoted(csv, err);
		} else {
			ret = read_plain(csv, err);
		}
		if (ret)
			return ret;
		str_add_char(&csv->text, '\0');
		if (at_line_end(csv))
			break;
		csv->at++;
	}
	skip_line_end(csv);
	for (size_t i = 0; i < csv->count; i++)
		csv->fields[i] = csv->text.text + starts[i];
	return 1;
}

void csv_add(struct str *out, const char *field)
{
	if (out->len && out->text[out->len - 1] != '\n')
		str_add_char(out, ',');
	if (*field && !strpbrk(field, ",\"\r\n") && !str_starts(field, byte_order_mark)) {
		str_add(out, field);
		return;
	}
	if (!*field && out->len && out->text[out->len - 1] == ',')
		return;
	str_add_char(out, '"');
	for (; *field; field++) {
		if (*field == '"')
			str_add_char(out, '"');
		str_add_char(out, *field);
	}
	str_add_char(out, '"');
}
