/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "sys/child.h"
#include "sys/orphans.h"

/* What the child could not do; sent to the parent through a pipe that a successful exec closes. */
enum stage { STAGE_SET_UP, STAGE_CWD, STAGE_EXEC };

struct failure {
	enum stage stage;
	int errno_value;
};

struct launch {
	const struct proc_spec *spec;
	const char *program; /* path */
	const int *fds;
	int status_fd;
	pid_t parent;
};

KB_NORETURN static void fail_in_child(int status_fd, enum stage stage)
{
	struct failure failure = {stage, errno};

	(void)!write(status_fd, &failure, sizeof(failure)); /* the parent then sees an early end */
	_exit(127);
}

/* The descriptors may be any of 0, 1, 2 themselves, in any order: first all move out of the way. */
static int place_fds(const int fds[3])
{
	int moved[3];

	for (int i = 0; i < 3; i++) {
		moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (moved[i] < 0)
			return -1;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(moved[i], i) < 0)
			return -1;
	return 0;
}

/* Runs between fork and exec: async-signal-safe calls only. */
KB_NORETURN static void run_child(const struct launch *launch)
{
	const struct proc_spec *spec = launch->spec;
	int status_fd = fcntl(launch->status_fd, F_DUPFD_CLOEXEC, 3);

	if (status_fd < 0)
		fail_in_child(launch->status_fd, STAGE_SET_UP);
	if (setsid() < 0 || place_fds(launch->fds) != 0)
		fail_in_child(status_fd, STAGE_SET_UP);
	signals_reset();
	/* Ours are opened with O_CLOEXEC; this is for those that we were started with. */
	(void)close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	if (spec->cwd && chdir(spec->cwd) != 0)
		fail_in_child(status_fd, STAGE_CWD);
	if (spec->in_child && spec->in_child(spec->arg) != 0)
		_exit(126);
	/* After in_child, because a change of user clears it. A parent that died before this call
	 * has already handed us to another one. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		fail_in_child(status_fd, STAGE_SET_UP);
	if (getppid() != launch->parent)
		_exit(127);
	(void)execve(launch->program, (char *const *)spec->argv,
		spec->env ? (char *const *)spec->env : environ);
	fail_in_child(status_fd, STAGE_EXEC);
}

static pid_t fork_child(const struct launch *launch)
{
	sigset_t all, old;
	pid_t pid;

	orphans_adopt();
	/* Our handlers must not run in the child: they write to pipes that it shares with us. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0)
		run_child(launch);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static int start_error(const struct proc_spec *spec, const struct failure *failure, struct err *err)
{
	const char *name = spec->argv[0];

	switch (failure->stage) {
	case STAGE_CWD:
		return err_errno(err, ERR_INFRA, failure->errno_value,
			"cannot start %s in the folder %s", name, spec->cwd);
	case STAGE_EXEC:
		if (failure->errno_value == ENOENT)
			return err_set(err, ERR_NOT_FOUND,
				"cannot start %s: there is no such program (or its interpreter is "
				"missing)",
				name);
		break;
	case STAGE_SET_UP:
		break;
	}
	return err_errno(err, ERR_INFRA, failure->errno_value, "cannot start %s", name);
}

/* Returns 0 when the pipe closed without a word: the program runs. */
static int read_failure(int status_fd, struct failure *failure)
{
	ssize_t got;

	do
		got = read(status_fd, failure, sizeof(*failure));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*failure);
}

static int spawn_with_pipe(
	struct child *child, const struct launch *launch, int status_fd, struct err *err)
{
	struct failure failure;

	child->started_ns = clock_now_ns();
	child->pid = fork_child(launch);
	if (child->pid < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot start %s", launch->program);
	orphans_except(child->pid);
	(void)close(launch->status_fd); /* the child's end */
	child->pidfd = pidfd_open(child->pid, 0);
	if (child->pidfd < 0) {
		int errno_value = errno;

		(void)kill(child->pid, SIGKILL);
		(void)waitpid(child->pid, NULL, 0);
		orphans_include(child->pid);
		return err_errno(err, ERR_INFRA, errno_value,
			"cannot watch %s (Linux 5.3 or newer is needed)", launch->program);
	}
	if (read_failure(status_fd, &failure)) {
		(void)waitpid(child->pid, NULL, 0);
		child_give_up(child);
		return start_error(launch->spec, &failure, err);
	}
	return 0;
}

int child_spawn(
	struct child *child, const struct proc_spec *spec, const int fds[3], struct err *err)
{
	struct launch launch = {.spec = spec, .fds = fds, .parent = getpid()};
	char *found = NULL;
	int status[2], ret;

	child->pid = -1;
	child->pidfd = -1;
	if (!strchr(spec->argv[0], '/')) {
		found = proc_find_program(spec->argv[0]);
		if (!found)
			return err_set(err, ERR_NOT_FOUND,
				"there is no program '%s' in PATH, /usr/sbin or /sbin",
				spec->argv[0]);
	}
	launch.program = found ? found : spec->argv[0];
	if (pipe2(status, O_CLOEXEC) != 0) {
		ret = err_errno(err, ERR_INFRA, errno, "cannot start %s", launch.program);
		goto out;
	}
	launch.status_fd = status[1];
	ret = spawn_with_pipe(child, &launch, status[0], err);
	if (child->pid < 0)
		(void)close(status[1]);
	(void)close(status[0]);
out:
	free(found);
	return ret;
}

bool child_wait(const struct child *child, int64_t deadline_ns)
{
	struct pollfd pfd = {.fd = child->pidfd, .events = POLLIN};

	return poll(&pfd, 1, clock_poll_ms(deadline_ns)) == 1;
}

void child_signal(const struct child *child, int signo)
{
	/* The leader is not reaped yet, so its number cannot have been given to another group. */
	if (child->pidfd >= 0)
		(void)kill(-child->pid, signo);
}

/* All members have been killed; those that our child left as orphans have become our children
 * (orphans.h). */
static void reap_group(pid_t group)
{
	int64_t deadline_ns = clock_now_ns() + NS_PER_S, pause_ns = NS_PER_MS;

	for (;;) {
		while (waitpid(-group, NULL, WNOHANG) > 0)
			;
		if (kill(-group, 0) != 0 || clock_now_ns() >= deadline_ns)
			return;
		clock_sleep_ns(pause_ns);
		if (pause_ns < 16 * NS_PER_MS)
			pause_ns *= 2;
	}
}

void child_reap(struct child *child, struct proc_result *result)
{
	int status = 0;
	pid_t reaped;

	result->wall_ns = clock_now_ns() - child->started_ns;
	child_signal(child, SIGKILL);
	do
		reaped = waitpid(child->pid, &status, 0);
	while (reaped < 0 && errno == EINTR);
	if (reaped != child->pid)
		BUG("child %d was reaped by somebody else", (int)child->pid);
	reap_group(child->pid);
	child_give_up(child);
	orphans_reap();
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void child_give_up(struct child *child)
{
	if (child->pidfd >= 0)
		(void)close(child->pidfd);
	child->pidfd = -1;
	orphans_include(child->pid);
}
