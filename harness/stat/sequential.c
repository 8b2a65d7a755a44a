/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/mem.h"
#include "stat/sequential.h"

enum {
	GRID = 128, /* even: Simpson's rule */
	/* Alphas of which the levels are kept: the design's times powers of 2. */
	FINER = 32,
	COARSER = 8,
	ALPHAS_MAX = FINER + COARSER + 1,
	STEPS_MAX = 100, /* of the search for a level */
};

/* No level is known for a larger alpha: what is left is interpolated towards p = 1. */
#define ALPHA_MAX 0.9
#define LEVEL_DIGITS 1e-9

double sequential_pocock(double alpha, double share)
{
	return alpha * log1p((M_E - 1) * share);
}

/* The sub-density, on 0..edge, of the sum of k unit normals that no look has stopped yet. It is
 * even, so its other half is not kept. */
struct density {
	double edge, f[GRID + 1];
};

static double point(const struct density *density, int i)
{
	return density->edge * i / GRID;
}

static double simpson(int i)
{
	return i == 0 || i == GRID ? 1 : i % 2 ? 4 : 2;
}

/* The probability to leave -edge..edge with the next unit normal. */
static double leaving(const struct density *density, double edge)
{
	double sum = 0;

	for (int i = 0; i <= GRID; i++) {
		double s = point(density, i);

		sum += simpson(i) * density->f[i] *
		       (pnorm(-edge - s, 0, 1, 1, 0) + pnorm(edge - s, 0, 1, 0, 0));
	}
	return 2 * sum * density->edge / GRID / 3;
}

static double unit_density(double x)
{
	return exp(-x * x / 2) * M_1_SQRT_2PI;
}

static void advance(struct density *density, double edge)
{
	struct density next = {.edge = edge};

	for (int i = 0; i <= GRID; i++) {
		double sum = 0, to = point(&next, i);

		for (int k = 0; k <= GRID; k++) {
			double from = point(density, k);

			sum += simpson(k) * density->f[k] *
			       (unit_density(to - from) + unit_density(to + from));
		}
		next.f[i] = sum * density->edge / GRID / 3;
	}
	*density = next;
}

/* The bound of the normalised sum that the next look, the k-th, spends that much with. */
static double find_bound(const struct density *density, int k, double spend)
{
	double low = 0, high = 40;

	for (int n = 0; n < STEPS_MAX && high - low > LEVEL_DIGITS; n++) {
		double middle = (low + high) / 2;

		if (leaving(density, middle * sqrt(k)) > spend)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void sequential_levels(sequential_spending *spending, double alpha, int looks, double *levels)
{
	double spent = spending(alpha, 1.0 / looks);
	struct density density = {.edge = qnorm(spent / 2, 0, 1, 0, 0)};

	levels[0] = spent;
	for (int i = 0; i <= GRID; i++)
		density.f[i] = unit_density(point(&density, i));
	for (int k = 2; k <= looks; k++) {
		double total = spending(alpha, (double)k / looks);
		double bound = find_bound(&density, k, total - spent);

		levels[k - 1] = 2 * pnorm(bound, 0, 1, 0, 0);
		if (k < looks)
			advance(&density, bound * sqrt(k));
		spent = total;
	}
}

struct sequential {
	int looks;
	double alpha;
	size_t count;		    /* of alphas */
	double alphas[ALPHAS_MAX];  /* ascending */
	double *levels[ALPHAS_MAX]; /* of each of them, by look */
};

struct sequential *sequential_new(double alpha, int looks)
{
	struct sequential *new = xcalloc(1, sizeof(*new));

	new->looks = looks;
	new->alpha = alpha;
	for (int i = -FINER; i <= COARSER; i++) {
		double here = ldexp(alpha, i);

		if (i > 0 && here > ALPHA_MAX)
			break;
		new->alphas[new->count] = here;
		new->levels[new->count] = xcalloc((size_t)looks, sizeof(double));
		sequential_levels(sequential_pocock, here, looks, new->levels[new->count]);
		new->count++;
	}
	return new;
}

void sequential_free(struct sequential *sequential)
{
	if (!sequential)
		return;
	for (size_t i = 0; i < sequential->count; i++)
		free(sequential->levels[i]);
	free(sequential);
}

double sequential_level(const struct sequential *sequential, int look)
{
	for (size_t i = 0; i < sequential->count; i++)
		if (sequential->alphas[i] == sequential->alpha)
			return sequential->levels[i][look - 1];
	BUG("a design without the levels of its own alpha");
}

/* The alpha whose level is p, on a straight line through two of them in logarithms. */
static double between(double p, double p0, double alpha0, double p1, double alpha1)
{
	if (p == p1)
		return alpha1;
	return exp(log(alpha0) + log(p / p0) * log(alpha1 / alpha0) / log(p1 / p0));
}

double sequential_p(const struct sequential *sequential, int look, double p)
{
	const double *alphas = sequential->alphas;
	size_t last = sequential->count - 1, i = 1;

	if (isnan(p))
		return NAN;
	if (p <= 0 || p >= 1)
		return p <= 0 ? 0 : 1;
	while (i <= last && sequential->levels[i][look - 1] < p)
		i++;
	if (i > last)
		return between(p, sequential->levels[last][look - 1], alphas[last], 1, 1);
	return between(p, sequential->levels[i - 1][look - 1], alphas[i - 1],
		sequential->levels[i][look - 1], alphas[i]);
}
