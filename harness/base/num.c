/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>

#include "base/num.h"

struct unit {
	const char *name;
	double factor;
};

int num_int(const char *text, int64_t min, int64_t max, int64_t *out, struct err *err)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || !(isdigit((unsigned char)text[0]) || text[0] == '-'))
		return err_set(err, ERR_USAGE, "'%.60s' is not a whole number", text);
	if (errno || value < min || value > max)
		return err_set(err, ERR_USAGE, "%.60s is outside %lld..%lld", text, (long long)min,
			(long long)max);
	*out = value;
	return 0;
}

/* strtod in the C locale: returns the end of the number, or NULL when text does not begin with
 * a plain decimal number. Hexadecimal forms, "inf" and "nan" are not numbers here. */
static const char *parse_decimal(const char *text, double *out)
{
	static locale_t c_locale;
	const char *digits = text + (*text == '-');
	char *end;

	if (!isdigit((unsigned char)digits[0]) &&
		!(digits[0] == '.' && isdigit((unsigned char)digits[1])))
		return NULL;
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return NULL;
	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	*out = strtod_l(text, &end, c_locale);
	return isfinite(*out) ? end : NULL;
}

int num_double(const char *text, double *out, struct err *err)
{
	double value;
	const char *end = parse_decimal(text, &value);

	if (!end || *end)
		return err_set(err, ERR_USAGE, "'%.60s' is not a number", text);
	*out = value;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

/* A number followed by one of the units; *out is the product, at most INT64_MAX. */
static int parse_with_unit(
	const char *text, const struct unit *units, const char *form, int64_t *out, struct err *err)
{
	const struct unit *unit;
	double value;
	const char *end = parse_decimal(text, &value);

	if (!end || value < 0)
		return err_set(err, ERR_USAGE, "'%.60s' is not %s", text, form);
	unit = find_unit(units, end);
	if (!unit)
		return err_set(err, ERR_USAGE, "'%.60s' is not %s", text, form);
	value *= unit->factor;
	if (value >= 9.2e18)
		return err_set(err, ERR_USAGE, "'%.60s' is too large", text);
	*out = (int64_t)llround(value);
	return 0;
}

int num_bytes(const char *text, int64_t *out, struct err *err)
{
	static const struct unit units[] = {{"", 1}, {"B", 1}, {"K", 1024.0}, {"KiB", 1024.0},
		{"M", 1048576.0}, {"MiB", 1048576.0}, {"G", 1073741824.0}, {"GiB", 1073741824.0},
		{"T", 1099511627776.0}, {"TiB", 1099511627776.0}, {NULL, 0}};

	return parse_with_unit(text, units, "a size such as 512M or 2G", out, err);
}

int num_duration_ns(const char *text, int64_t *out, struct err *err)
{
	static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9},
		{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {NULL, 0}};

	return parse_with_unit(text, units, "a duration such as 500ms, 30s or 2h", out, err);
}

int num_pct(const char *text, double max, double *out, struct err *err)
{
	double value;
	const char *end = parse_decimal(text, &value);

	if (!end || strcmp(end, "%") != 0)
		return err_set(err, ERR_USAGE, "'%.60s' is not a percentage such as 31.25%%", text);
	if (value < 0 || value > max)
		return err_set(err, ERR_USAGE, "%.60s is outside 0%%..%g%%", text, max);
	*out = value;
	return 0;
}

void num_add_duration(struct str *s, int64_t ns)
{
	int64_t seconds;

	if (ns < 0) {
		str_add_char(s, '-');
		ns = -ns;
	}
	seconds = (ns + 500000000) / 1000000000;
	/* The bounds are where rounding to the digits shown would reach the next unit. */
	if (ns < 999500)
		str_addf(s, "%.3g us", (double)ns / 1e3);
	else if (ns < 999500000)
		str_addf(s, "%.3g ms", (double)ns / 1e6);
	else if (ns < 9950000000)
		str_addf(s, "%.1f s", (double)ns / 1e9);
	else if (seconds < 60)
		str_addf(s, "%lld s", (long long)seconds);
	else if (seconds < 3600)
		str_addf(s, "%lld min %02lld s", (long long)seconds / 60, (long long)seconds % 60);
	else
		str_addf(s, "%lld h %02lld min", (long long)seconds / 3600,
			(long long)seconds % 3600 / 60);
}

void num_add_bytes(struct str *s, int64_t bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t i = 0;

	for (; value >= 1024 && i + 1 < ARRAY_SIZE(names); i++)
		value /= 1024;
	str_addf(s, i && value < 100 ? "%.1f %s" : "%.0f %s", value, names[i]);
}

void num_add_double(struct str *s, double value)
{
	char text[40];
	struct err ignored;
	double back = 0;

	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (num_double(text, &back, &ignored) == 0 && back == value)
			break;
	}
	str_add(s, text);
}

struct num_text num_say_pct(double pct, int decimals, bool signs)
{
	struct num_text out = {""};

	if (isinf(pct))
		(void)snprintf(out.text, sizeof(out.text), "%s", pct > 0 ? ">1e308" : "<-1e308");
	else if (fabs(pct) < 1e6)
		(void)snprintf(out.text, sizeof(out.text), signs ? "%+.*f" : "%.*f", decimals, pct);
	else
		(void)snprintf(out.text, sizeof(out.text), signs ? "%+.3g" : "%.3g", pct);
	return out;
}
