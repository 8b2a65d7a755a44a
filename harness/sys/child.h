/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_CHILD_H
#define KB_SYS_CHILD_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"
#include "sys/proc.h"

/*
 * One started program and its process group: what proc_run and proc_start have in common. Private
 * to them. Order: child_spawn, child_wait and child_signal, child_reap.
 */
struct child {
	pid_t pid;
	int pidfd; /* -1: reaped or given up */
	int64_t started_ns;
};

/* Starts spec->argv with the three descriptors as its stdin, stdout and stderr, which stay the
 * caller's to close. Returns when the program has been executed: errors as for proc_run. */
KB_MUST_CHECK int child_spawn(
	struct child *child, const struct proc_spec *spec, const int fds[3], struct err *err);

/* Waits until a monotonic deadline (negative: none) for the leader's end. True when it has ended.
 * A signal to us ends the wait early. */
bool child_wait(const struct child *child, int64_t deadline_ns);

/* Sends a signal to the whole group. */
void child_signal(const struct child *child, int signo);

/* Kills what is left of the group, reaps the ended leader and fills in exit_code, signal and
 * wall_ns of *result. Waits at most a second for the other members to go. */
void child_reap(struct child *child, struct proc_result *result);

/* Stops watching a process that even SIGKILL did not end. */
void child_give_up(struct child *child);

#endif
