/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_COUNT_H
#define KB_AGENT_COUNT_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"

#include "agent/attach.h"
#include "agent/calls.h"
#include "agent/place.h"
#include "agent/spec.h"

/*
 * What is counted around a run that is made for it (events or functions in the spec), and in no
 * other: events by perf, calls of kernel functions, and the kernel's own counts before and after.
 * What was seen becomes the file `counters` in the run's folder, in the form of a reply (wire.h),
 * so that it can be read again later. Its parts, where there are any:
 *
 *	perf		what perf stat -x';' wrote
 *	perf-error	why it wrote nothing
 *	functions	see calls.h
 *	stat-before stat-after interrupts-before interrupts-after schedstat-before
 *	schedstat-after	the files of that name in /proc
 */
enum { COUNT_FILES = 3 };

struct count {
	const struct run_spec *spec;
	const char *root;
	struct attach attach;
	struct calls calls;
	int gate[2];	  /* the program waits at its end 0; -1: not */
	char *schedstats; /* what kernel.sched_schedstats was; NULL: it was not changed */
	struct str before[COUNT_FILES], after[COUNT_FILES];
	struct str csv, perf_error, functions;
};

/* Whether the run is one of these. */
bool count_is_wanted(const struct run_spec *spec);

/* Before the program is forked: makes the gate, which nothing passes yet. */
KB_MUST_CHECK int count_init(
	struct count *count, const struct run_spec *spec, const char *root, struct err *err);
/* The program waits at the gate: attaches perf. */
KB_MUST_CHECK int count_attach(
	struct count *count, const struct place *place, pid_t program, struct err *err);
/* Switches on what counts in the kernel, looks, and lets the program start at that wall-clock time
 * (0: at once), or whole seconds later where that has passed. Returns it. */
int64_t count_start(struct count *count, int64_t start_wall_ns);
/* The program has ended: looks again, and leaves everything as it was. */
void count_stop(struct count *count);
/* Writes the file and tells its size. */
KB_MUST_CHECK int count_keep(
	const struct count *count, const struct place *place, int64_t *bytes, struct err *err);
/* Of one that was initialized, or is all zero. */
void count_release(struct count *count);

#endif
