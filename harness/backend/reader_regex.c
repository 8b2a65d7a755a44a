/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/num.h"
#include "backend/reader_ops.h"
#include "sys/regex.h"

/* The value is the group named "value", else the first group, else the whole match. */
static int value_group(const struct regex *regex)
{
	int group = regex_group_number(regex, "value");

	if (group < 0)
		group = regex_groups(regex) > 0 ? 1 : 0;
	return group;
}

/* The number of observations behind the value that was found last. */
static int read_behind(
	const char *bytes, const struct regex_span *span, struct findings *out, struct err *err)
{
	size_t len = span->end - span->start;
	char *text;
	int ret;

	if (span->start == SIZE_MAX)
		return 0;
	text = xstrndup(bytes + span->start, len > 40 ? 40 : len);
	ret = num_int(text, 0, OBSERVATIONS_MAX, &out->items[out->count - 1].observations, err);
	free(text);
	return ret ? err_set(err, ERR_INVALID, "the number of observations cannot be read") : 0;
}

int reader_find_regex(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	struct regex_span spans[METRIC_GROUPS_MAX];
	struct regex *regex;
	size_t offset = 0;
	int group, behind, ret = regex_compile(metric->pattern, &regex, err);

	if (ret)
		return ret;
	group = value_group(regex);
	behind = regex_group_number(regex, "count");
	if (group >= METRIC_GROUPS_MAX || behind >= METRIC_GROUPS_MAX)
		BUG("a suite with too many groups was let in");
	while (ret == 0 && (ret = regex_next(regex, bytes, len, &offset, spans, METRIC_GROUPS_MAX,
				    err)) == 1) {
		ret = 0;
		if (spans[group].start != SIZE_MAX)
			ret = findings_add(metric, bytes + spans[group].start,
				spans[group].end - spans[group].start, out, err);
		if (ret == 0 && behind >= 0 && spans[group].start != SIZE_MAX)
			ret = read_behind(bytes, &spans[behind], out, err);
	}
	regex_free(regex);
	return ret;
}
