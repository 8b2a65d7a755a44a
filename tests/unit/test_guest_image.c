/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initramfs of guests: archives, programs with their libraries, modules, and the disk. */
#include "base/base.h"

#include "scratch.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/strv.h"
#include "sys/compress.h"
#include "sys/proc.h"
#include "backend/cpio.h"
#include "backend/guest_disk.h"
#include "backend/guest_image.h"
#include "backend/guest_program.h"

/* Runs cpio(1) in a folder with an archive as its input. */
static void unpack(const char *archive, const char *folder)
{
	static const char *const argv[] = {"cpio", "-idm", "--quiet", NULL};
	struct str bytes = STR_INIT;
	struct err err = ERR_INIT;
	struct proc_spec spec = {.argv = argv, .cwd = folder, .timeout_ns = 60 * NS_PER_S};

	assert_int_equal(file_mkdirs(folder, 0755, &err), 0);
	assert_int_equal(file_read(archive, 256 << 20, &bytes, &err), 0);
	spec.input = bytes.text;
	spec.input_len = bytes.len;
	if (proc_check(&spec, NULL, &err))
		fail_msg("%s", err.text);
	str_release(&bytes);
}

static void write_small_archive(const char *path, const char *file)
{
	FILE *stream = fopen(path, "w");
	struct cpio cpio;

	assert_non_null(stream);
	cpio_begin(&cpio, stream);
	cpio_add_folder(&cpio, "root/.ssh", 0700);
	cpio_add_bytes(&cpio, "a/b/c", 0640, "seven b", 7);
	cpio_add_link(&cpio, "a/b/link", "../../root");
	cpio_add_bytes(&cpio, "a/empty", 0600, "", 0);
	assert_int_equal(cpio_add_file(&cpio, "a/copy", 0755, file, NULL), 0);
	assert_int_equal(cpio_end(&cpio, NULL), 0);
	assert_int_equal(fclose(stream), 0);
}

static unsigned mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(in_scratch(name), &st), 0);
	return st.st_mode;
}

static void an_archive_is_what_cpio_reads(void **state KB_UNUSED)
{
	char target[64] = "";

	put_text("from", "content");
	write_small_archive(in_scratch("x.cpio"), in_scratch("from"));
	unpack(in_scratch("x.cpio"), in_scratch("out"));
	assert_file("out/a/b/c", "seven b");
	assert_file("out/a/empty", "");
	assert_file("out/a/copy", "content");
	assert_int_equal(mode_of("out/a/b/c"), S_IFREG | 0640);
	assert_int_equal(mode_of("out/a/copy"), S_IFREG | 0755);
	assert_int_equal(mode_of("out/root/.ssh"), S_IFDIR | 0700);
	assert_int_equal(mode_of("out/a/b"), S_IFDIR | 0755);
	assert_true(readlink(in_scratch("out/a/b/link"), target, sizeof(target) - 1) > 0);
	assert_string_equal(target, "../../root");
	assert_int_equal(file_size(in_scratch("x.cpio")) % 512, 0);
}

static void the_same_content_gives_the_same_bytes(void **state KB_UNUSED)
{
	char *one, *two;

	put_text("from", "content");
	write_small_archive(in_scratch("1.cpio"), in_scratch("from"));
	put_text("elsewhere/from", "content");
	write_small_archive(in_scratch("2.cpio"), in_scratch("elsewhere/from"));
	assert_int_equal(file_size(in_scratch("1.cpio")), file_size(in_scratch("2.cpio")));
	one = get_text(in_scratch("1.cpio"));
	two = get_text(in_scratch("2.cpio"));
	assert_memory_equal(one, two, (size_t)file_size(in_scratch("1.cpio")));
	free(one);
	free(two);
}

static void a_full_disk_is_told(void **state KB_UNUSED)
{
	FILE *stream = fopen("/dev/full", "w");
	struct err err = ERR_INIT;
	struct cpio cpio;

	assert_non_null(stream);
	cpio_begin(&cpio, stream);
	for (int i = 0; i < 10000; i++)
		cpio_add_bytes(&cpio, "some/file", 0644, "x", 1);
	errno = 0;
	assert_int_equal(cpio_end(&cpio, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "No space left on device"));
	(void)fclose(stream);
}

static bool has(const struct strv *paths, const char *path)
{
	return strv_has(paths, path);
}

static bool has_name(const struct strv *paths, const char *name)
{
	for (size_t i = 0; i < paths->count; i++)
		if (str_starts(path_name(paths->items[i]), name))
			return true;
	return false;
}

