/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_COUNTING_H
#define KB_RUN_COUNTING_H

#include "base/base.h"

#include "backend/counters.h"
#include "model/store_counter.h"

/* What the agent counted, as rows for the store: counters_read with its result converted. The
 * arena's. */
KB_MUST_CHECK int counting_read(struct arena *arena, const struct counter_source *source,
	struct store_counter **out, size_t *count, struct err *err);

#endif
