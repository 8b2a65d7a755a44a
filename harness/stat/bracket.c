/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/mem.h"
#include "stat/bracket.h"

enum {
	/* Run variances are topped up from the history to this many degrees of
	 * freedom: those of two runs a boot would otherwise rule the test. */
	WITHIN_DF = 8,
};

/* Below this a standard error is rounding, not noise. */
#define NO_SPREAD 1e-9

/* History is dropped when the boots differ from it at this level. */
#define GUARD_P 0.10

/* One variant's boots, summed up. */
struct arm {
	size_t boots, runs;
	double mean, t;	 /* mean of the boot means and of their places in time */
	double stt, stx; /* sums of squares and products about these means */
	double ss, f;	 /* squared residuals of the boots and their degrees of freedom */
	double ssw, fw;	 /* the same of runs within boots */
	double per_run;	 /* mean of 1 / runs */
	double weights;	 /* C_g: sum of its boots' squared weights in d */
	double v;	 /* variance of one boot's mean, as used */
};

static bool usable(const struct bracket_boot *boot)
{
	return boot->runs > 0 && isfinite(boot->mean_ln) && boot->arm >= 0;
}

static size_t count_arms(const struct bracket_boot *boots, size_t count)
{
	int last = -1;

	for (size_t i = 0; i < count; i++) {
		if (usable(&boots[i]) && boots[i].arm > last)
			last = boots[i].arm;
	}
	return (size_t)(last + 1);
}

static void sum_means(const struct bracket_boot *boots, size_t count, struct arm *arms)
{
	for (size_t i = 0; i < count; i++) {
		double df = (double)boots[i].runs - 1;
		struct arm *arm;

		if (!usable(&boots[i]))
			continue;
		arm = &arms[boots[i].arm];
		arm->boots++;
		arm->runs += boots[i].runs;
		arm->mean += (boots[i].mean_ln - arm->mean) / (double)arm->boots;
		arm->t += (boots[i].t - arm->t) / (double)arm->boots;
		arm->per_run += (1 / (double)boots[i].runs - arm->per_run) / (double)arm->boots;
		if (df >= 1 && isfinite(boots[i].var_ln)) {
			arm->ssw += df * boots[i].var_ln;
			arm->fw += df;
		}
	}
}

static void sum_squares(const struct bracket_boot *boots, size_t count, struct arm *arms)
{
	for (size_t i = 0; i < count; i++) {
		struct arm *arm;

		if (!usable(&boots[i]))
			continue;
		arm = &arms[boots[i].arm];
		arm->stt += pow(boots[i].t - arm->t, 2);
		arm->stx += (boots[i].t - arm->t) * (boots[i].mean_ln - arm->mean);
	}
}

/* The residuals about a level per arm and a common slope (0: about the levels). */
static void sum_residuals(
	const struct bracket_boot *boots, size_t count, double slope, struct arm *arms)
{
	for (size_t i = 0; i < count; i++) {
		struct arm *arm;

		if (!usable(&boots[i]))
			continue;
		arm = &arms[boots[i].arm];
		arm->ss += pow(boots[i].mean_ln - arm->mean - slope * (boots[i].t - arm->t), 2);
	}
}

/* The whole experiment, on the way from boots to an effect. */
struct fit {
	struct arm *arms;
	size_t arm_count;
	size_t boots, filled; /* boots used, arms that have any */
	double stt, stx;
	bool sloped;
	double slope;
	double ss, f; /* residuals of all arms together */
};

static void fit_release(struct fit *fit)
{
	free(fit->arms);
}

