/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "base/str.h"
#include "backend/perf_line.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits_len(struct stream text, size_t from)
{
	size_t at = from;

	while (at < text.len && is_digit(text.bytes[at]))
		at++;
	return at - from;
}

static bool is(struct stream text, const char *wanted)
{
	return text.len == strlen(wanted) && memcmp(text.bytes, wanted, text.len) == 0;
}

static struct stream without_brackets(struct stream name)
{
	const char *pmu = memmem(name.bytes, name.len, " [", 2);

	return (struct stream){name.bytes, pmu ? (size_t)(pmu - name.bytes) : name.len};
}

bool perf_is_event(struct stream field, const char *event)
{
	return *event && is(without_brackets(field), event);
}

const char *perf_absent(struct stream text)
{
	if (is(text, "<not supported>"))
		return "not supported";
	return is(text, "<not counted>") ? "not counted" : NULL;
}

bool perf_number(struct stream text, char mark, char out[static 40])
{
	size_t whole = digits_len(text, 0), part = 0;
	double value;

	if (!whole || text.len >= 40)
		return false;
	if (whole < text.len) {
		part = digits_len(text, whole + 1);
		if (!part || text.bytes[whole] != mark || whole + 1 + part != text.len)
			return false;
	}
	memcpy(out, text.bytes, text.len);
	out[text.len] = '\0';
	if (part)
		out[whole] = '.';
	/* counts have 64 bits */
	return num_double(out, &value, NULL) == 0 && value <= (double)UINT64_MAX;
}

bool perf_pct(struct stream text, char *mark, double *out)
{
	size_t whole = digits_len(text, 0);
	char number[40];

	if (text.len != whole + 3 || (text.bytes[whole] != '.' && text.bytes[whole] != ','))
		return false;
	*mark = text.bytes[whole];
	return perf_number(text, *mark, number) && num_double(number, out, NULL) == 0 &&
	       *out <= 100;
}

int perf_no_count(struct stream text, struct err *err)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, text.bytes, text.len < 60 ? text.len : 60);
	(void)err_set(err, ERR_INVALID, "'%.60s' is no count of perf's", str_text(&safe));
	str_release(&safe);
	return ERR_INVALID;
}

void perf_set_unit(struct perf_count *count, struct stream unit)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, unit.bytes, unit.len < 60 ? unit.len : 60);
	(void)snprintf(count->unit, sizeof(count->unit), "%s", str_text(&safe));
	str_release(&safe);
}

void perf_line_split(const char *line, size_t len, char separator, struct perf_line *out)
{
	if (len && line[len - 1] == '\r')
		len--;
	out->count = 0;
	out->event = PERF_EVENT;
	out->separator = separator;
	while (out->count < PERF_FIELDS) {
		const char *end = memchr(line, separator, len);
		size_t field = end ? (size_t)(end - line) : len;

		out->fields[out->count++] = (struct stream){line, field};
		if (!end)
			return;
		line += field + 1;
		len -= field + 1;
	}
}

/* A number, or words in brackets instead of one. */
static bool is_value(struct stream text)
{
	return text.len && (is_digit(*text.bytes) || *text.bytes == '<');
}

bool perf_line_find(const char *line, size_t len, const char *event, struct perf_line *out)
{
	static const char separators[] = ";\t,";

	for (size_t s = 0; separators[s]; s++) {
		perf_line_split(line, len, separators[s], out);
		for (size_t i = PERF_EVENT; i < out->count; i++) {
			out->event = i;
			if (is_value(out->fields[i - 2]) && perf_is_event(out->fields[i], event))
				return true;
		}
	}
	return false;
}

struct stream perf_line_event(const struct perf_line *line)
{
	return without_brackets(line->fields[line->event]);
}

/* "  1.000123456": seconds, whatever the locale. */
static bool is_time(struct stream text)
{
	size_t whole;

	while (text.len && *text.bytes == ' ') {
		text.bytes++;
		text.len--;
	}
	whole = digits_len(text, 0);
	return whole && text.len == whole + 10 && text.bytes[whole] == '.' &&
	       digits_len(text, whole + 1) == 9;
}

/* "CPU0", "S0-D0-C1", "firefox-4711" */
static bool is_owner(struct stream text)
{
	return text.len && ((*text.bytes >= 'a' && *text.bytes <= 'z') ||
				   (*text.bytes >= 'A' && *text.bytes <= 'Z'));
}

bool perf_is_prefix(const struct stream *fields, size_t count)
{
	size_t at = 0;

	if (at < count && is_time(fields[at]))
		at++;
	if (at < count && is_owner(fields[at])) {
		at++;
		if (at < count && digits_len(fields[at], 0) == fields[at].len && fields[at].len)
			at++;
	}
	return at == count;
}

/* The percentage stands behind the first whole number, the runtime, before which a cgroup and a
 * deviation may stand. */
static int read_pct(const struct perf_line *line, char *mark, double *pct, struct err *err)
{
	size_t at = line->event + 1;
	struct str safe = STR_INIT;
	struct stream text;

	while (at < line->count && at < line->event + 3 &&
		(!line->fields[at].len || digits_len(line->fields[at], 0) != line->fields[at].len))
		at++;
	if (at + 1 >= line->count)
		return err_set(err, ERR_INVALID, "perf's line is cut");
	text = line->fields[at + 1];
	if (perf_pct(text, mark, pct))
		return 0;
	if (line->separator == ',' && digits_len(text, 0) == text.len && text.len)
		return err_set(err, ERR_INVALID,
			"perf printed decimal commas between fields that commas separate, which "
			"can be "
			"read in two ways; call it with LC_ALL=C, or with -x';'");
	str_add_safe(&safe, text.bytes, text.len < 40 ? text.len : 40);
	(void)err_set(err, ERR_INVALID, "'%.40s' is no percentage of perf stat's", str_text(&safe));
	str_release(&safe);
	return ERR_INVALID;
}

int perf_line_count(const struct perf_line *line, struct perf_count *out, struct err *err)
{
	struct stream value = line->fields[line->event - 2];
	struct perf_count count = {.absent = perf_absent(value)};
	char mark = '.';
	int ret = read_pct(line, &mark, &count.pct, err);

	if (ret)
		return ret;
	if (!perf_is_prefix(line->fields, line->event - 2))
		return err_set(err, ERR_INVALID,
			"what stands before perf's value is neither a time nor a CPU");
	if (!count.absent && !perf_number(value, mark, count.number))
		return perf_no_count(value, err);
	perf_set_unit(&count, line->fields[line->event - 1]);
	*out = count;
	return 0;
}
