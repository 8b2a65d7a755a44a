/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_OUTCOME_H
#define KB_RUN_OUTCOME_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"
#include "base/wire.h"
#include "sys/json.h"

/*
 * The agent's reply on a run that is over, checked. `reason` says why it gives no numbers, or is
 * NULL; numbers that are not known are -1 (times: 0).
 */
struct outcome {
	struct str stream; /* the reply; the parts point into it */
	struct wire_reply parts;
	json_t *result;
	const char *reason; /* exit, signal, timeout, output-limit, cancelled, surroundings,
			     * not-started, lost */
	char detail[400];
	int64_t received_ns; /* our monotonic clock; 0 when it was collected later */
	int64_t started_ns, ended_ns, wall_ns, exit_code, signal;
	int64_t user_ns, system_ns, max_rss_bytes, voluntary_switches, involuntary_switches;
};

/* Takes the stream's content over (it is empty afterwards). ERR_INFRA when it is no whole reply;
 * *out is then untouched. The caller ends with outcome_release. */
KB_MUST_CHECK int outcome_parse(struct str *stream, struct outcome *out, struct err *err);
void outcome_release(struct outcome *outcome);

/* A part by name; *len 0 and "" when it is not there. */
const char *outcome_part(const struct outcome *outcome, const char *name, size_t *len);

/* The result without what stands in other columns, as compact JSON: the run's environment. Freed by
 * the caller. */
char *outcome_environment(const struct outcome *outcome);

#endif
