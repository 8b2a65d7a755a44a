/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_NOISE_H
#define KB_JUDGE_NOISE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/store_view.h"
#include "stat/history.h"

/* How much a machine's boots differ in one condition and metric, from every kernel that was booted
 * there more than once: boots of one kernel in one experiment are compared with each other, and
 * only those count that were measured with the program of the newest. */
struct noise {
	const char *condition, *metric;
	struct history history; /* nu0 is 0 while too few boots are known */
};

/* Of the conditions named, from the newest experiments until a condition has JUDGE_HISTORY_BOOTS
 * boots; imports of means have no part. Conditions that never ran there have no entry. Entries are
 * in the order of the names and live in the arena, as do their texts. */
KB_MUST_CHECK int noise_load(struct store *store, const char *machine,
	const char *const *conditions, size_t condition_count, struct arena *arena,
	struct noise **out, size_t *count, struct err *err);

/* The boots of each kernel that find a change of d (ln) by a test at that level with the given
 * power, with that many runs a boot and without help of a history. The noise is an estimate: the
 * power is the mean over what it may be, so that few known boots ask for more. 0: more than 200, or
 * too little is known. */
int noise_boots_to_detect(
	const struct noise *noise, int64_t runs, double level, double d, double power);

#endif
