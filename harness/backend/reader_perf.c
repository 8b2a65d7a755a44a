/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/str.h"
#include "backend/perf_line.h"

/* Counts of perf stat as metrics: the pattern is the event's name. */

/* An estimate is no measurement. */
static int check_share(const struct perf_count *count, struct err *err)
{
	if (count->pct >= 100)
		return 0;
	return err_set(err, ERR_INVALID,
		"it was counted for %g %% of the time only: there are more events than counters",
		count->pct);
}

static int add_count(const struct metric_spec *metric, const struct perf_count *count,
	struct findings *out, struct err *err)
{
	struct str text = STR_INIT;
	int ret = check_share(count, err);

	if (ret)
		return ret;
	str_addf(&text, "%s %s", count->number, count->unit);
	ret = findings_add(metric, text.text, text.len, out, err);
	str_release(&text);
	return ret;
}

/* As 1 when the line is a count of the event, 0 when not. */
static int read_line(struct perf_table *table, const char *bytes, size_t len, const char *event,
	struct perf_count *out, struct err *err)
{
	struct perf_line line;
	int ret;

	if (perf_line_find(bytes, len, event, &line)) {
		ret = perf_line_count(&line, out, err);
		return ret ? ret : 1;
	}
	ret = perf_json_count(bytes, len, event, out, err);
	return ret ? ret : perf_table_count(table, bytes, len, event, out, err);
}

int reader_find_perf(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct perf_table table = {false};
	struct perf_count count;
	int ret = 0;

	while (len && ret == 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t got = end ? (size_t)(end - bytes) : len;

		ret = read_line(&table, bytes, got, metric->pattern, &count, err);
		if (ret == 1 && !end)
			return err_set(err, ERR_INVALID, "perf's line is cut");
		if (ret == 1 && count.absent && metric->optional) {
			out->count = 0; /* what is left would be a part of it */
			return 0;
		}
		if (ret == 1)
			ret = count.absent
				      ? err_set(err, ERR_INVALID, "perf says <%s>", count.absent)
				      : add_count(metric, &count, out, err);
		bytes += got + (end != NULL);
		len -= got + (end != NULL);
	}
	return ret;
}