static void a_program_comes_with_its_libraries(void **state KB_UNUSED)
{
	struct guest_files files = GUEST_FILES_INIT;
	struct err err = ERR_INIT;
	char *self = realpath("/proc/self/exe", NULL);
	size_t count;

	if (guest_program_add(&files, "kb/programs/me", self, &err))
		fail_msg("%s", err.text);
	assert_true(has(&files.to, "kb/programs/me"));
	assert_true(has_name(&files.to, "ld-"));
	assert_true(has_name(&files.to, "libc.so"));
	assert_true(has_name(&files.to, "libcmocka.so"));
	for (size_t i = 0; i < files.from.count; i++)
		assert_null(strstr(files.from.items[i], "glibc-hwcaps"));
	count = files.to.count;
	assert_int_equal(guest_program_add(&files, "kb/programs/me", self, &err), 0);
	assert_int_equal(files.to.count, count);
	guest_files_release(&files);
	free(self);
}

static void libraries_from_odd_places_go_where_the_loader_looks(void **state KB_UNUSED)
{
	struct guest_files files = GUEST_FILES_INIT;
	struct err err = ERR_INIT;
	char *cc = proc_find_program("cc"), *wanted = NULL;
	const char *library[] = {cc, "-shared", "-fPIC", "-o", in_scratch("libodd.so"),
		put_text("odd.c", "int odd(void) { return 3; }\n"), NULL};
	const char *program[] = {cc, "-o", in_scratch("user"),
		put_text("user.c", "int odd(void); int main(void) { return odd(); }\n"), "-L",
		scratch, "-lodd", NULL};
	struct proc_spec spec = {.argv = library, .timeout_ns = 60 * NS_PER_S};

	if (!cc)
		skip();
	assert_int_equal(proc_check(&spec, NULL, &err), 0);
	spec.argv = program;
	assert_int_equal(proc_check(&spec, NULL, &err), 0);
	assert_int_equal(guest_program_add(&files, "bin/u", in_scratch("user"), &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "needs libodd.so, which is not on this host"));
	assert_int_equal(files.to.count, 0);

	assert_int_equal(setenv("LD_LIBRARY_PATH", scratch, 1), 0);
	assert_int_equal(guest_program_add(&files, "bin/u", in_scratch("user"), &err), 0);
	assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
	for (size_t i = 0; i < files.to.count; i++)
		if (str_starts(path_name(files.to.items[i]), "libc.so")) {
			char *folder = path_dir(files.to.items[i]);

			wanted = path_join(folder, "libodd.so");
			free(folder);
		}
	assert_non_null(wanted);
	assert_true(has(&files.to, wanted));
	guest_files_release(&files);
	free(wanted);
	free(cc);
}

static void what_guests_cannot_run_is_refused(void **state KB_UNUSED)
{
	struct guest_files files = GUEST_FILES_INIT;
	struct err err = ERR_INIT;
	Elf64_Ehdr elf = {.e_ident = ELFMAG};
	const struct {
		const char *path, *text;
	} cases[] = {
		{in_scratch("absent"), "No such file"},
		{put_text("text", "plain\n"), "neither a program nor a script"},
		{put_text("empty", ""), "neither a program nor a script"},
		{put_text("python", "#!/usr/bin/env python3\n"),
			"script for '/usr/bin/env python3'"},
		{put_text("shell", "#!/bin/shell\n"), "script for '/bin/shell'"},
		{put_bytes("elf32", &elf, sizeof(elf)), "no 64-bit program"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(guest_program_add(&files, "x", cases[i].path, &err), ERR_USAGE);
		if (!strstr(err.text, cases[i].text))
			fail_msg("'%s' does not say '%s'", err.text, cases[i].text);
	}
	assert_int_equal(files.to.count, 0);
	put_text("script", "#! /bin/sh -e\n");
	assert_int_equal(guest_program_add(&files, "x", in_scratch("script"), &err), 0);
	assert_int_equal(files.to.count, 1);
	guest_files_release(&files);
}

/* Random bytes with a plausible head must never be read past their end. */
static void damaged_programs_are_harmless(void **state KB_UNUSED)
{
	unsigned char bytes[512];
	unsigned seed = 7;

	for (int round = 0; round < 200; round++) {
		struct guest_files files = GUEST_FILES_INIT;
		Elf64_Ehdr elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			.e_phentsize = sizeof(Elf64_Phdr)};

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)(rand_r(&seed) >> 7);
		elf.e_phoff = round % 2 ? (uint64_t)rand_r(&seed) % 600 : UINT64_MAX - 40;
		elf.e_phnum = (uint16_t)rand_r(&seed);
		memcpy(bytes, &elf, sizeof(elf));
		put_bytes("fuzz", bytes, (size_t)rand_r(&seed) % sizeof(bytes));
		(void)!guest_program_add(&files, "x", in_scratch("fuzz"), NULL);
		guest_files_release(&files);
	}
}

static const char module_text[] = "not really a module";

