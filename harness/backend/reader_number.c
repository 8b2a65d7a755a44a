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

static const struct factor prefixes[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9},
	{"T", 1e12}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}};

static const struct factor times[] = {{"ns", 1e-9}, {"nsec", 1e-9}, {"us", 1e-6}, {"usec", 1e-6},
	{"ms", 1e-3}, {"msec", 1e-3}, {"s", 1}, {"sec", 1}, {"secs", 1}, {"second", 1},
	{"seconds", 1}, {"min", 60}, {"h", 3600}};

static double find_factor(const struct factor *factors, size_t count, const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(factors[i].name) == len && strncmp(factors[i].name, name, len) == 0)
			return factors[i].value;
	return 0;
}

/* By what a number with this suffix is multiplied to be in the unit; 0 when that is not known. */
static double suffix_factor(const char *suffix, const char *unit)
{
	size_t len = strlen(suffix), unit_len = strlen(unit);
	double from = find_factor(times, ARRAY_SIZE(times), suffix, len);
	double to = find_factor(times, ARRAY_SIZE(times), unit, unit_len);

	if (!len || strcmp(suffix, unit) == 0)
		return 1;
	if (from > 0 && to > 0)
		return from / to;
	if (str_ends(suffix, unit))
		len -= unit_len;
	/* "m" alone is as often minutes or metres: small prefixes need the unit behind them */
	if (len == strlen(suffix) && strchr("mun", suffix[0]))
		return 0;
	return find_factor(prefixes, ARRAY_SIZE(prefixes), suffix, len);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int reader_number(const char *text, size_t len, const char *unit, double *out, struct err *err)
{
	char number[64];
	const char *suffix;
	double value = 0, factor;
	struct err ignored;

	while (len && is_blank(text[len - 1]))
		len--;
	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	if (len >= sizeof(number) || memchr(text, '\0', len))
		return err_set(err, ERR_INVALID, "a number was expected, not %zu bytes", len);
	memcpy(number, text, len);
	number[len] = '\0';
	len = strspn(number, "0123456789.-");
	/* An exponent only where digits follow it: "5e3", but not the unit in "5 events". */
	if (len && (number[len] == 'e' || number[len] == 'E') &&
		strspn(number + len + 1, "+-0123456789") > 0)
		len += 1 + strspn(number + len + 1, "+-0123456789");
	suffix = number + len;
	while (is_blank(*suffix))
		suffix++;
	factor = suffix_factor(suffix, unit);
	number[len] = '\0';
	if (factor == 0 || num_double(number, &value, &ignored) != 0)
		return err_set(err, ERR_INVALID, "'%.*s' is not a number in %s",
			(int)strnlen(text, 60), text, unit);
	*out = value * factor;
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
	GROW(out->values, out->count, out->capacity);
	out->values[out->count++] = value * metric->scale;
	return 0;
}
