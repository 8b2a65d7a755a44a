/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "sys/compress.h"
#include "run/raw.h"

/* Makes the folder; a new one is synced into its parent, so that it survives a power loss. */
static int make_folder(const char *folder, struct err *err)
{
	char *parent;
	int ret;

	if (file_is_folder(folder))
		return 0;
	parent = path_dir(folder);
	ret = strcmp(parent, folder) ? make_folder(parent, err) : 0;
	if (!ret)
		ret = file_mkdirs(folder, 0777, err);
	if (!ret)
		ret = file_sync_folder_of(folder, err);
	free(parent);
	return ret;
}

int raw_keep(struct arena *arena, const char *folder, const char *path, const char *kind,
	const void *bytes, size_t len, struct store_raw *out, struct err *err)
{
	char *relative = arena_printf(arena, "%s.zst", path);
	char *full = path_join(folder, relative), *parent = path_dir(full);
	char sha256[SHA256_HEX_LEN + 1];
	struct str packed = STR_INIT;
	int ret = make_folder(parent, err);

	compress_pack_zstd(bytes, len, &packed);
	if (!ret)
		ret = file_write_atomic(full, packed.text, packed.len, 0644, err);
	str_release(&packed);
	free(parent);
	free(full);
	if (ret)
		return err_wrap(err, "keeping %s", kind);
	sha256_of(bytes, len, sha256);
	*out = (struct store_raw){kind, relative, arena_strdup(arena, sha256), (int64_t)len};
	return 0;
}

/* At most max_bytes from the end of a file that may still grow. */
static int read_tail(const char *file, size_t max_bytes, struct str *out, struct err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int64_t size = file_size(file), skip = size - (int64_t)max_bytes;
	char buffer[65536];
	ssize_t got = 0;

	if (fd < 0 || size <= 0) {
		if (fd >= 0)
			close(fd);
		return err_set(err, ERR_NOT_FOUND, "%s is not there or empty", file);
	}
	if (skip > 0) {
		str_addf(out, "[kbracket left out the first %lld bytes]\n", (long long)skip);
		(void)lseek(fd, skip, SEEK_SET); /* at worst the whole file is read */
	}
	while (out->len < max_bytes + 128 && (got = read(fd, buffer, sizeof(buffer))) > 0)
		str_add_bytes(out, buffer, (size_t)got);
	if (got < 0)
		err_errno(err, ERR_INFRA, errno, "reading %s", file);
	close(fd);
	return got < 0 ? ERR_INFRA : 0;
}

int raw_keep_file(struct arena *arena, const char *folder, const char *path, const char *kind,
	const char *file, size_t max_bytes, struct store_raw *out, struct err *err)
{
	struct str content = STR_INIT;
	int ret = read_tail(file, max_bytes, &content, err);

	if (!ret)
		ret = raw_keep(arena, folder, path, kind, content.text, content.len, out, err);
	str_release(&content);
	return ret;
}
