/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "base/str.h"
#include "backend/perf_line.h"

void perf_line_split(const char *line, size_t len, struct perf_line *out)
{
	if (len && line[len - 1] == '\r')
		len--;
	out->count = 0;
	while (out->count < PERF_FIELDS) {
		const char *end = memchr(line, ';', len);
		size_t field = end ? (size_t)(end - line) : len;

		out->fields[out->count++] = (struct stream){line, field};
		if (!end)
			return;
		line += field + 1;
		len -= field + 1;
	}
}

struct stream perf_line_event(const struct perf_line *line)
{
	const struct stream *field = &line->fields[PERF_EVENT];
	const char *pmu = memmem(field->bytes, field->len, " [", 2);

	return (struct stream){field->bytes, pmu ? (size_t)(pmu - field->bytes) : field->len};
}

const char *perf_line_absent(const struct perf_line *line)
{
	static const char *const words[][2] = {
		{"<not supported>", "not supported"}, {"<not counted>", "not counted"}};
	const struct stream *value = &line->fields[PERF_VALUE];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (value->len == strlen(words[i][0]) &&
			memcmp(value->bytes, words[i][0], value->len) == 0)
			return words[i][1];
	return NULL;
}

int perf_line_pct(const struct perf_line *line, double *pct, struct err *err)
{
	size_t at = PERF_EVENT + 2;
	struct str text = STR_INIT;
	int ret;

	if (line->count > PERF_EVENT + 1 && line->fields[PERF_EVENT + 1].len &&
		line->fields[PERF_EVENT + 1].bytes[line->fields[PERF_EVENT + 1].len - 1] == '%')
		at++;
	if (at >= line->count)
		return err_set(err, ERR_INVALID, "perf's line is cut");
	str_add_safe(&text, line->fields[at].bytes, line->fields[at].len);
	ret = num_double(str_text(&text), pct, NULL);
	if (ret)
		ret = err_set(err, ERR_INVALID,
			"'%.40s' is no percentage in a line of perf stat -x';' with LC_ALL=C",
			str_text(&text));
	str_release(&text);
	return ret;
}
