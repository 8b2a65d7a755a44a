/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_bisect: how often a bisect names the right commit, and what it costs, in simulated worlds
 * (bisect_world.h): kbracket's engine beside what people do with `git bisect`. git's ways are given
 * the true middle between good and bad for nothing. Exits 1 when a figure is missed.
 *
 *   bench_bisect [TRIALS [BASE [SCENE]]]      default 100 1000, all scenes
 */
#include "base/base.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "base/num.h"
#include "judge/bisect.h"
#include "bisect_scenes.h"

enum { RUNS = 3, MAX_BOOTS = 150, BUILD_COST = 10, BOOT_COST = 3, RUN_COST = 1, WORKERS = 2 };

/* What one way of bisecting said over the trials. */
struct tally {
	int trials, right, wrong, range, missed, undecided;
	double builds, boots, runs, cost;
	int boots_seen[MAX_BOOTS * 8];
};

enum answer { RIGHT, WRONG, RANGE, MISSED, UNDECIDED };

static void take(struct tally *tally, const struct bisect_world *w, enum answer answer)
{
	int *const counts[] = {[RIGHT] = &tally->right,
		[WRONG] = &tally->wrong,
		[RANGE] = &tally->range,
		[MISSED] = &tally->missed,
		[UNDECIDED] = &tally->undecided};

	tally->trials++;
	++*counts[answer];
	tally->builds += w->builds;
	tally->boots += w->boots;
	tally->runs += w->runs;
	tally->cost +=
		BUILD_COST * (w->builds + w->failed) + BOOT_COST * w->boots + RUN_COST * w->runs;
	tally->boots_seen[w->boots < MAX_BOOTS * 8 ? w->boots : MAX_BOOTS * 8 - 1]++;
}

/* A range lo..hi held against the truth: right when it is the culprit's class, or one of two. */
static enum answer score(const struct bisect_world *w, int lo, int hi)
{
	int first, last;

	if (!w->culprit)
		return WRONG;
	world_truth(w, w->culprit, &first, &last);
	if (w->second && !(lo <= w->culprit && w->culprit <= hi) && lo <= w->second &&
		w->second <= hi && hi - lo <= 3)
		return RIGHT;
	if (first <= lo && hi == last)
		return RIGHT;
	return lo <= last && hi >= first ? RANGE : WRONG;
}

static enum answer score_result(const struct bisect_world *w, const struct bisect_result *r)
{
	if (r->verdict == BISECT_NONE)
		return w->culprit ? MISSED : RIGHT;
	if (r->verdict == BISECT_UNDECIDED)
		return UNDECIDED;
	return score(w, r->lo, r->hi);
}

/* kbracket's engine, with so many runs a boot. */
static enum answer bisect_by_engine(struct bisect_world *w, double confidence, int runs)
{
	struct bisect *b = bisect_new(&(struct bisect_options){.commits = w->scene->commits,
		.lower_is_better = w->scene->lower_is_better,
		.confidence = confidence,
		.max_boots = MAX_BOOTS,
		.runs = runs,
		.cost_build = BUILD_COST,
		.cost_boot = BOOT_COST,
		.cost_run = RUN_COST});
	struct bisect_result result;
	double values[RUNS];
	int commit;

	while (bisect_next(b, &commit) == BISECT_BOOT) {
		if (!world_boot(w, commit)) {
			bisect_skip(b, commit);
			continue;
		}
		for (int i = 0; i < runs; i++)
			values[i] = world_run(w);
		bisect_fed(b, commit, values, (size_t)runs);
	}
	bisect_get(b, &result, NULL);
	bisect_free(b);
	return score_result(w, &result);
}

static double middle(double *values, int count)
{
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
			double swap = values[k];

			values[k] = values[k - 1];
			values[k - 1] = swap;
		}
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* True when the values are on the bad side of the middle between the levels. */
static bool is_bad(const struct bisect_world *w, double value)
{
	double effect = w->culprit ? log(1 + w->effect) : log(1 - 0.09);
	double side = log(value) - log(w->scene->level) - effect / 2;

	return w->scene->lower_is_better ? side > 0 : side < 0;
}

/* A way of driving git bisect: boots of a commit, runs of a boot, their median; or bad only after
 * so many bad boots in a row. */
