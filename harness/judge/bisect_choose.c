/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "judge/bisect_state.h"

/* While it is so likely that nothing changed, only good and bad are booted: building others would
 * be for nothing. */
#define NONE_DOUBT 0.02

/* A commit beside one that could not be tested may have the same trouble: half of them at a
 * distance of one, and fewer further away. */
#define SKIP_BESIDE 0.5
#define SKIP_REACH 2.0

/* Share of commits that cannot be tested, from what was tried; 3 % before that. */
static double skip_share(const struct bisect *b)
{
	double skipped = 0.6, tried = 20;

	for (int i = 1; i < b->options.commits; i++) {
		skipped += b->commits[i].skipped;
		tried += b->commits[i].skipped || b->commits[i].built;
	}
	return skipped / tried;
}

/* Distance of every commit from the next one that could not be tested. */
static void skip_distances(const struct bisect *b, int *out)
{
	int n = b->options.commits, far = n + 1;

	for (int i = 0; i <= n; i++) {
		far = b->commits[i].skipped ? 0 : far + 1;
		out[i] = far;
	}
	far = n + 1;
	for (int i = n; i >= 0; i--) {
		far = b->commits[i].skipped ? 0 : far + 1;
		if (far < out[i])
			out[i] = far;
	}
}

static double skip_chance(const struct bisect *b, double share, int commit, int distance)
{
	if (b->commits[commit].built)
		return 0;
	return share + (SKIP_BESIDE - share) * exp(-(distance - 1) / SKIP_REACH);
}

/* What a boot is worth for each unit of what it costs. */
static double worth(const struct bisect *b, int commit, double bits, double skip)
{
	const struct bisect_options *o = &b->options;
	double build = b->commits[commit].built ? 0 : o->cost_build;

	return (1 - skip) * bits /
	       (build + (1 - skip) * (o->cost_boot + o->runs * o->cost_run) + 1e-9);
}

/* Where the larger of two changes is narrowed down: the middle of its place, or the side that was
 * booted less. */
static int between_two(const struct bisect *b, const struct bisect_result *result)
{
	int middle = result->lo - 1 + (result->hi - result->lo + 1) / 2;

	for (int far = 0; far <= result->hi - result->lo; far++)
		for (int side = -1; side <= 1; side += 2) {
			int i = middle + side * far;

			if (i >= result->lo && i < result->hi && !b->commits[i].skipped)
				return i;
		}
	return b->commits[result->hi].boots <= b->commits[result->lo - 1].boots ||
			       b->commits[result->lo - 1].skipped
		       ? result->hi
		       : result->lo - 1;
}

/* Whether there are one or two shows in the commits around both places: the one that was booted
 * least. */
static int around_two(const struct bisect *b)
{
	int best = b->two.first[0] - 1;

	for (int i = 0; i < 2; i++) {
		if (b->commits[b->two.first[i] - 1].boots < b->commits[best].boots)
			best = b->two.first[i] - 1;
		if (b->commits[b->two.last[i]].boots < b->commits[best].boots)
			best = b->two.last[i];
	}
	return best;
}

static int best_commit(const struct bisect *b)
{
	int n = b->options.commits, best = 0;
	int *distance = xcalloc((size_t)n + 1, sizeof(*distance));
	double *bits = xcalloc((size_t)n + 1, sizeof(*bits));
	double share = skip_share(b), most = -1;

	skip_distances(b, distance);
	culprit_bits(&b->fit, b->posterior, b->none, (size_t)b->options.runs, bits);
	for (int i = 0; i <= n; i++) {
		double value;

		if (b->commits[i].skipped || (b->none > NONE_DOUBT && i > 0 && i < n))
			continue;
		value = worth(b, i, bits[i], skip_chance(b, share, i, distance[i]));
		if (value > most) {
			most = value;
			best = i;
		}
	}
	free(distance);
	free(bits);
	return best;
}

/* Good and bad are measured first, good again before a commit is named: the search stands between
 * the two, and drift would show. While there is doubt that they differ, both are measured again
 * anyway. */
static bool end_due(const struct bisect *b, bool named, int *commit)
{
	int good = b->commits[0].boots, bad = b->commits[b->options.commits].boots;

	*commit = good > 0 && bad == 0 ? b->options.commits : 0;
	return good < (named ? 2 : 1) || bad == 0;
}

enum bisect_action bisect_next(struct bisect *b, int *commit)
{
	struct bisect_result result;

	*commit = 0;
	if ((int)b->boot_count >= b->options.max_boots || b->commits[0].skipped ||
		b->commits[b->options.commits].skipped)
		return BISECT_DONE;
	if (end_due(b, false, commit))
		return BISECT_BOOT;
	bisect_get(b, &result, NULL);
	if (result.verdict == BISECT_NONE ||
		(result.verdict != BISECT_UNDECIDED && !end_due(b, true, commit)))
		return BISECT_DONE;
	if (result.verdict != BISECT_UNDECIDED)
		return BISECT_BOOT;
	if (result.changes[0][0])
		*commit = between_two(b, &result);
	else if (bisect_doubts(b))
		*commit = around_two(b);
	else
		*commit = best_commit(b);
	return BISECT_BOOT;
}
