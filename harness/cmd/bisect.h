/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BISECT_H
#define KB_CMD_BISECT_H

#include "base/base.h"

#include "cmd/study.h"
#include "model/bisect.h"
#include "model/store_bisect.h"

/* A bisect in the hands of a verb. Ends with bisect_close. */
struct bisect_job {
	struct cmd *cmd;
	struct study study;
	int64_t id; /* of its experiment */
	struct bisect_record record;
	struct arena arena; /* of the record */
	bool one_step;	    /* for a single commit only */
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
/* Loads one that is stored, as far as an answer needs it; and the rest, to go on with it. */
KB_MUST_CHECK int bisect_open(struct cmd *cmd, int64_t id, struct bisect_job *out, struct err *err);
KB_MUST_CHECK int bisect_prepare(struct bisect_job *job, int64_t jobs, struct err *err);
void bisect_close(struct bisect_job *job);
/* Reads the record anew; what was read before is gone. */
KB_MUST_CHECK int bisect_reload(struct bisect_job *job, struct err *err);
/* Adds an event and reads the record anew. */
KB_MUST_CHECK int bisect_note(
	struct bisect_job *job, const struct bisect_event *event, struct err *err);

/* Plans a new chain on the real graph: what bad has and none of the good ones has. Positions. */
KB_MUST_CHECK int bisect_narrow(
	struct bisect_job *job, const int *good, size_t good_count, int bad, struct err *err);
/* The same by what the person said: all that a kernel marked good has is ruled out. */
KB_MUST_CHECK int bisect_restage(struct bisect_job *job, struct err *err);

/* Plans a chain through the branches that a finding could not tell apart. */
KB_MUST_CHECK int bisect_split(
	struct bisect_job *job, const struct bisect_finding *finding, struct err *err);

/* What the record shows now; in the record's arena. */
KB_MUST_CHECK int bisect_decide(
	struct bisect_job *job, struct bisect_finding *finding, struct err *err);
/* Builds, boots and decides until it ends, or a bound is reached. */
KB_MUST_CHECK int bisect_measure(
	struct bisect_job *job, struct bisect_finding *finding, struct err *err);
/* Compares each culprit with its parent, and the bad end with itself without the culprit; goes on
 * with what was begun. */
KB_MUST_CHECK int bisect_prove(
	struct bisect_job *job, const struct bisect_finding *finding, struct err *err);

/* How the answer is written, when not as the global options say. */
struct bisect_form {
	bool mail; /* a draft */
};
/* Goes on with a bisect to its end and writes the answer. The status. */
KB_MUST_CHECK int bisect_go(
	struct bisect_job *job, const struct bisect_form *form, struct err *err);
/* Writes what is known of a bisect. The status. */
KB_MUST_CHECK int bisect_answer(
	struct bisect_job *job, const struct bisect_form *form, struct err *err);
struct bisect_report;
enum status bisect_write(
	struct cmd *cmd, const struct bisect_report *report, const struct bisect_form *form);

/* The experiment of a bisect or of its proof, as YAML: adaptive, the first variant is the baseline.
 * The arena's. */
const char *bisect_experiment_text(struct arena *arena, const struct bisect_spec *spec,
	const char *name, const struct variant *variants, size_t count);

/* Measures the commit that is checked out in the current folder against good and bad: 0 good, 1
 * bad, 125 not to be told. Another status is 128 or more. */
int bisect_step(struct bisect_job *job, struct err *err);

#endif
