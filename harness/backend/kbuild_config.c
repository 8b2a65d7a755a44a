/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>

#include "backend/kbuild.h"

enum { MAX_CONFIG_BYTES = 4 << 20, MAX_TOLD = 8 };

/* One line of a fragment. value is "n" for what is not set. */
struct setting {
	const char *symbol, *value;
	const char *file;
	int line;
};

struct settings {
	struct arena arena;
	struct setting *items;
	size_t count, capacity;
};

static void settings_release(struct settings *settings)
{
	free(settings->items);
	arena_release(&settings->arena);
}

static size_t symbol_len(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) || text[len] == '_')
		len++;
	return str_starts(text, "CONFIG_") && len > strlen("CONFIG_") ? len : 0;
}

static void put(struct settings *settings, const char *symbol, size_t len, const char *value,
	const char *file, int line)
{
	GROW(settings->items, settings->count, settings->capacity);
	settings->items[settings->count++] =
		(struct setting){arena_strndup(&settings->arena, symbol, len),
			arena_strdup(&settings->arena, value), file, line};
}

/* "CONFIG_X=value" or "# CONFIG_X is not set". false for a line that is neither, nor a comment. */
static bool read_setting(struct settings *settings, char *text, const char *file, int line)
{
	static const char unset[] = " is not set";
	size_t len, end = strlen(text);

	while (end && isspace((unsigned char)text[end - 1]))
		text[--end] = '\0';
	if (str_starts(text, "# CONFIG_")) {
		len = symbol_len(text + 2);
		if (len && !strcmp(text + 2 + len, unset))
			put(settings, text + 2, len, "n", file, line);
		return true;
	}
	if (!*text || *text == '#')
		return true;
	len = symbol_len(text);
	if (!len || text[len] != '=' || !text[len + 1])
		return false;
	put(settings, text, len, text + len + 1, file, line);
	return true;
}

static int read_settings(struct settings *settings, const char *path, struct err *err)
{
	struct str text = STR_INIT;
	char *at, *line;
	int number = 0;
	int ret = file_read(path, MAX_CONFIG_BYTES, &text, err);

	at = ret == 0 ? text.text : NULL;
	while (ret == 0 && (line = strsep(&at, "\n")))
		if (!read_setting(settings, line, path, ++number))
			ret = err_set(err, ERR_USAGE,
				"%s:%d: this is neither CONFIG_NAME=value nor \"# CONFIG_NAME is "
				"not "
				"set\"",
				path, number);
	str_release(&text);
	return ret == ERR_NOT_FOUND ? err_set(err, ERR_USAGE, "there is no file %s", path) : ret;
}

static int by_symbol(const void *a, const void *b)
{
	const struct setting *left = a, *right = b;

	return strcmp(left->symbol, right->symbol);
}

static const char *value_of(const struct settings *sorted, const char *symbol)
{
	const struct setting key = {symbol, NULL, NULL, 0};
	const struct setting *found =
		sorted->count ? bsearch(&key, sorted->items, sorted->count, sizeof(key), by_symbol)
			      : NULL;

	return found ? found->value : "n";
}

static bool is_overridden(const struct settings *settings, size_t i)
{
	for (size_t k = i + 1; k < settings->count; k++)
		if (!strcmp(settings->items[k].symbol, settings->items[i].symbol))
			return true;
	return false;
}

static int compare(const struct settings *wanted, const struct settings *have, struct err *err)
{
	struct str text = STR_INIT;
	size_t lost = 0;

	for (size_t i = 0; i < wanted->count; i++) {
		const struct setting *want = &wanted->items[i];
		const char *value = value_of(have, want->symbol);

		if (!strcmp(value, want->value) || is_overridden(wanted, i) || ++lost > MAX_TOLD)
			continue;
		str_addf(&text, "%s%s:%d: %s=%s became %s", lost > 1 ? "; " : "", want->file,
			want->line, want->symbol, want->value, value);
	}
	if (lost > MAX_TOLD)
		str_addf(&text, "; and %zu more", lost - MAX_TOLD);
	if (lost)
		(void)err_set(err, ERR_USAGE,
			"%zu line%s of the kernel configuration did not survive (a symbol needs "
			"another that is off, is selected by one that is on, or does not exist in "
			"this kernel): %s",
			lost, lost == 1 ? "" : "s", str_text(&text));
	str_release(&text);
	return lost ? ERR_USAGE : 0;
}

int kbuild_check_fragments(const char *const *fragments, const char *config, struct err *err)
{
	struct settings wanted = {0}, have = {0};
	int ret = 0;

	for (; ret == 0 && *fragments; fragments++)
		ret = read_settings(&wanted, *fragments, err);
	if (ret == 0)
		ret = read_settings(&have, config, err);
	if (ret == 0) {
		if (have.count)
			qsort(have.items, have.count, sizeof(*have.items), by_symbol);
		ret = compare(&wanted, &have, err);
	}
	settings_release(&wanted);
	settings_release(&have);
	return ret;
}

