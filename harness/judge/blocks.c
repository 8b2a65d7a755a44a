/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "judge/blocks.h"

/* No plan has more; numbers beyond are not kbracket's. */
enum { BLOCKS_MAX = 1000000 };

static size_t last_number(const struct store_machine *machine)
{
	int last = 0;

	for (size_t i = 0; i < machine->boot_count; i++)
		if (machine->boots[i].block > last && machine->boots[i].block <= BLOCKS_MAX)
			last = machine->boots[i].block;
	return (size_t)last;
}

static struct block *at(const struct blocks *blocks, int number)
{
	return number > 0 && (size_t)number < blocks->count ? &blocks->items[number] : NULL;
}

const struct block *blocks_get(const struct blocks *blocks, int number)
{
	return at(blocks, number);
}

static void add_boot(struct block *block, const struct store_boot *boot)
{
	bool done = boot->state == STATE_DONE;

	block->done = done && (block->done || block->boots == 0);
	block->ended = (done || boot->state == STATE_FAILED) && (block->ended || block->boots == 0);
	block->boots++;
}

static void add_repeats(const struct store_machine *machine, struct blocks *blocks)
{
	for (size_t i = 0; i < machine->extension_count; i++) {
		struct block *block = at(blocks, machine->extensions[i].block);
		struct block *first = at(blocks, machine->extensions[i].repeats);

		if (!block || !first)
			continue;
		block->repeats = machine->extensions[i].repeats;
		first->repeated++;
	}
}

/* Numbers the blocks that repeat none; the others belong to the look of what they repeat. */
static void number_looks(struct blocks *blocks)
{
	int look = 0;

	for (size_t i = 1; i < blocks->count; i++) {
		struct block *block = &blocks->items[i];

		if (!block->boots)
			continue;
		block->look = block->repeats ? blocks->items[block->repeats].look : ++look;
	}
	blocks->looks = look;
	for (size_t i = 1; i < blocks->count; i++) {
		const struct block *block = &blocks->items[i];

		if (block->boots && !block->ended && block->look <= blocks->looks)
			blocks->looks = block->look - 1;
	}
}

void blocks_of(const struct store_machine *machine, struct arena *arena, struct blocks *out)
{
	*out = (struct blocks){.count = last_number(machine) + 1};
	out->items = arena_alloc(arena, out->count * sizeof(*out->items));
	for (size_t i = 0; i < machine->boot_count; i++) {
		struct block *block = at(out, machine->boots[i].block);

		if (block)
			add_boot(block, &machine->boots[i]);
	}
	add_repeats(machine, out);
	number_looks(out);
}
