/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "sys/http.h"
#include "sys/mail.h"
#include "backend/patch_source.h"

enum { MAX_PATCH_BYTES = 16 << 20, MAX_PATCHES = 1000 };

struct gather {
	struct arena *arena;
	const char *lore_url, *cache_dir;
	struct patch_text *items;
	size_t count, capacity;
	struct err *err;
};

static int add(struct gather *g, const char *name, const struct str *bytes)
{
	struct str text = STR_INIT;
	char hex[SHA256_HEX_LEN + 1];
	struct patch_text *item;
	int ret;

	if (g->count == MAX_PATCHES)
		return err_set(g->err, ERR_USAGE, "more than %d patches", MAX_PATCHES);
	ret = mail_add_text(str_text(bytes), bytes->len, &text, g->err);
	if (ret == 0) {
		sha256_of(str_text(bytes), bytes->len, hex);
		GROW(g->items, g->count, g->capacity);
		item = &g->items[g->count++];
		item->name = arena_strdup(g->arena, name);
		item->sha256 = arena_strdup(g->arena, hex);
		item->len = text.len;
		item->text = text.len ? arena_copy(g->arena, text.text, text.len, 1) : "";
	} else {
		ret = err_wrap(g->err, "%s", name);
	}
	str_release(&text);
	return ret;
}

static int add_file(struct gather *g, const char *path, const char *name)
{
	struct str bytes = STR_INIT;
	int ret = file_read(path, MAX_PATCH_BYTES, &bytes, g->err);

	if (ret == ERR_NOT_FOUND)
		ret = err_set(g->err, ERR_USAGE, "there is no patch %s", path);
	if (ret == 0)
		ret = add(g, name, &bytes);
	str_release(&bytes);
	return ret;
}

static bool is_patch_name(const char *name)
{
	static const char *const endings[] = {".patch", ".diff", ".mbox", ".eml"};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(name, endings[i]))
			return true;
	return false;
}

static int add_folder(struct gather *g, const char *path)
{
	struct strv names = STRV_INIT;
	size_t before = g->count;
	int ret = file_list(path, &names, g->err);

	for (size_t i = 0; ret == 0 && i < names.count; i++) {
		char *file = path_join(path, names.items[i]);
		char *name = xasprintf("%s/%s", path_name(path), names.items[i]);

		if (is_patch_name(names.items[i]))
			ret = add_file(g, file, name);
		free(name);
		free(file);
	}
	if (ret == 0 && g->count == before)
		ret = err_set(g->err, ERR_USAGE,
			"the folder %s holds no patch (*.patch, *.diff, *.mbox, *.eml)", path);
	strv_release(&names);
	return ret;
}

/* RFC 5322's usual characters without the ones that mean something in a path. */
static bool id_is_sound(const char *id)
{
	size_t len = strlen(id);

	if (!len || len > 250 || !strchr(id, '@') || *id == '.')
		return false;
	for (; *id; id++)
		if (*id <= ' ' || *id >= 127 || strchr("/\\<>\"'", *id))
			return false;
	return true;
}

static int check_hash(struct gather *g, const char *id, const struct str *bytes, const char *wanted,
	const char *says)
{
	char hex[SHA256_HEX_LEN + 1];

	sha256_of(str_text(bytes), bytes->len, hex);
	if (!wanted || !strcmp(hex, wanted))
		return 0;
	return err_set(g->err, ERR_USAGE, "the mail %s has the SHA-256 %s, but %s says %s", id, hex,
		says, wanted);
}

static int fetch(struct gather *g, const char *id, struct str *bytes)
{
	struct str url = STR_INIT;
	struct http_request request = {.max_bytes = MAX_PATCH_BYTES};
	int ret;

	str_add(&url, g->lore_url);
	while (url.len && url.text[url.len - 1] == '/')
		url.text[--url.len] = '\0';
	str_add_char(&url, '/');
	http_add_escaped(&url, id);
	str_add(&url, "/raw");
	request.url = str_text(&url);
	ret = http_get(&request, bytes, g->err);
	if (ret == ERR_NOT_FOUND)
		ret = err_set(g->err, ERR_USAGE, "there is no mail %s", str_text(&url));
	str_release(&url);
	return ret;
}

struct kept {
	char *mail, *record; /* paths in the cache */
	struct str hash;     /* what was recorded when it was first fetched */
};