static void put_modules(void)
{
	static const unsigned char xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	struct str packed = STR_INIT;

	compress_pack_zstd(module_text, strlen(module_text), &packed);
	put_bytes("m/lib/modules/6.1-x/kernel/drivers/net/virtio_net.ko.zst", packed.text,
		packed.len);
	put_text("m/lib/modules/6.1-x/kernel/drivers/virtio/virtio_ring.ko", module_text);
	put_text("m/lib/modules/6.1-x/kernel/drivers/net/virtio_net2.ko", "other");
	put_bytes("bad/lib/modules/6.1-x/kernel/virtio_blk.ko.xz", xz, sizeof(xz));
	str_release(&packed);
}

static void modules_come_unpacked_in_the_order_of_loading(void **state KB_UNUSED)
{
	const struct guest_image image = {.path = (char *)in_scratch("base.cpio")};
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	char *last;

	put_modules();
	put_text("base.cpio", "");
	assert_int_equal(
		guest_initrd_write(&image, in_scratch("m"), "6.1-x", in_scratch("i"), &err), 0);
	unpack(in_scratch("i"), in_scratch("out"));
	assert_int_equal(file_list(in_scratch("out/kb/modules"), &names, &err), 0);
	assert_int_equal(names.count, 2);
	assert_true(str_ends(names.items[0], "-virtio_ring.ko"));
	assert_true(str_ends(names.items[1], "-virtio_net.ko"));
	last = path_join("out/kb/modules", names.items[1]);
	assert_file(last, module_text);
	free(last);
	strv_release(&names);
}

static void damaged_modules_are_told(void **state KB_UNUSED)
{
	const struct guest_image image = {.path = (char *)put_text("base.cpio", "")};
	struct err err = ERR_INIT;

	put_modules();
	assert_true(
		guest_initrd_write(&image, in_scratch("bad"), "6.1-x", in_scratch("i"), &err) < 0);
	assert_non_null(strstr(err.text, "virtio_blk.ko.xz"));
	assert_false(file_exists(in_scratch("i")));
}

