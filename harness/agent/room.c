/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "agent/room.h"

/* Above both limits, for the file system's own pages. */
enum { TMPFS_SPARE_BYTES = 256 << 10 };

static bool mount_tmpfs(const char *path, int64_t bytes)
{
	char options[64];

	(void)snprintf(options, sizeof(options), "size=%lld,mode=0700", (long long)bytes);
	return mount("kbracket", path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

/* A mount namespace of our own, into which the host's later mounts still come. */
static bool own_namespace(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

static int make_folder(const struct place *place, const char *name, char **path, struct err *err)
{
	*path = place_path(place, name);
	if (mkdir(*path, 0700) != 0 && errno != EEXIST)
		return err_errno(err, ERR_INFRA, errno, "cannot make the folder %s", *path);
	return 0;
}

static int open_output(const struct room *room, const char *name, int *fd, struct err *err)
{
	char *path = room->tmpfs ? xasprintf("%s/tmp/%s", room->place->dir, name)
				 : place_path(room->place, name);

	*fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		(void)err_errno(err, ERR_INFRA, errno, "cannot open %s", path);
	free(path);
	return *fd < 0 ? ERR_INFRA : 0;
}

static int make_links(const struct room *room, const struct run_spec *spec, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < spec->link_names.count; i++) {
		char *path = xasprintf("%s/%s", room->cwd, spec->link_names.items[i]);
		const char *target = spec->link_targets.items[i];

		if (!file_exists(target))
			ret = err_set(
				err, ERR_INFRA, "there is no %s for the working folder", target);
		else if (symlink(target, path) != 0)
			ret = err_errno(err, ERR_INFRA, errno, "cannot make the link %s", path);
		free(path);
	}
	return ret;
}

static int open_work(
	struct room *room, const struct run_spec *spec, bool may_mount, struct err *err)
{
	int ret;

	if (spec->cwd) {
		room->cwd = xstrdup(spec->cwd);
		return file_is_folder(room->cwd)
			       ? 0
			       : err_set(err, ERR_INFRA, "there is no folder %s to run in",
					 room->cwd);
	}
	room->own_work = true;
	ret = make_folder(room->place, "work", &room->cwd, err);
	if (ret == 0 && spec->work_bytes && may_mount)
		room->work_tmpfs = mount_tmpfs(room->cwd, spec->work_bytes);
	return ret ? ret : make_links(room, spec, err);
}

int room_open(
	struct room *room, const struct place *place, const struct run_spec *spec, struct err *err)
{
	bool may_mount = own_namespace();
	char *tmp = NULL;
	int ret;

	memset(room, 0, sizeof(*room));
	room->place = place;
	room->out_fd = room->err_fd = -1;
	room->limit_bytes = spec->output_bytes;
	ret = make_folder(place, "tmp", &tmp, err);
	if (ret == 0)
		room->tmpfs =
			may_mount && mount_tmpfs(tmp, 2 * spec->output_bytes + TMPFS_SPARE_BYTES);
	free(tmp);
	/* One byte more than the limit tells an output that reached it from a longer one. */
	if (!room->tmpfs)
		room->max_file_bytes = spec->work_bytes > spec->output_bytes
					       ? spec->work_bytes
					       : spec->output_bytes + 1;
	if (ret == 0)
		ret = open_work(room, spec, may_mount, err);
	if (ret == 0)
		ret = open_output(room, "stdout", &room->out_fd, err);
	if (ret == 0)
		ret = open_output(room, "stderr", &room->err_fd, err);
	return ret;
}

static int keep(const struct room *room, const char *name, int fd, bool *over, struct err *err)
{
	char *from = xasprintf("%s/tmp/%s", room->place->dir, name);
	char *to = place_path(room->place, name);
	struct stat st;
	int ret = 0;

	if (fstat(fd, &st) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot look at %s", name);
	else if (st.st_size > room->limit_bytes)
		*over = true;
	if (ret == 0 && *over && st.st_size > room->limit_bytes &&
		ftruncate(fd, room->limit_bytes) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot cut %s to its limit", name);
	if (ret == 0)
		ret = room->tmpfs      ? file_copy(from, to, err)
		      : fsync(fd) == 0 ? 0
				       : err_errno(err, ERR_INFRA, errno, "cannot sync %s", name);
	free(from);
	free(to);
	return ret;
}

int room_keep_outputs(struct room *room, bool *output_limit, struct err *err)
{
	struct statvfs fs;
	bool over = room->tmpfs && fstatvfs(room->out_fd, &fs) == 0 && fs.f_bavail == 0;
	int ret = keep(room, "stdout", room->out_fd, &over, err);

	if (ret == 0)
		ret = keep(room, "stderr", room->err_fd, &over, err);
	if (ret == 0)
		*output_limit = over;
	return ret;
}

static void remove_folder(const struct room *room, const char *name, bool mounted)
{
	char *path = place_path(room->place, name);

	if (mounted)
		(void)umount2(path, MNT_DETACH); /* it goes with our namespace at the latest */
	(void)!file_remove_tree(path, NULL);	 /* place_forget removes what stays */
	free(path);
}

void room_release(struct room *room)
{
	if (room->out_fd >= 0)
		(void)close(room->out_fd); /* synced before */
	if (room->err_fd >= 0)
		(void)close(room->err_fd);
	remove_folder(room, "tmp", room->tmpfs);
	if (room->own_work)
		remove_folder(room, "work", room->work_tmpfs);
	free(room->cwd);
	memset(room, 0, sizeof(*room));
	room->out_fd = room->err_fd = -1;
}