static void fit_arms(const struct bracket_boot *boots, size_t count, struct fit *fit)
{
	fit->arm_count = count_arms(boots, count);
	fit->arms = xcalloc(fit->arm_count + 1, sizeof(*fit->arms));
	sum_means(boots, count, fit->arms);
	sum_squares(boots, count, fit->arms);
	for (size_t g = 0; g < fit->arm_count; g++) {
		fit->boots += fit->arms[g].boots;
		fit->filled += fit->arms[g].boots > 0;
		fit->stt += fit->arms[g].stt;
		fit->stx += fit->arms[g].stx;
	}
	/* A slope costs a degree of freedom; two have to be left. */
	fit->sloped =
		fit->boots >= BRACKET_SLOPE_BOOTS && fit->boots >= fit->filled + 3 && fit->stt > 0;
	fit->slope = fit->sloped ? fit->stx / fit->stt : 0;
	sum_residuals(boots, count, fit->slope, fit->arms);
	for (size_t g = 0; g < fit->arm_count; g++) {
		struct arm *arm = &fit->arms[g];

		if (arm->boots == 0)
			continue;
		/* The slope's degree of freedom is shared out by leverage. */
		arm->f = (double)arm->boots - 1 - (fit->sloped ? arm->stt / fit->stt : 0);
		fit->ss += arm->ss;
		fit->f += arm->f;
	}
}

/* Weights of the boots in d = (mean_b - mean_a) - slope (t_b - t_a), squared and
 * summed per arm. The slope is orthogonal to the means, so the parts add up. */
static void weigh(struct fit *fit, int a, int b)
{
	double gap = fit->arms[b].t - fit->arms[a].t;

	for (size_t g = 0; g < fit->arm_count; g++) {
		struct arm *arm = &fit->arms[g];
		bool compared = (int)g == a || (int)g == b;

		arm->weights = compared ? 1 / (double)arm->boots : 0;
		if (fit->sloped)
			arm->weights += pow(gap / fit->stt, 2) * arm->stt;
	}
}

/* The variance of one run within a boot of this arm, topped up from history. */
static double within(const struct arm *arm, const struct history *history)
{
	double lent = history && history->sw_df > 0 ? fmax(0, WITHIN_DF - arm->fw) : 0;

	lent = fmin(lent, history ? history->sw_df : 0);
	if (arm->fw + lent <= 0)
		return NAN;
	return (arm->ssw + (lent > 0 ? lent * history->sw2 : 0)) / (arm->fw + lent);
}

/* What the history expects the variance of one boot's mean to be. */
static double expected(const struct arm *arm, const struct history *history)
{
	double run = within(arm, history);

	return history->tau2 + (isfinite(run) ? run * arm->per_run : 0);
}

/* The guard: do the boots of the two arms spread more than the history expects? */
static double history_contradicted(
	const struct fit *fit, int a, int b, const struct history *history)
{
	const struct arm *x = &fit->arms[a], *y = &fit->arms[b];
	double f = x->f + y->f, prior;

	if (f <= 0)
		return NAN;
	prior = (x->f * expected(x, history) + y->f * expected(y, history)) / f;
	return pf((x->ss + y->ss) / f / prior, f, history->nu0, 0, 0);
}

static void errors_moderated(
	struct fit *fit, int a, int b, const struct history *history, struct bracket *out)
{
	double spread = 0, total = 0;

	for (size_t g = 0; g < fit->arm_count; g++) {
		struct arm *arm = &fit->arms[g];
		double part;

		if (arm->boots == 0)
			continue;
		arm->v =
			(history->nu0 * expected(arm, history) + arm->ss) / (history->nu0 + arm->f);
		part = arm->weights * arm->v;
		total += part;
		spread += part * part / (history->nu0 + arm->f);
	}
	out->se = sqrt(total);
	/* Both arms lean on one history: it must not be counted twice. */
	out->df = fmin(total * total / spread, history->nu0 + fit->arms[a].f + fit->arms[b].f);
	out->nu0 = history->nu0;
	out->method = fit->sloped ? BRACKET_OLS_MODERATED : BRACKET_MODERATED;
	out->testable = true;
}

/* Without a slope a comparison rests on its own two arms, with one on all. */
static bool pooled(const struct fit *fit, size_t g, int a, int b)
{
	return fit->arms[g].boots > 0 && (fit->sloped || (int)g == a || (int)g == b);
}

