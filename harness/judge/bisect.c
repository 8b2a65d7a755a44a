/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "judge/bisect_state.h"

/* Two changes are named when they are so likely. */
#define SEVERAL_ENOUGH 0.95
/* A single one is not named while two are as likely as that. */
#define SEVERAL_DOUBT 0.5

/* Good and bad are the same when each was booted so often, and that is likely. */
enum { NONE_BOOTS = 3, NONE_PATIENCE = 15 };

/* No commit is named before there is hardly a doubt that anything changed at all, by this share of
 * the doubt that is allowed: most bisects may be begun for a reason, but one that was not must not
 * end with a name. */
#define NONE_SHARE 0.125

const char *bisect_verdict_name(enum bisect_verdict verdict)
{
	static const char *const names[] = {[BISECT_CULPRIT] = "culprit",
		[BISECT_RANGE] = "range",
		[BISECT_SEVERAL] = "several",
		[BISECT_NONE] = "none",
		[BISECT_UNDECIDED] = "undecided"};

	return names[verdict];
}

struct bisect *bisect_new(const struct bisect_options *options)
{
	struct bisect *b = xcalloc(1, sizeof(*b));

	b->options = *options;
	b->commits = xcalloc((size_t)options->commits + 1, sizeof(*b->commits));
	b->posterior = xcalloc((size_t)options->commits + 1, sizeof(*b->posterior));
	b->good_to = 0;
	b->bad_from = options->commits;
	b->stale = true;
	return b;
}

void bisect_free(struct bisect *b)
{
	if (!b)
		return;
	culprit_free(&b->fit);
	free(b->commits);
	free(b->posterior);
	free(b->boots);
	free(b);
}

void bisect_fed(struct bisect *b, int commit, const double *values, size_t count)
{
	struct accum accum = {0};

	for (size_t i = 0; i < count; i++)
		accum_add(&accum, (b->options.lower_is_better ? -1 : 1) * log(values[i]));
	GROW(b->boots, b->boot_count, b->boot_capacity);
	b->boots[b->boot_count++] = (struct culprit_boot){
		.commit = commit, .runs = count, .mean_ln = accum.mean, .ss_ln = accum.m2};
	b->commits[commit].boots++;
	b->commits[commit].built = true;
	b->stale = true;
}

void bisect_skip(struct bisect *b, int commit)
{
	b->commits[commit].skipped = true;
	b->stale = true;
}

void bisect_built(struct bisect *b, int commit)
{
	b->commits[commit].built = true;
}

void bisect_mark(struct bisect *b, int commit, bool bad)
{
	if (bad && commit < b->bad_from)
		b->bad_from = commit;
	if (!bad && commit > b->good_to)
		b->good_to = commit;
	b->stale = true;
}

/* The likeliest commit that can be built, with those before it that cannot. */
static void best_class(const struct bisect *b, struct bisect_result *out)
{
	int lo = 1;
	double sum = 0;

	for (int i = 1; i <= b->options.commits; i++) {
		sum += b->posterior[i];
		if (b->commits[i].skipped && i < b->options.commits)
			continue;
		if (sum > out->probability) {
			out->probability = sum;
			out->lo = lo;
			out->hi = i;
		}
		lo = i + 1;
		sum = 0;
	}
}

/* The smallest range that holds so much of what is not none. */
static void smallest_range(const struct bisect *b, double share, struct bisect_result *out)
{
	double want = share * (1 - b->none), sum = 0;
	int lo = 1, width = b->options.commits + 1;

	for (int hi = 1; hi <= b->options.commits; hi++) {
		sum += b->posterior[hi];
		while (lo <= hi && sum - b->posterior[lo] >= want)
			sum -= b->posterior[lo++];
		if (sum >= want && hi - lo + 1 < width) {
			width = hi - lo + 1;
			out->lo = lo;
			out->hi = hi;
			out->probability = sum;
		}
	}
}

