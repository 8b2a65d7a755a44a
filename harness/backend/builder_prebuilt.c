/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "backend/build_cache.h"
#include "backend/builder.h"
#include "backend/debian_kernel.h"
#include "backend/kernel_image.h"

/*
 * Kernels that are there already: an image (and modules folder) given by path, or a Debian package,
 * installed or downloaded. What a kernel must prove after its boot is read out of the image.
 */

static void tell(const struct build_env *env, const char *line)
{
	if (env->progress)
		env->progress(env->arg, line);
}

static const char *own(struct arena *arena, char *text)
{
	const char *kept = arena_strdup(arena, text);

	free(text);
	return kept;
}

/* Whether base/lib/modules/RELEASE is there. */
static bool holds_modules(const char *base, const char *release)
{
	char *path = xasprintf("%s/lib/modules/%s", base, release);
	bool there = file_is_folder(path);

	free(path);
	return there;
}

/* A folder that holds lib/modules/RELEASE. One that is itself the modules' folder (it has a
 * modules.dep or kernel/) is reached through a symbolic link in ours. */
static int find_modules(struct arena *arena, const char *given, const char *release,
	const char *folder, const char **out, struct err *err)
{
	char *inner = path_join(given, release), *link;
	const char *target = file_is_folder(inner) ? inner : given;
	int ret = 0;

	if (holds_modules(given, release)) {
		*out = arena_strdup(arena, given);
		free(inner);
		return 0;
	}
	link = xasprintf("%s/root/lib/modules", folder);
	if (target == given && strcmp(path_name(given), release) != 0)
		ret = err_set(err, ERR_USAGE,
			"%s holds no modules of the kernel %s: neither lib/modules/%s nor %s is in "
			"it",
			given, release, release, release);
	if (ret == 0)
		ret = file_mkdirs(link, 0755, err);
	if (ret == 0) {
		char *name = path_join(link, release);

		if (symlink(target, name) != 0)
			ret = err_set(err, ERR_INFRA, "cannot make the symbolic link %s", name);
		free(name);
	}
	if (ret == 0)
		*out = arena_printf(arena, "%s/root", folder);
	free(link);
	free(inner);
	return ret;
}

/* vmlinuz-RELEASE in a folder of boot files; the only one. */
static int find_vmlinuz(struct arena *arena, const char *boot, const char *release,
	const char **out, struct err *err)
{
	static const char start[] = "vmlinuz-";
	struct strv names = STRV_INIT;
	int ret = file_list(boot, &names, err);

	*out = NULL;
	for (size_t i = 0; ret == 0 && i < names.count; i++)
		if (str_starts(names.items[i], start) &&
			(!release || !strcmp(names.items[i] + strlen(start), release)))
			*out = own(arena, path_join(boot, names.items[i]));
	if (ret == 0 && !*out)
		ret = err_set(err, ERR_INFRA, "there is no kernel image in %s", boot);
	strv_release(&names);
	return ret;
}

/* config-RELEASE beside the image; "" when there is none. */
static const char *find_config(struct arena *arena, const char *image, const char *release)
{
	char *folder = path_dir(image);
	char *path = xasprintf("%s/config-%s", folder, release);
	const char *found = file_exists(path) ? arena_strdup(arena, path) : "";

	free(path);
	free(folder);
	return found;
}

/* "(compiler, linker)" out of /proc/version: the second parenthesis. */
static const char *compiler_of(struct arena *arena, const char *proc_version)
{
	const char *at = strstr(proc_version, ") ("), *end = strstr(proc_version, ") #");

	if (!at || !end || at + 3 >= end)
		return "";
	return arena_strndup(arena, at + 3, (size_t)(end - at - 3));
}

static int fill(struct arena *arena, const char *image, struct build *build, struct err *err)
{
	struct kernel_image facts;
	char hex[SHA256_HEX_LEN + 1];
	int ret;

	ret = kernel_image_read(arena, image, &facts, err);
	if (ret)
		return ret;
	if (!*facts.build_id)
		log_line(LOG_WARN,
			"the build-id of %s cannot be read (%s): its boots are proved only weakly, "
			"by release and /proc/version",
			image, facts.why_weak);
	build->commit = build->tree = build->log = build->modules = build->code_sha256 = "";
	build->image = image;
	build->release = facts.release;
	build->proc_version = facts.proc_version;
	build->build_id = facts.build_id;
	build->compiler = compiler_of(arena, facts.proc_version);
	build->config = find_config(arena, image, facts.release);
	build->config_sha256 = "";
	if (*build->config) {
		ret = sha256_of_file(build->config, hex, err);
		build->config_sha256 = arena_strdup(arena, hex);
	}
	return ret;
}

static const char *key_of(
	struct arena *arena, const char *kind, const char *a, const char *b, const char *c)
{
	char hex[SHA256_HEX_LEN + 1];
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_field(&hash, "kbracket prebuilt 1");
	sha256_add_field(&hash, kind);
	sha256_add_field(&hash, a);
	sha256_add_field(&hash, b);
	sha256_add_field(&hash, c);
	sha256_hex(&hash, hex);
	return arena_strdup(arena, hex);
}

static int seal_or_drop(const struct build_env *env, struct arena *arena, const char *folder,
	int ret, struct build *build, struct err *err)
{
	if (ret == 0)
		ret = build_cache_seal(arena, env->cache_dir, folder, NULL, build, err);
	if (ret)
		(void)!file_remove_tree(folder, NULL); /* the first error is the one to tell */
	return ret;
}

