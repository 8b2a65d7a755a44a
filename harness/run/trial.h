/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_TRIAL_H
#define KB_RUN_TRIAL_H

#include "base/base.h"

#include "base/mem.h"
#include "model/store_result.h"
#include "model/suite.h"
#include "run/outcome.h"

/*
 * One run of a condition on this host, under the agent as in an experiment, without a plan or a
 * database.
 */
struct trial {
	struct outcome outcome;
	struct store_flag *flags; /* the arena's */
	size_t flag_count;
};

/* agent and program are paths here. ERR_INFRA when the agent does not answer, ERR_INTERRUPTED when
 * a stop was asked for. The caller ends with outcome_release. */
KB_MUST_CHECK int trial_run(const struct condition *condition, const char *agent,
	const char *program, struct arena *arena, struct trial *out, struct err *err);

#endif
