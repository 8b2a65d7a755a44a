/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "base/str.h"
#include "backend/reader_ops.h"

/*
 * Counts of `perf stat -x';'`: the pattern is the event's name. Lines are value;unit;event;runtime
 * of the counter;percentage;metric;its unit, with a deviation before the runtime under -r. What
 * stands behind the percentage differs between versions and is not looked at. Newer versions write
 * "task-clock [software]" for the event in places.
 */
enum { VALUE, UNIT, EVENT, FIELDS = 6 };

struct perf_line {
	struct stream fields[FIELDS];
	size_t count;
};

static void split(const char *line, size_t len, struct perf_line *out)
{
	out->count = 0;
	while (out->count < FIELDS) {
		const char *end = memchr(line, ';', len);
		size_t field = end ? (size_t)(end - line) : len;

		out->fields[out->count++] = (struct stream){line, field};
		if (!end)
			return;
		line += field + 1;
		len -= field + 1;
	}
}

static bool is_text(const struct stream *field, const char *text)
{
	return field->len == strlen(text) && memcmp(field->bytes, text, field->len) == 0;
}

static bool is_event(const struct stream *field, const char *event)
{
	const char *pmu = memmem(field->bytes, field->len, " [", 2);
	const struct stream name = {field->bytes, pmu ? (size_t)(pmu - field->bytes) : field->len};

	return is_text(&name, event);
}

/* How much of the time the event was counted: all of it, or it is an estimate. */
static int check_share(const struct perf_line *line, struct err *err)
{
	size_t at = EVENT + 2;
	struct str text = STR_INIT;
	double pct = 0;
	int ret;

	if (line->count > EVENT + 1 && line->fields[EVENT + 1].len &&
		line->fields[EVENT + 1].bytes[line->fields[EVENT + 1].len - 1] == '%')
		at++;
	if (at >= line->count)
		return err_set(err, ERR_INVALID, "perf's line is cut");
	str_add_safe(&text, line->fields[at].bytes, line->fields[at].len);
	ret = num_double(str_text(&text), &pct, NULL);
	if (ret)
		(void)err_set(err, ERR_INVALID,
			"'%.40s' is no percentage in a line of perf stat -x';' with LC_ALL=C",
			str_text(&text));
	else if (pct < 100)
		(void)err_set(err, ERR_INVALID,
			"it was counted for %g %% of the time only: there are more events than "
			"counters",
			pct);
	str_release(&text);
	return ret || pct < 100 ? ERR_INVALID : 0;
}

static int read_line(const struct metric_spec *metric, const struct perf_line *line,
	struct findings *out, struct err *err)
{
	static const char *const absent[] = {"<not supported>", "<not counted>"};
	struct str value = STR_INIT;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		if (is_text(&line->fields[VALUE], absent[i]))
			return metric->optional
				       ? 0
				       : err_set(err, ERR_INVALID, "perf says %s", absent[i]);
	ret = check_share(line, err);
	if (ret)
		return ret;
	str_add_bytes(&value, line->fields[VALUE].bytes, line->fields[VALUE].len);
	str_add_char(&value, ' ');
	str_add_bytes(&value, line->fields[UNIT].bytes, line->fields[UNIT].len);
	ret = findings_add(metric, value.text, value.len, out, err);
	str_release(&value);
	return ret;
}

int reader_find_perf(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct perf_line line;
	int ret = 0;

	while (len && ret == 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t got = end ? (size_t)(end - bytes) : len;

		split(bytes, got && bytes[got - 1] == '\r' ? got - 1 : got, &line);
		if (line.count > EVENT && is_event(&line.fields[EVENT], metric->pattern))
			ret = end ? read_line(metric, &line, out, err)
				  : err_set(err, ERR_INVALID, "perf's line is cut");
		bytes += got + (end != NULL);
		len -= got + (end != NULL);
	}
	return ret;
}
