/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_JS_H
#define KB_AGENT_JS_H

#include "base/base.h"

#include <jansson.h>

#include "base/str.h"

/* Building JSON objects that cannot fail: memory runs out by ending the program, and text is made
 * valid UTF-8. Called first of all. */
void js_init(void);

/* Set a member. text NULL gives null. */
void js_text(json_t *object, const char *key, const char *text);
void js_int(json_t *object, const char *key, int64_t value);
void js_bool(json_t *object, const char *key, bool value);
/* The integer, or null when it is negative: not known. */
void js_count(json_t *object, const char *key, int64_t value);
/* Takes the reference. */
void js_set(json_t *object, const char *key, json_t *value);
void js_add_text(json_t *array, const char *text);

/* Appends the value as indented JSON and a newline. */
void js_write(const json_t *value, struct str *out);

#endif
