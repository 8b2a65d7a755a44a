/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_WISHES_H
#define KB_JUDGE_WISHES_H

#include "base/base.h"

#include "judge/judge.h"
#include "judge/rate.h"

/* What the plan of an experiment still needs, by its decided rates: see judge_next. */
struct judge_wish *wishes_of(const struct store_view *view, const struct evidence *evidence,
	const struct rate *rates, size_t rate_count, struct arena *arena, size_t *count);

#endif
