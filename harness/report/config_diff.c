/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "report/config_diff.h"

struct option {
	const char *name; /* with CONFIG_; not ended */
	size_t name_len;
	const char *value;
	size_t value_len;
};

struct options {
	struct option *items;
	size_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	size_t len = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order = memcmp(x->name, y->name, len);

	return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

/* The lines NAME=VALUE. "# NAME is not set" counts as absent, as does a missing line. */
static void read_options(const char *text, struct options *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *equals = memchr(text, '=', len);

		if (equals && str_starts(text, "CONFIG_")) {
			GROW(out->items, out->count, out->capacity);
			out->items[out->count++] = (struct option){text, (size_t)(equals - text),
				equals + 1, len - (size_t)(equals + 1 - text)};
		}
		text += len + (text[len] == '\n');
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_name);
}

static bool same_value(const struct option *a, const struct option *b)
{
	return a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0;
}

/* The compiler's own version is told elsewhere. */
static bool about_compiler(const struct option *option)
{
	static const char *const prefixes[] = {"CONFIG_CC_VERSION_TEXT=", "CONFIG_GCC_VERSION=",
		"CONFIG_AS_VERSION=", "CONFIG_LD_VERSION=", "CONFIG_CLANG_VERSION=",
		"CONFIG_LLD_VERSION=", "CONFIG_PAHOLE_VERSION="};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(option->name, prefixes[i]))
			return true;
	return false;
}

static void add(struct strv *out, const struct option *a, const struct option *b)
{
	const struct option *either = a ? a : b;

	if (about_compiler(either))
		return;
	strv_addf(out, "%.*s %.*s -> %.*s", (int)either->name_len - 7, either->name + 7,
		a ? (int)a->value_len : 7, a ? a->value : "not set", b ? (int)b->value_len : 7,
		b ? b->value : "not set");
}

void config_diff(const char *a, const char *b, struct strv *out)
{
	struct options x = {NULL, 0, 0}, y = {NULL, 0, 0};
	size_t i = 0, j = 0;

	read_options(a, &x);
	read_options(b, &y);
	while (i < x.count || j < y.count) {
		int order = i == x.count   ? 1
			    : j == y.count ? -1
					   : by_name(&x.items[i], &y.items[j]);

		if (order < 0)
			add(out, &x.items[i++], NULL);
		else if (order > 0)
			add(out, NULL, &y.items[j++]);
		else if (same_value(&x.items[i], &y.items[j]))
			i++, j++;
		else
			add(out, &x.items[i++], &y.items[j++]);
	}
	free(x.items);
	free(y.items);
}
