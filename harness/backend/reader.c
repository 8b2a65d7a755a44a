/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "backend/reader_ops.h"
#include "sys/regex.h"

static reader_find_fn *const finders[] = {
	[READER_REGEX] = reader_find_regex,
	[READER_JSON] = reader_find_json,
	[READER_CSV] = reader_find_csv,
	[READER_PERF] = reader_find_perf,
};

/* The streams that a metric or check looks at, in the order of reading; returns how many. */
static size_t pick_streams(
	const struct program_output *output, enum output_stream from, struct stream streams[2])
{
	struct stream out = {output->out_len ? output->out : "", output->out_len};
	struct stream err_out = {output->err_len ? output->err_out : "", output->err_len};
	size_t count = 0;

	if (from != STREAM_STDERR)
		streams[count++] = out;
	if (from != STREAM_STDOUT)
		streams[count++] = err_out;
	return count;
}

/* Quotes the match and the rest of its line. */
static int failed_as_said(
	const struct stream *stream, const struct regex_span *match, struct err *err)
{
	const char *text = stream->bytes + match->start;
	const char *end = memchr(stream->bytes + match->end, '\n', stream->len - match->end);
	size_t len = end ? (size_t)(end - text) : stream->len - match->start;
	struct str safe = STR_INIT;
	int ret;

	str_add_safe(&safe, text, len > 200 ? 200 : len);
	ret = err_set(err, ERR_INVALID, "the program says \"%s\"", str_text(&safe));
	str_release(&safe);
	return ret;
}

/* Looks for one pattern that must not be there. */
static int check_absent(const char *pattern, const struct program_output *output, struct err *err)
{
	struct stream streams[2];
	size_t count = pick_streams(output, STREAM_BOTH, streams);
	struct regex *regex;
	int ret = regex_compile(pattern, &regex, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < count && ret == 0; i++) {
		struct regex_span span;
		size_t offset = 0;

		ret = regex_next(regex, streams[i].bytes, streams[i].len, &offset, &span, 1, err);
		if (ret == 1)
			ret = failed_as_said(&streams[i], &span, err);
	}
	regex_free(regex);
	return ret;
}

static int check_fail_if(
	const struct suite *suite, const struct program_output *output, struct err *err)
{
	int ret = 0;

	for (const char *const *at = suite->fail_if; at && *at && ret == 0; at++)
		ret = check_absent(*at, output, err);
	return ret;
}

static int wrong_echo(const struct echo_check *echo, const char *said, size_t len,
	const char *expect, struct err *err)
{
	struct str safe = STR_INIT;
	int ret;

	str_add_safe(&safe, said, len > 60 ? 60 : len);
	ret = err_set(err, ERR_INVALID,
		"the program says it ran with '%s' where %s was asked for (/%.200s/)",
		str_text(&safe), expect, echo->pattern);
	str_release(&safe);
	return ret;
}

/* Every match in the stream must say what was asked for. */
static int check_echo_in(const struct echo_check *echo, const struct regex *regex,
	const struct stream *stream, const char *expect, size_t *matches, struct err *err)
{
	struct regex_span spans[2];
	size_t offset = 0;
	int ret;

	while ((ret = regex_next(regex, stream->bytes, stream->len, &offset, spans, 2, err)) == 1) {
		bool said = spans[1].start != SIZE_MAX;
		const char *text = said ? stream->bytes + spans[1].start : "";
		size_t len = said ? spans[1].end - spans[1].start : 0;

		(*matches)++;
		if (len != strlen(expect) || memcmp(text, expect, len) != 0)
			return wrong_echo(echo, text, len, expect, err);
	}
	return ret;
}

/* There must be at least one match. */
static int check_echo(const struct echo_check *echo, const char *expect,
	const struct program_output *output, struct err *err)
{
	struct stream streams[2];
	size_t count = pick_streams(output, echo->from, streams), matches = 0;
	struct regex *regex;
	int ret = regex_compile(echo->pattern, &regex, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < count && ret == 0; i++)
		ret = check_echo_in(echo, regex, &streams[i], expect, &matches, err);
	if (ret == 0 && !matches)
		ret = err_set(err, ERR_INVALID,
			"the program does not say that it ran with %s (/%.200s/)", expect,
			echo->pattern);
	regex_free(regex);
	return ret;
}

static int check_echoes(
	const struct condition *condition, const struct program_output *output, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < condition->suite->echo_count && ret == 0; i++)
		ret = check_echo(&condition->suite->echoes[i], condition->expects[i], output, err);
	return ret;
}

static struct finding sum(const struct findings *found)
{
	struct finding total = {0, 0};

	for (size_t i = 0; i < found->count; i++) {
		total.value += found->items[i].value;
		total.observations += found->items[i].observations;
	}
	return total;
}

/* Leaves the values that count. */
static int choose(const struct metric_spec *metric, struct findings *found, struct err *err)
{
	size_t pick = 0;

	switch (metric->which) {
	case WHICH_ALL:
		return 0;
	case WHICH_SUM:
		found->items[0] = sum(found);
		break;
	case WHICH_ONLY:
		if (found->count > 1)
			return err_set(err, ERR_INVALID, "%zu values where one was expected",
				found->count);
		break;
	case WHICH_FIRST:
		break;
	case WHICH_LAST:
		pick = found->count - 1;
		break;
	case WHICH_NTH:
		if ((uint64_t)metric->nth > found->count)
			return err_set(err, ERR_INVALID, "only %zu values, number %lld was wanted",
				found->count, (long long)metric->nth);
		pick = (size_t)metric->nth - 1;
		break;
	}
	found->items[0] = found->items[pick];
	found->count = 1;
	return 0;
}

