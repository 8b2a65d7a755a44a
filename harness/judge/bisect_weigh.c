/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From boots to probabilities: where the change is, that there is none, that there are two. */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "judge/bisect_state.h"

/* What is thought before the first boot. */
#define PRIOR_NONE 0.2
#define PRIOR_SEVERAL 0.04

/* Two changes are sought from so many tested commits on. */
enum { SEVERAL_TESTED = 6 };

/* A machine may become slower or faster from boot to boot, by that; each of these is thought to be
 * as likely. Weighed before anything is named, and from so many boots on. */
static const double drifts[] = {-0.003, -0.001, 0.001, 0.003};
#define PRIOR_DRIFT 0.025
enum { DRIFT_BOOTS = 20 };

/* Probabilities from likelihoods; returns what a likelihood of 1 was divided by. */
static double weigh(
	const struct bisect *b, const struct culprit_fit *fit, double *posterior, double *none)
{
	int n = b->options.commits;
	double each = (1 - PRIOR_NONE) / n, total = PRIOR_NONE * fit->none;

	for (size_t k = 0; k < fit->segment_count; k++)
		for (int i = fit->segments[k].first; i <= fit->segments[k].last; i++) {
			bool possible = i > b->good_to && i <= b->bad_from;

			posterior[i] = possible ? each * fit->segments[k].likelihood : 0;
			total += posterior[i];
		}
	for (int i = 1; i <= n; i++)
		posterior[i] /= total;
	*none = PRIOR_NONE * fit->none / total;
	return total;
}

/* The boots as they were on a machine without that drift; the caller frees. */
static struct culprit_boot *without_drift(const struct bisect *b, double drift)
{
	struct culprit_boot *boots = xcalloc(b->boot_count, sizeof(*boots));

	for (size_t i = 0; i < b->boot_count; i++) {
		boots[i] = b->boots[i];
		boots[i].mean_ln -= drift * (double)i;
	}
	return boots;
}

/* Probabilities so far, and what they weigh: to be mixed with those under a drift. */
struct mixture {
	double weight, scale; /* divided by exp(scale) */
	double largest;	      /* weight of the fit that is kept */
};

static void mix_in(struct bisect *b, double drift, struct mixture *m)
{
	struct culprit_boot *boots = without_drift(b, drift);
	size_t places = (size_t)b->options.commits + 1;
	double *posterior = xcalloc(places, sizeof(*posterior)), none, weight, share;
	struct culprit_fit fit;

	culprit_fit(boots, b->boot_count, b->options.commits, &fit);
	weight = PRIOR_DRIFT * weigh(b, &fit, posterior, &none) *
		 exp(fmin(fit.scale - m->scale, 600));
	share = weight / (m->weight + weight);
	for (size_t i = 1; i < places; i++)
		b->posterior[i] += share * (posterior[i] - b->posterior[i]);
	b->none += share * (none - b->none);
	m->weight += weight;
	if (weight > m->largest) {
		m->largest = weight;
		b->drift = drift;
		culprit_free(&b->fit);
		b->fit = fit;
	} else {
		culprit_free(&fit);
	}
	free(posterior);
	free(boots);
}

/* Whether what would be said now is to be held against a machine that drifts. */
static bool drift_matters(const struct bisect *b)
{
	double bound = 1 - BISECT_CAUTION * (1 - b->options.confidence), sum = 0;

	if (b->options.unordered || b->boot_count < 3)
		return false;
	if (b->boot_count >= DRIFT_BOOTS || b->none >= BISECT_NONE_ENOUGH)
		return true;
	/* as for the class of a commit with those before it that cannot be built */
	for (int i = 1; i <= b->options.commits; i++) {
		sum += b->posterior[i];
		if (sum >= bound)
			return true;
		if (!b->commits[i].skipped)
			sum = 0;
	}
	return false;
}

/* Whether one change explains the boots, or two are needed. */
static void weigh_several(struct bisect *b)
{
	int n = b->options.commits, tested = 0;
	struct culprit_boot *boots;
	double one = 0, two;

	b->several = 0;
	for (int i = 0; i <= n; i++)
		tested += b->commits[i].boots > 0;
	if (tested < SEVERAL_TESTED)
		return;
	boots = without_drift(b, b->drift);
	culprit_fit_two(boots, b->boot_count, n, &b->fit, &b->two);
	for (size_t k = 0; k < b->fit.segment_count; k++)
		one += b->fit.segments[k].likelihood *
		       (b->fit.segments[k].last - b->fit.segments[k].first + 1) / n;
	two = PRIOR_SEVERAL * b->two.likelihood;
	b->several = two / (two + (1 - PRIOR_SEVERAL) * one + PRIOR_NONE * b->fit.none);
	free(boots);
}

void bisect_refresh(struct bisect *b)
{
	struct mixture m;

	if (!b->stale)
		return;
	b->stale = false;
	culprit_free(&b->fit);
	if (b->boot_count == 0) {
		for (int i = 1; i <= b->options.commits; i++)
			b->posterior[i] = (1 - PRIOR_NONE) / b->options.commits;
		b->none = PRIOR_NONE;
		return;
	}
	culprit_fit(b->boots, b->boot_count, b->options.commits, &b->fit);
	b->drift = 0;
	m.weight =
		(1 - ARRAY_SIZE(drifts) * PRIOR_DRIFT) * weigh(b, &b->fit, b->posterior, &b->none);
	m.scale = b->fit.scale;
	m.largest = m.weight;
	if (drift_matters(b))
		for (size_t i = 0; i < ARRAY_SIZE(drifts); i++)
			mix_in(b, drifts[i], &m);
	weigh_several(b);
}

double bisect_improved(const struct bisect *b)
{
	struct culprit_boot *mirror = without_drift(b, b->drift);
	int n = b->options.commits;
	struct culprit_fit fit;
	double one = 0;

	for (size_t i = 0; i < b->boot_count; i++)
		mirror[i].mean_ln = -mirror[i].mean_ln;
	culprit_fit(mirror, b->boot_count, n, &fit);
	for (size_t k = 0; k < fit.segment_count; k++)
		one += (1 - PRIOR_NONE) * fit.segments[k].likelihood *
		       (fit.segments[k].last - fit.segments[k].first + 1) / n;
	one /= one + PRIOR_NONE * fit.none;
	culprit_free(&fit);
	free(mirror);
	return one;
}
