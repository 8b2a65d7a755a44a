/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/csv.h"
#include "base/mem.h"
#include "base/strv.h"
#include "backend/reader_ops.h"

/*
 * The pattern is the name of a column in the header line, "iops", or "iops[phase=run]" for the rows
 * alone whose column "phase" reads "run". A row with another number of fields than the header is
 * not data.
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

/* The column's index; SIZE_MAX when there is none. */
static int find_column(const struct strv *header, const char *name, size_t *out, struct err *err)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < header->count; i++) {
		if (strcmp(header->items[i], name) != 0)
			continue;
		if (found != SIZE_MAX)
			return err_set(err, ERR_INVALID, "two columns are called %s", name);
		found = i;
	}
	*out = found;
	return 0;
}

static int read_row(const struct metric_spec *metric, const struct csv_pattern *pattern,
	const struct strv *header, const struct csv *row, struct findings *out, struct err *err)
{
	size_t value = SIZE_MAX, key = SIZE_MAX;
	int ret = find_column(header, pattern->column, &value, err);

	if (ret == 0 && pattern->key)
		ret = find_column(header, pattern->key, &key, err);
	if (ret || value == SIZE_MAX || row->count != header->count)
		return ret;
	if (pattern->key && (key == SIZE_MAX || strcmp(row->fields[key], pattern->wanted) != 0))
		return 0;
	return findings_add(metric, row->fields[value], strlen(row->fields[value]), out, err);
}

static int read_rows(const struct metric_spec *metric, const struct csv_pattern *pattern,
	struct csv *csv, struct findings *out, struct err *err)
{
	struct strv header = STRV_INIT;
	struct err why = ERR_INIT;
	int ret = csv_next(csv, &why);

	for (size_t i = 0; ret == 1 && i < csv->count; i++)
		strv_add(&header, csv->fields[i]);
	if (ret == 1)
		ret = 0;
	while (ret == 0 && (ret = csv_next(csv, &why)) == 1)
		ret = read_row(metric, pattern, &header, csv, out, err);
	if (ret == ERR_USAGE)
		ret = err_set(err, ERR_INVALID, "the output is not CSV: %.200s", why.text);
	strv_release(&header);
	return ret;
}

int reader_find_csv(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct csv_pattern pattern = split_pattern(metric->pattern);
	struct csv csv;
	int ret;

	csv_init(&csv, bytes, len);
	ret = read_rows(metric, &pattern, &csv, out, err);
	csv_release(&csv);
	free(pattern.column);
	free(pattern.key);
	free(pattern.wanted);
	return ret;
}
