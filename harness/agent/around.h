/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_AROUND_H
#define KB_AGENT_AROUND_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"

#include "agent/launch.h"
#include "agent/spec.h"

/*
 * What a run has around it: set-up commands, a server, tear-down commands. All of it happens before
 * the program starts and after it ended; in between nothing is looked at. Commands and server have
 * the program's folder and environment, and print to one log.
 */
struct around_command {
	pid_t pid;		  /* 0: it does not run */
	char *path;		  /* NULL: there is no such program */
	struct launch_mark *mark; /* how far its start came */
};

struct around {
	const struct run_spec *spec;
	struct launch launch; /* of all of them; program and argv are filled in for each */
	struct around_command server;
	bool cancelled; /* SIGTERM came while one of them ran */
	bool begun;	/* the tear-down is due */
};

/* Set-up, then the server until it is ready. launch: log, folder, environment and cgroup. What
 * fails is ERR_INFRA, and the sentence ends with the last line that was printed. around_end is
 * called in any case. */
KB_MUST_CHECK int around_begin(struct around *around, const struct run_spec *spec,
	const struct launch *launch, struct err *err);

/* After the program: whether the server still runs. ERR_INFRA says how it ended. */
KB_MUST_CHECK int around_check_server(const struct around *around, struct err *err);

/* Ends the server: SIGTERM, and SIGKILL to its whole group after 5 s. Its children elsewhere are
 * the reaper's. */
void around_stop_server(struct around *around);

/* The tear-down, all of it; the first failure is told. */
KB_MUST_CHECK int around_end(struct around *around, struct err *err);

#endif
