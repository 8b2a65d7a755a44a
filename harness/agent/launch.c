/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "agent/launch.h"

struct launch_mark *launch_mark_make(void)
{
	void *p = mmap(NULL, sizeof(struct launch_mark), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		BUG("no memory for one page");
	return p;
}

KB_NORETURN static void give_up(struct launch_mark *mark, const char *stage)
{
	mark->error = errno;
	mark->stage = stage;
	_exit(127);
}

/* Our own descriptors are all close-on-exec; this is for what ssh or a shell left open. */
static void close_others(void)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		return;
#endif
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd); /* most are not open */
}

static void restore_oom_score(const char *score)
{
	int fd = score ? open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	(void)!write(fd, score, strlen(score)); /* lowering our own needed rights, this does not */
	(void)close(fd);
}

static void set_limits(const struct launch *l, struct launch_mark *mark)
{
	struct rlimit none = {0, 0};
	struct rlimit file = {(rlim_t)l->max_file_bytes, (rlim_t)l->max_file_bytes};

	if (setrlimit(RLIMIT_CORE, &none) != 0)
		give_up(mark, "cannot switch core dumps off");
	if (l->max_file_bytes && setrlimit(RLIMIT_FSIZE, &file) != 0)
		give_up(mark, "cannot limit the size of files");
}

static void sleep_until_wall(int64_t wall_ns)
{
	struct timespec at = {wall_ns / NS_PER_S, wall_ns % NS_PER_S};

	while (wall_ns && clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

KB_NORETURN static void child(const struct launch *l, struct launch_mark *mark, pid_t parent)
{
	int64_t start_wall_ns = l->start_wall_ns;
	int null_fd;

	(void)setsid(); /* cannot fail: a new child leads no group */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		give_up(mark, "the agent died");
	(void)cgroup_enter(l->cgroup); /* without it processes are found by their parent */
	null_fd = open("/dev/null", O_RDONLY);
	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(l->out_fd, 1) < 0 || dup2(l->err_fd, 2) < 0)
		give_up(mark, "cannot set up stdin, stdout and stderr");
	if (chdir(l->cwd) != 0)
		give_up(mark, "cannot enter its working folder");
	set_limits(l, mark);
	restore_oom_score(l->oom_score);
	if (l->gate_fd && read(l->gate_fd, &start_wall_ns, sizeof(start_wall_ns)) !=
				  (ssize_t)sizeof(start_wall_ns))
		give_up(mark, "was not let go");
	close_others();
	signals_reset();
	(void)umask(022);
	sleep_until_wall(start_wall_ns);
	mark->started_wall_ns = clock_wall_ns();
	mark->started_ns = clock_now_ns();
	execve(l->program, (char *const *)l->argv, (char *const *)l->env);
	give_up(mark, "cannot be executed");
}

pid_t launch_start(const struct launch *launch, struct launch_mark *mark)
{
	pid_t parent = getpid(), pid;

	memset(mark, 0, sizeof(*mark));
	pid = fork();
	if (pid == 0)
		child(launch, mark, parent);
	return pid;
}

int launch_failed(
	const struct launch_mark *mark, const char *what, const char *path, struct err *err)
{
	if (mark->error == ENOEXEC)
		return err_set(err, ERR_INFRA,
			"%s %s: it is neither a program for this machine nor a script that begins "
			"with #!",
			what, mark->stage);
	if (mark->error == ENOENT && access(path, F_OK) == 0)
		return err_set(err, ERR_INFRA,
			"%s %s: the interpreter or loader that it asks for is not there", what,
			mark->stage);
	return err_errno(err, ERR_INFRA, mark->error, "%s %s", what, mark->stage);
}

static const char *path_of(const char *const *env)
{
	for (; *env; env++)
		if (str_starts(*env, "PATH="))
			return *env + strlen("PATH=");
	return "";
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *launch_find(const char *name, const char *const *env)
{
	if (strchr(name, '/'))
		return xstrdup(name);
	if (!*name)
		return NULL;
	for (const char *at = path_of(env); *at;) {
		size_t len = strcspn(at, ":");
		char *path = xasprintf("%.*s/%s", (int)len, at, name);

		if (len && is_program(path))
			return path;
		free(path);
		at += len + (at[len] == ':');
	}
	return NULL;
}
