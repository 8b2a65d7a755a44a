/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_DETECT_H
#define KB_CMD_DETECT_H

#include "base/base.h"

#include "cmd/study.h"
#include "judge/noise.h"
#include "sys/json.h"

/* The power that a number of boots is chosen for. */
#define DETECT_POWER 0.8

/* What it takes to find a change of a given size on one machine. */
struct detect {
	const struct plan *plan;
	double change_pct;
	struct noise *noises;
	/* Of each kernel, one for each of noises; 0: not known, or more than 200. Alone: at the
	 * level of q, as in a table of which all moves; as the only change of its table: at that
	 * level divided by the number of comparisons. */
	int *boots, *boots_only;
	size_t count;
	int64_t comparisons;	  /* of one kernel with its baseline */
	int most, most_only;	  /* of these; 0: none is known, or one is beyond 200 */
	int64_t plan_ns, only_ns; /* all boots and runs of the plan with that many of each kernel */
};

/* Looks at what the store knows of the machine; cmd->store may be NULL: nothing. plan_ns is
 * what the plan takes as it is, without builds. ERR_USAGE for a change within the margin, which
 * would be called equivalent, and for toggles, which do not compare boots. */
KB_MUST_CHECK int detect_make(struct cmd *cmd, const struct plan *plan, double change_pct,
	int64_t plan_ns, struct detect *out, struct err *err);
void detect_add_text(const struct detect *detect, struct str *out);
json_t *detect_json(const struct detect *detect);

#endif
