/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SCHEDULER_H
#define KB_AGENT_SCHEDULER_H

#include "base/base.h"

#include <jansson.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * A sched_ext scheduler: a process that loads BPF programs and stays as long as they schedule. When
 * it ends, for whatever reason, the kernel goes back to its own scheduler.
 */
struct scheduler {
	pid_t pid;	 /* 0: none */
	int64_t started; /* see tool_started */
};

/* Members state ("enabled", "disabled"), ops (name of the loaded one), enable_seq (how often one
 * was loaded since boot), rejected (tasks that it refused); null where they are not known. NULL
 * when the kernel has no sched_ext. New reference. */
json_t *scheduler_look(const char *root);

/* Starts argv, printing to log_path, and waits until the kernel says that it schedules, at most 30
 * s. argv[0] is a path. ERR_NOT_FOUND when the kernel has no sched_ext; ERR_INFRA with its last
 * line when it does not get there, or when another one is loaded. */
KB_MUST_CHECK int scheduler_start(const char *root, const char *const *argv, const char *log_path,
	struct scheduler *out, struct err *err);

/* True while the process is the one that was started, and runs. */
bool scheduler_runs(const struct scheduler *scheduler);

/* SIGTERM, after 5 s SIGKILL, then waits until the kernel has let go of it; absent is fine. */
KB_MUST_CHECK int scheduler_stop(
	const char *root, const struct scheduler *scheduler, struct err *err);

/* Kills a scheduler that an agent started and could not note because it was killed. */
void scheduler_stop_strangers(const char *root);

#endif
