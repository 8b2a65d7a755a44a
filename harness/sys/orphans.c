/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/orphans.h"

/* Our own children; few at a time. */
static pid_t *own;
static size_t own_count, own_capacity;

void orphans_adopt(void)
{
	struct sigaction action;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* without it orphans go to init */
	if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		(void)signal(SIGCHLD, SIG_DFL);
}

void orphans_except(pid_t child)
{
	GROW(own, own_count, own_capacity);
	own[own_count++] = child;
}

void orphans_include(pid_t child)
{
	for (size_t i = 0; i < own_count; i++)
		if (own[i] == child) {
			own[i] = own[--own_count];
			break;
		}
	if (own_count)
		return;
	free(own);
	own = NULL;
	own_capacity = 0;
}

static bool is_own(pid_t pid)
{
	for (size_t i = 0; i < own_count; i++)
		if (own[i] == pid)
			return true;
	return getsid(pid) == getsid(0);
}

void orphans_reap(void)
{
	siginfo_t info = {0};

	/* The kernel shows the first one only: behind one of our own the others wait for the next
	 * time. */
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
		!is_own(info.si_pid)) {
		if (waitpid(info.si_pid, NULL, WNOHANG) != info.si_pid)
			return;
		info.si_pid = 0;
	}
}
