/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_CULPRIT_WORK_H
#define KB_STAT_CULPRIT_WORK_H

#include "base/base.h"

#include "stat/culprit_noise.h"

/* What a fit works with. Rows of a matrix are count (boots) or tested + 1 (places for the change),
 * each grid.count wide. */
struct work {
	struct culprit_boot *boots; /* our own, ones with gaps closed */
	size_t count;
	int *tested; /* commits with boots, ascending */
	size_t tested_count;
	size_t *row; /* of each boot, its commit's place in tested */
	struct noise_grid grid;
	double within;
	/* of the prior on levels */
	size_t least;	       /* grid points between two levels */
	double decay, nearest; /* weight from point to point, of the nearest */
	double pairs;	       /* its sum over all pairs of levels */
	/* of one noise */
	double *main, *outlying;	/* densities of each boot */
	double *factor;			/* of each tested commit */
	double *before, *after;		/* products of the factors left and right of a place */
	double *log_before, *log_after; /* their scales */
	double *scratch, *ones;
};

/* Lays out the grid of levels, the prior over pairs of them, and room for all. */
void work_begin(struct work *w, const struct culprit_boot *boots, size_t count);
void work_end(struct work *w);

/* Densities of all boots under a noise; of the outlying part only, unless all. */
void work_densities(struct work *w, const struct culprit_noise *noise, bool all);
/* Products over the tested commits left and right of every place, from those densities. */
void work_multiply_out(struct work *w, double share);

/* out[i]: sum over the levels that are better by at least the least step, weighted by the prior. */
void work_fall(const struct work *w, const double *in, double *out);
double work_dot(const double *a, const double *b, size_t count);
/* out = a * b, scaled so that its largest is 1; returns the logarithm of the scale. */
double work_multiply(const double *a, const double *b, double *out, size_t n);
/* The level under weights. */
struct culprit_level work_centre(const struct work *w, const double *a, const double *b);

#endif
