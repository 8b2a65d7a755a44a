/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_ROOM_H
#define KB_AGENT_ROOM_H

#include "base/base.h"

#include "base/err.h"

#include "agent/place.h"
#include "agent/spec.h"

/*
 * Where a run's files are while it lasts. stdout and stderr go straight to files, in a tmpfs of
 * limited size where we may mount one (in a mount namespace of our own, so that it vanishes with
 * us); elsewhere the size of files is limited instead.
 */
struct room_output {
	const char *name;
	int fd;
	int64_t bytes; /* kept; known at the end */
};

struct room {
	const struct place *place;
	char *cwd;
	struct room_output out, err_out;
	struct room_output log; /* of what is around the program; fd -1: there is nothing */
	int64_t limit_bytes;	/* of each stream */
	int64_t max_file_bytes; /* for RLIMIT_FSIZE; 0 with a tmpfs */
	bool tmpfs, log_tmpfs, own_work, work_tmpfs;
	bool over_limit; /* known at the end */
};

KB_MUST_CHECK int room_open(
	struct room *room, const struct place *place, const struct run_spec *spec, struct err *err);

/* For a run that was not started: the log only. */
KB_MUST_CHECK int room_keep_log(struct room *room, struct err *err);

/* Nothing runs in the program's folder any more: removes it. The disk that it filled has room for
 * the outputs then. */
void room_drop_work(struct room *room);

/* After the run: cuts the outputs to the limit, moves them to the run's folder, and tells their
 * sizes and whether the limit was reached. */
KB_MUST_CHECK int room_keep_outputs(struct room *room, struct err *err);

/* Unmounts, removes the program's folder if it is still there, closes. */
void room_release(struct room *room);

#endif