/* All fragments, one after the other. The release string is ours to make (LOCALVERSION), so the
 * part of it that depends on a git repository around the source is off. */
static int join_fragments(const struct kbuild *kb, struct str *out, struct err *err)
{
	int ret = 0;

	for (const char *const *path = kb->variant->config.fragments; ret == 0 && *path; path++) {
		struct str text = STR_INIT;

		ret = file_read(*path, MAX_CONFIG_BYTES, &text, err);
		if (ret == 0) {
			str_add_bytes(out, str_text(&text), text.len);
			str_add_char(out, '\n');
		}
		str_release(&text);
	}
	str_add(out, "# CONFIG_LOCALVERSION_AUTO is not set\n");
	str_add(out, kbuild_layout_config(kb->variant));
	return ret;
}

/* Puts text behind what .config holds (base NULL) or behind a file of the person's. */
static int append_to(
	const struct kbuild *kb, const char *base, const struct str *text, struct err *err)
{
	char *config = path_join(kb->out, ".config");
	struct str all = STR_INIT;
	int ret = file_read(base ? base : config, MAX_CONFIG_BYTES, &all, err);

	if (ret == 0) {
		str_add_char(&all, '\n');
		str_add_bytes(&all, str_text(text), text->len);
		ret = file_write_atomic(config, str_text(&all), all.len, 0644, err);
	}
	str_release(&all);
	free(config);
	return ret;
}

int kbuild_append_config(struct kbuild *kb, const char *text, struct err *err)
{
	struct str lines = STR_INIT;
	int ret;

	str_add(&lines, text);
	ret = append_to(kb, NULL, &lines, err);
	str_release(&lines);
	return ret ? ret : kbuild_make(kb, err, "olddefconfig", NULL);
}

bool kbuild_config_has(const struct kbuild *kb, const char *line)
{
	char *config = path_join(kb->out, ".config");
	struct str text = STR_INIT;
	bool has = false;
	char *at, *next;

	at = file_read(config, MAX_CONFIG_BYTES, &text, NULL) == 0 ? text.text : NULL;
	while (!has && (next = strsep(&at, "\n")))
		has = !strcmp(next, line);
	str_release(&text);
	free(config);
	return has;
}

/* allnoconfig and its kin read the fragments themselves: what no fragment names then really is off
 * (or on), also where it only becomes visible through a fragment. */
static int configure_all(struct kbuild *kb, const struct str *fragments, struct err *err)
{
	char *file = path_join(kb->out, "kbracket.config");
	char *word = xasprintf("KCONFIG_ALLCONFIG=%s/kbracket.config", sandbox_output(&kb->box));
	int ret;

	ret = file_write_atomic(file, str_text(fragments), fragments->len, 0644, err);
	if (ret == 0)
		ret = kbuild_make(kb, err, word, kb->variant->config.base, NULL);
	free(word);
	free(file);
	return ret;
}

static int configure(struct kbuild *kb, const struct str *fragments, struct err *err)
{
	static const char *const all[] = {
		"allnoconfig", "allyesconfig", "allmodconfig", "alldefconfig"};
	const char *base = kb->variant->config.base;
	bool is_file = strchr(base, '/') != NULL;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(base, all[i]))
			return configure_all(kb, fragments, err);
	if (!is_file)
		ret = kbuild_make(kb, err, base, NULL);
	if (ret == 0)
		ret = append_to(kb, is_file ? base : NULL, fragments, err);
	if (ret == 0)
		ret = kbuild_make(kb, err, "olddefconfig", NULL);
	return ret;
}

static void make_key(struct kbuild *kb)
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_field(&hash, "kbracket kbuild 1"); /* stands for the make arguments */
	sha256_add_field(&hash, kb->tree.hex);
	sha256_add_field(&hash, kb->config_sha256);
	sha256_add_field(&hash, kb->arch->name);
	sha256_add_field(&hash, kb->compiler);
	sha256_hex(&hash, kb->key);
}

int kbuild_configure(struct kbuild *kb, struct err *err)
{
	char *config = path_join(kb->out, ".config");
	struct str fragments = STR_INIT;
	int ret;

	ret = join_fragments(kb, &fragments, err);
	if (ret == 0)
		ret = configure(kb, &fragments, err);
	if (ret == 0)
		ret = kbuild_fix_random(kb, err);
	if (ret == 0)
		ret = kbuild_check_fragments(kb->variant->config.fragments, config, err);
	if (ret == 0)
		ret = kbuild_layout_check(kb, err);
	if (ret == 0)
		ret = sha256_of_file(config, kb->config_sha256, err);
	if (ret == 0)
		make_key(kb);
	str_release(&fragments);
	free(config);
	return ret;
}
