/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "backend/cpio.h"

enum { MAX_FILE_BYTES = 256 << 20 };

static void put(struct cpio *cpio, const void *bytes, size_t len)
{
	if (!cpio->errno_value && len && fwrite(bytes, 1, len, cpio->file) != len)
		cpio->errno_value = errno;
	cpio->bytes += (int64_t)len;
}

static void pad(struct cpio *cpio, int64_t to)
{
	static const char zeros[512];

	put(cpio, zeros, (size_t)((to - cpio->bytes % to) % to));
}

static void put_entry(
	struct cpio *cpio, const char *path, unsigned mode, const void *bytes, size_t len)
{
	char head[128];
	bool folder = S_ISDIR(mode);

	(void)snprintf(head, sizeof(head),
		"070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ++cpio->inode, mode,
		0, 0, folder ? 2 : 1, 0, (uint32_t)len, 0, 0, 0, 0, (uint32_t)strlen(path) + 1, 0);
	put(cpio, head, 110);
	put(cpio, path, strlen(path) + 1);
	pad(cpio, 4);
	put(cpio, bytes, len);
	pad(cpio, 4);
}

static void add_parents(struct cpio *cpio, const char *path)
{
	char *parent = path_dir(path);

	if (strcmp(parent, ".") != 0)
		cpio_add_folder(cpio, parent, 0755);
	free(parent);
}

void cpio_begin(struct cpio *cpio, FILE *file)
{
	*cpio = (struct cpio){.file = file};
}

void cpio_add_folder(struct cpio *cpio, const char *path, unsigned mode)
{
	if (strv_has(&cpio->folders, path))
		return;
	add_parents(cpio, path);
	strv_add(&cpio->folders, path);
	put_entry(cpio, path, S_IFDIR | mode, NULL, 0);
}

void cpio_add_bytes(
	struct cpio *cpio, const char *path, unsigned mode, const void *bytes, size_t len)
{
	add_parents(cpio, path);
	put_entry(cpio, path, S_IFREG | mode, bytes, len);
}

void cpio_add_link(struct cpio *cpio, const char *path, const char *target)
{
	add_parents(cpio, path);
	put_entry(cpio, path, S_IFLNK | 0777, target, strlen(target));
}

int cpio_add_file(
	struct cpio *cpio, const char *path, unsigned mode, const char *from, struct err *err)
{
	struct str content = STR_INIT;
	int ret = file_read(from, MAX_FILE_BYTES, &content, err);

	if (ret == 0)
		cpio_add_bytes(cpio, path, mode, content.text, content.len);
	str_release(&content);
	return ret;
}

int cpio_end(struct cpio *cpio, struct err *err)
{
	put_entry(cpio, "TRAILER!!!", 0, NULL, 0);
	pad(cpio, 512);
	strv_release(&cpio->folders);
	if (!cpio->errno_value && fflush(cpio->file) != 0)
		cpio->errno_value = errno;
	if (cpio->errno_value)
		return err_errno(err, ERR_INFRA, cpio->errno_value, "cannot write the initramfs");
	return 0;
}
