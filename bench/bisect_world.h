/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_BISECT_WORLD_H
#define KB_BENCH_BISECT_WORLD_H

#include "base/base.h"

#include <math.h>

#include "base/mem.h"

/*
 * Simulated histories. The generator is a counter through splitmix64's finaliser, so that a value
 * depends on its place alone (world, commit, boot, run), not on the order of the questions:
 *   culprit = 1 + floor(N U(1)), effect = from + (to - from) U(2), no build when U(3, i) < skip
 *   boot b of commit i: slow when U(4, i, b) < out, by depth + depth_sd Z(5, i, b)
 *   ln y = ln level + [i >= culprit] ln(1 + effect) + slow ln(1 - depth) + between Z(6, i, b)
 *        + within Z(7, i, b, r) + (r = 0 and U(8, i, b) < first) ln(1 - first_depth) + drift boots
 */
struct scene {
	const char *name, *about;
	int commits;
	double level, from, to, within, between;
	double out, depth, depth_sd, skip, first, first_depth, drift, second;
	bool lower_is_better;
	/* Figures to reach at 99 % and three runs a boot; 0: none. */
	double right_at_least, wrong_at_most, boots_at_most, cost_at_most;
};

struct bisect_world {
	const struct scene *scene;
	uint64_t seed;
	double effect;
	int culprit, second; /* 0: none */
	int *boots_of;	     /* by commit */
	bool *tried;
	int builds, failed, boots, runs;
	/* the present boot */
	int commit, boot, run;
	double ln_level;
};

static inline double world_uniform(const struct bisect_world *w, const uint64_t place[4])
{
	uint64_t z = w->seed;

	for (int i = 0; i < 4; i++) {
		z += 0x9E3779B97F4A7C15u + place[i] * 0xD1342543DE82EF95u;
		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
		z ^= z >> 31;
	}
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static inline double world_u(const struct bisect_world *w, int what, int commit, int boot)
{
	return world_uniform(w, (uint64_t[]){(uint64_t)what, (uint64_t)commit, (uint64_t)boot, 0});
}

static inline double world_z(const struct bisect_world *w, int what, int commit, int boot, int run)
{
	uint64_t place[4] = {(uint64_t)what, (uint64_t)commit, (uint64_t)boot, 2 * (uint64_t)run};
	double u = world_uniform(w, place);

	place[3]++;
	return sqrt(-2 * log(u)) * cos(2 * M_PI * world_uniform(w, place));
}

static inline void bisect_world_begin(
	struct bisect_world *w, const struct scene *scene, int base, int trial)
{
	size_t n = (size_t)scene->commits + 1;

	*w = (struct bisect_world){.scene = scene,
		.seed = (uint64_t)base * 1000003 + (uint64_t)trial,
		.boots_of = xcalloc(n, sizeof(int)),
		.tried = xcalloc(n, sizeof(bool))};
	w->effect = scene->from + (scene->to - scene->from) * world_u(w, 2, 0, 0);
	if (w->effect != 0)
		w->culprit = 1 + (int)(scene->commits * world_u(w, 1, 0, 0));
	if (scene->second != 0)
		w->second = 1 + (int)(scene->commits * world_u(w, 9, 0, 0));
}

static inline void bisect_world_end(struct bisect_world *w)
{
	free(w->boots_of);
	free(w->tried);
}

static inline bool world_skips(const struct bisect_world *w, int commit)
{
	return commit > 0 && commit < w->scene->commits &&
	       world_u(w, 3, commit, 0) < w->scene->skip;
}

/* False when the commit does not build. */
static inline bool world_boot(struct bisect_world *w, int commit)
{
	const struct scene *s = w->scene;
	bool skips = world_skips(w, commit);
	int boot;

	w->builds += !w->tried[commit] && !skips;
	w->failed += !w->tried[commit] && skips;
	w->tried[commit] = true;
	if (skips)
		return false;
	boot = w->boots_of[commit]++;
	w->boots++;
	w->commit = commit;
	w->boot = boot;
	w->run = 0;
	w->ln_level = log(s->level);
	if (w->culprit && commit >= w->culprit)
		w->ln_level += log(1 + w->effect);
	if (w->second && commit >= w->second)
		w->ln_level += log(1 + s->second);
	if (world_u(w, 4, commit, boot) < s->out)
		w->ln_level += log(1 - (s->depth + s->depth_sd * world_z(w, 5, commit, boot, 0)));
	w->ln_level += s->between * world_z(w, 6, commit, boot, 0) + s->drift * w->boots;
	return true;
}

static inline double world_run(struct bisect_world *w)
{
	const struct scene *s = w->scene;
	double x = w->ln_level + s->within * world_z(w, 7, w->commit, w->boot, w->run);

	if (w->run == 0 && world_u(w, 8, w->commit, w->boot) < s->first)
		x += log(1 - s->first_depth);
	w->run++;
	w->runs++;
	return exp(x);
}

/* The culprit's class: it, or the next commit that builds, and those before that do not. */
static inline void world_truth(const struct bisect_world *w, int culprit, int *lo, int *hi)
{
	*hi = culprit;
	while (world_skips(w, *hi))
		(*hi)++;
	*lo = *hi;
	while (*lo > 1 && world_skips(w, *lo - 1))
		(*lo)--;
}

#endif
