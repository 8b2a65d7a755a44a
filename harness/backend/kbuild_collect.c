/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "sys/proc.h"
#include "backend/code_identity.h"
#include "backend/kbuild.h"
#include "backend/kernel_image.h"

/* Copies a regular file that the build left; a symbolic link in its place is not followed. */
static int collect_file(
	struct kbuild *kb, const char *name, const char *folder, const char *as, struct err *err)
{
	char *from = path_join(kb->out, name), *to = path_join(folder, as);
	struct stat st;
	int ret;

	if (lstat(from, &st) != 0 || !S_ISREG(st.st_mode))
		ret = err_set(err, ERR_INFRA, "the build left no file %s; log: %s", from, kb->log);
	else
		ret = file_copy(from, to, err);
	if (ret == 0 && chmod(to, 0644) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot set the mode of %s", to);
	free(to);
	free(from);
	return ret;
}

static int make_ours(const char *path, const struct stat *st KB_UNUSED, int kind KB_UNUSED,
	struct FTW *ftw KB_UNUSED)
{
	return lchown(path, geteuid(), getegid());
}

/* The installed modules without the links back into the build, and packed into one file for
 * machines that they are copied to. */
static int collect_modules(
	struct kbuild *kb, const char *folder, struct build *build, struct err *err)
{
	static const char *const links[] = {"build", "source"};
	char *from = path_join(kb->out, "modules"), *to = path_join(folder, "modules");
	char *archive = path_join(folder, "modules.tar.zst");
	const char *argv[] = {"tar", "--zstd", "--sort=name", "--owner=0", "--group=0",
		"--numeric-owner", "--mtime=@0", "-cf", archive, "-C", to, "lib", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 1200 * NS_PER_S};
	int ret = 0;

	if (rename(from, to) != 0 || nftw(to, make_ours, 32, FTW_PHYS) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot take over the modules in %s", from);
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(links); i++) {
		char *path = xasprintf("%s/lib/modules/%s/%s", to, build->release, links[i]);

		ret = file_remove_tree(path, err);
		free(path);
	}
	if (ret == 0)
		ret = proc_check(&spec, NULL, err);
	build->modules = arena_strdup(kb->arena, to);
	free(archive);
	free(to);
	free(from);
	return ret;
}

/* What the kernel will say of itself, read out of what was built. */
static int read_vmlinux(struct kbuild *kb, struct build *build, struct err *err)
{
	char *path = path_join(kb->out, "vmlinux");
	struct kernel_image facts;
	int ret = kernel_image_read(kb->arena, path, &facts, err);

	if (ret == 0 && !*facts.build_id)
		ret = err_set(err, ERR_INFRA, "%s: %s", path, facts.why_weak);
	if (ret == 0) {
		build->release = facts.release;
		build->proc_version = facts.proc_version;
		build->build_id = facts.build_id;
	}
	free(path);
	return ret;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_modules(const struct build *build, struct strv *files, struct err *err)
{
	const char *argv[] = {"find", build->modules, "-name", "*.ko", "-type", "f", NULL};
	struct proc_spec spec = {
		.argv = argv, .timeout_ns = 60 * NS_PER_S, .max_output_bytes = 16 << 20};
	struct str out = STR_INIT;
	char *at, *line;
	int ret = proc_check(&spec, &out, err);

	at = ret == 0 ? out.text : NULL;
	while ((line = strsep(&at, "\n")))
		if (*line)
			strv_add(files, line);
	if (files->count)
		qsort(files->items, files->count, sizeof(*files->items), by_text);
	str_release(&out);
	return ret;
}

static int hash_code(
	struct kbuild *kb, const struct build *build, struct sha256 *hash, struct err *err)
{
	bool bug_lines = kbuild_config_has(kb, "CONFIG_DEBUG_BUGVERBOSE=y") &&
			 kbuild_config_has(kb, "CONFIG_GENERIC_BUG_RELATIVE_POINTERS=y");
	char *vmlinux = path_join(kb->out, "vmlinux");
	struct strv modules = STRV_INIT;
	int ret;

	ret = code_identity_add(hash, vmlinux, build->release, bug_lines, err);
	if (ret == 0 && *build->modules)
		ret = list_modules(build, &modules, err);
	for (size_t i = 0; ret == 0 && i < modules.count; i++)
		ret = code_identity_add(hash, modules.items[i], build->release, bug_lines, err);
	strv_release(&modules);
	free(vmlinux);
	return ret;
}

/* vmlinux, then the modules in order of name. Not being able to tell costs measurements only. */
static const char *identify_code(struct kbuild *kb, const struct build *build)
{
	char hex[SHA256_HEX_LEN + 1];
	struct sha256 hash;
	struct err err = ERR_INIT;

	sha256_init(&hash);
	if (hash_code(kb, build, &hash, &err)) {
		log_line(LOG_DEBUG, "the code of variant %s cannot be identified: %s",
			kb->variant->name, err.text);
		return "";
	}
	sha256_hex(&hash, hex);
	return arena_strdup(kb->arena, hex);
}

int kbuild_collect(struct kbuild *kb, const char *folder, struct build *build, struct err *err)
{
	char *log = path_join(folder, "log");
	int ret;

	build->key = arena_strdup(kb->arena, kb->key);
	build->commit = arena_strdup(kb->arena, kb->commit.hex);
	build->tree = arena_strdup(kb->arena, kb->tree.hex);
	build->config_sha256 = arena_strdup(kb->arena, kb->config_sha256);
	build->compiler = kb->compiler;
	build->modules = "";
	build->image = arena_printf(kb->arena, "%s/%s", folder, kb->arch->target);
	build->config = arena_printf(kb->arena, "%s/config", folder);
	build->log = arena_strdup(kb->arena, log);
	ret = read_vmlinux(kb, build, err);
	if (ret == 0)
		ret = collect_file(kb, kb->arch->image, folder, kb->arch->target, err);
	if (ret == 0)
		ret = collect_file(kb, ".config", folder, "config", err);
	if (ret == 0 && kbuild_config_has(kb, "CONFIG_MODULES=y"))
		ret = collect_modules(kb, folder, build, err);
	if (ret == 0)
		ret = file_copy(kb->log, log, err);
	if (ret == 0)
		build->code_sha256 = identify_code(kb, build);
	free(log);
	return ret;
}
