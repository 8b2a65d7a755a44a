/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "base/utf8.h"
#include "sys/json.h"

enum { LEVELS_MAX = 256 };

/* The library recurses; brackets inside strings do not count. */
static bool is_too_deep(const char *bytes, size_t len)
{
	bool in_string = false;
	int level = 0;

	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '[' || c == '{') && ++level > LEVELS_MAX)
			return true;
		else if (!in_string && (c == ']' || c == '}'))
			level--;
	}
	return false;
}

int json_parse(const char *bytes, size_t len, size_t max_bytes, json_t **out, struct err *err)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
	struct str said = STR_INIT;
	json_error_t error;
	json_t *value;
	int ret;

	if (len > max_bytes)
		return err_set(err, ERR_INVALID, "JSON of %zu bytes is larger than %zu bytes", len,
			max_bytes);
	if (is_too_deep(bytes, len))
		return err_set(
			err, ERR_INVALID, "JSON is nested deeper than %d levels", LEVELS_MAX);
	value = json_loadb(len ? bytes : "", len, flags, &error);
	if (value) {
		*out = value;
		return 0;
	}
	str_add_safe(&said, error.text, strnlen(error.text, sizeof(error.text)));
	ret = err_set(err, ERR_INVALID, "not valid JSON, line %d, column %d: %s", error.line,
		error.column, str_text(&said));
	str_release(&said);
	return ret;
}

json_t *json_text(const char *text)
{
	struct str safe = STR_INIT;
	size_t len, at = 0;
	json_t *value;

	if (!text)
		return json_null();
	len = strlen(text);
	while (at < len) {
		size_t valid = utf8_valid_prefix(text + at, len - at);

		str_add_bytes(&safe, text + at, valid);
		at += valid;
		if (at < len)
			str_addf(&safe, "\\x%02x", (unsigned char)text[at++]);
	}
	value = json_stringn(str_text(&safe), safe.len);
	if (!value)
		BUG("valid UTF-8 was refused");
	str_release(&safe);
	return value;
}

json_t *json_num(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

const char *json_get_text(const json_t *object, const char *key, const char *fallback)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : fallback;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double json_get_double(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

bool json_get_bool(const json_t *object, const char *key, bool fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

static int add_chunk(const char *bytes, size_t len, void *arg)
{
	str_add_bytes(arg, bytes, len);
	return 0;
}

/* Not the library's own way: it writes 0.1 as 0.10000000000000001. */
static void write_real(double value, struct str *out)
{
	size_t start = out->len;

	num_add_double(out, value);
	if (!strpbrk(out->text + start, ".e"))
		str_add(out, ".0"); /* stays a real when read back */
}

/* JSON need not escape DEL, C1 and marks of direction, but a terminal may show it. */
static void write_text(const json_t *value, struct str *out)
{
	struct str text = STR_INIT;
	size_t at = 0;

	if (json_dump_callback(value, add_chunk, &text, JSON_ENCODE_ANY) != 0)
		BUG("a JSON string cannot be written");
	while (at < text.len) {
		uint32_t code = 0;
		size_t used = utf8_decode(text.text + at, text.len - at, &code);

		if (used && !utf8_is_plain(code))
			str_addf(out, "\\u%04X", (unsigned)code);
		else
			str_add_bytes(out, text.text + at, used ? used : 1);
		at += used ? used : 1;
	}
	str_release(&text);
}

static void write_scalar(const json_t *value, struct str *out)
{
	if (json_is_real(value))
		write_real(json_real_value(value), out);
	else if (json_is_string(value))
		write_text(value, out);
	else if (json_dump_callback(value, add_chunk, out, JSON_ENCODE_ANY) != 0)
		BUG("a JSON value cannot be written");
}

static void new_line(bool pretty, int level, struct str *out)
{
	if (!pretty)
		return;
	str_addf(out, "\n%*s", 2 * level, "");
}

static void write_value(const json_t *value, bool pretty, int level, struct str *out);

static void write_array(const json_t *array, bool pretty, int level, struct str *out)
{
	str_add_char(out, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			str_add_char(out, ',');
		new_line(pretty, level + 1, out);
		write_value(json_array_get(array, i), pretty, level + 1, out);
	}
	if (json_array_size(array))
		new_line(pretty, level, out);
	str_add_char(out, ']');
}

static void write_object(const json_t *object, bool pretty, int level, struct str *out)
{
	const char *key;
	json_t *value;
	bool first = true;

	str_add_char(out, '{');
	json_object_foreach((json_t *)object, key, value)
	{
		json_t *name = json_text(key);

		if (!first)
			str_add_char(out, ',');
		first = false;
		new_line(pretty, level + 1, out);
		write_scalar(name, out);
		json_decref(name);
		str_add(out, pretty ? ": " : ":");
		write_value(value, pretty, level + 1, out);
	}
	if (!first)
		new_line(pretty, level, out);
	str_add_char(out, '}');
}

static void write_value(const json_t *value, bool pretty, int level, struct str *out)
{
	if (level > LEVELS_MAX)
		BUG("a JSON value is nested deeper than %d levels", LEVELS_MAX);
	if (json_is_array(value))
		write_array(value, pretty, level, out);
	else if (json_is_object(value))
		write_object(value, pretty, level, out);
	else
		write_scalar(value, out);
}

void json_write(const json_t *value, bool pretty, struct str *out)
{
	write_value(value, pretty, 0, out);
}
