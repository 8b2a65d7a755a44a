/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_PLAN_H
#define KB_MODEL_STORE_PLAN_H

#include "base/base.h"

#include "model/experiment.h"
#include "model/plan.h"
#include "model/store.h"

/*
 * The plan's rows are the journal. An experiment is created with all its boots and runs `planned`;
 * the engine moves them forward, each move in the transaction that stores what was seen.
 */

/* What a variant's ref meant when it was planned; "" for prebuilt. */
struct store_ref {
	const char *commit, *subject;
};

struct store_new {
	enum store_kind kind;
	const struct experiment *experiment;
	const char *spec;	      /* experiment_dump */
	const struct plan *plans;     /* one for each machine of the experiment, in its order */
	const struct store_ref *refs; /* one for each variant, in the experiment's order */
	const char *version;
};

/* Experiment, variants, machines, suites, conditions, metrics, boots and runs in one transaction.
 */
KB_MUST_CHECK int store_create(
	struct store *store, const struct store_new *what, int64_t *experiment_id, struct err *err);

/* Appends boots to the plan of one machine, with what they were made from, in one transaction. plan
 * is the machine's with plan_extend's boots at its end already. ERR_USAGE, and nothing appended,
 * when the stored plan is not what this one was before. */
KB_MUST_CHECK int store_extend(struct store *store, int64_t experiment_id, const char *machine,
	const struct plan *plan, const struct plan_extension *extension, struct err *err);

/* What was appended to the plan of one machine, in order: plan_make and these give the stored plan
 * again. Arrays live in the arena. */
KB_MUST_CHECK int store_load_extensions(struct store *store, int64_t experiment_id,
	const char *machine, struct arena *arena, struct plan_extension **out, size_t *count,
	struct err *err);

/* --- journal: experiment and variants --- */

KB_MUST_CHECK int store_experiment_move(
	struct store *store, int64_t experiment_id, enum store_state state, struct err *err);

/* A file under the store's folder, packed with zstd; sha256 and bytes are of the content. */
struct store_raw {
	const char *kind; /* stdout, stderr, console, dmesg, log */
	const char *path; /* relative to the folder */
	const char *sha256;
	int64_t bytes;
};

/* A kernel binary and what it is made from; text never NULL. */
struct store_build {
	int64_t id; /* filled in by the store */
	const char *key, *commit, *tree, *release, *proc_version, *build_id, *config_sha256;
	const char *config; /* the text of the .config; NULL when not known, and in views */
	const char *compiler;
	int64_t seconds;
	const char *version; /* of kbracket */
};

KB_MUST_CHECK int store_variant_started(struct store *store, int64_t variant_id, struct err *err);
/* Keeps the build and the files of making it (once per key) and marks the variant done. */
KB_MUST_CHECK int store_variant_built(struct store *store, int64_t variant_id,
	const struct store_build *build, const struct store_raw *raws, size_t raw_count,
	struct err *err);
/* Marks the variant, its boots that are not done, and their runs as failed (build-failed). */
KB_MUST_CHECK int store_variant_failed(
	struct store *store, int64_t variant_id, const char *detail, struct err *err);

/* --- journal: boots and runs, as the engine needs them --- */

struct store_run {
	int64_t id, boot_id, condition_id;
	int position; /* in the boot, from 1 */
	int condition_position;
	enum run_kind kind;
	int ordinal, attempt_try; /* attempt_try: 1, more after an interruption */
	enum store_state state;
	int64_t begun_ns;   /* 0: not yet */
	int64_t attempt_id; /* the kernel start it ran in; 0: none yet */
};

/* The newest try of every run of a boot, in order. */
KB_MUST_CHECK int store_load_runs(struct store *store, int64_t boot_id, struct arena *arena,
	struct store_run **out, size_t *count, struct err *err);

/* A try to start the boot's kernel: the boot becomes started; an attempt that was left open by a
 * dead kbracket becomes interrupted. */
KB_MUST_CHECK int store_attempt_begin(struct store *store, int64_t boot_id, const char *method,
	int64_t *attempt_id, struct err *err);

struct store_attempt_end {
	const char *reason; /* NULL: proved; else boot-failed, wrong-kernel, ... */
	const char *detail;
	const char *kernel_boot_id;
	bool weak;		      /* no build-id to compare with */
	const char *proof;	      /* JSON: what was expected, what was seen; NULL: none */
	const char *facts;	      /* JSON: what the machine is; kept once; NULL: none */
	const struct store_raw *raws; /* console */
	size_t raw_count;
};
KB_MUST_CHECK int store_attempt_finish(struct store *store, int64_t attempt_id,
	const struct store_attempt_end *end, struct err *err);
/* Adds files to an attempt later (a console is complete only when the kernel is gone). */
KB_MUST_CHECK int store_attempt_raws(struct store *store, int64_t attempt_id,
	const struct store_raw *raws, size_t count, struct err *err);

/* reason NULL: done. Otherwise failed, and so are its runs that were not finished. */
KB_MUST_CHECK int store_boot_finish(struct store *store, int64_t boot_id, const char *reason,
	const char *detail, struct err *err);

KB_MUST_CHECK int store_run_begin(
	struct store *store, int64_t run_id, int64_t attempt_id, struct err *err);
/* Keeps the row as interrupted and plans a new try of the same run; *again is its row. */
KB_MUST_CHECK int store_run_interrupted(
	struct store *store, int64_t run_id, const char *detail, int64_t *again, struct err *err);
/* Plans another try of a finished warm-up: the boot goes on in a fresh kernel start. */
KB_MUST_CHECK int store_warmup_again(
	struct store *store, int64_t run_id, int64_t *again, struct err *err);

/* --- for the estimate: what things took on this machine before; NaN when never seen --- */

/* Mean wall seconds from one run's start to its stored end, of the newest 20 finished runs. */
KB_MUST_CHECK int store_run_seconds(struct store *store, const char *machine, const char *condition,
	double *seconds, struct err *err);
/* Mean wall seconds of the newest 20 proved attempts. */
KB_MUST_CHECK int store_boot_seconds(
	struct store *store, const char *machine, double *seconds, struct err *err);
/* Mean seconds of the newest 5 builds that were compiled. */
KB_MUST_CHECK int store_build_seconds(struct store *store, double *seconds, struct err *err);

#endif
