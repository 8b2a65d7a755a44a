/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_BISECT_H
#define KB_JUDGE_BISECT_H

#include "base/base.h"

/*
 * The decisions of a bisect over commits 0 (good) to N (bad): what to boot next, and what the boots
 * show. It is told what happened and never does anything itself; told the same in the same order
 * it says the same, so that a bisect is stored as its events. docs/bisect.md has the method.
 */
struct bisect_options {
	int commits; /* N, at least 1 */
	bool lower_is_better;
	bool unordered;	   /* boots are fed in another order than that of time */
	double confidence; /* at which a commit is named, such as 0.95 */
	int max_boots;	   /* the budget */
	int runs;	   /* measured in a boot */
	double cost_build, cost_boot, cost_run; /* in any one unit */
};

enum bisect_action { BISECT_BOOT, BISECT_DONE };

enum bisect_verdict {
	BISECT_CULPRIT,	  /* one commit */
	BISECT_RANGE,	  /* one that can be built, with the ones before it that cannot */
	BISECT_SEVERAL,	  /* more than one change; the larger is named */
	BISECT_NONE,	  /* bad is not worse than good */
	BISECT_UNDECIDED, /* not, or not yet */
};
const char *bisect_verdict_name(enum bisect_verdict verdict); /* "culprit", "range", ... */

struct bisect_result {
	enum bisect_verdict verdict;
	/* The culprit is one of lo..hi; of a range, hi can be built and the others cannot. Of
	 * SEVERAL: the larger change. Of UNDECIDED: the smallest range that holds 99 %. NONE: 0. */
	int lo, hi;
	double probability; /* of lo..hi; of NONE: that nothing changed */
	double none;	    /* probability that nothing changed */
	double several;	    /* probability that there is more than one change */
	int changes[2][2];  /* of SEVERAL: first and last commit of each */
	/* By the likeliest answer: standard deviations, of logarithms, of what the levels of good
	 * and bad are known by, and of the runs of a boot and of boots beyond that; the share of
	 * boots that come up elsewhere. 0 before the first boot. */
	double good_sd, bad_sd, within, between, outlying;
	double improved; /* of NONE: probability that bad is better than good */
};

struct bisect;
/* The caller frees. */
struct bisect *bisect_new(const struct bisect_options *options);
void bisect_free(struct bisect *b); /* NULL is fine */

/* A boot of a commit gave these values (count >= 1, all positive). */
void bisect_fed(struct bisect *b, int commit, const double *values, size_t count);
/* A commit can't be tested: it does not build, or boot, or run the benchmark. */
void bisect_skip(struct bisect *b, int commit);
/* A commit is built already: booting it costs no build. */
void bisect_built(struct bisect *b, int commit);
/* Somebody knows that the change is after a commit, or not after it. */
void bisect_mark(struct bisect *b, int commit, bool bad);

/* What to do next; *commit says which to boot. */
enum bisect_action bisect_next(struct bisect *b, int *commit);

/* What the boots show so far. posterior (may be NULL) has commits + 1 places: the probability of
 * each commit that it is the one, which with none adds up to 1. */
void bisect_get(struct bisect *b, struct bisect_result *out, double *posterior);

/* What a larger budget would do: about so many more boots, and so many more kernels for them, until
 * it can be decided. False when that cannot be told: nothing was booted yet, or two changes are as
 * likely as one. */
struct bisect_needs {
	int boots, builds;
};
bool bisect_left(struct bisect *b, struct bisect_needs *out);

#endif
