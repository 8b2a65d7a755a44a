/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_KERNEL_LOG_H
#define KB_RUN_KERNEL_LOG_H

#include "base/base.h"

#include "sys/json.h"

/* Lines of level warning or worse that the kernel wrote while a program ran, sorted into reasons of
 * the validity ledger. */
struct kernel_log {
	const char *reason;
	int64_t count;
	const char *first; /* line; borrowed from the result; "" when it was not kept */
};

enum { KERNEL_LOG_REASONS = 3 };

/* kmsg: the member of an agent's result. Lines that one of the patterns (NULL-ended; NULL: none)
 * matches are left out. Fills in at most KERNEL_LOG_REASONS entries with a count above 0; returns
 * how many. */
size_t kernel_log_sort(const json_t *kmsg, const char *const *allowed, struct kernel_log *out);

#endif
