/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_REAP_H
#define KB_AGENT_REAP_H

#include "base/base.h"

#include <sys/resource.h>
#include <sys/types.h>

#include "agent/cgroup.h"

/* The end of a run: waiting for the program, and making sure that nothing of it is left. */

enum wait_end {
	WAIT_EXITED,	/* it is a zombie now; its status was not taken */
	WAIT_DEADLINE,	/* still running at the deadline */
	WAIT_CANCELLED, /* SIGTERM came */
};

/* To be called once, before the program is started: its orphans become our children, and signals
 * wait until we look at them. */
void reap_prepare(void);

/* Whether it has ended; its status stays to be waited for. */
bool reap_has_exited(pid_t child);

/* Sleeps in one call until the child ends, the monotonic deadline passes, or SIGTERM comes. */
enum wait_end reap_wait(pid_t child, int64_t deadline_ns);

struct reap_report {
	bool reaped; /* the program ended and its status was taken: false only for one that could
			not be killed */
	int status;  /* as of wait4 */
	struct rusage usage;
	int64_t killed;	   /* processes that were alive when the killing began */
	int64_t survivors; /* still alive 10 s later */
};

/* Kills with SIGKILL what is left of the run, the program itself where it still runs, its group,
 * its cgroup and all other descendants, and reaps every child of ours. program 0: it is gone, only
 * the others are. */
void reap_all(pid_t program, const struct cgroup *cgroup, struct reap_report *report);

/* For a run whose supervisor died: SIGKILL to all processes whose environment has the text (they
 * are no children of ours). Returns how many there were. */
int64_t reap_strangers(const char *environment_text);

#endif
