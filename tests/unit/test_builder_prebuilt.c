/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "sys/compress.h"
#include "backend/builder.h"
#include "fake_kernel.h"

/* A folder with a kernel image, and with apt and dpkg replaced by scripts that know one package. */
static char top[64];
static char *old_path;

static char *at(const char *name)
{
	static char paths[32][256];
	static unsigned next;
	char *path = paths[next++ % 32];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void put(const char *path, const char *bytes, size_t len, unsigned mode)
{
	char *folder = path_dir(path);

	assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, bytes, len, mode, NULL), 0);
	free(folder);
}

static void put_script(const char *name, const char *text)
{
	struct str script = STR_INIT;
	char *bin = at("bin");
	char *path = path_join(bin, name);

	str_addf(&script, "#!/bin/sh\nset -e\n%s\n", text);
	put(path, str_text(&script), script.len, 0755);
	str_release(&script);
	free(path);
}

static void put_image(const char *path)
{
	struct str vmlinux = STR_INIT, payload = STR_INIT, image = STR_INIT;

	fake_vmlinux(&vmlinux, 0xcd, FAKE_BANNER("6.12.3-cloud", "1"));
	compress_pack_zstd(str_text(&vmlinux), vmlinux.len, &payload);
	fake_bzimage(&image, "6.12.3-cloud", &payload);
	put(path, str_text(&image), image.len, 0644);
	str_release(&vmlinux);
	str_release(&payload);
	str_release(&image);
}

static void put_scripts(void)
{
	char hex[SHA256_HEX_LEN + 1];
	char *text;

	put(at("archive.deb"), "not really\n", 11, 0644);
	sha256_of("not really\n", 11, hex);
	text = xasprintf(
		"test \"$1\" = pkgnames && printf "
		"'linux-image-6.12-cloud\\nlinux-image-6.12.2-cloud\\nlinux-image-6.12.3-"
		"cloud\\nlinux-image-6.12.3-cloud-dbg\\n' && exit\n"
		"for p; do case $p in\n"
		"linux-image-6.12-cloud) printf 'Package: %%s\\nVersion: 6.12.3-1\\nDepends: "
		"linux-image-6.12.3-cloud (= 6.12.3-1)\\nSize: 5\\n\\n' $p;;\n"
		"linux-image-6.12.2-cloud) printf 'Package: %%s\\nVersion: 6.12.2-1\\nDepends: "
		"kmod\\nSHA256: %s\\nSize: 11\\n\\n' $p;;\n"
		"linux-image-6.12.3-cloud) printf 'Package: %%s\\nVersion: 6.12.3-1\\nDepends: "
		"kmod, linux-base\\nSHA256: %s\\nSize: 11\\n\\n' $p;;\n"
		"esac; done",
		hex, hex);
	put_script("apt-cache", text);
	free(text);
	text = xasprintf(
		"echo \"$@\" >>%s; cp %s linux-image.deb", at("downloads"), at("archive.deb"));
	put_script("apt-get", text);
	free(text);
	text = xasprintf(
		"test $1 = -x\nmkdir -p $3/boot $3/lib/modules/6.12.3-cloud $3/usr\n"
		"cp %s $3/boot/vmlinuz-6.12.3-cloud\necho CONFIG_SMP=y >$3/boot/config-6.12.3-"
		"cloud",
		at("bzImage"));
	put_script("dpkg-deb", text);
	free(text);
	put_script("dpkg-query", "exit 1");
}

static int set_up(void **state KB_UNUSED)
{
	char *path;

	strncpy(top, "/tmp/kb-prebuilt-XXXXXX", sizeof(top));
	assert_non_null(mkdtemp(top));
	put_image(at("bzImage"));
	put_scripts();
	old_path = xstrdup(getenv("PATH"));
	path = xasprintf("%s:%s", at("bin"), old_path);
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	assert_int_equal(setenv("PATH", old_path, 1), 0);
	free(old_path);
	return file_remove_tree(top, NULL);
}

static int build(struct arena *arena, const char *image, const char *modules, const char *package,
	struct build *out, struct err *err)
{
	struct build_env env = {.cache_dir = at("cache")};
	struct variant variant = {
		.name = "v", .is_prebuilt = true, .prebuilt = {image, modules, package}};

