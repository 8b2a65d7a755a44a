/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_POWER_H
#define KB_STAT_POWER_H

#include "base/base.h"
#include "stat/bracket.h"

/*
 * How many boots it takes. docs/statistics.md, section 9. Numbers of boots are
 * even, because a block holds every variant twice.
 */
enum {
	POWER_MAX_BOOTS = 200, /* per variant; more than this is no advice */
};

/* The variance that a number of boots will meet. */
struct power {
	double var_a, var_b; /* of one boot's mean, baseline and variant */
	double nu0;	     /* degrees of freedom lent by history, 0 for none */
	double df;	     /* behind the variances, which are estimates; 0: they are known */
};

/* Standard error and degrees of freedom of d with m boots of either variant:
 * the test that bracket_effect would make. */
void power_error(const struct power *power, int m, double *se, double *df);

/*
 * The smallest number of boots a variant that would settle a comparison whose
 * effect and variances stay as they are: more than it has, even, at most
 * POWER_MAX_BOOTS, with qt(1 - level / 2, df) se < |d| or
 * qt(.975, df) se < margin - |d|. 0 when there is none or nothing is known
 * about the variances. margin is a fraction; level is what the effect's own p
 * has to reach to be called a change.
 */
int power_boots_to_settle(const struct bracket *effect, double margin, double level);

/* The power of the test at that level, with m boots of either variant, against
 * a change of d on the log scale (noncentral t). Where the variances are
 * estimates, the mean over what they may be: var df / chi-squared(df). */
double power_at(const struct power *power, int m, double level, double d);

/* The smallest even m with power >= wanted against a change of d; 0 when
 * POWER_MAX_BOOTS do not reach it. */
int power_boots_to_detect(const struct power *power, double level, double d, double wanted);

#endif
