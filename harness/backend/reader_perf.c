/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/str.h"
#include "backend/perf_line.h"

/* Counts of `perf stat -x';'` as metrics: the pattern is the event's name. */

/* An estimate is no measurement. */
static int check_share(const struct perf_line *line, struct err *err)
{
	double pct = 0;
	int ret = perf_line_pct(line, &pct, err);

	if (!ret && pct < 100)
		ret = err_set(err, ERR_INVALID,
			"it was counted for %g %% of the time only: there are more events than "
			"counters",
			pct);
	return ret;
}

static int read_line(const struct metric_spec *metric, const struct perf_line *line,
	struct findings *out, struct err *err)
{
	const struct stream *value = &line->fields[PERF_VALUE], *unit = &line->fields[PERF_UNIT];
	const char *absent = perf_line_absent(line);
	struct str text = STR_INIT;
	int ret;

	if (absent)
		return metric->optional ? 0 : err_set(err, ERR_INVALID, "perf says <%s>", absent);
	ret = check_share(line, err);
	if (ret)
		return ret;
	str_add_bytes(&text, value->bytes, value->len);
	str_add_char(&text, ' ');
	str_add_bytes(&text, unit->bytes, unit->len);
	ret = findings_add(metric, text.text, text.len, out, err);
	str_release(&text);
	return ret;
}

static bool is_wanted(const struct perf_line *line, const char *event)
{
	struct stream name;

	if (line->count <= PERF_EVENT)
		return false;
	name = perf_line_event(line);
	return name.len == strlen(event) && memcmp(name.bytes, event, name.len) == 0;
}

int reader_find_perf(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct perf_line line;
	int ret = 0;

	while (len && ret == 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t got = end ? (size_t)(end - bytes) : len;

		perf_line_split(bytes, got, &line);
		if (is_wanted(&line, metric->pattern))
			ret = end ? read_line(metric, &line, out, err)
				  : err_set(err, ERR_INVALID, "perf's line is cut");
		bytes += got + (end != NULL);
		len -= got + (end != NULL);
	}
	return ret;
}