	return builder_for(&variant)->build(&env, &variant, arena, out, err);
}

#define ID "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

static void an_image_is_taken_as_it_is(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct build made, again;
	struct err err = ERR_INIT;

	assert_int_equal(build(&arena, at("bzImage"), NULL, NULL, &made, &err), 0);
	assert_string_equal(made.release, "6.12.3-cloud");
	assert_string_equal(made.build_id, ID);
	assert_string_equal(made.image, at("bzImage"));
	assert_string_equal(made.modules, "");
	assert_string_equal(made.compiler, "gcc 12.2.0, GNU ld 2.40");
	assert_false(made.from_cache);
	assert_int_equal(build(&arena, at("bzImage"), NULL, NULL, &again, &err), 0);
	assert_true(again.from_cache);
	assert_string_equal(again.key, made.key);
	assert_string_equal(again.image, made.image);
	assert_string_equal(again.proc_version, made.proc_version);
	arena_release(&arena);
}

static void modules_are_found(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct build made;
	struct err err = ERR_INIT;
	char *below;

	put(at("a/lib/modules/6.12.3-cloud/modules.dep"), "", 0, 0644);
	assert_int_equal(build(&arena, at("bzImage"), at("a"), NULL, &made, &err), 0);
	assert_string_equal(made.modules, at("a"));
	put(at("b/6.12.3-cloud/modules.dep"), "", 0, 0644);
	assert_int_equal(build(&arena, at("bzImage"), at("b"), NULL, &made, &err), 0);
	below = xasprintf("%s/lib/modules/6.12.3-cloud/modules.dep", made.modules);
	assert_true(file_exists(below));
	free(below);
	put(at("c/6.12.2/modules.dep"), "", 0, 0644);
	assert_int_equal(build(&arena, at("bzImage"), at("c"), NULL, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "holds no modules of the kernel 6.12.3-cloud"));
	arena_release(&arena);
}

static void packages_are_downloaded_once(void **state KB_UNUSED)
{
	static const char *const names[] = {
		"linux-image-6.12.3-cloud", "linux-image-6.12-cloud", "linux-image-6.12*"};
	struct arena arena = ARENA_INIT;
	struct str log = STR_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct build made;

		if (build(&arena, NULL, NULL, names[i], &made, &err))
			fail_msg("%s: %s", names[i], err.text);
		assert_string_equal(made.build_id, ID);
		assert_int_equal(made.from_cache, i > 0);
		assert_true(file_exists(made.image));
		assert_true(file_exists(made.config));
		assert_true(str_starts(made.image, at("cache")));
		assert_string_not_equal(made.modules, "");
	}
	assert_int_equal(file_read(at("downloads"), 65536, &log, NULL), 0);
	assert_ptr_equal(strchr(str_text(&log), '\n'), str_text(&log) + log.len - 1); /* one line */
	assert_non_null(strstr(str_text(&log), "download linux-image-6.12.3-cloud=6.12.3-1"));
	str_release(&log);
	arena_release(&arena);
}

static void package_mistakes_are_told(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct build made;
	struct err err = ERR_INIT;
	struct strv left = STRV_INIT;

	assert_int_equal(build(&arena, NULL, NULL, "bash", &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "starts with \"linux-image-\""));
	assert_int_equal(build(&arena, NULL, NULL, "linux-image-$(x)", &made, &err), ERR_USAGE);
	assert_int_equal(build(&arena, NULL, NULL, "linux-image-9.9", &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "no Debian package \"linux-image-9.9\" is known"));
	put(at("archive.deb"), "tampered!!\n", 11, 0644);
	assert_int_equal(
		build(&arena, NULL, NULL, "linux-image-6.12.3-cloud", &made, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "has SHA-256"));
	assert_int_equal(file_list(at("cache"), &left, NULL), 0);
	assert_int_equal(left.count, 1); /* the lock; nothing half-made stays */
	assert_string_equal(left.items[0], "locks");
	strv_release(&left);
	arena_release(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_image_is_taken_as_it_is),
		TEST(modules_are_found),
		TEST(packages_are_downloaded_once),
		TEST(package_mistakes_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