/* Do the arms' runs scatter differently? Bartlett's test at 5 %. */
static bool scatter_differs(const struct fit *fit, int a, int b)
{
	double ss = 0, f = 0, logs = 0, inverse = 0, statistic;
	int arms = 0;

	for (size_t g = 0; g < fit->arm_count; g++) {
		const struct arm *arm = &fit->arms[g];

		if (!pooled(fit, g, a, b))
			continue;
		if (arm->fw < 1 || !(arm->ssw > 0))
			return false;
		arms++;
		ss += arm->ssw;
		f += arm->fw;
		logs += arm->fw * log(arm->ssw / arm->fw);
		inverse += 1 / arm->fw;
	}
	statistic = (f * log(ss / f) - logs) / (1 + (inverse - 1 / f) / (3.0 * (arms - 1)));
	return pchisq(statistic, arms - 1, 0, 0) < 0.05;
}

/* Sets the arms' variances up to a common factor. Where runs scatter alike they
 * are equal; else they are theta + sw_g^2 / n, theta what the boots add to that. */
static void relative_variances(struct fit *fit, int a, int b)
{
	bool differ = scatter_differs(fit, a, b);
	double excess = 0, f = 0;

	for (size_t g = 0; g < fit->arm_count; g++) {
		struct arm *arm = &fit->arms[g];

		if (!pooled(fit, g, a, b))
			continue;
		arm->v = differ ? arm->ssw / arm->fw * arm->per_run : 0;
		excess += arm->ss - arm->f * arm->v;
		f += arm->f;
	}
	for (size_t g = 0; g < fit->arm_count; g++)
		fit->arms[g].v = differ ? fit->arms[g].v + fmax(0, excess / f) : 1;
}

/* Without history the boots' own spread has to do. */
static void errors_pooled(struct fit *fit, int a, int b, struct bracket *out)
{
	double f = 0, scaled = 0, total = 0;

	for (size_t g = 0; g < fit->arm_count; g++)
		f += pooled(fit, g, a, b) ? fit->arms[g].f : 0;
	out->method = BRACKET_ESTIMATE;
	if (f <= 0)
		return;
	relative_variances(fit, a, b);
	for (size_t g = 0; g < fit->arm_count; g++)
		scaled += pooled(fit, g, a, b) ? fit->arms[g].ss / fit->arms[g].v : 0;
	for (size_t g = 0; g < fit->arm_count; g++) {
		fit->arms[g].v *= scaled / f;
		total += fit->arms[g].weights * fit->arms[g].v;
	}
	out->se = sqrt(total);
	out->df = f;
	/* One degree of freedom, as in A B A, has no verdict in it. */
	if (f < 1.5)
		return;
	out->method = fit->sloped ? BRACKET_OLS : BRACKET_POOLED;
	out->testable = true;
}

void bracket_set_level(struct bracket *bracket, double level, double equivalence_level)
{
	double half, half90;

	if (!isfinite(bracket->se))
		return;
	half = bracket->se > 0 ? qt(level / 2, bracket->df, 0, 0) * bracket->se : 0;
	half90 = bracket->se > 0 ? qt(equivalence_level / 2, bracket->df, 0, 0) * bracket->se : 0;
	bracket->lo = bracket->d - half;
	bracket->hi = bracket->d + half;
	bracket->lo90 = bracket->d - half90;
	bracket->hi90 = bracket->d + half90;
}

void bracket_test(struct bracket *out)
{
	if (!isfinite(out->se))
		return;
	if (out->se < NO_SPREAD) {
		out->se = 0;
		out->no_spread = true;
	}
	bracket_set_level(out, 0.05, 0.1);
	if (out->se > 0)
		out->p = 2 * pt(-fabs(out->d) / out->se, out->df, 1, 0);
	else
		out->p = fabs(out->d) < NO_SPREAD ? 1 : 0;
}

