/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_TALLY_H
#define KB_MODEL_STORE_TALLY_H

#include "base/base.h"

#include "model/store.h"

/* How many runs of an experiment carry a reason: failed ones by why they failed, finished ones by
 * what the validity ledger says about them. */
struct store_tally {
	int64_t machine_id, variant_id, condition_id;
	bool failed;  /* false: done, and flagged with the reason */
	bool counted; /* failed runs that were made for counting: no verdict waits for them */
	const char *reason;
	const char *detail; /* of one of them */
	int64_t runs;
};

/* In order of machine, condition position, variant position, reason. */
KB_MUST_CHECK int store_load_tallies(struct store *store, int64_t experiment_id,
	struct arena *arena, struct store_tally **out, size_t *count, struct err *err);

/* When the verdicts of an experiment were computed, and by which kbracket: *judged_ns 0 when there
 * are none. *evidence_ns is when the newest evidence that they could rest on was stored, of this
 * experiment or of earlier boots on its machines. */
struct store_age {
	int64_t judged_ns, evidence_ns;
	char version[128];
};
KB_MUST_CHECK int store_verdict_age(
	struct store *store, int64_t experiment_id, struct store_age *out, struct err *err);

#endif
