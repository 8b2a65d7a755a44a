/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/looks.h"
#include "judge/wishes.h"

struct wishes {
	const struct store_view *view;
	const struct evidence *evidence;
	const struct rate *rates;
	size_t rate_count;
	struct arena *arena;
	struct judge_wish *items;
	size_t count, capacity;
};

/* The conditions that are marked; returns how many. */
static size_t list_conditions(const struct store_machine *machine, const bool *marked,
	struct arena *arena, const size_t **out)
{
	size_t *list = arena_alloc(arena, (machine->condition_count + 1) * sizeof(*list));
	size_t count = 0;

	for (size_t c = 0; c < machine->condition_count; c++)
		if (marked[c])
			list[count++] = c;
	*out = list;
	return count;
}

static void wish(struct wishes *wishes, const struct store_machine *machine, int repeats,
	const bool *variants, const bool *conditions, const char *reason)
{
	struct judge_wish *item;

	GROW(wishes->items, wishes->count, wishes->capacity);
	item = &wishes->items[wishes->count++];
	*item = (struct judge_wish){
		.repeats = repeats,
		.variants = variants,
		.reason = reason,
	};
	item->condition_count =
		list_conditions(machine, conditions, wishes->arena, &item->conditions);
}

/* --- disturbed blocks --- */

/* Marks the conditions in which a boot of the block, or of what stands in for it, is disturbed.
 * Returns the ordinal of one of these boots; 0: there is none. */
static int mark_disturbed(const struct wishes *wishes, const struct store_machine *machine,
	const struct blocks *blocks, int number, bool *conditions)
{
	int boot = 0;

	for (size_t i = 0; i < wishes->rate_count; i++) {
		const struct rate *rate = &wishes->rates[i];

		if (rate->cell->machine != machine || !rate->disturbed ||
			rate->cell->condition->control || rate->variant->control)
			continue;
		for (size_t k = 0; k < rate->cell->count; k++) {
			int block = rate->cell->boots[k].block;
			const struct block *found = blocks_get(blocks, block);

			if (!rate->disturbed[k] || !found ||
				(found->repeats ? found->repeats : block) != number)
				continue;
			conditions[rate->cell->condition->position] = true;
			if (!boot)
				boot = (int)rate->cell->boots[k].t;
		}
	}
	return boot;
}

static const bool *variants_of_block(
	const struct wishes *wishes, const struct store_machine *machine, int number)
{
	bool *variants =
		arena_alloc(wishes->arena, (wishes->view->variant_count + 1) * sizeof(*variants));

	for (size_t b = 0; b < machine->boot_count; b++)
		if (machine->boots[b].block == number)
			variants[machine->boots[b].variant->position] = true;
	return variants;
}

static bool wish_repeats(
	struct wishes *wishes, const struct store_machine *machine, const struct blocks *blocks)
{
	size_t before = wishes->count;

	for (int number = 1; number < (int)blocks->count; number++) {
		const struct block *block = &blocks->items[number];
		bool *conditions = arena_alloc(
			wishes->arena, (machine->condition_count + 1) * sizeof(*conditions));
		int boot = 0;

		if (block->boots && !block->repeats && block->repeated < JUDGE_REPEATS_MAX)
			boot = mark_disturbed(wishes, machine, blocks, number, conditions);
		if (boot)
			wish(wishes, machine, number, variants_of_block(wishes, machine, number),
				conditions,
				arena_printf(wishes->arena,
					"repeat of block %d, whose boot %d is disturbed", number,
					boot));
	}
	return wishes->count > before;
}

/* --- looks --- */

/* No number of boots would decide it. */
static bool is_hopeless(const struct rate *rate)
{
	switch (rate->gate) {
	case VERDICT_WHY_NO_RUNS:
	case VERDICT_WHY_UNUSABLE:
	case VERDICT_WHY_MEANS_ONLY:
	case VERDICT_WHY_FEW_OBSERVATIONS: /* a boot more has as few */
	case VERDICT_WHY_CV:		   /* its block was repeated as often as it may be */
		return true;
	case VERDICT_WHY_NONE:
	case VERDICT_WHY_DRIFT:
	case VERDICT_WHY_FEW_BOOTS:
	case VERDICT_WHY_NO_SPREAD:
	case VERDICT_WHY_NOISE:
		break;
	}
	return rate->same_kernel || (rate->effect.no_spread && rate->row.look > 1);
}

static bool is_open(const struct wishes *wishes, const struct rate *rate)
{
	double half = (rate->effect.hi - rate->effect.lo) / 2;

	if (rate->cell->condition->control || rate->variant->control || rate->variant->layout_of ||
		is_hopeless(rate))
		return false;
	if (isnan(wishes->view->head.until_pct))
		return rate->row.word == VERDICT_INCONCLUSIVE || rate->row.word == VERDICT_INVALID;
	return !rate->effect.testable || !(half <= log1p(wishes->view->head.until_pct / 100));
}

/* Marks conditions and variants with an open comparison; returns whether one of those is among
 * them that decide the exit code. */
static bool mark_open(const struct wishes *wishes, const struct store_machine *machine,
	bool *conditions, bool *variants)
{
	bool decides = false;

	for (size_t i = 0; i < wishes->rate_count; i++) {
		const struct rate *rate = &wishes->rates[i];

		if (rate->cell->machine != machine || !is_open(wishes, rate))
			continue;
		conditions[rate->cell->condition->position] = true;
		variants[rate->variant->position] = true;
		variants[rate->against->position] = true;
		decides |= rate->row.headline;
	}
	return decides;
}

/* Another label, or another layout, of a kernel that is booted. */
static bool goes_along(const struct store_variant *variant, const bool *booted)
{
	const struct store_variant *with = variant->control ? variant->against : variant->layout_of;

	return with && booted[with->position];
}

static void wish_look(
	struct wishes *wishes, const struct store_machine *machine, const struct blocks *blocks)
{
	bool *conditions =
		arena_alloc(wishes->arena, (machine->condition_count + 1) * sizeof(*conditions));
	bool *variants =
		arena_alloc(wishes->arena, (wishes->view->variant_count + 1) * sizeof(*variants));

	if (blocks->looks >= wishes->view->head.looks ||
		!mark_open(wishes, machine, conditions, variants))
		return;
	/* What watches the machine goes on watching it. */
	for (size_t c = 0; c < machine->condition_count; c++)
		conditions[c] |= machine->conditions[c].control;
	for (size_t v = 0; v < wishes->view->variant_count; v++)
		if (goes_along(&wishes->view->variants[v], variants))
			variants[wishes->view->variants[v].position] = true;
	wish(wishes, machine, 0, variants, conditions,
		arena_printf(wishes->arena, "look %d", blocks->looks + 1));
}

struct judge_wish *wishes_of(const struct store_view *view, const struct evidence *evidence,
	const struct rate *rates, size_t rate_count, struct arena *arena, size_t *count)
{
	struct wishes wishes = {view, evidence, rates, rate_count, arena, NULL, 0, 0};
	struct judge_wish *kept;

	for (size_t m = 0; m < view->machine_count; m++)
		if (!wish_repeats(&wishes, &view->machines[m], &evidence->blocks[m]) &&
			view->head.looks)
			wish_look(&wishes, &view->machines[m], &evidence->blocks[m]);
	kept = arena_copy(arena, wishes.items, wishes.count, sizeof(*kept));
	*count = wishes.count;
	free(wishes.items);
	return kept;
}
