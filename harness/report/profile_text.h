/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_PROFILE_TEXT_H
#define KB_REPORT_PROFILE_TEXT_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/*
 * What `perf report --stdio --children -F overhead_children,sample,dso,sym -t '|'` printed. It
 * comes from a measured machine, and is taken for hostile.
 */
struct profile_symbol {
	const char *name; /* "try_to_wake_up", "nf_hook_slow [nf_tables]", "libc.so.6: read" */
	bool kernel;
	bool named;	    /* false: addresses without a symbol, all of them in one */
	bool idle;	    /* of the idle loop */
	int64_t samples;    /* in the function itself */
	double reached_pct; /* of all samples: in it, or in what it called; NaN when not named */
};

struct profile_text {
	const char *event; /* "cycles", "cpu-clock:pppH" */
	int64_t lost;	   /* samples that found no room in perf's buffer */
	struct profile_symbol *symbols;
	size_t count;
};

enum { PROFILE_MAX_SYMBOLS = 200000, PROFILE_MAX_NAME = 160 };

/* Everything lives in the arena. Names come once. ERR_INVALID, with the line, for anything that
 * perf does not print; a text without samples is one of no symbols. */
KB_MUST_CHECK int profile_text_read(struct arena *arena, const char *bytes, size_t len,
	struct profile_text *out, struct err *err);

#endif
