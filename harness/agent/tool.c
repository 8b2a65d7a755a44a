/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include "agent/tool.h"

#define NAP_NS (2 * NS_PER_MS)

enum { OUTPUT_BYTES = 4096, LOG_BYTES = 16 << 20 };

/* Never returns: exec, or exit 127. */
KB_NORETURN static void child(const char *const *argv, int out_fd)
{
	const struct rlimit file = {LOG_BYTES, LOG_BYTES};
	int null_fd = open("/dev/null", O_RDONLY);
	sigset_t none;

	(void)setsid(); /* cannot fail: a new child leads no group */
	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0 ||
		setrlimit(RLIMIT_FSIZE, &file) != 0)
		_exit(127);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, 3U, ~0U, 0U); /* before 5.9 they stay open: harmless */
#endif
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail */
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

pid_t tool_start(const char *const *argv, int log_fd, struct err *err)
{
	pid_t pid = fork();

	if (pid == 0)
		child(argv, log_fd);
	return pid < 0 ? err_errno(err, ERR_INFRA, errno, "cannot fork") : pid;
}

/* Its status as of waitpid once it has ended; killed at the deadline. */
static int wait_for(pid_t pid, int64_t deadline_ns, int *status)
{
	pid_t got;

	while ((got = waitpid(pid, status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
		if (clock_now_ns() < deadline_ns) {
			clock_sleep_ns(NAP_NS);
			continue;
		}
		(void)kill(-pid, SIGKILL);
		while (waitpid(pid, status, 0) < 0 && errno == EINTR)
			;
		return ERR_TIMEOUT;
	}
	return 0;
}

static void read_output(int fd, struct str *out)
{
	char bytes[OUTPUT_BYTES];
	ssize_t got = pread(fd, bytes, sizeof(bytes), 0);

	str_reset(out);
	str_add(out, ""); /* text is never NULL */
	if (got > 0)
		str_add_bytes(out, bytes, (size_t)got);
}

int tool_run(const char *const *argv, int64_t timeout_ns, struct str *out, struct err *err)
{
	int fd = memfd_create("kbracket-tool", MFD_CLOEXEC), status = 0, ret;
	pid_t pid;

	if (fd < 0)
		return err_errno(err, ERR_INFRA, errno, "no memory for the output of %s", argv[0]);
	pid = tool_start(argv, fd, err);
	ret = pid < 0 ? ERR_INFRA : wait_for(pid, clock_now_ns() + timeout_ns, &status);
	if (ret == ERR_TIMEOUT)
		ret = err_set(err, ERR_INFRA, "%s took too long and was killed", argv[0]);
	else if (!ret && !WIFEXITED(status))
		ret = err_set(
			err, ERR_INFRA, "%s was ended by signal %d", argv[0], WTERMSIG(status));
	else if (!ret)
		ret = WEXITSTATUS(status);
	read_output(fd, out);
	(void)close(fd); /* only memory */
	return ret;
}

int64_t tool_started(pid_t pid)
{
	struct str text = STR_INIT;
	char *path = xasprintf("/proc/%d/stat", (int)pid), state = 'Z';
	const char *after;
	long long started = -1;

	/* the name in parentheses may hold anything; 19 fields later stands the time */
	if (pid > 0 && file_read(path, 65536, &text, NULL) == 0 &&
		(after = strrchr(text.text, ')')) != NULL &&
		sscanf(after + 1,
			" %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			"%*s %lld",
			&state, &started) != 2)
		started = -1;
	str_release(&text);
	free(path);
	return state == 'Z' || state == 'X' ? -1 : (int64_t)started;
}
