/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"

#include "agent/bytes.h"

int bytes_write(int fd, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot write");
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

int bytes_copy(int from, int to, size_t len, const char *what, struct err *err)
{
	char buffer[65536];
	int ret = 0;

	while (len && ret == 0) {
		ssize_t got = read(from, buffer, len < sizeof(buffer) ? len : sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_errno(err, ERR_INFRA, got ? errno : EIO, "cannot read %s", what);
		ret = bytes_write(to, buffer, (size_t)got, err);
		len -= (size_t)got;
	}
	return ret;
}

int bytes_put_file(const char *path, const void *bytes, size_t len, struct err *err)
{
	char *temp = xasprintf("%s.tmpXXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC), ret;

	if (fd < 0) {
		ret = err_errno(err, ERR_INFRA, errno, "cannot create a file beside %s", path);
		free(temp);
		return ret;
	}
	ret = bytes_write(fd, bytes, len, err);
	if (close(fd) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot close %s", temp);
	if (ret == 0 && rename(temp, path) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot rename %s to %s", temp, path);
	if (ret) {
		(void)unlink(temp); /* the first error is the one to tell */
		(void)err_wrap(err, "%s", path);
	}
	free(temp);
	return ret;
}
