/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

static void read_holder(int fd, char *holder, size_t size)
{
	ssize_t got = pread(fd, holder, size - 1, 0);

	holder[got > 0 ? got : 0] = '\0';
	holder[strspn(holder, "0123456789")] = '\0';
}

/* The holder's pid is written for people only; the flock is what counts. */
static void write_holder(int fd)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, (size_t)len, 0);
}

int file_lock_take(struct file_lock *lock, const char *path, int64_t timeout_ns, struct err *err)
{
	int64_t deadline = clock_now_ns() + timeout_ns;
	char holder[32];
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot open the lock file %s", path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			int saved = errno;

			(void)close(fd);
			return err_errno(err, ERR_INFRA, saved, "cannot lock %s", path);
		}
		if (timeout_ns >= 0 && clock_now_ns() >= deadline) {
			read_holder(fd, holder, sizeof(holder));
			(void)close(fd);
			return err_set(err, ERR_TIMEOUT, "%s is locked by another process%s%s",
				path, holder[0] ? ", pid " : "", holder);
		}
		clock_sleep_ns(20 * NS_PER_MS);
	}
	write_holder(fd);
	lock->fd = fd;
	return 0;
}

pid_t file_lock_holder(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	long pid;

	if (fd < 0)
		return 0;
	read_holder(fd, text, sizeof(text));
	(void)close(fd);
	pid = strtol(text, NULL, 10);
	return pid > 0 && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM)
		       ? (pid_t)pid
		       : 0;
}

void file_lock_release(struct file_lock *lock)
{
	if (!lock || lock->fd < 0)
		return;
	(void)!ftruncate(lock->fd, 0); /* nobody's any more */
	(void)close(lock->fd);	       /* closing releases the flock */
	lock->fd = -1;
}