static bool is_none(const struct bisect *b)
{
	int good = b->commits[0].boots, bad = b->commits[b->options.commits].boots;
	int boots = good < bad ? good : bad;

	return (b->none >= BISECT_NONE_ENOUGH && boots >= NONE_BOOTS) ||
	       (b->none >= 0.5 && boots >= NONE_PATIENCE);
}

bool bisect_doubts(const struct bisect *b)
{
	return b->several >= SEVERAL_DOUBT && b->several < SEVERAL_ENOUGH;
}

/* What is left of the doubt that is allowed. */
static bool is_sure(const struct bisect *b, const struct bisect_result *best)
{
	double doubt = 1 - b->options.confidence;

	return !bisect_doubts(b) && 1 - best->probability <= BISECT_CAUTION * doubt &&
	       b->none <= NONE_SHARE * doubt;
}

/* Two changes: the larger one is the answer once its place holds no second commit that could be
 * built, and is as sure as a single one has to be. */
static void name_several(const struct bisect *b, struct bisect_result *out)
{
	int larger = b->two.step[1] > b->two.step[0], buildable = 0;

	for (int i = 0; i < 2; i++) {
		out->changes[i][0] = b->two.first[i];
		out->changes[i][1] = b->two.last[i];
	}
	out->lo = b->two.first[larger];
	out->hi = b->two.last[larger];
	out->probability = b->several * b->two.share[larger];
	for (int i = out->lo; i <= out->hi; i++)
		buildable += !b->commits[i].skipped;
	if (buildable == 1 && b->two.share[larger] >= b->options.confidence)
		out->verdict = BISECT_SEVERAL;
}

/* Kernels that are halved away until one of those that are open is left. */
static int builds_left(const struct bisect *b, const struct bisect_result *range)
{
	int open = 0;

	for (int i = range->lo; i <= range->hi; i++)
		open += !b->commits[i].built && !b->commits[i].skipped;
	return open ? (int)ceil(log2(open + 1)) : 0;
}

bool bisect_left(struct bisect *b, struct bisect_needs *out)
{
	struct bisect_result range = {0};
	double doubt = BISECT_CAUTION * (1 - b->options.confidence);

	bisect_refresh(b);
	if (!b->boot_count || b->several >= SEVERAL_DOUBT)
		return false;
	smallest_range(b, 0.99, &range);
	out->boots = (int)ceil(fmin(1e6, culprit_boots_left(&b->fit, b->posterior, b->none,
						 (size_t)b->options.runs, doubt)));
	out->builds = builds_left(b, &range);
	if (out->builds > out->boots)
		out->builds = out->boots;
	return true;
}

static void describe(const struct bisect *b, struct bisect_result *out)
{
	const struct culprit_segment *best = &b->fit.segments[b->fit.best];
	bool none = b->none >= 0.5;
	const struct culprit_noise *noise = none ? &b->fit.none_noise : &best->noise;

	out->good_sd = sqrt(none ? b->fit.level.variance : best->good.variance);
	out->bad_sd = sqrt(none ? b->fit.level.variance : best->bad.variance);
	out->within = sqrt(noise->within);
	out->between = noise->tau;
	out->outlying = noise->share;
}

void bisect_get(struct bisect *b, struct bisect_result *out, double *posterior)
{
	bisect_refresh(b);
	*out = (struct bisect_result){
		.verdict = BISECT_UNDECIDED, .none = b->none, .several = b->several};
	if (posterior)
		memcpy(posterior, b->posterior,
			((size_t)b->options.commits + 1) * sizeof(*posterior));
	if (b->boot_count)
		describe(b, out);
	if (is_none(b)) {
		out->verdict = BISECT_NONE;
		out->probability = b->none;
		out->improved = bisect_improved(b);
		return;
	}
	if (b->several >= SEVERAL_ENOUGH) {
		name_several(b, out);
		return;
	}
	best_class(b, out);
	if (!is_sure(b, out)) {
		smallest_range(b, 0.99, out);
		return;
	}
	out->verdict = out->lo == out->hi ? BISECT_CULPRIT : BISECT_RANGE;
}
