/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_BLOCKS_H
#define KB_JUDGE_BLOCKS_H

#include "base/base.h"

#include "base/mem.h"
#include "model/store_view.h"

/*
 * What the blocks of a machine's plan are for. Some stand in for an earlier one that was disturbed;
 * the others are numbered: in an experiment with looks, look k is taken when its k-th block and
 * whatever repeats a block up to it have ended.
 */
struct block {
	int look;     /* that its boots count from on, 1 or more; 0: there is no such block */
	int repeats;  /* the block that it stands in for; 0: none */
	int repeated; /* how often it was planned once more */
	size_t boots;
	bool ended; /* every boot is done or failed */
	bool done;  /* every boot is done */
};

struct blocks {
	struct block *items; /* by number; items[0] is not used */
	size_t count;
	int looks; /* that can be taken */
};

/* In the arena. */
void blocks_of(const struct store_machine *machine, struct arena *arena, struct blocks *out);

/* The block of that number, or NULL. */
const struct block *blocks_get(const struct blocks *blocks, int number);

#endif
