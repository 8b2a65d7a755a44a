/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_LAUNCH_H
#define KB_AGENT_LAUNCH_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"

#include "agent/cgroup.h"

/* Where programs are looked for unless a spec says so. */
#define LAUNCH_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* A program to be started, everything about it decided. */
struct launch {
	const char *program; /* path */
	const char *const *argv, *const *env;
	const char *cwd;
	int out_fd, err_fd;
	const struct cgroup *cgroup;
	int gate_fd;		/* wait there for an int64_t, the start_wall_ns; 0: do not wait */
	int64_t start_wall_ns;	/* sleep until this wall-clock time first; 0: start at once */
	int64_t max_file_bytes; /* RLIMIT_FSIZE; 0: no limit */
	const char *oom_score;	/* to put back what the agent changed for itself; NULL: nothing */
};

/* Shared with the child, which fills it in: so the parent has no reason to wake when the program
 * starts. stage is NULL when the program was started. */
struct launch_mark {
	int64_t started_wall_ns, started_ns; /* just before exec */
	const char *stage;		     /* what failed: a constant of this program */
	int error;			     /* its errno */
};

/* Memory for one mark. */
struct launch_mark *launch_mark_make(void);

/* Starts the program in a session and process group of its own (its pid), with default signals, no
 * descriptor but 0, 1, 2 (stdin is /dev/null) and SIGKILL when we die. Returns the pid, or -1 with
 * errno. */
pid_t launch_start(const struct launch *launch, struct launch_mark *mark);

/* Why the program at that path was not started; the mark has a stage. `what` is what it is called
 * in the sentence. Returns ERR_INFRA. */
int launch_failed(
	const struct launch_mark *mark, const char *what, const char *path, struct err *err);

/* The file that a name means: itself with a "/" in it, else the first executable of that name in
 * the PATH of env. NULL when there is none. Freed by the caller. */
char *launch_find(const char *name, const char *const *env);

#endif
