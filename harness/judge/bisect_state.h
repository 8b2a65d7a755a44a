/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_BISECT_STATE_H
#define KB_JUDGE_BISECT_STATE_H

#include "base/base.h"

#include "judge/bisect.h"
#include "stat/accum.h"
#include "stat/culprit.h"

/* Inside judge/ only: what a bisect knows. */
struct bisect_commit {
	int boots;
	bool skipped, built;
};

struct bisect {
	struct bisect_options options;
	struct bisect_commit *commits; /* 0..N */
	struct culprit_boot *boots;
	size_t boot_count, boot_capacity;
	int good_to, bad_from; /* the change is after good_to, and not after bad_from */
	/* Computed from the above by bisect_refresh when stale. */
	bool stale;
	struct culprit_fit fit;
	double *posterior, none;
	double drift;	/* from boot to boot, of the likeliest fit: this one */
	double several; /* probability of two changes; 0 while there are few boots */
	struct culprit_two two;
};

/* A commit is named at this share of the doubt that is allowed: the noise is one of the model's
 * only nearly. */
#define BISECT_CAUTION 0.8
/* Good and bad are the same when that is so likely. */
#define BISECT_NONE_ENOUGH 0.95

void bisect_refresh(struct bisect *b);
/* Probability of a change for the better: the same model in a mirror. */
double bisect_improved(const struct bisect *b);
/* One change or two: not known. */
bool bisect_doubts(const struct bisect *b);

#endif
