/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_CALLS_H
#define KB_AGENT_CALLS_H

#include "base/base.h"

#include "base/str.h"
#include "base/strv.h"

/*
 * How often kernel functions are called, on all CPUs: by ftrace's function profiler, or by kprobes
 * where the kernel has those instead. A function that cannot be counted, or a kernel that counts
 * none, is said in the report and is no error.
 */
struct calls {
	const char *root;	      /* "" on a machine */
	const struct strv *functions; /* asked for */
	char *dir;		      /* of tracefs, under root; NULL: there is none */
	enum { CALLS_NONE, CALLS_PROFILE, CALLS_KPROBE } by; /* what is switched on */
	struct str notes;
};

/* Switches the counting on. Release with calls_end. */
void calls_begin(struct calls *calls, const char *root, const struct strv *functions);

/*
 * Switches it off, leaves tracefs as it was and appends the report, as text:
 *
 *	by profile | kprobe | none
 *	! FUNCTION REASON	(one for each that is not counted; "!! REASON": for all)
 *	@ FILE			followed by what the kernel printed there
 */
void calls_end(struct calls *calls, struct str *report);

#endif
