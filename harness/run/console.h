/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_CONSOLE_H
#define KB_RUN_CONSOLE_H

#include "base/base.h"

#include "run/engine_state.h"

/* The console of a kernel start: a plain file while the kernel runs, packed and named in the store
 * when the start has failed or its boot has ended. */

/* The plain file; freed by the caller. */
char *console_path(const struct rig *rig, const struct store_boot *boot, int attempt);
/* Makes its folder. */
KB_MUST_CHECK int console_prepare(const char *path, struct err *err);

/* Packs it; *count is 0 when there is none. The plain file stays until console_remove, which is for
 * after the transaction. */
KB_MUST_CHECK int console_keep(struct rig *rig, const struct store_boot *boot, int attempt,
	struct store_raw *out, size_t *count, struct err *err);
void console_remove(const struct rig *rig, const struct store_boot *boot, int attempt);

/* All three for an attempt that has ended already. Does nothing when it was stored before. */
KB_MUST_CHECK int console_store(struct rig *rig, const struct store_boot *boot, int64_t attempt_id,
	int attempt, struct err *err);

#endif
