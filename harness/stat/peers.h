/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_PEERS_H
#define KB_STAT_PEERS_H

#include "base/base.h"

/*
 * What others would say about the same values: their rules for calling two lists different. Nothing
 * here decides a verdict of ours. docs/statistics.md, section 11.
 */
enum peer {
	PEER_WELCH,	/* Welch's t test, p <= 5 % */
	PEER_MMTESTS,	/* |difference of means| > 1.96 (sd_a + sd_b) */
	PEER_LKP,	/* each median outside the other's range, and medians more than 1 % apart */
	PEER_BENCHSTAT, /* Mann and Whitney's U test of medians, p <= 5 % */
	PEER_COUNT,
};

struct peer_answer {
	bool told;	 /* false: the rule has no answer, and why says so */
	bool differs;	 /* the rule calls the two different */
	double change;	 /* as the rule states it, a fraction of a: b / a - 1; NAN when a is 0 */
	double p;	 /* NAN where the rule has none */
	double half;	 /* half of the 95 % interval, a fraction of a; NAN where there is none */
	const char *why; /* "" when told */
};

/* "welch", "mmtests", "lkp", "benchstat". */
const char *peer_name(enum peer peer);
/* One sentence: what the rule is. */
const char *peer_about(enum peer peer);
/* True when the rule's values are boots, not runs: its users start a kernel for every value. */
bool peer_takes_boots(enum peer peer);

/* Asks a rule about the baseline's values a and the variant's b, in any order and untransformed.
 * Always fills *out. */
void peer_ask(enum peer peer, const double *a, size_t a_count, const double *b, size_t b_count,
	struct peer_answer *out);

#endif