static void slope_test(const struct fit *fit, struct bracket *out)
{
	double se = sqrt(fit->ss / fit->f / fit->stt);

	out->slope = fit->slope;
	if (se * sqrt(fit->stt) < NO_SPREAD)
		out->slope_p = fabs(fit->slope) * sqrt(fit->stt) < NO_SPREAD ? 1 : 0;
	else
		out->slope_p = 2 * pt(-fabs(fit->slope) / se, fit->f, 1, 0);
}

/* What boots add to the run noise: the spread of boot means less its run part. */
static double between(const struct fit *fit, int a, int b)
{
	const struct arm *x = &fit->arms[a], *y = &fit->arms[b];
	double f = x->f + y->f, run_x = within(x, NULL), run_y = within(y, NULL);

	if (f <= 0 || !isfinite(run_x) || !isfinite(run_y))
		return NAN;
	return fmax(0, (x->ss + y->ss - x->f * run_x * x->per_run - y->f * run_y * y->per_run) / f);
}

static void effect(
	struct fit *fit, int a, int b, const struct history *history, struct bracket *out)
{
	const struct arm *x = &fit->arms[a], *y = &fit->arms[b];
	bool lent = history && history->nu0 > 0;

	out->d = y->mean - x->mean - fit->slope * (y->t - x->t);
	out->within_a = within(x, NULL);
	out->within_b = within(y, NULL);
	out->between = between(fit, a, b);
	weigh(fit, a, b);
	if (lent) {
		out->history_p = history_contradicted(fit, a, b, history);
		out->history_dropped = out->history_p < GUARD_P;
	}
	if (lent && !out->history_dropped)
		errors_moderated(fit, a, b, history, out);
	else
		errors_pooled(fit, a, b, out);
	if (isfinite(out->se)) {
		out->var_a = x->v;
		out->var_b = y->v;
	}
	bracket_test(out);
	if (fit->sloped)
		slope_test(fit, out);
}

const struct bracket bracket_unknown = {.history_p = NAN,
	.d = NAN,
	.se = NAN,
	.df = NAN,
	.p = NAN,
	.lo = NAN,
	.hi = NAN,
	.lo90 = NAN,
	.hi90 = NAN,
	.var_a = NAN,
	.var_b = NAN,
	.within_a = NAN,
	.within_b = NAN,
	.between = NAN,
	.slope = NAN,
	.slope_p = NAN};

void bracket_effect(const struct bracket_boot *boots, size_t count, int a, int b,
	const struct history *history, struct bracket *out)
{
	struct fit fit = {0};

	*out = bracket_unknown;
	fit_arms(boots, count, &fit);
	if (a >= 0 && (size_t)a < fit.arm_count) {
		out->boots_a = (int)fit.arms[a].boots;
		out->runs_a = fit.arms[a].runs;
	}
	if (b >= 0 && (size_t)b < fit.arm_count) {
		out->boots_b = (int)fit.arms[b].boots;
		out->runs_b = fit.arms[b].runs;
	}
	if (out->boots_a > 0 && out->boots_b > 0)
		effect(&fit, a, b, history, out);
	fit_release(&fit);
}

static const struct {
	const char *name, *text;
} methods[] = {
	[BRACKET_NONE] = {"none", "no boots to compare"},
	[BRACKET_ESTIMATE] = {"estimate", "an estimate only: too few boots and no history"},
	[BRACKET_POOLED] = {"boot-t", "t test on boots, pooled variance"},
	[BRACKET_MODERATED] = {"moderated-t", "t test on boots, variance moderated by history"},
	[BRACKET_OLS] = {"boot-ols", "least squares on boots with one common slope"},
	[BRACKET_OLS_MODERATED] = {"moderated-ols",
		"least squares on boots with one common slope, variance moderated by history"},
	[BRACKET_RUNS] = {"run-t", "t test on the runs of one boot"},
};

const char *bracket_method_text(enum bracket_method method)
{
	return methods[method].text;
}

const char *bracket_method_name(enum bracket_method method)
{
	return methods[method].name;
}
