/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/mem.h"
#include "stat/describe.h"
#include "stat/peers.h"

#define PEER_ALPHA 0.05
/* LKP's own figure for metrics that it knows to be about performance. */
#define LKP_MIN_CHANGE 0.01

enum {
	LKP_MIN_VALUES = 3,
	LKP_MAX_TRIM = 3,
	/* Beyond this benchstat, too, takes the normal approximation. */
	EXACT_MAX_VALUES = 50,
};

struct list {
	const double *x;
	size_t n;
};

static void ask_welch(struct list a, struct list b, struct peer_answer *out)
{
	double mean_a = describe_mean(a.x, a.n), mean_b = describe_mean(b.x, b.n);
	double va = describe_variance(a.x, a.n) / (double)a.n;
	double vb = describe_variance(b.x, b.n) / (double)b.n, se = sqrt(va + vb), df;

	out->change = mean_b / mean_a - 1;
	if (se > 0) {
		df = (va + vb) * (va + vb) /
		     (va * va / (double)(a.n - 1) + vb * vb / (double)(b.n - 1));
		out->p = 2 * pt(-fabs(mean_b - mean_a) / se, df, 1, 0);
		out->half = qt(0.975, df, 1, 0) * se / fabs(mean_a);
	} else {
		out->p = mean_a == mean_b ? 1 : 0;
		out->half = 0;
	}
	out->differs = out->p <= PEER_ALPHA;
}

static void ask_mmtests(struct list a, struct list b, struct peer_answer *out)
{
	double mean_a = describe_mean(a.x, a.n), mean_b = describe_mean(b.x, b.n);
	double reach = 1.96 * (describe_sd(a.x, a.n) + describe_sd(b.x, b.n));

	out->change = mean_b / mean_a - 1;
	out->differs = fabs(mean_b - mean_a) > reach;
}

/* Sorted, without the outermost: one of 32 at either end, three at most. */
struct lkp_range {
	double low, median, high;
};

static struct lkp_range lkp_range(struct list list)
{
	double *sorted = xcalloc(list.n, sizeof(*sorted));
	size_t trim = list.n >> 5;
	struct lkp_range range;

	memcpy(sorted, list.x, list.n * sizeof(*sorted));
	describe_sort(sorted, list.n);
	if (trim > LKP_MAX_TRIM)
		trim = LKP_MAX_TRIM;
	range.low = sorted[trim];
	range.high = sorted[list.n - 1 - trim];
	range.median = describe_quantile_sorted(sorted, list.n, 0.5);
	free(sorted);
	return range;
}

static bool is_outside(double value, const struct lkp_range *range)
{
	return value < range->low || value > range->high;
}

static void ask_lkp(struct list list_a, struct list list_b, struct peer_answer *out)
{
	struct lkp_range a = lkp_range(list_a), b = lkp_range(list_b);
	double least = fmin(fabs(a.median), fabs(b.median));

	out->change = b.median / a.median - 1;
	out->differs = is_outside(a.median, &b) && is_outside(b.median, &a) &&
		       fabs(b.median - a.median) > LKP_MIN_CHANGE * least;
}

struct ranked {
	double value;
	bool of_a;
};

static int compare_ranked(const void *x, const void *y)
{
	double a = ((const struct ranked *)x)->value, b = ((const struct ranked *)y)->value;

	return (a > b) - (a < b);
}

/* U of a, and the sum of t^3 - t over the groups of t equal values. */
static double mann_whitney_u(struct list a, struct list b, double *ties)
{
	size_t n = a.n + b.n;
	struct ranked *all = xcalloc(n, sizeof(*all));
	double ranks = 0;

	*ties = 0;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){i < a.n ? a.x[i] : b.x[i - a.n], i < a.n};
	qsort(all, n, sizeof(*all), compare_ranked);
	for (size_t i = 0, end; i < n; i = end) {
		double equal, of_a = 0;

		for (end = i; end < n && all[end].value == all[i].value; end++)
			of_a += all[end].of_a;
		equal = (double)(end - i);
		/* Ranks i + 1 to end, shared. */
		ranks += of_a * (double)(i + 1 + end) / 2;
		*ties += equal * equal * equal - equal;
	}
	free(all);
	return ranks - (double)a.n * (double)(a.n + 1) / 2;
}

static double mann_whitney_p(struct list a, struct list b)
{
	double na = (double)a.n, nb = (double)b.n, n = na + nb, ties, sigma, z;
	double u = mann_whitney_u(a, b, &ties);

	if (ties == 0 && a.n <= EXACT_MAX_VALUES && b.n <= EXACT_MAX_VALUES)
		return fmin(1, 2 * pwilcox(fmin(u, na * nb - u), na, nb, 1, 0));
	sigma = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
	if (!(sigma > 0))
		return 1;
	z = fmax(0, fabs(u - na * nb / 2) - 0.5) / sigma;
	return 2 * pnorm(-z, 0, 1, 1, 0);
}

static void ask_benchstat(struct list a, struct list b, struct peer_answer *out)
{
	out->change = describe_median(b.x, b.n) / describe_median(a.x, a.n) - 1;
	out->p = mann_whitney_p(a, b);
	out->differs = out->p <= PEER_ALPHA;
}

static const struct rule {
	const char *name, *about;
	void (*ask)(struct list a, struct list b, struct peer_answer *out);
	size_t least, least_of_larger; /* values of either list, and of the longer one */
	bool boots;
} rules[PEER_COUNT] = {
	[PEER_WELCH] = {"welch", "Welch's t test at 5 %, every run taken as independent", ask_welch,
		2, 2, false},
	[PEER_MMTESTS] = {"mmtests",
		"different when the means are more than 1.96 (sd A + sd B) apart, over all runs",
		ask_mmtests, 2, 2, false},
	[PEER_LKP] = {"lkp",
		"different when each median is outside the other's range and they are more than 1 "
		"% apart; one value a boot, three on one side at least",
		ask_lkp, 1, LKP_MIN_VALUES, true},
	[PEER_BENCHSTAT] = {"benchstat",
		"Mann and Whitney's U test at 5 %, every run taken as independent", ask_benchstat,
		1, 1, false},
};

const char *peer_name(enum peer peer)
{
	return rules[peer].name;
}

const char *peer_about(enum peer peer)
{
	return rules[peer].about;
}

bool peer_takes_boots(enum peer peer)
{
	return rules[peer].boots;
}

static bool all_finite(struct list list)
{
	for (size_t i = 0; i < list.n; i++)
		if (!isfinite(list.x[i]))
			return false;
	return true;
}

void peer_ask(enum peer peer, const double *a, size_t a_count, const double *b, size_t b_count,
	struct peer_answer *out)
{
	const struct rule *rule = &rules[peer];
	size_t smaller = a_count < b_count ? a_count : b_count;
	size_t larger = a_count < b_count ? b_count : a_count;
	struct list x = {a, a_count}, y = {b, b_count};

	*out = (struct peer_answer){.change = NAN, .p = NAN, .half = NAN, .why = ""};
	if (smaller < rule->least || larger < rule->least_of_larger) {
		out->why = "too few values";
	} else if (!all_finite(x) || !all_finite(y)) {
		out->why = "a value is not finite";
	} else {
		out->told = true;
		rule->ask(x, y, out);
		if (!isfinite(out->change))
			out->change = NAN;
	}
}
