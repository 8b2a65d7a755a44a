/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_HISTORY_H
#define KB_STAT_HISTORY_H

#include "base/base.h"

/*
 * What earlier boots of the baseline on one machine teach about its noise.
 * docs/statistics.md, section 4.
 */
enum {
	/* Fewer degrees of freedom between earlier boots than this teach nothing;
	 * six boots of one session have five. */
	HISTORY_MIN_DF = 5,
	/* No history counts for more than this, however long: the machine may
	 * have changed since. */
	HISTORY_MAX_DF = 5,
};

/* No machine is trusted to repeat itself better than 0.1 % from boot to boot. */
#define HISTORY_MIN_TAU 0.001

/* One earlier boot of the baseline. */
struct history_boot {
	int group;	/* boots of one group ran the same kernel in one session */
	size_t runs;	/* measured runs, at least 1 */
	double mean_ln; /* mean of ln y over the runs */
	double var_ln;	/* variance of ln y between the runs; NAN with one run */
};

/* Variances are of ln y, so sqrt(tau2) = 0.01 reads as 1 %. */
struct history {
	size_t boots; /* earlier boots that were used */
	double nu0;   /* weight of the history in degrees of freedom; 0: no history */
	double tau2;  /* between-boot variance */
	double sw2;   /* within-boot variance of one run */
	double sw_df; /* degrees of freedom behind sw2 */
	double df;    /* those between boots, behind tau2; not capped */
};

/*
 * Estimates a machine's noise from count earlier boots of the same machine,
 * condition, metric and configuration; boots of one group stand next to each
 * other.
 *   tau2 = max(0.1 %^2, s2 - mean(sw2 / n)), s2 = variance of the boot means
 *          around their group's mean
 *   nu0  = min(df, 5), df = boots - groups; 0 when df < 5
 * Boots without runs or with means that are not finite are left out. Always
 * fills *out; without enough boots nu0 is 0, with sw2 still of use when
 * sw_df > 0.
 */
void history_from_boots(const struct history_boot *boots, size_t count, struct history *out);

#endif
