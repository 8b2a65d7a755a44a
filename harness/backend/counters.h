/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_COUNTERS_H
#define KB_BACKEND_COUNTERS_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "backend/reader.h"

/*
 * What was counted in a run that was made for it: the agent's file `counters` and what the program
 * printed -> counts per operation. Pure: no files, no machine.
 */
struct counter {
	const char *name; /* "operations", "task-clock", "newidle balance", "schedule()" */
	const char *unit; /* of value: "ns/op", "/1000 op", "ns/run", "/run" */
	double total;	  /* in the whole run, times in ns; NaN: not counted, and reason says why */
	double value;	  /* NaN: as total, or the operations are not known */
	double counted_pct; /* of the time; less than 100: total is an estimate of perf's */
	const char *reason; /* "" */
};

struct counter_source {
	const struct condition *condition;
	const struct reading *reading; /* of the same run */
	double seconds;		       /* that the run took */
	const char *const *functions;  /* that were asked for */
	const char *bytes;	       /* the agent's file */
	size_t len;
};

/* A run that prints more counters than this is not read. */
enum { COUNTERS_MAX = 500 };

/* The first is the run's operations. ERR_INVALID when the file is damaged, or a line of it cannot
 * be read; *out is then untouched. Text is the arena's. */
KB_MUST_CHECK int counters_read(struct arena *arena, const struct counter_source *source,
	struct counter **out, size_t *count, struct err *err);

#endif
