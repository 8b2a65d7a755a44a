/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_STRV_H
#define KB_BASE_STRV_H

#include "base/base.h"

/* A list of strings that owns them, always ended by NULL: an argument or environment vector. */
struct strv {
	char **items;
	size_t count;
	size_t capacity;
};

#define STRV_INIT          \
	{                  \
		NULL, 0, 0 \
	}

void strv_add(struct strv *v, const char *item);
KB_PRINTF(2, 3) void strv_addf(struct strv *v, const char *fmt, ...);
/* Adds all of a NULL-ended list; NULL adds nothing. */
void strv_add_all(struct strv *v, const char *const *items);
/* Adds each argument up to the final NULL. */
__attribute__((sentinel)) void strv_add_many(struct strv *v, ...);
/* The NULL-ended vector, never NULL itself; borrowed. */
const char *const *strv_argv(const struct strv *v);
bool strv_has(const struct strv *v, const char *item);
void strv_release(struct strv *v);

/* Number of strings in a NULL-ended list; NULL counts 0. */
size_t argv_count(const char *const *argv);

#endif
