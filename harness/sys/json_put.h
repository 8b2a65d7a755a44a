/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_JSON_PUT_H
#define KB_SYS_JSON_PUT_H

#include "base/base.h"

#include "sys/json.h"

/* Members of an object that is being made; order is kept. The object takes the value over. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_text(json_t *object, const char *key, const char *text); /* NULL gives null */
void json_put_int(json_t *object, const char *key, int64_t value);
void json_put_num(json_t *object, const char *key, double value); /* NaN gives null */
void json_put_bool(json_t *object, const char *key, bool value);
/* An item at the end of a list, which takes it over. */
void json_push(json_t *list, json_t *value);

#endif
