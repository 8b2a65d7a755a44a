/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_JSON_H
#define KB_SYS_JSON_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* Parses one JSON value from hostile bytes: at most max_bytes, at most 256 levels, no duplicate
 * keys. The caller ends with json_decref. */
KB_MUST_CHECK int json_parse(
	const char *bytes, size_t len, size_t max_bytes, json_t **out, struct err *err);

/* A string value that is always valid UTF-8 and never NULL: invalid bytes become \xNN text; NULL
 * gives JSON null. New reference. */
json_t *json_text(const char *text);
/* A number, or null when it is NaN or infinite. New reference. */
json_t *json_num(double value);

/* Members of an object that came from outside. Absent or of another type: the fallback. The text
 * is borrowed from the object. */
const char *json_get_text(const json_t *object, const char *key, const char *fallback);
int64_t json_get_int(const json_t *object, const char *key, int64_t fallback);
double json_get_double(const json_t *object, const char *key, double fallback);
bool json_get_bool(const json_t *object, const char *key, bool fallback);

/* Appends the value: compact on one line, or indented by 2. Keys stay in the order of insertion. */
void json_write(const json_t *value, bool pretty, struct str *out);

#endif
