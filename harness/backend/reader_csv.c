/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/strv.h"
#include "backend/reader_ops.h"

/*
 * The pattern is the name of a column in the header line, "iops", or "iops[phase=run]" for the rows
 * alone whose column "phase" reads "run". Commas, quotes doubled inside quotes (RFC 4180); a row
 * with another number of fields than the header is not data.
 */
struct csv_pattern {
	char *column, *key, *wanted; /* key and wanted: NULL without a condition */
};

static struct csv_pattern split_pattern(const char *pattern)
{
	const char *open = strchr(pattern, '['), *equal = open ? strchr(open, '=') : NULL;
	size_t len = strlen(pattern);

	if (!equal || pattern[len - 1] != ']')
		return (struct csv_pattern){.column = xstrdup(pattern)};
	return (struct csv_pattern){
		.column = xstrndup(pattern, (size_t)(open - pattern)),
		.key = xstrndup(open + 1, (size_t)(equal - open - 1)),
		.wanted = xstrndup(equal + 1, (size_t)(pattern + len - 1 - equal - 1)),
	};
}

/* Splits one line; the fields are appended. */
static void split_line(const char *line, size_t len, struct strv *fields)
{
	struct str field = STR_INIT;
	bool quoted = false;

	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? line[i] : ',';

		if (quoted && c == '"' && i + 1 < len && line[i + 1] == '"') {
			str_add_char(&field, '"');
			i++;
		} else if (c == '"') {
			quoted = !quoted;
		} else if (c == ',' && (!quoted || i == len)) {
			strv_add(fields, str_text(&field));
			str_reset(&field);
		} else {
			str_add_char(&field, c);
		}
	}
	str_release(&field);
}

static size_t column_of(const struct strv *header, const char *name)
{
	for (size_t i = 0; name && i < header->count; i++)
		if (strcmp(header->items[i], name) == 0)
			return i;
	return SIZE_MAX;
}

static int read_row(const struct metric_spec *metric, const struct csv_pattern *pattern,
	const struct strv *header, const struct strv *row, struct findings *out, struct err *err)
{
	size_t value = column_of(header, pattern->column), key = column_of(header, pattern->key);

	if (value == SIZE_MAX || row->count != header->count)
		return 0;
	if (pattern->key && (key == SIZE_MAX || strcmp(row->items[key], pattern->wanted) != 0))
		return 0;
	return findings_add(metric, row->items[value], strlen(row->items[value]), out, err);
}

int reader_find_csv(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct csv_pattern pattern = split_pattern(metric->pattern);
	struct strv header = STRV_INIT;
	int ret = 0;

	for (size_t at = 0; at < len && ret == 0;) {
		const char *end = memchr(bytes + at, '\n', len - at);
		size_t line = end ? (size_t)(end - bytes) - at : len - at, used = line;
		struct strv row = STRV_INIT;

		if (used && bytes[at + used - 1] == '\r')
			used--;
		split_line(bytes + at, used, header.count ? &row : &header);
		if (row.count)
			ret = read_row(metric, &pattern, &header, &row, out, err);
		strv_release(&row);
		at += line + 1;
	}
	strv_release(&header);
	free(pattern.column);
	free(pattern.key);
	free(pattern.wanted);
	return ret;
}
