/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_REREAD_H
#define KB_RUN_REREAD_H

#include "base/base.h"

#include "base/err.h"
#include "model/experiment.h"
#include "model/store.h"

/*
 * Reads kept raw output again with mended suites: a run whose samples come out otherwise, or that
 * could not be read before, gets a further reading. Nothing that was stored is changed.
 */
struct reread_count {
	int64_t read;	 /* runs whose output was looked at */
	int64_t changed; /* other samples than before */
	int64_t gained;	 /* could not be read before */
	int64_t lost;	 /* can't be read any more; the reason is stored with the run */
	int64_t unknown; /* samples of metrics that the experiment was not planned with */
};

/* suites: the present ones, by name; those that the experiment does not use are ignored. */
KB_MUST_CHECK int reread_experiment(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, const struct suite *suites, size_t suite_count,
	struct reread_count *out, struct err *err);

#endif
