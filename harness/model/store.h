/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_H
#define KB_MODEL_STORE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/validity.h"

/*
 * The database of a lab, results/kbracket.db, and all SQL. This header: opening, the words, and
 * finding experiments. Writing: store_plan.h (what is to be done, and the journal), store_result.h
 * (what was seen). Reading: store_view.h (an experiment as structs), store_cells.h (numbers),
 * store_rows.h (runs, samples, raw files, verdicts).
 *
 * Loaded text and arrays live in the caller's arena. Every write is one transaction of its own,
 * unless store_begin was called.
 */
struct store;

enum store_mode { STORE_WRITE, STORE_READ };

/* The state of an experiment, variant, boot or run. Not all of them have all states. */
enum store_state { STATE_PLANNED, STATE_STARTED, STATE_DONE, STATE_FAILED, STATE_INTERRUPTED };
const char *store_state_name(enum store_state state);

enum store_kind { KIND_EXPERIMENT, KIND_CALIBRATION, KIND_IMPORT };
const char *store_kind_name(enum store_kind kind);

/* STORE_WRITE creates the file and its folder and migrates an older schema. A newer schema is
 * ERR_USAGE; for STORE_READ a missing file is ERR_NOT_FOUND, an older schema is migrated too (by
 * opening it for writing first). The caller ends with store_close. */
KB_MUST_CHECK int store_open(
	const char *path, enum store_mode mode, struct store **out, struct err *err);
void store_close(struct store *store); /* NULL is fine */
/* A connection does not live through a fork: before one it is closed, afterwards each process opens
 * its own. Between the two, and when that fails, all but store_folder and store_close is an error.
 */
void store_disconnect(struct store *store);
KB_MUST_CHECK int store_reconnect(struct store *store, struct err *err);
/* The folder that raw paths are relative to; borrowed. */
const char *store_folder(const struct store *store);

/* Several writes as one transaction. `store_finish(store, ret, err)` commits when ret is 0, else
 * rolls back and returns ret. */
KB_MUST_CHECK int store_begin(struct store *store, struct err *err);
KB_MUST_CHECK int store_finish(struct store *store, int ret, struct err *err);

/* The head of an experiment, newest first in lists. */
struct store_experiment {
	int64_t id;
	const char *name;
	enum store_kind kind;
	enum store_state state;
	int64_t created_ns;
	const char *spec; /* effective configuration, YAML; "" in lists */
	const char *spec_sha256;
	int64_t seed;
	double margin_pct, alpha_pct;
	double cv_pct, drift_pct; /* gates; NaN: from history and n */
	const char *design;	  /* one line */
	bool means_only;	  /* boot means without runs: an estimate and a drift, no verdict */
	const char *version;	  /* of kbracket */
	int looks;		  /* at most, one after every block; 0: its boots are fixed */
	double until_pct;	  /* half-width that it goes on until; NaN: until verdicts */
};

KB_MUST_CHECK int store_list(struct store *store, struct arena *arena,
	struct store_experiment **out, size_t *count, struct err *err);

/* The head of one experiment with its spec. */
KB_MUST_CHECK int store_load_head(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_experiment *out, struct err *err);

/* By number ("12"), by name (the newest of that name), or NULL for the newest of all.
 * ERR_NOT_FOUND, with the nearest known name in the text. */
KB_MUST_CHECK int store_find(
	struct store *store, const char *name_or_id, int64_t *id, struct err *err);

/* An event's kind: the machine of its boot could not be used, and was left with its plan. */
#define STORE_EVENT_PARKED "parked"

/* How far an experiment is: for `status` and `resume`. */
struct store_progress {
	int64_t boots[5], runs[5]; /* by enum store_state; runs: their last tries */
	int64_t current_boot;	   /* ordinal of the started boot; 0: none */
	int64_t last_ns;	   /* wall time of the newest thing stored; 0: nothing yet */
};
KB_MUST_CHECK int store_progress(
	struct store *store, int64_t experiment_id, struct store_progress *out, struct err *err);

#endif
