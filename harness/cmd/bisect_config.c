/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "cmd/bisect_config.h"

enum { CONFIG_MAX_BYTES = 4 << 20 };

/* The symbol that a line is about, its length; 0: none. */
static size_t symbol_of(const char *line, const char **symbol)
{
	*symbol = str_starts(line, "# CONFIG_") ? line + 2 : line;
	if (!str_starts(*symbol, "CONFIG_"))
		return 0;
	return strcspn(*symbol, "= ");
}

/* All lines of a configuration that say something of a symbol. */
static int read_lines(const char *path, struct strv *out, struct err *err)
{
	struct str text = STR_INIT;
	char *left, *line;
	int ret = file_read(path, CONFIG_MAX_BYTES, &text, err);

	left = text.text;
	while (!ret && left && (line = strsep(&left, "\n"))) {
		const char *symbol;

		if (symbol_of(line, &symbol))
			strv_add(out, line);
	}
	str_release(&text);
	return ret;
}

static const char *find_symbol(const struct strv *lines, const char *symbol, size_t len)
{
	for (size_t i = lines->count; i-- > 0;) {
		const char *other;

		if (symbol_of(lines->items[i], &other) == len && !strncmp(symbol, other, len))
			return lines->items[i];
	}
	return NULL;
}

static void compare(struct arena *arena, const struct strv *first, const struct strv *second,
	struct config_change *changes, size_t *count)
{
	const char *symbol;

	for (size_t i = 0; i < second->count; i++) {
		size_t len = symbol_of(second->items[i], &symbol);
		const char *before = find_symbol(first, symbol, len);
		bool is_off = second->items[i][0] == '#';

		if (before ? strcmp(before, second->items[i]) : !is_off)
			changes[(*count)++].line = arena_strdup(arena, second->items[i]);
	}
	for (size_t i = 0; i < first->count; i++) {
		size_t len = symbol_of(first->items[i], &symbol);

		if (first->items[i][0] != '#' && !find_symbol(second, symbol, len))
			changes[(*count)++].line =
				arena_printf(arena, "# %.*s is not set", (int)len, symbol);
	}
}

int config_changes(struct arena *arena, const char *first, const char *second,
	struct config_change **out, size_t *count, struct err *err)
{
	struct strv before = STRV_INIT, after = STRV_INIT;
	int ret = read_lines(first, &before, err);

	if (!ret)
		ret = read_lines(second, &after, err);
	if (!ret) {
		*count = 0;
		*out = arena_alloc(arena, (before.count + after.count + 1) * sizeof(**out));
		compare(arena, &before, &after, *out, count);
	}
	strv_release(&before);
	strv_release(&after);
	return ret;
}

int config_write(struct arena *arena, const char *cache, const struct config_change *changes,
	size_t count, const char **path, struct err *err)
{
	char *folder = arena_printf(arena, "%s/fragments", cache);
	char hex[SHA256_HEX_LEN + 1];
	struct str text = STR_INIT;
	int ret = file_mkdirs(folder, 0777, err);

	for (size_t i = 0; i < count; i++)
		str_addf(&text, "%s\n", changes[i].line);
	sha256_of(str_text(&text), text.len, hex);
	*path = arena_printf(arena, "%s/%.16s.config", folder, hex);
	if (!ret)
		ret = file_write_atomic(*path, str_text(&text), text.len, 0644, err);
	str_release(&text);
	return ret;
}
