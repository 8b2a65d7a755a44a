/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "backend/guest_disk.h"

int guest_disk_make(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ret = 0;

	if (fd < 0 || ftruncate(fd, (off_t)GUEST_DISK_BLOCKS * GUEST_DISK_BLOCK) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot make the guest's disk %s", path);
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
	return ret;
}

/* Fills the block as far as the file goes: the number of bytes, negative on a read error. */
static ssize_t read_block(int fd, char *block)
{
	size_t have = 0;

	while (have < GUEST_DISK_BLOCK) {
		ssize_t got = read(fd, block + have, GUEST_DISK_BLOCK - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

static int write_block(int fd, const char *block, int64_t at)
{
	size_t done = 0;

	while (done < GUEST_DISK_BLOCK) {
		ssize_t put = pwrite(fd, block + done, GUEST_DISK_BLOCK - done,
			(off_t)(at * GUEST_DISK_BLOCK + (int64_t)done));

		if (put < 0 && errno != EINTR)
			return -1;
		if (put > 0)
			done += (size_t)put;
	}
	return 0;
}

static int copy_blocks(struct guest_disk *disk, int from, const char *name, int to, struct err *err)
{
	char *block = xmalloc(GUEST_DISK_BLOCK);
	ssize_t got;
	int ret = 0;

	while (ret == 0 && (got = read_block(from, block)) != 0) {
		if (got < 0) {
			ret = err_errno(err, ERR_INFRA, errno, "cannot read %s", name);
		} else if (disk->next >= GUEST_DISK_BLOCKS) {
			ret = err_set(err, ERR_INFRA, "%s is too large for the guest's disk", name);
		} else {
			memset(block + got, 0, GUEST_DISK_BLOCK - (size_t)got);
			if (write_block(to, block, disk->next) != 0)
				ret = err_errno(err, ERR_INFRA, errno,
					"cannot write the guest's disk %s", disk->path);
			disk->next++;
		}
	}
	free(block);
	return ret;
}

int guest_disk_add(
	struct guest_disk *disk, const char *from, int64_t *first, int64_t *count, struct err *err)
{
	int64_t start = disk->next;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, ret = 0;

	if (in < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot open %s", from);
	out = open(disk->path, O_WRONLY | O_CLOEXEC);
	if (out < 0)
		ret = err_errno(
			err, ERR_INFRA, errno, "cannot open the guest's disk %s", disk->path);
	if (ret == 0)
		ret = copy_blocks(disk, in, from, out, err);
	if (out >= 0 && close(out) != 0 && ret == 0)
		ret = err_errno(
			err, ERR_INFRA, errno, "cannot write the guest's disk %s", disk->path);
	(void)close(in); /* only read from */
	if (ret)
		return ret;
	*first = start;
	*count = disk->next - start;
	return 0;
}