struct git_way {
	int boots, runs;
	bool confirm;
};

static bool measure_bad(struct bisect_world *w, int commit, const struct git_way *way)
{
	double values[64];
	int count = 0;

	for (int b = 0; b < way->boots; b++) {
		(void)world_boot(w, commit);
		for (int r = 0; r < way->runs; r++)
			values[count++] = world_run(w);
		if (!way->confirm)
			continue;
		if (!is_bad(w, middle(values, count)))
			return false;
		count = 0;
	}
	return way->confirm || is_bad(w, middle(values, count));
}

/* The commit nearest to the middle that builds; what does not is tried and paid for. */
static int git_pick(struct bisect_world *w, int good, int bad)
{
	int centre = good + (bad - good) / 2;

	for (int far = 0; far < bad - good; far++)
		for (int side = -1; side <= 1; side += 2) {
			int commit = centre + side * far;

			if (commit <= good || commit >= bad)
				continue;
			if (!world_skips(w, commit))
				return commit;
			w->failed += !w->tried[commit];
			w->tried[commit] = true;
		}
	return -1;
}

static enum answer bisect_by_git(struct bisect_world *w, const struct git_way *way)
{
	int good = 0, bad = w->scene->commits;

	while (bad - good > 1) {
		int commit = git_pick(w, good, bad);

		if (commit < 0)
			break;
		if (measure_bad(w, commit, way))
			bad = commit;
		else
			good = commit;
	}
	return score(w, good + 1, bad);
}

static const struct way {
	const char *name;
	double confidence; /* 0: git's */
	int runs;
	struct git_way git;
} ways[] = {
	{"git bisect, 1 run", .git = {1, 1, false}},
	{"git bisect, median of 3", .git = {1, 3, false}},
	{"git, 5 boots x 3, median", .git = {5, 3, false}},
	{"git, confirm bad thrice", .git = {3, 3, true}},
	{"kbracket, 95 %", 0.95, RUNS, {0}},
	{"kbracket, 99 %", 0.99, RUNS, {0}},
	{"kbracket, 99 %, 1 run", 0.99, 1, {0}},
};

enum { HELD = 5 }; /* the way that is held to the scenes' figures */

static void simulate(const struct scene *scene, int base, int trials, int worker, struct tally *out)
{
	for (int t = worker; t < trials; t += WORKERS)
		for (size_t k = 0; k < ARRAY_SIZE(ways); k++) {
			const struct way *way = &ways[k];
			struct bisect_world w;

			bisect_world_begin(&w, scene, base, t);
			take(&out[k], &w,
				way->confidence > 0
					? bisect_by_engine(&w, way->confidence, way->runs)
					: bisect_by_git(&w, &way->git));
			bisect_world_end(&w);
		}
}

static void add_up(const struct tally *from, struct tally *to)
{
	to->trials += from->trials;
	to->right += from->right;
	to->wrong += from->wrong;
	to->range += from->range;
	to->missed += from->missed;
	to->undecided += from->undecided;
	to->builds += from->builds;
	to->boots += from->boots;
	to->runs += from->runs;
	to->cost += from->cost;
	for (size_t i = 0; i < ARRAY_SIZE(to->boots_seen); i++)
		to->boots_seen[i] += from->boots_seen[i];
}

/* Every worker has the trials of its own remainder, so that the sum does not depend on their
 * number. */
static void simulate_all(const struct scene *scene, int base, int trials, struct tally *out)
{
	size_t bytes = WORKERS * ARRAY_SIZE(ways) * sizeof(struct tally);
	struct tally *shared =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		exit(3);
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0) {
			simulate(scene, base, trials, i, shared + (size_t)i * ARRAY_SIZE(ways));
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	memset(out, 0, ARRAY_SIZE(ways) * sizeof(*out));
	for (size_t i = 0; i < WORKERS * ARRAY_SIZE(ways); i++)
		add_up(&shared[i], &out[i % ARRAY_SIZE(ways)]);
	munmap(shared, bytes);
}

