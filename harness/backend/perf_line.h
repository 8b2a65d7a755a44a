/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_PERF_LINE_H
#define KB_BACKEND_PERF_LINE_H

#include "base/base.h"

#include "base/err.h"
#include "backend/reader_ops.h"

/*
 * A line of `perf stat -x';'`: value;unit;event;runtime of the counter;percentage;metric;its unit,
 * with a deviation before the runtime under -r. What stands behind the percentage differs between
 * versions and is not looked at. Newer versions write "task-clock [software]" for the event in
 * places.
 */
enum { PERF_VALUE, PERF_UNIT, PERF_EVENT, PERF_FIELDS = 6 };

struct perf_line {
	struct stream fields[PERF_FIELDS];
	size_t count;
};

/* Points into the line, whose end is left out. */
void perf_line_split(const char *line, size_t len, struct perf_line *out);
/* The event's name without what stands in brackets behind it; count is above PERF_EVENT. */
struct stream perf_line_event(const struct perf_line *line);
/* "not supported" or "not counted" where perf says that there is no value; else NULL. */
const char *perf_line_absent(const struct perf_line *line);
/* How much of the time the event was counted: less than 100 makes the value an estimate. */
KB_MUST_CHECK int perf_line_pct(const struct perf_line *line, double *pct, struct err *err);

#endif
