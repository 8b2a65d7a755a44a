/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_STATUS_H
#define KB_MODEL_STORE_STATUS_H

#include "base/base.h"

#include "model/run_kind.h"
#include "model/store.h"

/* How far an experiment is on one of its machines, by what is stored so far. */
struct store_machine_status {
	const char *name;
	int64_t boots[5], runs[5]; /* by enum store_state; runs: their last tries */
	int boot;		   /* ordinal of the boot that is begun and not ended; 0: none */
	const char *variant;	   /* that it is of; "" */
	bool proved;		   /* its kernel runs; else it is being started */
	int run, runs_in_boot;	   /* position of the run that is begun and not ended; 0: none */
	const char *condition;	   /* of that run; "" */
	enum run_kind kind;
	int64_t spent_ns;   /* on boots and their runs, without the time between them */
	int64_t last_ns;    /* wall time of the newest try or run begun or stored; 0: none */
	int64_t parked_ns;  /* when it was last found unusable; 0: never */
	const char *parked; /* why; "" */
};

/* Every machine that has boots, in the experiment's order. */
KB_MUST_CHECK int store_load_status(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_machine_status **out, size_t *count, struct err *err);

#endif
