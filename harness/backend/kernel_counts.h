/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_KERNEL_COUNTS_H
#define KB_BACKEND_KERNEL_COUNTS_H

#include "base/base.h"

#include "backend/reader_ops.h"

/*
 * What a kernel has counted since it was booted, from the text of its files. NaN: the text does not
 * say it. Hostile text gives NaN or a number that is not negative.
 */

/* The first number behind a word at the start of a line of /proc/stat: "ctxt", "intr". */
double kernel_stat(struct stream text, const char *word);

/* An interrupt of /proc/interrupts, over all CPUs: the line of that label (x86: "RES"), or else
 * the one whose description begins so (arm64 numbers its labels). */
double kernel_interrupts(struct stream text, const char *label, const char *description);

/* New-idle balancing of /proc/schedstat, over all CPUs and domains. Versions 15 to 17 of the file
 * are known; they differ in the number of fields and in a name before the mask. */
struct newidle_counts {
	double calls;  /* NaN: not there, or another version */
	double pulled; /* calls that moved a task: neither balanced nor failed */
};
struct newidle_counts kernel_newidle(struct stream text);

/* Calls of a function in a report of the agent (calls.h there); NaN: it was not counted, and *why,
 * of size bytes, says so. */
double kernel_calls(struct stream report, const char *function, char *why, size_t size);

/* Takes the next line off the text, without its end; false when there is none. */
bool kernel_next_line(struct stream *rest, struct stream *line);

#endif
