/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/json_put.h"

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		BUG("member '%s' could not be added", key);
}

void json_put_text(json_t *object, const char *key, const char *text)
{
	json_put(object, key, json_text(text));
}

void json_put_int(json_t *object, const char *key, int64_t value)
{
	json_put(object, key, json_integer(value));
}

void json_put_num(json_t *object, const char *key, double value)
{
	json_put(object, key, json_num(value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
	json_put(object, key, json_boolean(value));
}

void json_push(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) != 0)
		BUG("an item could not be added");
}
