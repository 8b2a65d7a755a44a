/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_BISECT_H
#define KB_MODEL_STORE_BISECT_H

#include "base/base.h"

#include "model/bisect.h"
#include "model/store_plan.h"

/*
 * Bisects in the database. A bisect belongs to one experiment, whose boots are appended as they are
 * wanted. Steps and events are only ever added.
 */
struct store_bisect_new {
	int64_t experiment_id;
	enum bisect_axis axis;
	const char *spec;		/* bisect_spec_dump */
	const char *tree;		/* repository; "" */
	const char *condition, *metric; /* names, of the experiment's only machine */
	const struct bisect_step *steps;
	size_t step_count, listed;
};

/* ERR_USAGE when the experiment has no such condition or metric. */
KB_MUST_CHECK int store_bisect_create(
	struct store *store, const struct store_bisect_new *what, struct err *err);

/* One more step that is only tested; *position is its number. */
KB_MUST_CHECK int store_bisect_add_step(struct store *store, int64_t experiment_id,
	const struct bisect_step *step, int *position, struct err *err);

/* Number, time, and what is known of the boot are the store's. */
KB_MUST_CHECK int store_bisect_event(struct store *store, int64_t experiment_id,
	const struct bisect_event *event, struct err *err);

/* The boot that was planned last. */
KB_MUST_CHECK int store_bisect_newest_boot(
	struct store *store, int64_t experiment_id, int64_t *boot_id, struct err *err);

/* Everything of a bisect, in the arena. ERR_NOT_FOUND when the experiment is none. */
KB_MUST_CHECK int store_bisect_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct bisect_record *out, struct err *err);

/* By number or name of its experiment; NULL: the newest bisect. ERR_NOT_FOUND. */
KB_MUST_CHECK int store_bisect_find(
	struct store *store, const char *name_or_id, int64_t *experiment_id, struct err *err);
/* The bisect that an experiment is, or is a proof of; 0: none. */
KB_MUST_CHECK int store_bisect_of(
	struct store *store, int64_t experiment_id, int64_t *bisect_id, struct err *err);
/* Whether an experiment is a bisect. */
KB_MUST_CHECK int store_bisect_is(
	struct store *store, int64_t experiment_id, bool *is, struct err *err);

/* One more variant at the end of a stored experiment, and the experiment's new configuration. */
KB_MUST_CHECK int store_variant_add(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, size_t index, const struct store_ref *ref,
	const char *spec, struct err *err);

#endif
