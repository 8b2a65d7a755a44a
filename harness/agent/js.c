/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/utf8.h"

#include "agent/js.h"

void js_init(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

static json_t *make_text(const char *text)
{
	struct str safe = STR_INIT;
	size_t len;
	json_t *value;

	if (!text)
		return json_null();
	len = strlen(text);
	if (utf8_valid_prefix(text, len) == len)
		return json_string(text);
	str_add_safe(&safe, text, len);
	value = json_string(str_text(&safe));
	str_release(&safe);
	return value;
}

void js_set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		BUG("cannot set the JSON member %s", key);
}

void js_text(json_t *object, const char *key, const char *text)
{
	js_set(object, key, make_text(text));
}

void js_int(json_t *object, const char *key, int64_t value)
{
	js_set(object, key, json_integer(value));
}

void js_bool(json_t *object, const char *key, bool value)
{
	js_set(object, key, json_boolean(value));
}

void js_count(json_t *object, const char *key, int64_t value)
{
	js_set(object, key, value < 0 ? json_null() : json_integer(value));
}

void js_add_text(json_t *array, const char *text)
{
	if (json_array_append_new(array, make_text(text)) != 0)
		BUG("cannot append to a JSON array");
}

void js_write(const json_t *value, struct str *out)
{
	char *text = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(17));

	if (!text)
		BUG("cannot write JSON");
	str_add(out, text);
	str_add_char(out, '\n');
	free(text);
}