static void the_image_is_made_once_and_again_when_a_program_changes(void **state KB_UNUSED)
{
	struct machine_program programs[] = {{"tool", put_text("tool", "#!/bin/sh\n"), "", false}};
	const struct machine_env env = {in_scratch("cache"), "/bin/true", programs, 1, NULL, NULL};
	struct guest_image one, two, three;
	struct err err = ERR_INIT;
	struct stat before, after;

	if (guest_image_make(&env, &one, &err)) {
		assert_non_null(strstr(err.text, "install Debian's package"));
		skip();
	}
	assert_int_equal(stat(one.path, &before), 0);
	assert_int_equal(guest_image_make(&env, &two, &err), 0);
	assert_string_equal(one.path, two.path);
	assert_int_equal(stat(two.path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	put_text("tool", "#!/bin/sh\necho other\n");
	assert_int_equal(guest_image_make(&env, &three, &err), 0);
	assert_string_not_equal(one.path, three.path);
	unpack(three.path, in_scratch("out"));
	assert_file("out/kb/programs/tool", "#!/bin/sh\necho other\n");
	assert_int_equal(mode_of("out/kb/programs/tool"), S_IFREG | 0755);
	assert_int_equal(mode_of("out/etc/dropbear/host_key"), S_IFREG | 0600);
	assert_int_equal(mode_of("cache/guest"), S_IFDIR | 0700);
	guest_image_release(&one);
	guest_image_release(&two);
	guest_image_release(&three);
}

/* As on a full disk, but writes fail at a size. */
static void an_image_that_cannot_be_written_leaves_nothing(void **state KB_UNUSED)
{
	const struct machine_env env = {in_scratch("cache"), "/bin/true", NULL, 0, NULL, NULL};
	struct rlimit before, small;
	struct guest_image image = {0};
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	int ret;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){1 << 20, before.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	ret = guest_image_make(&env, &image, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_DFL);
	if (ret == ERR_USAGE)
		skip();
	assert_int_equal(ret, ERR_INFRA);
	assert_non_null(strstr(err.text, "File too large"));
	assert_int_equal(file_list(in_scratch("cache/guest"), &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		assert_null(strstr(names.items[i], ".cpio"));
	strv_release(&names);
}

static void missing_programs_are_named(void **state KB_UNUSED)
{
	const struct machine_env env = {in_scratch("cache"), "/bin/true", NULL, 0, NULL, NULL};
	char *path = xstrdup(getenv("PATH"));
	struct guest_image image = {0};
	struct err err = ERR_INIT;

	/* the keys are made before the programs are looked for */
	if (guest_image_make(&env, &image, &err))
		skip();
	guest_image_release(&image);
	assert_int_equal(file_mkdirs(in_scratch("bin"), 0755, &err), 0);
	assert_int_equal(setenv("PATH", in_scratch("bin"), 1), 0);
	assert_int_equal(guest_image_make(&env, &image, &err), ERR_USAGE);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_non_null(strstr(err.text, "busybox"));
	assert_non_null(strstr(err.text, "busybox-static"));
	free(path);
}

static void old_images_go_after_two_weeks(void **state KB_UNUSED)
{
	const struct machine_env env = {in_scratch("cache"), "/bin/true", NULL, 0, NULL, NULL};
	const struct timespec old[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
	struct guest_image image;
	struct err err = ERR_INIT;

	put_text("cache/guest/0123.cpio", "old");
	put_text("cache/guest/4567.cpio", "new");
	assert_int_equal(utimensat(0, in_scratch("cache/guest/0123.cpio"), old, 0), 0);
	if (guest_image_make(&env, &image, &err))
		skip();
	assert_false(file_exists(in_scratch("cache/guest/0123.cpio")));
	assert_true(file_exists(in_scratch("cache/guest/4567.cpio")));
	assert_true(file_exists(image.path));
	guest_image_release(&image);
}

static void files_lie_on_the_disk_in_whole_blocks(void **state KB_UNUSED)
{
	struct guest_disk disk = {in_scratch("disk"), 0};
	char *big = xcalloc(1, GUEST_DISK_BLOCK + 3), *seen;
	struct err err = ERR_INIT;
	int64_t first, count;

	memset(big, 'b', GUEST_DISK_BLOCK + 3);
	put_bytes("big", big, GUEST_DISK_BLOCK + 3);
	put_text("small", "small");
	assert_int_equal(guest_disk_make(disk.path, &err), 0);
	assert_int_equal(guest_disk_add(&disk, in_scratch("big"), &first, &count, &err), 0);
	assert_int_equal(first, 0);
	assert_int_equal(count, 2);
	/* the next boot's files replace these; nothing of them stays in what is read */
	disk.next = 0;
	assert_int_equal(guest_disk_add(&disk, in_scratch("small"), &first, &count, &err), 0);
	assert_int_equal(guest_disk_add(&disk, in_scratch("small"), &first, &count, &err), 0);
	assert_int_equal(first, 1);
	assert_int_equal(count, 1);
	assert_int_equal(file_size(disk.path), (int64_t)GUEST_DISK_BLOCK * GUEST_DISK_BLOCKS);
	seen = xcalloc(1, 2 * GUEST_DISK_BLOCK);
	{
		FILE *stream = fopen(disk.path, "r");

		assert_non_null(stream);
		assert_int_equal(
			fread(seen, 1, 2 * GUEST_DISK_BLOCK, stream), 2 * GUEST_DISK_BLOCK);
		assert_int_equal(fclose(stream), 0);
	}
	for (size_t i = 0; i < 2; i++) {
		const char *block = seen + i * GUEST_DISK_BLOCK;

		assert_memory_equal(block, "small", 5);
		for (size_t j = 5; j < GUEST_DISK_BLOCK; j++)
			if (block[j])
				fail_msg("byte %zu of block %zu is not zero", j, i);
	}
	free(seen);
	free(big);
}

static void a_disk_that_is_full_is_told(void **state KB_UNUSED)
{
	struct guest_disk disk = {in_scratch("disk"), GUEST_DISK_BLOCKS};
	struct guest_disk full = {"/dev/full", 0};
	struct err err = ERR_INIT;
	int64_t first = -7, count = -7;

	put_text("small", "small");
	assert_int_equal(guest_disk_make(disk.path, &err), 0);
	assert_int_equal(
		guest_disk_add(&disk, in_scratch("small"), &first, &count, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "too large"));
	assert_int_equal(
		guest_disk_add(&full, in_scratch("small"), &first, &count, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "No space left"));
	assert_int_equal(
		guest_disk_add(&disk, in_scratch("absent"), &first, &count, &err), ERR_INFRA);
	assert_int_equal(first, -7);
	assert_int_equal(count, -7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_archive_is_what_cpio_reads),
		TEST(the_same_content_gives_the_same_bytes),
		TEST(a_full_disk_is_told),
		TEST(a_program_comes_with_its_libraries),
		TEST(libraries_from_odd_places_go_where_the_loader_looks),
		TEST(what_guests_cannot_run_is_refused),
		TEST(damaged_programs_are_harmless),
		TEST(modules_come_unpacked_in_the_order_of_loading),
		TEST(damaged_modules_are_told),
		TEST(the_image_is_made_once_and_again_when_a_program_changes),
		TEST(an_image_that_cannot_be_written_leaves_nothing),
		TEST(missing_programs_are_named),
		TEST(old_images_go_after_two_weeks),
		TEST(files_lie_on_the_disk_in_whole_blocks),
		TEST(a_disk_that_is_full_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
