/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/num.h"
#include "backend/reader_ops.h"
#include "sys/json.h"

/*
 * The pattern is a JSON pointer (RFC 6901), "/jobs/0/read/iops", in which * stands for every item
 * of an array or member of an object. The whole output must be one JSON value.
 */
enum { JSON_MAX_BYTES = 16 << 20 };

static int walk(const struct metric_spec *metric, const json_t *value, const char *path,
	struct findings *out, struct err *err);

/* One reference token with ~1 and ~0 decoded; returns what follows it. Freed by the caller. */
static const char *next_token(const char *path, char **token)
{
	size_t len = strcspn(path + 1, "/");
	struct str text = STR_INIT;

	for (const char *at = path + 1; at < path + 1 + len; at++) {
		if (at[0] == '~' && (at[1] == '0' || at[1] == '1'))
			str_add_char(&text, *++at == '1' ? '/' : '~');
		else
			str_add_char(&text, *at);
	}
	*token = str_take(&text);
	return path + 1 + len;
}

static int walk_all(const struct metric_spec *metric, const json_t *value, const char *rest,
	struct findings *out, struct err *err)
{
	int ret = 0;

	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value) && ret == 0; i++)
			ret = walk(metric, json_array_get(value, i), rest, out, err);
	} else {
		json_t *object = (json_t *)value; /* jansson's iterators take no const */

		for (void *at = json_object_iter(object); at && ret == 0;
			at = json_object_iter_next(object, at))
			ret = walk(metric, json_object_iter_value(at), rest, out, err);
	}
	return ret;
}

static const json_t *member(const json_t *value, const char *token)
{
	struct err ignored;
	int64_t index;

	if (json_is_array(value))
		return num_int(token, 0, INT32_MAX, &index, &ignored) == 0
			       ? json_array_get(value, (size_t)index)
			       : NULL;
	return json_object_get(value, token);
}

static int add_value(const struct metric_spec *metric, const json_t *value, struct findings *out,
	struct err *err)
{
	struct str text = STR_INIT;
	int ret;

	if (json_is_string(value))
		return findings_add(
			metric, json_string_value(value), json_string_length(value), out, err);
	if (!json_is_number(value))
		return err_set(err, ERR_INVALID, "there is no number at %s", metric->pattern);
	num_add_double(&text, json_number_value(value));
	ret = findings_add(metric, text.text, text.len, out, err);
	str_release(&text);
	return ret;
}

static int walk(const struct metric_spec *metric, const json_t *value, const char *path,
	struct findings *out, struct err *err)
{
	const char *rest;
	char *token;
	int ret = 0;

	if (*path != '/')
		return add_value(metric, value, out, err);
	rest = next_token(path, &token);
	if (strcmp(token, "*") == 0) {
		ret = walk_all(metric, value, rest, out, err);
	} else {
		const json_t *inner = member(value, token);

		if (inner)
			ret = walk(metric, inner, rest, out, err);
	}
	free(token);
	return ret;
}

int reader_find_json(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err)
{
	json_t *value;
	struct err why = ERR_INIT;
	int ret = json_parse(bytes, len, JSON_MAX_BYTES, &value, &why);

	if (ret)
		return err_set(err, ERR_INVALID, "the output is not JSON: %.200s", why.text);
	ret = walk(metric, value, metric->pattern, out, err);
	json_decref(value);
	return ret;
}
