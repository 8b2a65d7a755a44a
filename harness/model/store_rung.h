/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_RUNG_H
#define KB_MODEL_STORE_RUNG_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/store.h"

/* One step of getting a machine back; text never NULL. */
struct store_rung {
	const char *kind; /* look, wait, restart, power */
	int64_t began_ns; /* wall clock */
	int64_t limit_ns, took_ns;
	const char *found; /* own, ours, nothing, failed */
	const char *detail;
};

/* boot_id 0: before the first. */
KB_MUST_CHECK int store_rung_add(struct store *store, int64_t experiment_id, int64_t machine_id,
	int64_t boot_id, const struct store_rung *rung, struct err *err);

/* Those of a boot, in order; those before the first boot of a machine: boot_id 0. */
KB_MUST_CHECK int store_load_rungs(struct store *store, int64_t experiment_id, int64_t machine_id,
	int64_t boot_id, struct arena *arena, struct store_rung **out, size_t *count,
	struct err *err);

#endif
