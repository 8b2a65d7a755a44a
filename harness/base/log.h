/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_LOG_H
#define KB_BASE_LOG_H

#include "base/base.h"

/*
 * What a lower floor has to tell a person while it works. Nothing below cmd/ writes to a terminal:
 * lines go to the sink that cmd/ installs; without one they are dropped.
 */
enum log_level {
	LOG_DEBUG,    /* shown with -v */
	LOG_INFO,     /* what is being done */
	LOG_WARN,     /* something a person should know; also at the end */
	LOG_PROGRESS, /* replaces the progress line before it; "" removes it */
};

typedef void log_sink_fn(void *arg, enum log_level level, const char *line);

void log_set_sink(log_sink_fn *sink, void *arg);
/* One line without a newline; control characters in it are made harmless by the sink. */
KB_PRINTF(2, 3) void log_line(enum log_level level, const char *fmt, ...);

#endif
