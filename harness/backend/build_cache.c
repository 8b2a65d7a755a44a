/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/stop.h"
#include "sys/json.h"
#include "backend/build_cache.h"

/* Texts of struct build as members of build.json; paths are kept relative to the folder. */
static const struct {
	const char *name;
	size_t offset;
	bool is_path;
} members[] = {
	{"key", offsetof(struct build, key), false},
	{"commit", offsetof(struct build, commit), false},
	{"tree", offsetof(struct build, tree), false},
	{"release", offsetof(struct build, release), false},
	{"proc_version", offsetof(struct build, proc_version), false},
	{"build_id", offsetof(struct build, build_id), false},
	{"code_sha256", offsetof(struct build, code_sha256), false},
	{"image", offsetof(struct build, image), true},
	{"modules", offsetof(struct build, modules), true},
	{"config", offsetof(struct build, config), true},
	{"config_sha256", offsetof(struct build, config_sha256), false},
	{"compiler", offsetof(struct build, compiler), false},
	{"log", offsetof(struct build, log), true},
};

static const char **member(struct build *build, size_t i)
{
	return (const char **)((char *)build + members[i].offset);
}

/* path as seen from folder when it lies in it, else path itself. */
static const char *relative_to(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	if (!strncmp(path, folder, len) && path[len] == '/')
		return path + len + 1;
	return path;
}

static const char *absolute_in(struct arena *arena, const char *folder, const char *path)
{
	char *joined;
	const char *kept;

	if (!*path)
		return "";
	joined = path_join(folder, path);
	kept = arena_strdup(arena, joined);
	free(joined);
	return kept;
}

static bool key_is_sound(const char *key)
{
	return strlen(key) == SHA256_HEX_LEN && strspn(key, "0123456789abcdef") == SHA256_HEX_LEN;
}

static void fill(struct arena *arena, const char *folder, const json_t *json, struct build *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = json_get_text(json, members[i].name, "");

		*member(out, i) = members[i].is_path ? absolute_in(arena, folder, text)
						     : arena_strdup(arena, text);
	}
	out->seconds = json_get_int(json, "seconds", 0);
	out->from_cache = true;
}

bool build_cache_find(
	struct arena *arena, const char *cache_dir, const char *key, struct build *out)
{
	char *folder = path_join(cache_dir, key), *file = path_join(folder, "build.json");
	struct str text = STR_INIT;
	struct build found = {0};
	json_t *json = NULL;
	bool ok = false;

	if (key_is_sound(key) && file_read(file, 1 << 20, &text, NULL) == 0 &&
		json_parse(str_text(&text), text.len, 1 << 20, &json, NULL) == 0) {
		fill(arena, folder, json, &found);
		ok = !strcmp(found.key, key) && file_exists(found.image);
	}
	if (ok)
		*out = found;
	json_decref(json);
	str_release(&text);
	free(file);
	free(folder);
	return ok;
}

bool build_cache_find_recipe(
	struct arena *arena, const char *cache_dir, const char *recipe, struct build *out)
{
	char *file = xasprintf("%s/recipes/%s", cache_dir, recipe);
	struct str key = STR_INIT;
	bool found;

	found = file_read_line(file, &key, NULL) == 0 &&
		build_cache_find(arena, cache_dir, str_text(&key), out);
	str_release(&key);
	free(file);
	return found;
}

int build_cache_begin(
	struct arena *arena, const char *cache_dir, const char **folder, struct err *err)
{
	char *path = arena_printf(arena, "%s/new-XXXXXX", cache_dir);
	int ret = file_mkdirs(cache_dir, 0755, err);

	if (ret)
		return ret;
	if (!mkdtemp(path) || chmod(path, 0755) != 0)
		return err_errno(err, ERR_INFRA, errno, "cannot make a folder in %s", cache_dir);
	*folder = path;
	return 0;
}

int build_cache_lock(
	const struct build_env *env, const char *name, struct file_lock *lock, struct err *err)
{
	char *path = xasprintf("%s/locks/%s", env->cache_dir, name);
	char *folder = path_dir(path);
	bool told = false;
	int ret = file_mkdirs(folder, 0755, err);

	while (ret == 0) {
		ret = file_lock_take(lock, path, told ? NS_PER_S : 0, err);
		if (ret != ERR_TIMEOUT)
			break;
		if (!told && env->progress)
			env->progress(env->arg, err ? err->text : "waiting for a lock");
		told = true;
		ret = stop_check(err);
	}
	free(folder);
	free(path);
	return ret;
}

static int write_json(const char *folder, struct build *build, struct err *err)
{
	json_t *json = json_object();
	struct str text = STR_INIT;
	char *file = path_join(folder, "build.json");
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *value = *member(build, i);

		json_object_set_new(json, members[i].name,
			json_text(members[i].is_path ? relative_to(folder, value) : value));
	}
	json_object_set_new(json, "seconds", json_integer(build->seconds));
	json_write(json, true, &text);
	ret = file_write_atomic(file, str_text(&text), text.len, 0644, err);
	json_decref(json);
	str_release(&text);
	free(file);
	return ret;
}

/* All that was written for the build is on the disk before its name appears. */
static int sync_folder(const char *folder, struct err *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0 || syncfs(fd) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot sync %s", folder);
	if (fd >= 0)
		(void)close(fd); /* nothing was written through it */
	return ret;
}

int build_cache_add_recipe(
	const char *cache_dir, const char *recipe, const char *key, struct err *err)
{
	char *folder = path_join(cache_dir, "recipes"), *file = path_join(folder, recipe);
	int ret = file_mkdirs(folder, 0755, err);

	if (ret == 0)
		ret = file_write_atomic(file, key, strlen(key), 0644, err);
	free(file);
	free(folder);
	return ret;
}

static int publish(const char *folder, const char *final, const char *key, struct err *err)
{
	struct build there;
	struct arena arena = ARENA_INIT;
	char *cache_dir = path_dir(final);
	int ret = 0;

	if (!build_cache_find(&arena, cache_dir, key, &there)) {
		ret = file_remove_tree(final, err); /* damaged: its image is gone */
		if (ret == 0 && rename(folder, final) != 0)
			ret = err_errno(
				err, ERR_INFRA, errno, "cannot rename %s to %s", folder, final);
		if (ret == 0)
			ret = file_sync_folder_of(final, err);
	} else {
		ret = file_remove_tree(folder, err);
	}
	arena_release(&arena);
	free(cache_dir);
	return ret;
}

int build_cache_seal(struct arena *arena, const char *cache_dir, const char *folder,
	const char *recipe, struct build *build, struct err *err)
{
	char *final = path_join(cache_dir, build->key);
	int ret;

	ret = write_json(folder, build, err);
	if (ret == 0)
		ret = sync_folder(folder, err);
	if (ret == 0)
		ret = publish(folder, final, build->key, err);
	if (ret == 0 && recipe)
		ret = build_cache_add_recipe(cache_dir, recipe, build->key, err);
	if (ret == 0) {
		if (!build_cache_find(arena, cache_dir, build->key, build))
			ret = err_set(err, ERR_INFRA, "the build %s is gone again", final);
		build->from_cache = false;
	}
	free(final);
	return ret;
}
