/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

static int read_all(int fd, const char *path, size_t max_bytes, struct str *out, struct err *err)
{
	char buffer[65536];

	for (;;) {
		ssize_t got = read(fd, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot read %s", path);
		if (!got)
			return 0;
		if (out->len + (size_t)got > max_bytes)
			return err_set(
				err, ERR_USAGE, "%s is larger than %zu bytes", path, max_bytes);
		str_add_bytes(out, buffer, (size_t)got);
	}
}

int file_open(const char *path, int *out, struct err *err)
{
	/* a FIFO would wait for its writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, errno,
			"cannot open %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return err_set(err, ERR_USAGE, "%s is not a regular file", path);
	}
	*out = fd;
	return 0;
}

int file_read(const char *path, size_t max_bytes, struct str *out, struct err *err)
{
	struct str text = STR_INIT;
	int fd, ret = file_open(path, &fd, err);

	if (ret)
		return ret;
	ret = read_all(fd, path, max_bytes, &text, err);
	(void)close(fd); /* only read from */
	if (ret == 0) {
		str_release(out);
		*out = text;
	} else {
		str_release(&text);
	}
	return ret;
}

int file_read_line(const char *path, struct str *out, struct err *err)
{
	int ret = file_read(path, 65536, out, err);

	if (ret)
		return ret;
	while (out->len && strchr(" \t\r\n", out->text[out->len - 1]))
		out->text[--out->len] = '\0';
	return 0;
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

/* Gives the temporary file its final name; on failure the temporary file is gone. */
static int seal_temp(int fd, const char *temp, const char *path, unsigned mode, struct err *err)
{
	int ret = 0;

	if (fchmod(fd, mode) != 0 || fsync(fd) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	if (close(fd) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	if (ret == 0 && rename(temp, path) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot rename %s to %s", temp, path);
	if (ret)
		(void)unlink(temp); /* the first error is the one to tell */
	return ret ? ret : file_sync_folder_of(path, err);
}

static int make_temp(const char *path, char **temp, struct err *err)
{
	int fd;

	*temp = xasprintf("%s.tmpXXXXXX", path);
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd < 0) {
		(void)err_errno(err, ERR_INFRA, errno, "cannot create a file beside %s", path);
		free(*temp);
		*temp = NULL;
	}
	return fd;
}

int file_write_atomic(
	const char *path, const void *bytes, size_t len, unsigned mode, struct err *err)
{
	char *temp;
	int ret, fd = make_temp(path, &temp, err);

	if (fd < 0)
		return err ? err->code : ERR_INFRA;
	if (write_all(fd, bytes, len) != 0) {
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
		(void)close(fd);
		(void)unlink(temp);
	} else {
		ret = seal_temp(fd, temp, path, mode, err);
	}
	free(temp);
	return ret;
}

int file_sync_folder_of(const char *path, struct err *err)
{
	char *dir = path_dir(path);
	int fd, ret = 0;

	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot sync the folder %s", dir);
	if (fd >= 0)
		(void)close(fd); /* only synced */
	free(dir);
	return ret;
}

static int copy_bytes(int in, int out, const char *from, const char *to, struct err *err)
{
	char buffer[65536];

	for (;;) {
		ssize_t got = read(in, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot read %s", from);
		if (!got)
			return 0;
		if (write_all(out, buffer, (size_t)got) != 0)
			return err_errno(err, ERR_INFRA, errno, "cannot write %s", to);
	}
}

int file_copy(const char *from, const char *to, struct err *err)
{
	char *temp = NULL;
	struct stat st;
	int out = -1, in = -1, ret = file_open(from, &in, err);

	if (ret)
		return ret;
	if (fstat(in, &st) != 0) {
		ret = err_errno(err, ERR_INFRA, errno, "cannot look at %s", from);
		goto out;
	}
	out = make_temp(to, &temp, err);
	if (out < 0) {
		ret = err ? err->code : ERR_INFRA;
		goto out;
	}
	ret = copy_bytes(in, out, from, to, err);
	if (ret) {
		(void)close(out);
		(void)unlink(temp);
	} else {
		ret = seal_temp(out, temp, to, st.st_mode & 07777, err);
	}
out:
	(void)close(in); /* only read from */
	free(temp);
	return ret;
}

int file_mkdirs(const char *path, unsigned mode, struct err *err)
{
	char *copy = xstrdup(path);
	int ret = 0;

	for (char *at = copy + 1; ret == 0; at++) {
		char kept = *at;

		if (kept != '/' && kept != '\0')
			continue;
		*at = '\0';
		if (mkdir(copy, mode) != 0 && !file_is_folder(copy))
			ret = err_errno(err, ERR_INFRA, errno, "cannot make the folder %s", copy);
		*at = kept;
		if (!kept)
			break;
	}
	free(copy);
	return ret;
}

static int remove_entry(const char *path, const struct stat *st KB_UNUSED, int kind KB_UNUSED,
	struct FTW *at KB_UNUSED)
{
	return remove(path);
}

int file_remove_tree(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0 && errno == ENOENT)
		return 0;
	if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) != 0)
		return err_errno(err, ERR_INFRA, errno, "cannot remove %s", path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list(const char *path, struct strv *names, struct err *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return err_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, errno,
			"cannot list the folder %s", path);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			strv_add(names, entry->d_name);
	(void)closedir(dir);
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), by_name);
	return 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

int64_t file_modified_ns(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec : 0;
}

int64_t file_free_bytes(const char *path)
{
	struct statvfs vfs;

	return statvfs(path, &vfs) == 0 ? (int64_t)vfs.f_bavail * (int64_t)vfs.f_frsize : -1;
}
