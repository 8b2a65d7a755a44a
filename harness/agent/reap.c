/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"

#include "agent/probe.h"
#include "agent/reap.h"

#define KILL_PATIENCE_NS (10 * NS_PER_S)
#define KILL_NAP_NS (2 * NS_PER_MS)

static void on_term(int sig KB_UNUSED)
{
	/* Only to end a wait with EINTR. */
}

void reap_prepare(void)
{
	struct sigaction term = {.sa_handler = on_term}, child = {.sa_handler = SIG_DFL};
	sigset_t all;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* since 3.4 */
	sigaction(SIGTERM, &term, NULL);
	/* An ignored SIGCHLD, inherited from a careless parent, would lose the exit status. */
	sigaction(SIGCHLD, &child, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

bool reap_has_exited(pid_t child)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == child;
}

static struct timespec time_left(int64_t deadline_ns)
{
	int64_t left = deadline_ns - clock_now_ns();

	left = left < 0 ? 0 : left;
	return (struct timespec){left / NS_PER_S, left % NS_PER_S};
}

/* Before 5.3 there is no pidfd: SIGCHLD of an orphan wakes us too. */
static enum wait_end wait_by_signal(pid_t child, int64_t deadline_ns)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	while (!reap_has_exited(child)) {
		struct timespec left = time_left(deadline_ns);
		int sig = sigtimedwait(&set, NULL, &left);

		if (sig == SIGTERM)
			return WAIT_CANCELLED;
		if (sig < 0 && errno == EAGAIN)
			return reap_has_exited(child) ? WAIT_EXITED : WAIT_DEADLINE;
	}
	return WAIT_EXITED;
}

static enum wait_end wait_by_pidfd(int fd, int64_t deadline_ns)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	struct timespec left = time_left(deadline_ns);
	sigset_t but_term;
	int ready;

	sigfillset(&but_term);
	sigdelset(&but_term, SIGTERM);
	ready = ppoll(&poll_fd, 1, &left, &but_term);
	return ready > 0 ? WAIT_EXITED : ready == 0 ? WAIT_DEADLINE : WAIT_CANCELLED;
}

enum wait_end reap_wait(pid_t child, int64_t deadline_ns)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	enum wait_end end;

	if (fd < 0)
		return wait_by_signal(child, deadline_ns);
	end = wait_by_pidfd(fd, deadline_ns);
	(void)close(fd); /* only waited on */
	return end;
}

/* Sends a signal to every process that `is_target` picks; returns how many. */
static int64_t signal_each(
	int sig, bool (*is_target)(const char *pid, const void *arg), const void *arg)
{
	struct strv names = STRV_INIT;
	int64_t sent = 0, pid;
	struct err err;

	probe_list(&names, "", "/proc");
	for (size_t i = 0; i < names.count; i++) {
		if (num_int(names.items[i], 2, INT32_MAX, &pid, &err) != 0 || pid == getpid() ||
			!is_target(names.items[i], arg))
			continue;
		sent += kill((pid_t)pid, sig) == 0;
	}
	strv_release(&names);
	return sent;
}

/* A living child of ours or member of the program's group. Fields 3 to 5 of /proc/PID/stat; the
 * name in parentheses before them may hold anything. */
static bool is_of_run(const char *pid, const void *run_group)
{
	struct str stat = STR_INIT;
	const char *close;
	char state;
	int parent = 0, group = 0;
	bool of_run;

	of_run = probe_line(&stat, "", "/proc/%s/stat", pid) && (close = strrchr(stat.text, ')')) &&
		 sscanf(close + 1, " %c %d %d", &state, &parent, &group) == 3 && state != 'Z' &&
		 (parent == getpid() || group == *(const pid_t *)run_group);
	str_release(&stat);
	return of_run;
}

static bool has_environment(const char *pid, const void *arg)
{
	struct str environment = STR_INIT;
	bool found;

	found = probe_text(&environment, "", "/proc/%s/environ", pid) &&
		memmem(environment.text, environment.len, arg, strlen(arg));
	str_release(&environment);
	return found;
}

int64_t reap_strangers(const char *environment_text)
{
	int64_t total = 0, killed;

	/* Again until none is left: one may have been about to fork. */
	for (int round = 0; round < 100; round++) {
		killed = signal_each(SIGKILL, has_environment, environment_text);
		total += killed;
		if (!killed)
			break;
		clock_sleep_ns(KILL_NAP_NS);
	}
	return total;
}

/* Takes the status of every child that has ended, the program's into the report; false when there
 * is no child at all. */
static bool drain(pid_t program, struct reap_report *report)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
		if (pid == program) {
			report->reaped = true;
			report->status = status;
			report->usage = usage;
		}
	return pid == 0;
}

void reap_all(pid_t program, const struct cgroup *cgroup, struct reap_report *report)
{
	int64_t deadline = clock_now_ns() + KILL_PATIENCE_NS;
	pid_t group = program > 0 ? program : -1;

	memset(report, 0, sizeof(*report));
	report->killed = cgroup->path ? cgroup_count(cgroup) : signal_each(0, is_of_run, &group);
	if (program > 0)
		(void)kill(-program, SIGKILL);
	while (drain(program, report) || !cgroup_empty(cgroup)) {
		if (report->reaped)
			group = -1; /* its number may belong to others now */
		cgroup_kill(cgroup);
		(void)signal_each(SIGKILL, is_of_run, &group);
		if (clock_now_ns() > deadline) {
			report->survivors = signal_each(0, is_of_run, &group);
			break;
		}
		clock_sleep_ns(KILL_NAP_NS);
	}
}