/* Boots that log2 N bits take at the rate of a boot whose noise is known, without the ends. */
static double bound(const struct scene *s)
{
	double v = s->within * s->within / RUNS + s->between * s->between;
	double effect = log(1 + (s->from + s->to) / 2), low = -0.6, step = 0.0002, bits = 0;
	double away = log(1 - s->depth), away_sd = sqrt(s->depth_sd * s->depth_sd + v);

	if (effect == 0)
		return NAN;
	for (int i = 0; i < 6000; i++) {
		double x = low + i * step, at[2], mean;

		for (int k = 0; k < 2; k++) {
			double centre = k * effect;

			at[k] = (1 - s->out) * dnorm(x, centre, sqrt(v), 0) +
				s->out * dnorm(x, centre + away, away_sd, 0);
		}
		mean = (at[0] + at[1]) / 2;
		for (int k = 0; k < 2; k++)
			bits += at[k] > 0 ? 0.5 * at[k] * log2(at[k] / mean) * step : 0;
	}
	return log2(s->commits) / bits;
}

static int percentile(const struct tally *t, double share)
{
	int seen = 0, boots = 0;

	while ((seen += t->boots_seen[boots]) < share * t->trials)
		boots++;
	return boots;
}

/* Whether a share is beyond its figure by more than the trials' own scatter. */
static bool short_of(double share, double figure, double n)
{
	return share < figure - 2 * sqrt(figure * (1 - figure) / n);
}

static bool misses(const struct scene *s, const struct tally *t)
{
	double n = t->trials, wrong = s->from == 0 ? s->wrong_at_most : 0.025;
	bool miss = short_of(1 - t->wrong / n, 1 - wrong, n);

	if (s->right_at_least > 0 && s->from != 0)
		miss |= short_of((t->right + t->range) / n, s->right_at_least, n);
	if (s->boots_at_most > 0)
		miss |= t->boots / n > s->boots_at_most || t->cost / n > s->cost_at_most;
	return miss;
}

static void print_way(const struct scene *s, size_t k, const struct tally *t)
{
	double n = t->trials, limit = bound(s);

	printf("  %-25s %6.3f %6.3f %6.3f %6.3f %6.3f %6.1f %6.1f %5d %6.0f %6.0f", ways[k].name,
		t->right / n, t->range / n, t->wrong / n, t->missed / n, t->undecided / n,
		t->builds / n, t->boots / n, percentile(t, 0.9), t->runs / n, t->cost / n);
	if (limit > 0)
		printf(" %5.2f", t->boots / n / limit);
	putchar('\n');
}

static bool print_scene(const struct scene *s, const struct tally *tallies)
{
	bool miss = misses(s, &tallies[HELD]);

	printf("%s: %s\n", s->name, s->about);
	for (size_t k = 0; k < ARRAY_SIZE(ways); k++)
		print_way(s, k, &tallies[k]);
	if (s->boots_at_most > 0)
		printf("  held to%19s%6.3f %20.3f %29.1f %19.0f", "",
			s->from == 0 ? 1 - s->wrong_at_most : s->right_at_least,
			s->from == 0 ? s->wrong_at_most : 0.025, s->boots_at_most, s->cost_at_most);
	else
		printf("  held to%46.3f%62s", 0.025, "");
	printf("   %s\n", miss ? "MISSED" : "met");
	fflush(stdout);
	return miss;
}

int main(int argc, char **argv)
{
	int64_t trials = 100, base = 1000;
	struct err err = ERR_INIT;
	bool missed = false;

	if ((argc > 1 && num_int(argv[1], 1, 1000000, &trials, &err)) ||
		(argc > 2 && num_int(argv[2], 1, INT32_MAX, &base, &err))) {
		fprintf(stderr, "bench_bisect: %s\n", err.text);
		return 2;
	}
	printf("%lld trials a scene, base %lld; ratio: boots to the bound of a known noise\n",
		(long long)trials, (long long)base);
	printf("  %-25s %6s %6s %6s %6s %6s %6s %6s %5s %6s %6s %5s\n", "", "right", "range",
		"wrong", "missed", "undec.", "builds", "boots", "p90", "runs", "cost", "ratio");
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		struct tally tallies[ARRAY_SIZE(ways)];

		if (argc > 3 && strcmp(argv[3], scenes[i].name) != 0)
			continue;
		simulate_all(&scenes[i], (int)base, (int)trials, tallies);
		missed |= print_scene(&scenes[i], tallies);
	}
	return missed;
}
