/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_SUITES_H
#define KB_JUDGE_SUITES_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/suite_mean.h"

/* The geometric means of every variant that has a baseline: one for each machine and metric of a
 * suite with two or more conditions, controls left out. The rows point into the view and live in
 * the arena, in the order of machine, suite, metric and variant. docs/statistics.md, section 7. */
KB_MUST_CHECK int judge_suites(struct store *store, const struct store_view *view,
	struct arena *arena, struct suite_mean **out, size_t *count, struct err *err);

#endif
