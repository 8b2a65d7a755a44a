/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/log.h"
#include "base/str.h"

static log_sink_fn *log_sink;
static void *log_sink_arg;

void log_set_sink(log_sink_fn *sink, void *arg)
{
	log_sink = sink;
	log_sink_arg = arg;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	struct str line = STR_INIT;
	va_list ap;

	if (!log_sink)
		return;
	va_start(ap, fmt);
	str_vaddf(&line, fmt, ap);
	va_end(ap);
	log_sink(log_sink_arg, level, str_text(&line));
	str_release(&line);
}
