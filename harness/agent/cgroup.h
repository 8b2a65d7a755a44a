/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_CGROUP_H
#define KB_AGENT_CGROUP_H

#include "base/base.h"

/*
 * A cgroup of our own for the processes of one run, so that all of them can be found: in the cgroup
 * v2 hierarchy, wherever that is mounted, under kbracket/. No controller is switched on in it.
 */
struct cgroup {
	char *path; /* NULL: not available here */
};

/* Makes kbracket/NAME. Leaves path NULL where there is no cgroup v2, or no right to. */
void cgroup_make(struct cgroup *cg, const char *name);
/* Opens the one that another agent made; path stays NULL when it is not there. */
void cgroup_find(struct cgroup *cg, const char *name);
/* Moves the calling process in. Async-signal-safe; false when it failed or there is no cgroup. */
bool cgroup_enter(const struct cgroup *cg);
/* SIGKILL to all in it, the kernel's cgroup.kill where it exists (5.14). */
void cgroup_kill(const struct cgroup *cg);
/* Number of living processes in it; 0 when there is no cgroup. */
int64_t cgroup_count(const struct cgroup *cg);
/* True when no process is in it, or there is no cgroup. */
bool cgroup_empty(const struct cgroup *cg);
/* CPU time used in it so far, in ns; -1 when not known. */
int64_t cgroup_cpu_ns(const struct cgroup *cg);
/* Removes the cgroup when it is empty, and frees. */
void cgroup_release(struct cgroup *cg);

#endif
