/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/built.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"

#include "agent/bytes.h"
#include "agent/js.h"
#include "agent/place.h"
#include "agent/receive.h"

static int copy_and_hash(
	int from, int to, int64_t size, char hex[SHA256_HEX_LEN + 1], struct err *err)
{
	char buffer[65536];
	struct sha256 hash;
	int ret;

	sha256_init(&hash);
	for (;;) {
		ssize_t got = read(from, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot read from stdin");
		if (got > size || (!got && size))
			return err_set(err, ERR_INFRA, "stdin has %s bytes than announced",
				got ? "more" : "fewer");
		if (!got)
			break;
		sha256_add(&hash, buffer, (size_t)got);
		size -= got;
		ret = bytes_write(to, buffer, (size_t)got, err);
		if (ret)
			return ret;
	}
	sha256_hex(&hash, hex);
	return 0;
}

static int fill_temp(
	int from, int to, int64_t size, const char *sha256, unsigned mode, struct err *err)
{
	char hex[SHA256_HEX_LEN + 1];
	int ret = copy_and_hash(from, to, size, hex, err);

	if (ret == 0 && strcmp(hex, sha256) != 0)
		ret = err_set(err, ERR_INFRA, "the bytes have the SHA-256 %s, not %s", hex, sha256);
	if (ret == 0 && (fchmod(to, mode) != 0 || fsync(to) != 0))
		ret = err_errno(err, ERR_INFRA, errno, "cannot sync the file");
	return ret;
}

/* The same content is there already: nothing needs to be read. */
static bool is_there(const char *path, int64_t size, const char *sha256, unsigned mode)
{
	char hex[SHA256_HEX_LEN + 1];
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == size &&
	       (st.st_mode & 07777) == mode && st.st_uid == geteuid() &&
	       sha256_of_file(path, hex, NULL) == 0 && strcmp(hex, sha256) == 0;
}

int receive_file(
	int fd, const char *path, int64_t size, const char *sha256, unsigned mode, struct err *err)
{
	char *folder = path_dir(path), *temp = xasprintf("%s.tmpXXXXXX", path);
	int to = -1, ret = place_check_folder(folder, err);

	if (ret == 0 && is_there(path, size, sha256, mode))
		goto out;
	if (ret == 0) {
		to = mkostemp(temp, O_CLOEXEC);
		if (to < 0)
			ret = err_errno(
				err, ERR_INFRA, errno, "cannot create a file in %s", folder);
	}
	if (ret == 0)
		ret = fill_temp(fd, to, size, sha256, mode, err);
	if (to >= 0 && close(to) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot close the file");
	if (ret == 0 && rename(temp, path) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot rename the file to %s", path);
	if (ret == 0)
		ret = file_sync_folder_of(path, err);
	else if (to >= 0)
		(void)unlink(temp); /* the first error is the one to tell */
	if (ret)
		(void)err_wrap(err, "%s", path);
out:
	free(folder);
	free(temp);
	return ret;
}

/* Larger files are not looked into. */
enum { BUILT_MAX_BYTES = 64 << 20 };

static void add_built(json_t *o, const char *path)
{
	struct str bytes = STR_INIT, built = STR_INIT;

	if (file_read(path, BUILT_MAX_BYTES, &bytes, NULL) == 0)
		built_of(bytes.text, bytes.len, &built);
	js_text(o, "built", str_text(&built));
	str_release(&bytes);
	str_release(&built);
}

json_t *receive_digest(const char *path)
{
	char hex[SHA256_HEX_LEN + 1];
	json_t *o = json_object();
	bool there = sha256_of_file(path, hex, NULL) == 0;

	js_text(o, "path", path);
	js_count(o, "bytes", there ? file_size(path) : -1);
	js_text(o, "sha256", there ? hex : NULL);
	if (there)
		add_built(o, path);
	return o;
}
