/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_PLACE_H
#define KB_AGENT_PLACE_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * The folder of one run. Its parent belongs to the agent's user and nobody else can write there. In
 * it are
 *
 *	spec.json	what is to be run
 *	lock		held (flock) by the supervisor for as long as the run lasts
 *	started		written just before the program is started: it is never started again
 *	stdout stderr	what the program printed, in place when the run is over
 *	dmesg		the kernel's log around the run
 *	counters	what was counted, in a run that is made for it (count.h)
 *	perf-stat perf-log	of perf, during such a run
 *	around		what set-up, server and tear-down printed, if there were any
 *	result.json	written last, by rename: the run is over
 *	tmp/ work/	during the run only: the tmpfs of the outputs, the program's own folder
 */
struct place {
	char *dir;
	int lock_fd; /* -1: not ours */
};

/* What is known without the lock. */
enum place_state { PLACE_NEW, PLACE_STARTED, PLACE_DONE };

/* Checks the folder and its parent; with create, makes it. ERR_USAGE for a path that is not
 * absolute, ERR_NOT_FOUND without such a folder, ERR_INFRA when others could write there. */
KB_MUST_CHECK int place_open(struct place *place, const char *dir, bool create, struct err *err);
/* Takes the lock without waiting; 1 taken, 0 somebody else has it, negative: *err. */
KB_MUST_CHECK int place_try_lock(struct place *place, struct err *err);
void place_unlock(struct place *place);
/* Sleeps until nobody holds the lock. */
KB_MUST_CHECK int place_wait(const struct place *place, struct err *err);
enum place_state place_state(const struct place *place);
void place_release(struct place *place);

/* A real folder, no link, that belongs to us and that nobody else can write to. */
KB_MUST_CHECK int place_check_folder(const char *path, struct err *err);

/* The path of a file in it; freed by the caller. */
char *place_path(const struct place *place, const char *name);

/* "started" holds the run's token, the supervisor's pid and the boot it runs in. */
struct place_mark {
	char token[33];
	char boot_id[64];
	int64_t pid;
};
/* A new token for this process and boot. */
void place_mark_make(struct place_mark *mark);
/* Not synced: no disk traffic before a measurement; it matters to this boot only. */
KB_MUST_CHECK int place_mark_write(
	const struct place *place, const struct place_mark *mark, struct err *err);
bool place_mark_read(const struct place *place, struct place_mark *mark);

/* Removes the folder of a run that is over. ERR_TIMEOUT while it runs; absent is fine. */
KB_MUST_CHECK int place_forget(const char *dir, struct err *err);

#endif
