/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/file.h"
#include "sys/compress.h"
#include "sys/elf.h"
#include "backend/kernel_image.h"
#include "fake_kernel.h"

#define ID "abababababababababababababababababababab"

static char path[64];

static int set_up(void **state KB_UNUSED)
{
	(void)snprintf(path, sizeof(path), "/tmp/kb-image-%d", (int)getpid());
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	return file_remove_tree(path, NULL);
}

static int read_image(
	struct arena *arena, const struct str *bytes, struct kernel_image *image, struct err *err)
{
	assert_int_equal(file_write_atomic(path, str_text(bytes), bytes->len, 0644, NULL), 0);
	return kernel_image_read(arena, path, image, err);
}

static void pack_gzip(const struct str *in, struct str *out)
{
	unsigned char buffer[8192];
	z_stream z = {.next_in = (unsigned char *)in->text,
		.avail_in = (unsigned)in->len,
		.next_out = buffer,
		.avail_out = sizeof(buffer)};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	str_add_bytes(out, buffer, sizeof(buffer) - z.avail_out);
	(void)deflateEnd(&z);
}

static void pack_zstd(const struct str *in, struct str *out)
{
	compress_pack_zstd(str_text(in), in->len, out);
}

static void pack_unknown(const struct str *in, struct str *out)
{
	str_add(out, "BZh9");
	str_add_bytes(out, str_text(in), in->len);
}

static void images_are_read(void **state KB_UNUSED)
{
	static const struct {
		void (*pack)(const struct str *in, struct str *out);
		unsigned char id;
		const char *build_id, *why_weak;
	} cases[] = {
		{pack_gzip, 0xab, ID, NULL},
		{pack_zstd, 0xab, ID, NULL},
		{pack_zstd, 0, "", "no GNU build-id note"},
		{pack_unknown, 0xab, "", "compression is not one of"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = ARENA_INIT;
		struct str vmlinux = STR_INIT, payload = STR_INIT, image = STR_INIT;
		struct kernel_image facts;
		struct err err = ERR_INIT;

		fake_vmlinux(&vmlinux, cases[i].id,
			FAKE_BANNER("6.1.2-kb", "") FAKE_BANNER("6.1.2-kb", "7"));
		cases[i].pack(&vmlinux, &payload);
		str_add(&payload, "tail"); /* the size that the kernel's build appends */
		fake_bzimage(&image, "6.1.2-kb", &payload);
		assert_int_equal(read_image(&arena, &image, &facts, &err), 0);
		assert_string_equal(facts.release, "6.1.2-kb");
		assert_string_equal(facts.build_id, cases[i].build_id);
		if (cases[i].why_weak)
			assert_non_null(strstr(facts.why_weak, cases[i].why_weak));
		else
			assert_string_equal(facts.why_weak, "");
		/* the banner that has a build number is the one that the kernel prints */
		if (cases[i].pack != pack_unknown)
			assert_string_equal(facts.proc_version,
				"Linux version 6.1.2-kb (kbracket@test) (gcc 12.2.0, GNU ld 2.40) "
				"#7 SMP Thu Jan 1 00:00:00 UTC 1970");
		str_release(&vmlinux);
		str_release(&payload);
		str_release(&image);
		arena_release(&arena);
	}
}

static void other_files_are_refused(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct str bytes = STR_INIT;
	struct kernel_image facts;
	struct err err = ERR_INIT;

	assert_int_equal(kernel_image_read(&arena, "/nonexistent", &facts, &err), ERR_USAGE);
	fake_vmlinux(&bytes, 0xab, "a program, no kernel");
	assert_int_equal(read_image(&arena, &bytes, &facts, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "is not an x86 bzImage or a vmlinux"));
	str_reset(&bytes);
	str_add(&bytes, "short");
	assert_int_equal(read_image(&arena, &bytes, &facts, &err), ERR_USAGE);
	str_release(&bytes);
	arena_release(&arena);
}

/* It names files here, and on machines as root. */
static void a_release_is_a_name_of_a_file(void **state KB_UNUSED)
{
	static const char *const banners[] = {
		FAKE_BANNER("6.1.2/../../../../etc/x", "1"),
		FAKE_BANNER("6.1.2\";x", "1"),
		FAKE_BANNER("6.1111111111111111111111111111111111111111111111111111111111111111111",
			"1"),
	};
	struct arena arena = ARENA_INIT;
	struct str payload = STR_INIT, image = STR_INIT;
	struct kernel_image facts;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(banners); i++) {
		struct str vmlinux = STR_INIT;

		fake_vmlinux(&vmlinux, 0xab, banners[i]);
		assert_int_equal(read_image(&arena, &vmlinux, &facts, &err), ERR_USAGE);
		str_release(&vmlinux);
	}
	str_add(&payload, "unknown payload");
	fake_bzimage(&image, "6.1.2/x", &payload);
	assert_int_equal(read_image(&arena, &image, &facts, &err), ERR_USAGE);
	str_reset(&image);
	fake_bzimage(&image, "6.1.2-kb+~rc1", &payload);
	assert_int_equal(read_image(&arena, &image, &facts, &err), 0);
	assert_string_equal(facts.release, "6.1.2-kb+~rc1");
	str_release(&payload);
	str_release(&image);
	arena_release(&arena);
}

/* No damage to any byte or length makes the reader leave its memory (run under ASan). */
static void damaged_images_are_survived(void **state KB_UNUSED)
{
	struct str vmlinux = STR_INIT, payload = STR_INIT, image = STR_INIT;
	struct err err = ERR_INIT;
	uint32_t seed = 1;

	fake_vmlinux(&vmlinux, 0xab, FAKE_BANNER("6.1.2", "1"));
	pack_zstd(&vmlinux, &payload);
	fake_bzimage(&image, "6.1.2", &payload);
	for (int round = 0; round < 300; round++) {
		struct str *victim = round % 2 ? &image : &vmlinux;
		struct arena arena = ARENA_INIT;
		struct kernel_image facts;
		size_t range = round % 2 ? victim->len : 200;
		char *hit;
		char old;

		seed = seed * 1664525 + 1013904223;
		hit = victim->text + (seed >> 8) % range;
		old = *hit;
		*hit = (char)(seed >> 24);
		(void)!read_image(&arena, victim, &facts, &err);
		*hit = old;
		arena_release(&arena);
	}
	str_release(&vmlinux);
	str_release(&payload);
	str_release(&image);
}

static void bare_notes_are_read(void **state KB_UNUSED)
{
	static const unsigned char xen[] = {
		4, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 'X', 'e', 'n', 0, 9, 0, 0, 0};
	static const unsigned char id[] = {
		4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x12, 0xef, 0, 0};
	unsigned char both[sizeof(xen) + sizeof(id)];
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	struct err err = ERR_INIT;

	memcpy(both, xen, sizeof(xen));
	memcpy(both + sizeof(xen), id, sizeof(id));
	assert_int_equal(elf_notes_build_id(both, sizeof(both), hex, &err), 0);
	assert_string_equal(hex, "12ef");
	for (size_t len = 0; len < sizeof(both); len++)
		assert_int_equal(elf_notes_build_id(both, len, hex, &err), ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_are_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(a_release_is_a_name_of_a_file),
		cmocka_unit_test(damaged_images_are_survived),
		cmocka_unit_test(bare_notes_are_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
