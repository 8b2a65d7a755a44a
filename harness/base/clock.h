/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_CLOCK_H
#define KB_BASE_CLOCK_H

#include "base/base.h"

#include "base/str.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* Monotonic time in ns: for durations and deadlines. */
int64_t clock_now_ns(void);
/* Wall-clock time in ns since 1970: for what people read, never for durations. */
int64_t clock_wall_ns(void);
/* What is left until a monotonic deadline in ms for poll(2): at least 0, rounded up. A negative
 * deadline means none and gives -1. */
int clock_poll_ms(int64_t deadline_ns);
/* Sleeps; returns early when a signal arrives. */
void clock_sleep_ns(int64_t ns);
/* "2026-11-20T04:05:06Z" from wall-clock ns. */
void clock_add_utc(struct str *s, int64_t wall_ns);

#endif
