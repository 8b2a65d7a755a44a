/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/looks.h"
#include "stat/fdr.h"

/* A comparison on its way through the looks. */
struct course {
	struct rate now;  /* at the newest look that it was measured at */
	struct rate best; /* at the look with the smallest p; cell NULL: none yet */
	double p;	  /* that one, as one over the whole design; NAN: none yet */
	bool decided;
};

/* What looks_decide works on. */
struct family {
	const struct store_view *view;
	const struct evidence *evidence;
	const struct sequential *levels;
	const struct rate *whole; /* with all boots that count */
	struct rate *rates;
	struct course *courses;
	size_t count;
	struct arena *arena;
};

static int look_of(const struct evidence_cell *cell, size_t boot)
{
	const struct block *block = blocks_get(cell->blocks, cell->boots[boot].block);

	return block ? block->look : 0;
}

int looks_of_cell(const struct evidence_cell *cell)
{
	int last = 0;

	for (size_t i = 0; i < cell->count; i++)
		if (look_of(cell, i) > last)
			last = look_of(cell, i);
	return last;
}

/* A condition that was decided is not run in later blocks. */
static bool is_measured(const struct evidence_cell *cell, int look)
{
	for (size_t i = 0; i < cell->count; i++)
		if (look_of(cell, i) == look)
			return true;
	return false;
}

static bool is_tested(const struct rate *rate)
{
	return !rate->same_kernel && rate->effect.testable && rate->gate == VERDICT_WHY_NONE &&
	       isfinite(rate->effect.p);
}

/* The comparison with the boots up to a look. */
static void take_look(const struct family *family, size_t i, int look)
{
	const struct rate *all = &family->whole[i];
	struct course *course = &family->courses[i];
	struct evidence_cell *cell = arena_alloc(family->arena, sizeof(*cell));
	double level = sequential_level(family->levels, look), p;

	evidence_at_look(all->cell, look, family->arena, cell);
	rate_effect(family->view, cell, all->variant, all->against,
		evidence_history(family->evidence, cell->metric->id, all->against->id),
		family->arena, &course->now);
	rate_set_look(&course->now, look, level);
	p = is_tested(&course->now) ? sequential_p(family->levels, look, course->now.effect.p)
				    : (double)NAN;
	if (p < course->p || (isnan(course->p) && !isnan(p))) {
		course->p = p;
		course->best = course->now;
	}
}

/* q of every comparison, and how many there are; controls are held to their own p. */
static int64_t correct(const struct family *family, double *q)
{
	int64_t members = 0;

	for (size_t i = 0; i < family->count; i++) {
		bool control = family->rates[i].cell->condition->control;

		q[i] = control ? (double)NAN : family->courses[i].p;
		members += !isnan(q[i]);
	}
	fdr_bh(q, family->count, q);
	for (size_t i = 0; i < family->count; i++)
		if (family->rates[i].cell->condition->control)
			q[i] = family->courses[i].p;
	return members;
}

static void decide(const struct family *family, const struct rate *from, double q, int64_t members,
	struct rate *out)
{
	*out = *from;
	rate_decide(family->view, q, members, family->arena, out);
}

static bool is_word(const struct rate *rate, enum verdict_word word)
{
	return rate->row.word == word;
}

/* First whether there is no change, by the newest numbers; then whether there is one, by those that
 * show it best. */
static void decide_at_look(const struct family *family, size_t i, double q, int64_t members)
{
	struct course *course = &family->courses[i];
	struct rate trial;

	decide(family, &course->now, NAN, members, &trial);
	if (is_word(&trial, VERDICT_EQUIVALENT)) {
		course->decided = true;
	} else if (course->best.cell && q <= family->view->head.alpha_pct / 100) {
		decide(family, &course->best, q, members, &trial);
		course->decided =
			is_word(&trial, VERDICT_REGRESSED) || is_word(&trial, VERDICT_IMPROVED);
	}
	if (!course->decided)
		decide(family, &course->now, q, members, &trial);
	trial.row.q = q;
	family->rates[i] = trial;
}

static void look(const struct family *family, int number)
{
	double *q = xcalloc(family->count + 1, sizeof(*q));
	int64_t members;

	for (size_t i = 0; i < family->count; i++)
		if (!family->courses[i].decided && is_measured(family->whole[i].cell, number))
			take_look(family, i, number);
	members = correct(family, q);
	for (size_t i = 0; i < family->count; i++)
		if (!family->courses[i].decided && family->courses[i].now.cell)
			decide_at_look(family, i, q[i],
				family->rates[i].cell->condition->control || isnan(q[i]) ? 0
											 : members);
	free(q);
}

void looks_decide(const struct store_view *view, const struct evidence *evidence,
	const struct sequential *levels, struct rate *rates, size_t count, struct arena *arena)
{
	const struct rate *whole = arena_copy(arena, rates, count, sizeof(*rates));
	struct family family = {view, evidence, levels, whole, rates,
		xcalloc(count + 1, sizeof(struct course)), count, arena};
	int looks = count ? rates[0].cell->blocks->looks : 0;

	for (size_t i = 0; i < count; i++)
		family.courses[i].p = NAN;
	for (int number = 1; number <= looks && number <= view->head.looks; number++)
		look(&family, number);
	for (size_t i = 0; i < count; i++)
		if (!family.courses[i].now.cell) /* never measured */
			decide(&family, &whole[i], NAN, 0, &rates[i]);
	free(family.courses);
}
