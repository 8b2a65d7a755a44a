/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_JUDGE_H
#define KB_JUDGE_JUDGE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/store_rows.h"
#include "model/store_view.h"

/*
 * From stored samples to verdict rows. Reads the store, never touches a machine. Every variant that
 * has a baseline gets one row for each machine, condition and metric, also when there is nothing to
 * compare: then the row says why. The methods are those of docs/statistics.md.
 *
 * Histories come from earlier boots of the same kernel binary on the same machine in the same
 * condition (store_each_history_cell): calibrations and older experiments.
 */
enum {
	/* Raised when a method changes so that old rows may differ from new ones. */
	JUDGE_VERSION = 3,
	/* Earlier boots that a history is made from, the newest: a machine changes with time. */
	JUDGE_HISTORY_BOOTS = 40,
};

/* Judges an experiment and replaces its verdict rows; can be done at any time, also of an
 * experiment that is not finished: what is missing is said in the rows. version is kbracket's. */
KB_MUST_CHECK int judge_experiment(
	struct store *store, int64_t experiment_id, const char *version, struct err *err);

/* What an experiment whose plan has been walked still needs: boots of one machine. */
struct judge_wish {
	int repeats;		  /* the block that is to be repeated; 0: a further one */
	const bool *variants;	  /* by position: whether it is booted */
	const size_t *conditions; /* positions, ascending */
	size_t condition_count;
	const char *reason; /* a clause */
};

enum { JUDGE_REPEATS_MAX = 2 }; /* of a block */

/* What is to be appended to a machine's plan, judged as judge_experiment does it and without
 * storing anything: other machines' results make no difference to it. First whole blocks that hold
 * a disturbed boot, once more; then, in an experiment with looks, a further block with what is not
 * decided, at most one. Nothing: the machine is at its end. Wishes live in the arena. A machine
 * that the experiment does not have is ERR_NOT_FOUND. */
KB_MUST_CHECK int judge_next(struct store *store, int64_t experiment_id, const char *machine,
	struct arena *arena, struct judge_wish **out, size_t *count, struct err *err);

/* Two variants of one experiment compared with each other, whatever their baselines are: rows as
 * judge_experiment would make them, in order of machine, condition and metric, one family for each
 * machine. Nothing is stored; rows live in the arena. */
KB_MUST_CHECK int judge_compare(struct store *store, const struct store_view *view,
	const struct store_variant *variant, const struct store_variant *against,
	struct arena *arena, struct store_verdict **out, size_t *count, struct err *err);

#endif