static int check_values(
	const struct metric_spec *metric, const struct findings *found, struct err *err)
{
	for (size_t i = 0; i < found->count; i++) {
		double value = found->items[i].value;

		if (!isfinite(value))
			return err_set(err, ERR_INVALID, "the value is not finite");
		if (value < 0 || (value == 0 && !metric->zero_ok))
			return err_set(err, ERR_INVALID, "%g is no measurement", value);
	}
	return 0;
}

/* Each is bounded, so that adding them is safe. */
static int check_total(const struct findings *found, struct err *err)
{
	int64_t total = 0;

	for (size_t i = 0; i < found->count; i++)
		total += found->items[i].observations;
	return total <= OBSERVATIONS_MAX
		       ? 0
		       : err_set(err, ERR_INVALID, "more than %lld observations are behind it",
				 (long long)OBSERVATIONS_MAX);
}

/* A percentile of too few is none: as if it were not there. */
static int check_counts(const struct metric_spec *metric, struct findings *found, struct err *err)
{
	for (size_t i = 0; i < found->count; i++) {
		if (found->items[i].observations >= metric->min_count)
			continue;
		if (!metric->optional)
			return err_set(err, ERR_INVALID,
				"%lld observations are behind it; %lld are wanted",
				(long long)found->items[i].observations,
				(long long)metric->min_count);
		found->count = 0;
	}
	return 0;
}

static void keep(struct reading *reading, size_t metric, const struct findings *found)
{
	for (size_t i = 0; i < found->count; i++) {
		GROW(reading->values, reading->count, reading->capacity);
		reading->values[reading->count++] = (struct reading_value){.metric = metric,
			.ordinal = (int)i + 1,
			.value = found->items[i].value + 0.0, /* -0 is 0 */
			.observations = found->items[i].observations};
	}
}

/* Looks only at the part of the output that the metric names, which must be there once. */
static int narrow(
	const struct metric_spec *metric, struct stream *streams, size_t count, struct err *err)
{
	size_t parts = 0;
	int ret = 0;

	for (size_t i = 0; i < count && metric->within && ret == 0; i++)
		ret = stream_narrow(&streams[i], metric->within, &parts, err);
	if (ret || !metric->within || parts == 1 || (!parts && metric->optional))
		return ret;
	return err_set(err, ERR_INVALID, "the part to look at is %s the output (/%.200s/)",
		parts ? "more than once in" : "not in", metric->within);
}

static int read_metric(const struct suite *suite, size_t index, const struct program_output *output,
	struct reading *reading, struct err *err)
{
	const struct metric_spec *metric = &suite->metrics[index];
	struct findings found = {0};
	struct stream streams[2];
	size_t count = pick_streams(output, metric->from, streams);
	int ret = narrow(metric, streams, count, err);

	for (size_t i = 0; i < count && ret == 0; i++)
		ret = finders[metric->reader](
			metric, streams[i].bytes, streams[i].len, &found, err);
	if (ret == 0 && !found.count && !metric->optional)
		ret = err_set(err, ERR_INVALID, "not in the output");
	/* All parts of a sum must be measurements, else it hides the one that is none. */
	if (ret == 0 && metric->which == WHICH_SUM)
		ret = check_values(metric, &found, err);
	if (ret == 0)
		ret = check_total(&found, err);
	if (ret == 0 && found.count)
		ret = choose(metric, &found, err);
	if (ret == 0)
		ret = check_values(metric, &found, err);
	if (ret == 0)
		ret = check_counts(metric, &found, err);
	if (ret == 0)
		keep(reading, index, &found);
	free(found.items);
	return ret ? err_wrap(err, "metric '%s'", metric->name) : 0;
}

static int read_clean(const struct condition *condition, const struct program_output *output,
	struct reading *out, struct err *err)
{
	const struct suite *suite = condition->suite;
	struct reading reading = READING_INIT;
	int ret = check_fail_if(suite, output, err);

	if (ret == 0)
		ret = check_echoes(condition, output, err);
	for (size_t i = 0; i < suite->metric_count && ret == 0; i++)
		ret = read_metric(suite, i, output, &reading, err);
	if (ret)
		reading_release(&reading);
	else
		*out = reading;
	return ret;
}

int reader_read(const struct condition *condition, const struct program_output *output,
	struct reading *out, struct err *err)
{
	struct stream streams[2];
	struct str copies[2] = {STR_INIT, STR_INIT};
	struct program_output clean;
	int ret;

	(void)pick_streams(output, STREAM_BOTH, streams);
	stream_clean(&streams[0], &copies[0]);
	stream_clean(&streams[1], &copies[1]);
	clean = (struct program_output){
		streams[0].bytes, streams[0].len, streams[1].bytes, streams[1].len};
	ret = read_clean(condition, &clean, out, err);
	str_release(&copies[0]);
	str_release(&copies[1]);
	return ret;
}

void reading_release(struct reading *reading)
{
	free(reading->values);
	*reading = (struct reading)READING_INIT;
}
