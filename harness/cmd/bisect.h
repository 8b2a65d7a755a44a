/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BISECT_H
#define KB_CMD_BISECT_H

#include "base/base.h"

#include "cmd/study.h"
#include "model/bisect.h"
#include "model/store_bisect.h"

/* A bisect in the hands of a verb. Memory is the command's arena. */
struct bisect_job {
	struct cmd *cmd;
	struct study study;
	int64_t id; /* of its experiment */
	struct bisect_record record;
};

/* The steps between good and bad, and the chain that is tested first. */
struct bisect_steps {
	enum bisect_axis axis;
	const char *tree;    /* repository; "" */
	struct variant good; /* recipe of position 0 */
	struct bisect_step *items;
	size_t count, capacity, listed;
	struct bisect_chain chain;
};

/* Lists the steps that a spec asks for, on the recipe of a variant; cache is where configuration
 * fragments are written to. */
KB_MUST_CHECK int bisect_steps_list(struct arena *arena, const struct bisect_spec *spec,
	const struct variant *recipe, const char *cache, struct bisect_steps *out, struct err *err);
/* The variant of a step, given that of position 0. */
KB_MUST_CHECK int bisect_steps_variant(struct arena *arena, const struct variant *good,
	const struct bisect_step *step, struct variant *out, struct err *err);

/* Stores a new bisect. */
KB_MUST_CHECK int bisect_begin(struct cmd *cmd, const struct bisect_spec *spec, int64_t jobs,
	struct bisect_job *out, struct err *err);
/* Loads one that is stored; name as for store_bisect_find. */
KB_MUST_CHECK int bisect_open(
	struct cmd *cmd, const char *name, int64_t jobs, struct bisect_job *out, struct err *err);
/* Reads the record anew. */
KB_MUST_CHECK int bisect_reload(struct bisect_job *job, struct err *err);
/* Adds an event and reads the record anew. */
KB_MUST_CHECK int bisect_note(
	struct bisect_job *job, const struct bisect_event *event, struct err *err);

/* Plans a new chain on the real graph: what bad has and none of the good ones has. Positions. */
KB_MUST_CHECK int bisect_narrow(
	struct bisect_job *job, const int *good, size_t good_count, int bad, struct err *err);
/* The same by what the person said and what an earlier chain has shown. */
KB_MUST_CHECK int bisect_restage(struct bisect_job *job, struct err *err);

/* Boots, measures and decides until it ends; then the proof. */
KB_MUST_CHECK int bisect_walk(struct bisect_job *job, struct err *err);
KB_MUST_CHECK int bisect_prove(struct bisect_job *job, int culprit, struct err *err);

/* Goes on with a bisect from `bisect` or `resume`, and writes the answer. The status. */
KB_MUST_CHECK int bisect_go(struct bisect_job *job, struct err *err);
/* Writes what is known of one. The status. */
KB_MUST_CHECK int bisect_answer(struct cmd *cmd, int64_t id, bool mail, struct err *err);

#endif
