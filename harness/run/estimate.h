/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_ESTIMATE_H
#define KB_RUN_ESTIMATE_H

#include "base/base.h"

#include "base/err.h"
#include "model/plan.h"
#include "model/store_plan.h"

/*
 * How long it will take. Each duration is, in this order: the mean of what was seen in this
 * session, the mean of what the store saw on the machine before, or what the suite declares (for
 * boots and builds: a guess) plus the overhead that other runs showed.
 */
struct estimate;

/* All of the plans is left to do. store may be NULL: no history. The plans must outlive it; freed
 * by estimate_free. */
KB_MUST_CHECK int estimate_new(struct store *store, const struct experiment *experiment,
	const struct plan *plans, struct estimate **out, struct err *err);
void estimate_free(struct estimate *estimate); /* NULL is fine */

/* What is no longer to be done, and how long it took; ns < 0: it was not done now, or failed. */
void estimate_built(struct estimate *estimate, size_t variant, int64_t ns);
void estimate_booted(struct estimate *estimate, size_t machine, int64_t ns);
void estimate_ran(struct estimate *estimate, size_t machine, size_t condition, int64_t ns);

struct estimate_left {
	int64_t build_ns, boot_ns, run_ns;
	int builds, boots, runs;
	int64_t wall_ns; /* until the end: machines work at the same time */
	bool measured;	 /* most of the time rests on durations that were seen */
};
struct estimate_left estimate_left(const struct estimate *estimate);
/* Of one machine (an index), without builds. */
struct estimate_left estimate_left_on(const struct estimate *estimate, size_t machine);

#endif
