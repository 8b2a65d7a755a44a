/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_BRACKET_H
#define KB_STAT_BRACKET_H

#include "base/base.h"
#include "stat/history.h"

/*
 * The effect of one variant against its baseline in a bracketed design, with
 * the boot as the unit and on the log scale. docs/statistics.md, section 2.
 */

/* One boot of an experiment, seen in one condition and metric. */
struct bracket_boot {
	int arm;	/* number of the variant in the experiment, from 0 */
	int block;	/* number of the block it belongs to */
	double t;	/* place in time, the same unit for all boots; the ordinal will do */
	size_t runs;	/* measured runs behind mean_ln, at least 1 */
	double mean_ln; /* mean of ln y over the runs */
	double var_ln;	/* variance of ln y between the runs (divisor runs - 1); NAN if unknown */
};

enum bracket_method {
	BRACKET_NONE,	       /* an arm has no boot: nothing at all */
	BRACKET_ESTIMATE,      /* an effect without a usable error: never a verdict */
	BRACKET_POOLED,	       /* pooled boot t */
	BRACKET_MODERATED,     /* boot variances moderated by the machine's history */
	BRACKET_OLS,	       /* a level per variant and one common slope */
	BRACKET_OLS_MODERATED, /* the same, its variances moderated by the history */
	BRACKET_RUNS,	       /* runs of one boot, of toggle_effect.h */
};

enum {
	/* From this many boots in all on, one common slope is taken out. */
	BRACKET_SLOPE_BOOTS = 8,
};

/* All lengths are of ln y; turn them into percent with describe_pct_of_ln. */
struct bracket {
	enum bracket_method method;
	bool testable;	       /* p and the intervals may decide a verdict */
	bool no_spread;	       /* no boot differs from its arm's other boots: the noise is unseen */
	bool history_dropped;  /* there was a history, and this experiment contradicts it */
	double history_p;      /* of that contradiction; NAN when it could not be tested */
	int boots_a, boots_b;  /* boots used of baseline and variant */
	size_t runs_a, runs_b; /* their measured runs */
	double d;	       /* ln of the ratio variant / baseline; NAN when method is NONE */
	double se, df, p;      /* NAN where nothing can be said */
	double lo, hi;	       /* 95 % interval of d */
	double lo90, hi90;     /* 90 % interval, for equivalence */
	double var_a, var_b;   /* variance of one boot's mean as used, V_A and V_B */
	double within_a, within_b; /* variance between runs of one boot; NAN if unknown */
	double between; /* what boots add to the run noise, tau^2, at least 0; NAN if unknown */
	double slope;	/* common slope per unit of t, NAN below 8 boots */
	double slope_p;
	double nu0; /* degrees of freedom lent by the history; 0: none */
};

/* Nothing is known: every length is NaN, every count 0. */
extern const struct bracket bracket_unknown;

/* One line about a method, for a report. */
const char *bracket_method_text(enum bracket_method method);

/* The word stored in the database: "none", "estimate", "boot-t", ... */
const char *bracket_method_name(enum bracket_method method);

/* Makes the intervals anew: lo and hi at 1 - level, lo90 and hi90, by which equivalence is decided,
 * at 1 - equivalence_level; bracket_effect makes them at 5 % and 10 %. Nothing happens where there
 * are none. */
void bracket_set_level(struct bracket *bracket, double level, double equivalence_level);

/* p and the intervals, from d, se and df. */
void bracket_test(struct bracket *bracket);

/*
 * Estimates the effect of arm b against arm a. boots holds all count boots of
 * the experiment in any order, other arms included: from 8 boots on they help
 * to see the slope and the spread. Boots without runs or with a mean that is
 * not finite are left out. history may be NULL. Always fills *out.
 *
 *   d = mean_b - mean_a, less the common slope times the arms' distance in time
 *   V_g = (nu0 (tau0^2 + sw_g^2 / n) + SS_g) / (nu0 + f_g)       with history
 *   V_a = V_b = sum SS / sum f                                  without
 *   se^2 = C_a V_a + C_b V_b
 *   df = min(Satterthwaite, nu0 + f_a + f_b)                    with history
 *   df = sum f                                                  without
 * SS_g are the squared residuals of arm g, f_g their degrees of freedom, C_g
 * the sum of the squared weights of its boots in d.
 */
void bracket_effect(const struct bracket_boot *boots, size_t count, int a, int b,
	const struct history *history, struct bracket *out);

#endif
