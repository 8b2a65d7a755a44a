/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_PLAN_H
#define KB_MODEL_PLAN_H

#include "base/base.h"

#include "model/experiment.h"

/*
 * The order of everything on one machine. Pure: the same experiment, seed, CPU count and resolved
 * commits give the same plan.
 *
 * Boots: palindromic blocks A B B A (A B C C B A), shuffled blocks, or the explicit list. Within a
 * boot, suites come in an order drawn per block (all boots of a block share it, so that brackets
 * compare like with like); for each suite first its warm-up runs, then the measured runs in rounds
 * over its conditions.
 */
struct plan_run {
	size_t condition; /* index into plan.conditions */
	int ordinal;	  /* within condition and boot, from 1; warm-ups count for themselves */
	bool warmup;
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

/* How long the runs of a boot take by the suites' own declarations, warm-ups included. */
int64_t plan_boot_expect_ns(const struct plan *plan, const struct plan_boot *boot);
/* All boots from one on (index into plan.boots), with boot_ns for each boot itself. */
int64_t plan_expect_ns(const struct plan *plan, size_t from_boot, int64_t boot_ns);

/* Seeded generator for orders (SplitMix64, Steele et al. 2014): the same on every machine. */
uint64_t plan_random(uint64_t *state);

#endif
