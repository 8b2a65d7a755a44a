/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/evidence.h"
#include "judge/suites.h"

/* The cells of one metric of a suite, and their boots as if they were one condition. */
struct group {
	const struct evidence_cell *first;
	size_t members;
	struct bracket_boot *boots;
	size_t count;
};

static bool belongs(const struct evidence_cell *cell, const struct evidence_cell *first)
{
	return !cell->condition->control && cell->machine == first->machine &&
	       strcmp(cell->condition->suite, first->condition->suite) == 0 &&
	       strcmp(cell->metric->name, first->metric->name) == 0 &&
	       strcmp(cell->metric->unit, first->metric->unit) == 0 &&
	       cell->metric->lower_is_better == first->metric->lower_is_better;
}

static const struct bracket_boot *boot_at(const struct evidence_cell *cell, double t)
{
	for (size_t i = 0; i < cell->count; i++)
		if (cell->boots[i].t == t)
			return &cell->boots[i];
	return NULL;
}

/* The mean over all members of one boot; false when one of them has no value there. */
static bool mean_boot(const struct evidence *evidence, const struct group *group,
	const struct bracket_boot *boot, struct bracket_boot *out)
{
	double members = (double)group->members;

	*out = *boot;
	out->mean_ln = out->var_ln = 0;
	for (size_t i = 0; i < evidence->cell_count; i++) {
		const struct bracket_boot *part;

		if (!belongs(&evidence->cells[i], group->first))
			continue;
		part = boot_at(&evidence->cells[i], boot->t);
		if (!part || !part->runs || !isfinite(part->mean_ln))
			return false;
		out->mean_ln += part->mean_ln / members;
		out->var_ln += part->var_ln / (members * members);
		if (part->runs < out->runs)
			out->runs = part->runs;
	}
	return true;
}

/* False when the cell is not the first of its suite and metric, or the only one. */
static bool make_group(const struct evidence *evidence, size_t at, struct group *group)
{
	const struct evidence_cell *first = &evidence->cells[at];

	*group = (struct group){.first = first};
	for (size_t i = 0; i < evidence->cell_count; i++) {
		if (!belongs(&evidence->cells[i], first))
			continue;
		if (i < at)
			return false;
		group->members++;
	}
	if (group->members < 2)
		return false;
	group->boots = xcalloc(first->count + 1, sizeof(*group->boots));
	for (size_t i = 0; i < first->count; i++)
		if (mean_boot(evidence, group, &first->boots[i], &group->boots[group->count]))
			group->count++;
	return true;
}

static bool rate_variant(const struct store_view *view, const struct group *group,
	const struct store_variant *variant, struct suite_mean *out)
{
	struct bracket effect;
	bool sure;

	bracket_effect(group->boots, group->count, variant->against->position, variant->position,
		NULL, &effect);
	sure = effect.testable && !effect.no_spread && !view->head.means_only;
	*out = (struct suite_mean){
		.machine = group->first->machine,
		.variant = variant,
		.against = variant->against,
		.suite = group->first->condition->suite,
		.metric = group->first->metric->name,
		.unit = group->first->metric->unit,
		.lower_is_better = group->first->metric->lower_is_better,
		.conditions = (int64_t)group->members,
		.boots = effect.boots_b,
		.against_boots = effect.boots_a,
		.effect = effect.d,
		.effect_low = sure ? effect.lo : (double)NAN,
		.effect_high = sure ? effect.hi : (double)NAN,
		.p = sure ? effect.p : (double)NAN,
	};
	return effect.method != BRACKET_NONE;
}

int judge_suites(struct store *store, const struct store_view *view, struct arena *arena,
	struct suite_mean **out, size_t *count, struct err *err)
{
	struct suite_mean *rows = NULL;
	size_t n = 0, capacity = 0;
	struct evidence evidence;
	int ret = evidence_load(store, view, arena, &evidence, NULL, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < evidence.cell_count; i++) {
		struct group group;

		if (!make_group(&evidence, i, &group))
			continue;
		for (size_t v = 0; v < view->variant_count; v++) {
			struct suite_mean row;

			if (!view->variants[v].against || view->variants[v].control ||
				view->variants[v].layout_of ||
				!rate_variant(view, &group, &view->variants[v], &row))
				continue;
			GROW(rows, n, capacity);
			rows[n++] = row;
		}
		free(group.boots);
	}
	*out = arena_copy(arena, rows, n, sizeof(*rows));
	*count = n;
	free(rows);
	return 0;
}
