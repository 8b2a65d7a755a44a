/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_STUDY_H
#define KB_CMD_STUDY_H

#include "base/base.h"

#include "cmd/cmd.h"
#include "model/experiment.h"
#include "model/lab.h"
#include "model/plan.h"
#include "model/store_plan.h"
#include "run/engine.h"

/* An experiment on its way from a file, or from the database, to the engine. Order of calls:
 * study_read or study_read_stored, study_plan, study_resolve, study_create. Memory is the arena's.
 */
struct study {
	struct lab lab;
	struct experiment experiment;
	struct plan *plans;	/* one for each machine */
	struct store_ref *refs; /* one for each variant; after study_resolve */
	struct engine_options engine;
};

/* Reads a file and everything it names; all mistakes are in the error's text, a line each. */
KB_MUST_CHECK int study_read(struct cmd *cmd, const char *file, struct study *out, struct err *err);
/* The same from text that stands for a file of that name in configs/ of the lab that beside belongs
 * to (NULL: the current folder). */
KB_MUST_CHECK int study_read_text(struct cmd *cmd, const char *beside, const char *name,
	const char *text, struct study *out, struct err *err);
/* The same from what was stored with an experiment. The lab is the one around the current folder,
 * or else its cache is beside the database's folder. */
KB_MUST_CHECK int study_read_stored(
	struct cmd *cmd, const struct store_experiment *head, struct study *out, struct err *err);

/* Writes all of diag to stderr and how many there are to err; diag is released. ERR_USAGE. */
int study_tell_mistakes(struct diag *diag, struct err *err);

/* Leaves the experiment one of its machines. */
KB_MUST_CHECK int study_keep_machine(
	struct experiment *experiment, const char *name, struct err *err);

/* Plans every machine. Where neither the machine's file nor the machine's kind tells its number of
 * CPUs, it is asked when may_ask, else that is ERR_USAGE. */
KB_MUST_CHECK int study_plan(struct cmd *cmd, struct study *study, bool may_ask, struct err *err);

/* What the variants' refs mean today. Machines that are not booted need no kernel. */
KB_MUST_CHECK int study_resolve(struct cmd *cmd, struct study *study, struct err *err);

/* Opens the lab's database, or the one that was asked for, as cmd->store. */
KB_MUST_CHECK int study_open_store(
	struct cmd *cmd, const struct study *study, enum store_mode mode, struct err *err);

/* The plans that are stored with an experiment, made again: by plan_make with the number of CPUs
 * that they were made for, and what was appended to them. */
KB_MUST_CHECK int study_plan_stored(
	struct cmd *cmd, struct study *study, int64_t id, struct err *err);

/* Stores the plan as a new experiment. */
KB_MUST_CHECK int study_create(struct cmd *cmd, const struct study *study, enum store_kind kind,
	int64_t *id, struct err *err);

/* Appends boots to the plan of a machine (an index), here and in the store. */
KB_MUST_CHECK int study_append(struct cmd *cmd, struct study *study, int64_t id, size_t machine,
	const struct plan_extension *extension, struct err *err);

/* Walks what is left of the plans. The experiment is not ended: there may be more to append. */
KB_MUST_CHECK int study_walk(
	struct cmd *cmd, const struct study *study, int64_t id, struct err *err);

/* From here on study_walk also looks at the results of every machine whose plan was walked, appends
 * what they ask for, and walks that too. What is pointed to must outlive the walk. */
void study_let_grow(struct cmd *cmd, struct study *study, int64_t id);

/* The plans as they are when every look asks for a further block of everything; without looks as
 * they are. The arena's. */
KB_MUST_CHECK int study_plan_most(
	struct cmd *cmd, const struct study *study, struct plan **out, struct err *err);

/* Walks what is left of it and what its results ask for, ends the experiment, judges and reports.
 * Of several machines some may be parked: the others are reported, and the status says so. The
 * status, or a negative code. */
KB_MUST_CHECK int study_run(
	struct cmd *cmd, struct study *study, int64_t id, bool allow_open, struct err *err);

#endif
