/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_RUN_KIND_H
#define KB_MODEL_RUN_KIND_H

#include "base/base.h"

/*
 * What a run is for. Only measured runs are judged. The numbers stand in the database.
 */
enum run_kind {
	RUN_MEASURED = 0,
	RUN_WARMUP = 1,
	RUN_COUNTED = 2, /* made again under counters: what it says of speed is not used */
};

/* "run", "warm-up" or "counted". */
static inline const char *run_kind_name(enum run_kind kind)
{
	static const char *const names[] = {
		[RUN_MEASURED] = "run", [RUN_WARMUP] = "warm-up", [RUN_COUNTED] = "counted"};

	return names[kind];
}

#endif
