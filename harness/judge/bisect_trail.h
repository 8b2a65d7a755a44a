/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_BISECT_TRAIL_H
#define KB_JUDGE_BISECT_TRAIL_H

#include "base/base.h"

#include "base/mem.h"
#include "model/bisect.h"

/*
 * From a bisect's record to what it shows and what comes next. The same record gives the same
 * finding: nothing is kept between calls, so that a bisect goes on after a stop where it was.
 *
 * The engine (judge/bisect.h) sees the newest chain: its kernels are the engine's commits. Kernels
 * whose code is that of the one before are left out: nothing can have changed there. All boots of
 * the chain's kernels count, also those made for an earlier chain.
 */
struct trail_cost {
	double build, boot, run; /* seconds */
};

KB_MUST_CHECK int bisect_trail(const struct bisect_record *record, const struct trail_cost *cost,
	struct arena *arena, struct bisect_finding *out, struct err *err);

#endif
