/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_TOOL_H
#define KB_AGENT_TOOL_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* Programs of the machine that the agent calls between runs, never while something is measured. */

/* Runs argv (argv[0] is a path) to its end; *out gets the first 4 KiB of what it prints, stderr
 * too. The exit status, or ERR_INFRA when it cannot be run, is ended by a signal, or is killed with
 * its group because it took longer than timeout_ns. */
KB_MUST_CHECK int tool_run(
	const char *const *argv, int64_t timeout_ns, struct str *out, struct err *err);

/* Starts argv in a session of its own; it outlives the agent. It prints to log_fd, at most 16 MiB.
 * Returns the pid, or ERR_INFRA. */
KB_MUST_CHECK pid_t tool_start(const char *const *argv, int log_fd, struct err *err);

/* When a process was started, in ticks since boot, so that its pid is not mistaken; -1 when there
 * is none, or it is a zombie. */
int64_t tool_started(pid_t pid);

#endif