static int keep(struct gather *g, const struct kept *kept, const struct str *bytes)
{
	char hex[SHA256_HEX_LEN + 1];
	int ret = 0;

	sha256_of(str_text(bytes), bytes->len, hex);
	if (!kept->hash.len)
		ret = file_write_atomic(kept->record, hex, SHA256_HEX_LEN, 0644, g->err);
	if (ret == 0)
		ret = file_write_atomic(kept->mail, str_text(bytes), bytes->len, 0644, g->err);
	return ret;
}

/* The mail out of the cache, or fetched; its hash against the pin and the record. */
static int get(struct gather *g, const char *id, const char *pin, const struct kept *kept,
	struct str *bytes)
{
	const char *record = kept->hash.len ? str_text(&kept->hash) : NULL;
	bool cached = file_read(kept->mail, MAX_PATCH_BYTES, bytes, NULL) == 0 &&
		      check_hash(&(struct gather){0}, id, bytes, record, "") == 0;
	int ret = 0;

	if (!cached)
		ret = fetch(g, id, bytes);
	if (ret == 0)
		ret = check_hash(g, id, bytes, pin, "its pin in the kernels file");
	if (ret == 0 && !cached)
		ret = check_hash(g, id, bytes, record, kept->record);
	if (ret == 0 && !cached)
		ret = keep(g, kept, bytes);
	return ret;
}

static int add_mail(struct gather *g, const char *id, const char *pin)
{
	char *folder = path_join(g->cache_dir, "mails"), *name = xasprintf("lore:%s", id);
	struct kept kept = {NULL, NULL, STR_INIT};
	struct str where = STR_INIT, bytes = STR_INIT;
	char hex[SHA256_HEX_LEN + 1];
	int ret;

	str_addf(&where, "%s %s", g->lore_url, id);
	sha256_of(str_text(&where), where.len, hex);
	kept.mail = xasprintf("%s/%.32s.mbox", folder, hex);
	kept.record = xasprintf("%s/%.32s.sha256", folder, hex);
	ret = file_mkdirs(folder, 0755, g->err);
	if (ret == 0 && file_exists(kept.record))
		ret = file_read_line(kept.record, &kept.hash, g->err);
	if (ret == 0)
		ret = get(g, id, pin, &kept, &bytes);
	if (ret == 0)
		ret = add(g, name, &bytes);
	str_release(&kept.hash);
	free(kept.record);
	free(kept.mail);
	str_release(&bytes);
	str_release(&where);
	free(name);
	free(folder);
	return ret;
}

/* "MESSAGE-ID" or "MESSAGE-ID sha256:HEX". */
static int add_lore(struct gather *g, const char *spec)
{
	static const char pin_start[] = "sha256:";
	char *id = arena_strdup(g->arena, spec), *pin = strchr(id, ' ');

	if (pin) {
		*pin++ = '\0';
		if (!str_starts(pin, pin_start) ||
			strlen(pin += strlen(pin_start)) != SHA256_HEX_LEN ||
			strspn(pin, "0123456789abcdef") != SHA256_HEX_LEN)
			return err_set(g->err, ERR_USAGE,
				"lore:%s: behind the message-id may stand only sha256: and 64 "
				"lower-case hex digits",
				id);
	}
	if (!id_is_sound(id))
		return err_set(g->err, ERR_USAGE,
			"\"lore:%s\" holds no message-id such as 20261030091946.2498870-1-a@b.c",
			id);
	return add_mail(g, id, pin);
}

static int add_spec(struct gather *g, const char *spec)
{
	if (str_starts(spec, "lore:"))
		return add_lore(g, spec + strlen("lore:"));
	if (file_is_folder(spec))
		return add_folder(g, spec);
	return add_file(g, spec, path_name(spec));
}

int patch_series_read(struct arena *arena, const char *const *specs, const char *lore_url,
	const char *cache_dir, struct patch_series *out, struct err *err)
{
	struct gather g = {arena, lore_url, cache_dir, NULL, 0, 0, err};
	int ret = 0;

	for (; ret == 0 && *specs; specs++)
		ret = add_spec(&g, *specs);
	if (ret == 0) {
		out->items = arena_copy(arena, g.items, g.count, sizeof(*g.items));
		out->count = g.count;
	}
	free(g.items);
	return ret;
}
