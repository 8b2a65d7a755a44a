/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/compress.h"
#include "sys/elf.h"
#include "backend/kernel_image.h"

enum { MAX_UNPACKED = 1 << 30, MAX_BANNER = 512 };
#define MAX_FILE ((int64_t)4 << 30) /* a vmlinux with debug information is large */

struct bytes {
	const unsigned char *at;
	size_t len;
};

static int map_file(const char *path, struct bytes *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;
	int ret = 0;

	if (fd < 0)
		return err_errno(err, errno == ENOENT ? ERR_USAGE : ERR_INFRA, errno,
			"cannot open the kernel %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 1024 ||
		st.st_size > MAX_FILE)
		ret = err_set(err, ERR_USAGE, "%s is not a kernel image", path);
	else
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret == 0 && at == MAP_FAILED)
		ret = err_errno(err, ERR_INFRA, errno, "cannot map %s", path);
	(void)close(fd); /* only read from */
	if (ret == 0)
		*out = (struct bytes){at, (size_t)st.st_size};
	return ret;
}

static uint32_t le32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Newer builds link a first banner without a build number ("# SMP"), too: that one is not used. */
static bool is_banner_text(const unsigned char *at, size_t len)
{
	const unsigned char *number = memmem(at, len, ") #", 3);

	for (size_t i = 0; i < len; i++)
		if (at[i] < ' ' || at[i] > '~')
			return false;
	return number && number + 3 < at + len && number[3] >= '0' && number[3] <= '9';
}

/* A release becomes part of names of files, here and on machines: "6.1.0/../../etc" is none. At
 * most
 * __NEW_UTS_LEN bytes. */
static bool is_release(const unsigned char *at, size_t len)
{
	static const char others[] = "._+~:=,@-";

	if (!len || len > 64 || at[0] < '0' || at[0] > '9')
		return false;
	for (size_t i = 0; i < len; i++) {
		bool letter = (at[i] | 0x20) >= 'a' && (at[i] | 0x20) <= 'z';
		bool digit = at[i] >= '0' && at[i] <= '9';

		if (!letter && !digit && !(at[i] && strchr(others, at[i])))
			return false;
	}
	return true;
}

/* linux_banner: "Linux version 6.12.1 (user@host) (compiler) #1 SMP ...\n", which is also what
 * /proc/version prints (init/version-timestamp.c and linux_proc_banner). */
static void read_banner(struct arena *arena, struct bytes vmlinux, struct kernel_image *image)
{
	static const char start[] = "Linux version ";
	const size_t skip = sizeof(start) - 1;
	const unsigned char *at = vmlinux.at, *end = vmlinux.at + vmlinux.len, *newline;

	while ((at = memmem(at, (size_t)(end - at), start, skip))) {
		size_t left = (size_t)(end - at), len;

		newline = memchr(at, '\n', left < MAX_BANNER ? left : MAX_BANNER);
		len = newline ? (size_t)(newline - at) : 0;
		if (len && is_banner_text(at, len)) {
			const unsigned char *release = at + skip;
			const unsigned char *blank = memchr(release, ' ', len - skip);

			if (blank && is_release(release, (size_t)(blank - release))) {
				image->proc_version = arena_strndup(arena, (const char *)at, len);
				image->release = arena_strndup(
					arena, (const char *)release, (size_t)(blank - release));
				return;
			}
		}
		at += skip;
	}
}

static void read_vmlinux(struct arena *arena, struct bytes vmlinux, struct kernel_image *image)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	struct err err = ERR_INIT;

	read_banner(arena, vmlinux, image);
	if (elf_build_id(vmlinux.at, vmlinux.len, hex, &err))
		image->why_weak = arena_strdup(arena, err.text);
	else if (*image->release) /* any other program has a build-id, too */
		image->build_id = arena_strdup(arena, hex);
}

/* Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, "HdrS" at 0x202, version at 0x206, the
 * version string's offset (minus 0x200) at 0x20e, payload offset and length at 0x248 and 0x24c. */
static bool is_bzimage(struct bytes file)
{
	return file.len > 0x264 && !memcmp(file.at + 0x202, "HdrS", 4);
}

static void read_header_release(struct arena *arena, struct bytes file, struct kernel_image *image)
{
	size_t at = 0x200 + (file.at[0x20e] | (size_t)file.at[0x20f] << 8), len = 0;

	while (at + len < file.len && len < 65 && file.at[at + len] > ' ' &&
		file.at[at + len] <= '~')
		len++;
	if (at > 0x200 && is_release(file.at + at, len))
		image->release = arena_strndup(arena, (const char *)file.at + at, len);
}

/* The payload's place; false when the header has none or it leaves the file. */
static bool find_payload(struct bytes file, struct bytes *payload)
{
	unsigned sectors = file.at[0x1f1] ? file.at[0x1f1] : 4;
	uint64_t offset = (sectors + 1) * 512ULL + le32(file.at + 0x248);
	uint64_t len = le32(file.at + 0x24c);

	if (file.at[0x207] < 2 || (file.at[0x207] == 2 && file.at[0x206] < 8) || !len ||
		offset > file.len || len > file.len - offset)
		return false;
	*payload = (struct bytes){file.at + offset, (size_t)len};
	return true;
}

static void read_bzimage(struct arena *arena, struct bytes file, struct kernel_image *image)
{
	struct str vmlinux = STR_INIT;
	enum compress_format format;
	struct bytes payload;
	struct err err = ERR_INIT;

	if (!find_payload(file, &payload)) {
		image->why_weak = "the boot header names no payload inside the file";
	} else if ((format = compress_detect(payload.at, payload.len)) == COMPRESS_NONE) {
		image->why_weak =
			"the payload's compression is not one of gzip, xz, lzma, zstd, lz4";
	} else if (compress_unpack(format, payload.at, payload.len, MAX_UNPACKED, &vmlinux, &err)) {
		image->why_weak = arena_printf(arena, "the payload (%s) does not unpack: %s",
			compress_format_name(format), err.text);
	} else {
		read_vmlinux(arena,
			(struct bytes){(const unsigned char *)str_text(&vmlinux), vmlinux.len},
			image);
	}
	if (!*image->release)
		read_header_release(arena, file, image);
	str_release(&vmlinux);
}

int kernel_image_read(
	struct arena *arena, const char *path, struct kernel_image *out, struct err *err)
{
	struct kernel_image image = {"", "", "", ""};
	struct bytes file;
	int ret;

	ret = map_file(path, &file, err);
	if (ret)
		return ret;
	if (is_bzimage(file))
		read_bzimage(arena, file, &image);
	else if (!memcmp(file.at, "\177ELF", 4))
		read_vmlinux(arena, file, &image);
	if (!*image.release)
		ret = err_set(err, ERR_USAGE,
			"%s is not an x86 bzImage or a vmlinux that says which kernel it is", path);
	(void)munmap((void *)file.at, file.len); /* a mapping of ours */
	if (ret == 0)
		*out = image;
	return ret;
}
