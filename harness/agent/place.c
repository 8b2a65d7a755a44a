/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "agent/place.h"
#include "agent/probe.h"

static int check_path(const char *dir, struct err *err)
{
	if (dir[0] != '/' || str_ends(dir, "/") || strstr(dir, "/../") || str_ends(dir, "/.."))
		return err_set(err, ERR_USAGE,
			"\"%s\" must be an absolute path without \"..\" and \"/\" at its end", dir);
	return 0;
}

int place_check_folder(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return err_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, errno,
			"cannot use the folder %s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(err, ERR_INFRA,
			"%s must be a folder that belongs to this user and that nobody else can "
			"write "
			"to (mode 0700)",
			path);
	return 0;
}

int place_open(struct place *place, const char *dir, bool create, struct err *err)
{
	char *parent = path_dir(dir);
	int ret = check_path(dir, err);

	place->dir = NULL;
	place->lock_fd = -1;
	if (ret == 0)
		ret = place_check_folder(parent, err);
	if (ret == 0 && create && mkdir(dir, 0700) != 0 && errno != EEXIST)
		ret = err_errno(err, ERR_INFRA, errno, "cannot make the folder %s", dir);
	if (ret == 0)
		ret = place_check_folder(dir, err);
	if (ret == 0)
		place->dir = xstrdup(dir);
	free(parent);
	return ret;
}

char *place_path(const struct place *place, const char *name)
{
	return xasprintf("%s/%s", place->dir, name);
}

static int open_lock(const struct place *place, struct err *err)
{
	char *path = place_path(place, "lock");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		(void)err_errno(err, ERR_INFRA, errno, "cannot open %s", path);
	free(path);
	return fd;
}

int place_try_lock(struct place *place, struct err *err)
{
	int fd = open_lock(place, err), saved;

	if (fd < 0)
		return ERR_INFRA;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		place->lock_fd = fd;
		return 1;
	}
	saved = errno;
	(void)close(fd); /* nothing was written */
	return saved == EWOULDBLOCK
		       ? 0
		       : err_errno(err, ERR_INFRA, saved, "cannot lock %s/lock", place->dir);
}

void place_unlock(struct place *place)
{
	if (place->lock_fd >= 0)
		(void)close(place->lock_fd); /* closing the last copy releases the flock */
	place->lock_fd = -1;
}

int place_wait(const struct place *place, struct err *err)
{
	int ret = 0, fd = open_lock(place, err);

	if (fd < 0)
		return ERR_INFRA;
	while (flock(fd, LOCK_SH) != 0)
		if (errno != EINTR) {
			ret = err_errno(
				err, ERR_INFRA, errno, "cannot wait for %s/lock", place->dir);
			break;
		}
	(void)close(fd); /* nothing was written */
	return ret;
}

enum place_state place_state(const struct place *place)
{
	char *result = place_path(place, "result.json"), *started = place_path(place, "started");
	enum place_state state = file_exists(result)	? PLACE_DONE
				 : file_exists(started) ? PLACE_STARTED
							: PLACE_NEW;

	free(result);
	free(started);
	return state;
}

void place_release(struct place *place)
{
	place_unlock(place);
	free(place->dir);
	place->dir = NULL;
}

void place_mark_make(struct place_mark *mark)
{
	struct str boot = STR_INIT;
	unsigned char random[16];

	memset(mark, 0, sizeof(*mark));
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		/* Early in a boot: unique on this machine is enough, it is no secret. */
		(void)snprintf((char *)random, sizeof(random), "%ld", (long)getpid());
	for (size_t i = 0; i < sizeof(random); i++)
		(void)snprintf(mark->token + 2 * i, 3, "%02x", random[i]);
	if (probe_line(&boot, "", "/proc/sys/kernel/random/boot_id"))
		(void)snprintf(mark->boot_id, sizeof(mark->boot_id), "%s", boot.text);
	mark->pid = getpid();
	str_release(&boot);
}

int place_mark_write(const struct place *place, const struct place_mark *mark, struct err *err)
{
	char *path = place_path(place, "started");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), ret = 0;
	char line[160];
	int len = snprintf(line, sizeof(line), "%s %lld %s\n", mark->token, (long long)mark->pid,
		mark->boot_id);

	if (fd < 0 || write(fd, line, (size_t)len) != len)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	if (fd >= 0 && close(fd) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	free(path);
	return ret;
}

bool place_mark_read(const struct place *place, struct place_mark *mark)
{
	char *path = place_path(place, "started");
	struct str line = STR_INIT;
	long long pid = 0;
	bool ok;

	memset(mark, 0, sizeof(*mark));
	ok = probe_line(&line, "", "%s", path) && sscanf(line.text, "%32[0-9a-f] %lld %63[0-9a-f-]",
							  mark->token, &pid, mark->boot_id) >= 2;
	mark->pid = pid;
	str_release(&line);
	free(path);
	return ok;
}

int place_forget(const char *dir, struct err *err)
{
	struct place place;
	struct err why = ERR_INIT;
	int ret = place_open(&place, dir, false, &why);

	if (ret == ERR_NOT_FOUND)
		return 0;
	if (ret) {
		*err = why;
		return ret;
	}
	ret = place_try_lock(&place, err);
	if (ret == 0)
		ret = err_set(err, ERR_TIMEOUT, "the run in %s is not over", dir);
	else if (ret == 1)
		ret = file_remove_tree(dir, err);
	place_release(&place);
	return ret;
}
