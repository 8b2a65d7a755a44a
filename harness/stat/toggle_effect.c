/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "stat/toggle_effect.h"

struct arm {
	double n, mean, ss, within_ss, within_f;
	int parts;
};

static bool is_usable(const struct bracket_boot *part)
{
	return part->runs > 0 && isfinite(part->mean_ln);
}

static void add(struct arm *arm, const struct bracket_boot *part)
{
	double n = (double)part->runs, delta = part->mean_ln - arm->mean;
	double own = isfinite(part->var_ln) ? part->var_ln * (n - 1) : 0;

	arm->ss += own + delta * delta * arm->n * n / (arm->n + n);
	arm->mean += delta * n / (arm->n + n);
	arm->n += n;
	arm->within_ss += own;
	arm->within_f += isfinite(part->var_ln) ? n - 1 : 0;
	arm->parts++;
}

/* A part of the baseline that stands beside one of the variant, in the same boot. */
static bool is_beside(
	const struct bracket_boot *boots, size_t count, const struct bracket_boot *part, int b)
{
	for (size_t i = 0; i < count; i++)
		if (boots[i].arm == b && is_usable(&boots[i]) && boots[i].block == part->block &&
			fabs(boots[i].t - part->t) < 1.5)
			return true;
	return false;
}

static double variance(double ss, double f)
{
	return f > 0 ? ss / f : NAN;
}

void toggle_effect(
	const struct bracket_boot *boots, size_t count, int a, int b, struct bracket *out)
{
	struct arm x = {0}, y = {0};

	for (size_t i = 0; i < count; i++) {
		if (!is_usable(&boots[i]))
			continue;
		if (boots[i].arm == b)
			add(&y, &boots[i]);
		else if (boots[i].arm == a && is_beside(boots, count, &boots[i], b))
			add(&x, &boots[i]);
	}
	*out = bracket_unknown;
	out->boots_a = x.parts;
	out->boots_b = y.parts;
	out->runs_a = (size_t)x.n;
	out->runs_b = (size_t)y.n;
	if (!x.parts || !y.parts)
		return;
	out->method = BRACKET_RUNS;
	out->d = y.mean - x.mean;
	out->df = x.n + y.n - 2;
	out->within_a = variance(x.within_ss, x.within_f);
	out->within_b = variance(y.within_ss, y.within_f);
	if (out->df <= 0) {
		out->method = BRACKET_ESTIMATE;
		out->df = NAN;
		return;
	}
	out->se = sqrt((x.ss + y.ss) / out->df * (1 / x.n + 1 / y.n));
	out->testable = true;
	bracket_test(out);
}
