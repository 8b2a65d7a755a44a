/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "backend/reader_ops.h"

struct factor {
	const char *name;
	double value;
};

static const struct factor prefixes[] = {
	{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};

static const struct factor times_ns[] = {{"ns", 1}, {"nsec", 1}, {"us", 1e3}, {"usec", 1e3},
	{"ms", 1e6}, {"msec", 1e6}, {"s", 1e9}, {"sec", 1e9}, {"secs", 1e9}, {"second", 1e9},
	{"seconds", 1e9}, {"min", 60e9}, {"h", 3600e9}};

static double find_factor(const struct factor *factors, size_t count, const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(factors[i].name) == len && strncmp(factors[i].name, name, len) == 0)
			return factors[i].value;
	return 0;
}

/* A division by a whole number gives the double nearest to what is meant, a multiplication by 1e-3
 * may not. */
static double convert(double value, double from, double to)
{
	return from >= to ? value * (from / to) : value / (to / from);
}

/* Brings a number with this suffix into the unit; false when it is not known how. */
static bool scale_to_unit(double *value, const char *suffix, const char *unit)
{
	size_t len = strlen(suffix), unit_len = strlen(unit);
	double from = find_factor(times_ns, ARRAY_SIZE(times_ns), suffix, len);
	double to = find_factor(times_ns, ARRAY_SIZE(times_ns), unit, unit_len);

	if (!len || strcmp(suffix, unit) == 0)
		return true;
	if (to > 0) { /* "5 M" may be five minutes or a million seconds */
		if (from > 0)
			*value = convert(*value, from, to);
		return from > 0;
	}
	if (unit[0] == 'B' || str_starts(unit, "byte")) /* 1000 or 1024? */
		return false;
	if (str_ends(suffix, unit))
		len -= unit_len;
	from = find_factor(prefixes, ARRAY_SIZE(prefixes), suffix, len);
	*value *= from;
	return from > 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* How many bytes at the start can be a number: an exponent only where digits follow it, "5e3", but
 * not the unit in "5 events". */
static size_t number_len(const char *text)
{
	size_t len = strspn(text, "0123456789.-"), exponent;

	if (!len || (text[len] != 'e' && text[len] != 'E'))
		return len;
	exponent = strspn(text + len + 1, "+-0123456789");
	return exponent ? len + 1 + exponent : len;
}

static int no_number(const char *text, size_t len, const char *unit, struct err *err)
{
	struct str safe = STR_INIT;
	int ret;

	str_add_safe(&safe, text, len > 60 ? 60 : len);
	ret = err_set(err, ERR_INVALID, "'%s'%s is not a number in %s", str_text(&safe),
		len > 60 ? "..." : "", unit);
	str_release(&safe);
	return ret;
}

int reader_number(const char *text, size_t len, const char *unit, double *out, struct err *err)
{
	char whole[64], number[64];
	const char *suffix;
	double value = 0;
	struct err ignored;

	while (len && is_blank(text[len - 1]))
		len--;
	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	if (!len || len >= sizeof(whole) || memchr(text, '\0', len))
		return no_number(text, len, unit, err);
	memcpy(whole, text, len);
	whole[len] = '\0';
	suffix = whole + number_len(whole);
	memcpy(number, whole, (size_t)(suffix - whole));
	number[suffix - whole] = '\0';
	while (is_blank(*suffix))
		suffix++;
	if (num_double(number, &value, &ignored) != 0 || !scale_to_unit(&value, suffix, unit))
		return no_number(text, len, unit, err);
	*out = value;
	return 0;
}

int findings_add(const struct metric_spec *metric, const char *text, size_t len,
	struct findings *out, struct err *err)
{
	double value;
	int ret;

	if (out->count >= FINDINGS_MAX)
		return err_set(err, ERR_INVALID, "more than %d values", FINDINGS_MAX);
	ret = reader_number(text, len, metric->unit, &value, err);
	if (ret)
		return ret;
	GROW(out->items, out->count, out->capacity);
	out->items[out->count++] = (struct finding){value * metric->scale, 0};
	return 0;
}
