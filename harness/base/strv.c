/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/strv.h"

static void strv_add_owned(struct strv *v, char *item)
{
	GROW(v->items, v->count + 1, v->capacity);
	v->items[v->count++] = item;
	v->items[v->count] = NULL;
}

void strv_add(struct strv *v, const char *item)
{
	strv_add_owned(v, xstrdup(item));
}

void strv_addf(struct strv *v, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	strv_add_owned(v, str_take(&text));
}

void strv_add_all(struct strv *v, const char *const *items)
{
	for (; items && *items; items++)
		strv_add(v, *items);
}

void strv_add_many(struct strv *v, ...)
{
	const char *item;
	va_list ap;

	va_start(ap, v);
	while ((item = va_arg(ap, const char *)))
		strv_add(v, item);
	va_end(ap);
}

const char *const *strv_argv(const struct strv *v)
{
	static const char *const empty[] = {NULL};

	return v->items ? (const char *const *)v->items : empty;
}

bool strv_has(const struct strv *v, const char *item)
{
	for (size_t i = 0; i < v->count; i++)
		if (strcmp(v->items[i], item) == 0)
			return true;
	return false;
}

void strv_release(struct strv *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->count; i++)
		free(v->items[i]);
	free(v->items);
	*v = (struct strv)STRV_INIT;
}

size_t argv_count(const char *const *argv)
{
	size_t count = 0;

	while (argv && argv[count])
		count++;
	return count;
}