/* What the cache remembers must hold whatever folder kbracket is started in. */
static int make_absolute(struct arena *arena, const char **path, struct err *err)
{
	char *real = realpath(*path, NULL);

	if (!real)
		return err_errno(err, ERR_USAGE, errno, "cannot use the kernel's %s", *path);
	*path = own(arena, real);
	return 0;
}

/* An image that stays where it is; the entry in the cache holds what was read out of it. */
static int build_from_image(const struct build_env *env, const char *image, const char *modules,
	struct arena *arena, struct build *out, struct err *err)
{
	struct build build = {0};
	char hex[SHA256_HEX_LEN + 1];
	const char *folder;
	int ret;

	ret = make_absolute(arena, &image, err);
	if (ret == 0 && modules)
		ret = make_absolute(arena, &modules, err);
	if (ret == 0)
		ret = sha256_of_file(image, hex, err);
	if (ret)
		return ret;
	build.key = key_of(arena, "image", hex, image, modules);
	if (build_cache_find(arena, env->cache_dir, build.key, out))
		return 0;
	ret = build_cache_begin(arena, env->cache_dir, &folder, err);
	if (ret)
		return ret;
	ret = fill(arena, image, &build, err);
	if (ret == 0 && modules)
		ret = find_modules(arena, modules, build.release, folder, &build.modules, err);
	ret = seal_or_drop(env, arena, folder, ret, &build, err);
	if (ret == 0)
		*out = build;
	return ret;
}

static int unpack_package(const struct debian_kernel *kernel, struct arena *arena,
	const char *folder, struct build *build, struct err *err)
{
	const char *root = arena_printf(arena, "%s/root", folder);
	const char *image;
	int ret;

	ret = debian_kernel_unpack(kernel, root, err);
	if (ret == 0)
		ret = find_vmlinuz(arena, arena_printf(arena, "%s/boot", root), NULL, &image, err);
	if (ret == 0)
		ret = fill(arena, image, build, err);
	if (ret == 0 && holds_modules(root, build->release))
		build->modules = root;
	return ret;
}

static int make_package_build(const struct build_env *env, const struct debian_kernel *kernel,
	const char *key, struct arena *arena, struct build *out, struct err *err)
{
	int64_t start = clock_now_ns();
	struct build build = {.key = key};
	const char *folder;
	int ret;

	if (build_cache_find(arena, env->cache_dir, key, out))
		return 0;
	tell(env, arena_printf(arena, "downloading %s %s (%.0f MB)", kernel->package,
			  kernel->version, (double)kernel->size_bytes / 1e6));
	ret = build_cache_begin(arena, env->cache_dir, &folder, err);
	if (ret)
		return ret;
	ret = unpack_package(kernel, arena, folder, &build, err);
	build.seconds = (clock_now_ns() - start) / NS_PER_S;
	ret = seal_or_drop(env, arena, folder, ret, &build, err);
	if (ret == 0)
		*out = build;
	return ret;
}

/* One download of a package at a time. */
static int download_package(const struct build_env *env, const struct debian_kernel *kernel,
	struct arena *arena, struct build *out, struct err *err)
{
	const char *key =
		key_of(arena, "package", kernel->package, kernel->version, kernel->sha256);
	struct file_lock lock = FILE_LOCK_INIT;
	int ret;

	if (build_cache_find(arena, env->cache_dir, key, out))
		return 0;
	ret = build_cache_lock(env, key, &lock, err);
	if (ret == 0)
		ret = make_package_build(env, kernel, key, arena, out, err);
	file_lock_release(&lock);
	return ret;
}

static int build_from_package(const struct build_env *env, const char *package, struct arena *arena,
	struct build *out, struct err *err)
{
	struct debian_kernel kernel;
	const char *image;
	int ret;

	ret = debian_kernel_find(arena, package, &kernel, err);
	if (ret)
		return ret;
	if (!*kernel.boot_dir)
		return download_package(env, &kernel, arena, out, err);
	ret = find_vmlinuz(
		arena, kernel.boot_dir, kernel.package + strlen("linux-image-"), &image, err);
	return ret ? ret : build_from_image(env, image, "/", arena, out, err);
}

static int prebuilt_build(const struct build_env *env, const struct variant *variant,
	struct arena *arena, struct build *out, struct err *err)
{
	const struct prebuilt_spec *spec = &variant->prebuilt;

	if (spec->package)
		return build_from_package(env, spec->package, arena, out, err);
	return build_from_image(env, spec->image, spec->modules, arena, out, err);
}

static int prebuilt_resolve(
	const struct variant *variant, struct arena *arena, struct resolved *out, struct err *err)
{
	const struct prebuilt_spec *spec = &variant->prebuilt;
	struct debian_kernel kernel;
	int ret;

	if (!spec->package) {
		if (!file_exists(spec->image))
			return err_set(err, ERR_USAGE, "there is no kernel image %s", spec->image);
		*out = (struct resolved){"", arena_strdup(arena, spec->image)};
		return 0;
	}
	ret = debian_kernel_find(arena, spec->package, &kernel, err);
	if (ret == 0)
		*out = (struct resolved){
			"", arena_printf(arena, "%s %s", kernel.package, kernel.version)};
	return ret;
}

const struct builder builder_prebuilt = {"prebuilt", prebuilt_resolve, prebuilt_build};
