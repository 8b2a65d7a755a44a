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

#include "agent/bytes.h"
#include "agent/room.h"

/* Above both limits, for the file system's own pages; and what is around the program may print
 * more than is kept of it. */
enum { TMPFS_SPARE_BYTES = 256 << 10, LOG_BYTES = 256 << 10, LOG_ROOM_BYTES = 16 << 20 };

static bool mount_tmpfs(const char *path, int64_t bytes)
{
	char options[64];

	(void)snprintf(options, sizeof(options), "size=%lld,mode=0700", (long long)bytes);
	return mount("kbracket", path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

/* Without a tmpfs the bound of outputs holds for all files of the program, which may well need
 * larger ones than it prints, and whose helpers would be killed without a word. */
static const int64_t file_bytes = INT64_C(256) << 20;

static int64_t largest_file(const struct run_spec *spec)
{
	/* one byte more than the limit tells an output that reached it from a longer one */
	int64_t bytes = spec->output_bytes + 1;

	bytes = spec->work_bytes > bytes ? spec->work_bytes : bytes;
	return bytes > file_bytes ? bytes : file_bytes;
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

/* folder: the tmpfs that it lies in, where there is one. */
static int open_output(const struct room *room, struct room_output *output, const char *folder,
	const char *name, struct err *err)
{
	char *path = *folder ? xasprintf("%s/%s/%s", room->place->dir, folder, name)
			     : place_path(room->place, name);

	output->name = name;
	output->fd =
		open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (output->fd < 0)
		(void)err_errno(err, ERR_INFRA, errno, "cannot open %s", path);
	free(path);
	return output->fd < 0 ? ERR_INFRA : 0;
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

/* In a tmpfs of its own: a server that prints much takes no room from the program. */
static int open_log(struct room *room, bool may_mount, struct err *err)
{
	char *path = NULL;
	int ret = make_folder(room->place, "log", &path, err);

	if (ret == 0)
		room->log_tmpfs = may_mount && mount_tmpfs(path, LOG_ROOM_BYTES);
	free(path);
	return ret ? ret
		   : open_output(room, &room->log, room->log_tmpfs ? "log" : "", "around", err);
}

int room_open(
	struct room *room, const struct place *place, const struct run_spec *spec, struct err *err)
{
	bool may_mount = own_namespace();
	char *tmp = NULL;
	int ret;

	memset(room, 0, sizeof(*room));
	room->place = place;
	room->out.fd = room->err_out.fd = room->log.fd = -1;
	room->limit_bytes = spec->output_bytes;
	ret = make_folder(place, "tmp", &tmp, err);
	if (ret == 0)
		room->tmpfs =
			may_mount && mount_tmpfs(tmp, 2 * spec->output_bytes + TMPFS_SPARE_BYTES);
	free(tmp);
	if (!room->tmpfs)
		room->max_file_bytes = largest_file(spec);
	if (ret == 0)
		ret = open_work(room, spec, may_mount, err);
	if (ret == 0)
		ret = open_output(room, &room->out, room->tmpfs ? "tmp" : "", "stdout", err);
	if (ret == 0)
		ret = open_output(room, &room->err_out, room->tmpfs ? "tmp" : "", "stderr", err);
	if (ret == 0 && spec_has_around(spec))
		ret = open_log(room, may_mount, err);
	return ret;
}

/* Out of the tmpfs, which goes with us. */
static int copy_out(const struct room *room, const struct room_output *output, struct err *err)
{
	char *path = place_path(room->place, output->name);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), ret;

	if (to < 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot open %s", path);
	else if (lseek(output->fd, 0, SEEK_SET) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot read %s again", output->name);
	else
		ret = bytes_copy(output->fd, to, (size_t)output->bytes, output->name, err);
	if (to >= 0 && close(to) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot close %s", path);
	free(path);
	return ret;
}

static int keep(struct room *room, struct room_output *output, int64_t limit_bytes, bool in_tmpfs,
	struct err *err)
{
	struct stat st;

	if (fstat(output->fd, &st) != 0)
		return err_errno(err, ERR_INFRA, errno, "cannot look at %s", output->name);
	output->bytes = st.st_size;
	if (st.st_size > limit_bytes) {
		room->over_limit |= output != &room->log;
		output->bytes = limit_bytes;
		if (ftruncate(output->fd, limit_bytes) != 0)
			return err_errno(
				err, ERR_INFRA, errno, "cannot cut %s to its limit", output->name);
	}
	return in_tmpfs ? copy_out(room, output, err) : 0;
}

int room_keep_log(struct room *room, struct err *err)
{
	return room->log.fd >= 0 ? keep(room, &room->log, LOG_BYTES, room->log_tmpfs, err) : 0;
}

int room_keep_outputs(struct room *room, struct err *err)
{
	struct statvfs fs;
	int ret;

	room->over_limit = room->tmpfs && fstatvfs(room->out.fd, &fs) == 0 && fs.f_bavail == 0;
	ret = keep(room, &room->out, room->limit_bytes, room->tmpfs, err);
	if (ret == 0)
		ret = keep(room, &room->err_out, room->limit_bytes, room->tmpfs, err);
	return ret ? ret : room_keep_log(room, err);
}

static void remove_folder(const struct room *room, const char *name, bool mounted)
{
	char *path = place_path(room->place, name);

	if (mounted)
		(void)umount2(path, MNT_DETACH); /* it goes with our namespace at the latest */
	(void)!file_remove_tree(path, NULL);	 /* place_forget removes what stays */
	free(path);
}

void room_drop_work(struct room *room)
{
	if (room->own_work)
		remove_folder(room, "work", room->work_tmpfs);
	room->own_work = false;
}

void room_release(struct room *room)
{
	if (room->out.fd >= 0)
		(void)close(room->out.fd); /* kept before */
	if (room->err_out.fd >= 0)
		(void)close(room->err_out.fd);
	if (room->log.fd >= 0)
		(void)close(room->log.fd);
	remove_folder(room, "tmp", room->tmpfs);
	remove_folder(room, "log", room->log_tmpfs);
	room_drop_work(room);
	free(room->cwd);
	memset(room, 0, sizeof(*room));
	room->out.fd = room->err_out.fd = room->log.fd = -1;
}
