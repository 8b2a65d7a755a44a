/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_CULPRIT_H
#define KB_STAT_CULPRIT_H

#include "base/base.h"

/*
 * Which of the commits 1..N made a metric worse, from boots of some of them: 0 is good, N is bad.
 * Arrays in, numbers out. The model and where its figures come from: docs/bisect.md.
 *
 * All lengths are of the logarithm of the metric, turned so that more is better.
 */

/* One boot. Boots of one commit need not stand together. */
struct culprit_boot {
	int commit;	/* 0..N */
	size_t runs;	/* measured runs, at least 1 */
	double mean_ln; /* mean of ln y over the runs; -ln y when lower is better */
	double ss_ln;	/* sum of the runs' squared distances from it; 0 with one run */
};

/* How boots of one kernel scatter: most around its level, a share of them elsewhere. */
struct culprit_noise {
	double within; /* variance between the runs of one boot */
	double tau;    /* standard deviation between boots beyond that */
	double share;  /* of boots that come up elsewhere */
	double depth;  /* by how much those are lower */
	bool wide;     /* those lie anywhere within some 10 %, and depth means nothing */
};

/* What a kernel's level is thought to be. */
struct culprit_level {
	double mean, variance;
};

/* A group of neighbouring commits that the boots say the same of. If the change is in it: */
struct culprit_segment {
	int first, last;
	double likelihood;	    /* of each of its commits; the same scale as none's */
	struct culprit_noise noise; /* the likeliest then, and what goes with it: */
	struct culprit_level good, bad;
};

struct culprit_fit {
	struct culprit_segment *segments; /* ascending, together 1..N; the caller frees */
	size_t segment_count;
	size_t best; /* the likeliest of them */
	/* If nothing changed: */
	double none;  /* likelihood */
	double scale; /* logarithm of what a likelihood of 1 stands for */
	struct culprit_noise none_noise;
	struct culprit_level level;
};

/* Fits the model to count >= 1 boots. Likelihoods are scaled so that their largest is 1. Free with
 * culprit_free. */
void culprit_fit(
	const struct culprit_boot *boots, size_t count, int commits, struct culprit_fit *out);
void culprit_free(struct culprit_fit *fit);

/* Two changes, both for the worse, at different places. */
struct culprit_two {
	double likelihood; /* mean over all pairs of commits; the scale of a fit to the same boots
			    */
	/* The likeliest places, in order: commits, and their share of what is likely. */
	int first[2], last[2];
	double share[2];
	double step[2]; /* how far the level falls there */
};

/* Fits two changes to the boots that fit was made from. At least three commits must have boots. */
void culprit_fit_two(const struct culprit_boot *boots, size_t count, int commits,
	const struct culprit_fit *fit, struct culprit_two *out);

/*
 * Bits that one more boot of so many runs of each commit tells about where the change is: mutual
 * information of that and the boot's mean, by quadrature. posterior has N + 1 places, of which 0 is
 * not used, and adds up to 1 with none; so many bits are filled in.
 */
void culprit_bits(const struct culprit_fit *fit, const double *posterior, double none, size_t runs,
	double *bits);

/*
 * About how many more boots of so many runs it takes until one commit is left with no more than
 * that doubt, if levels and scatter are what they look like: what is open, at the rate at which a
 * boot tells something, and the check of the one that is left. Posterior as above.
 */
double culprit_boots_left(const struct culprit_fit *fit, const double *posterior, double none,
	size_t runs, double doubt);

#endif
