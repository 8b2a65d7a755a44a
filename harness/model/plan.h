/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_PLAN_H
#define KB_MODEL_PLAN_H

#include "base/base.h"

#include "model/experiment.h"
#include "model/run_kind.h"

/*
 * The order of everything on one machine. Pure: the same experiment, seed, CPU count and resolved
 * commits give the same plan.
 *
 * Boots: palindromic blocks A B B A (A B C C B A), shuffled blocks, the explicit list, or the parts
 * of one boot (A B A C A). Within a
 * boot, suites come in an order drawn per block (all boots of a block share it, so that brackets
 * compare like with like); for each suite first its warm-up runs, then the measured runs in rounds
 * over its conditions. After the measured runs of all suites come those that are made again under
 * counters, in the same order.
 *
 * A plan that is stored and being walked can be extended (plan_extend): more blocks, a block once
 * more, or single boots. What was appended is kept in the journal and gives the same plan again.
 */
struct plan_run {
	size_t condition; /* index into plan.conditions */
	int ordinal;	  /* within condition, boot and kind, from 1 */
	enum run_kind kind;
};

struct plan_boot {
	int ordinal;	/* on this machine, from 1 */
	int block;	/* from 1 */
	size_t variant; /* index into experiment.variants */
	struct plan_run *runs;
	size_t run_count;
};

struct plan {
	const struct experiment *experiment;
	const struct machine_spec *machine;
	int64_t cpus;
	struct condition *conditions;
	size_t condition_count;
	struct plan_boot *boots;
	size_t boot_count;
};

KB_MUST_CHECK int plan_make(struct arena *arena, const struct experiment *experiment,
	const struct machine_spec *machine, int64_t cpus, struct plan *out, struct err *err);

/* Boots that are appended to a plan. Indexes are of experiment.variants and plan.conditions. */
struct plan_extension {
	int block;		  /* that they belong to, from 1; seeds the order of the suites */
	int repeats;		  /* the block that this one stands in for; 0: none */
	const size_t *variants;	  /* one for each boot, in order */
	size_t boot_count;	  /* at least 1 */
	const size_t *conditions; /* that are run in each boot, ascending */
	size_t condition_count;	  /* at least 1 */
	int64_t runs;		  /* measured ones in a boot and condition, at least 1 */
	int64_t warmup;		  /* before them, per suite and boot */
	const char *reason;	  /* a clause for people: "look 2", "repeat of block 1" */
};

/* The number of the block after the last one. */
int plan_next_block(const struct plan *plan);

/* The variants of one more whole block in the design's order, in the arena; order is drawn from
 * block's own stream. wanted (one for each variant; NULL: all) leaves variants out. Returns how
 * many boots that is. */
size_t plan_block_order(struct arena *arena, const struct plan *plan, int block, const bool *wanted,
	const size_t **variants);

/* Appends boots. Pure, as plan_make is; the conditions of the plan stay as they are. What the
 * extension points to need not live on. ERR_USAGE: something in it is out of range, or the plan
 * becomes too large; the plan is left as it was. */
KB_MUST_CHECK int plan_extend(struct arena *arena, struct plan *plan,
	const struct plan_extension *extension, struct err *err);

/* How long the runs of a boot take by the suites' own declarations, warm-ups included. */
int64_t plan_boot_expect_ns(const struct plan *plan, const struct plan_boot *boot);
/* All boots from one on (index into plan.boots), with boot_ns for each boot itself. */
int64_t plan_expect_ns(const struct plan *plan, size_t from_boot, int64_t boot_ns);

/* Seeded generator for orders (SplitMix64, Steele et al. 2014): the same on every machine. */
uint64_t plan_random(uint64_t *state);

#endif
