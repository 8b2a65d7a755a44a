/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_BUILDS_H
#define KB_RUN_BUILDS_H

#include "base/base.h"

#include "run/engine_state.h"

/* Builds every variant that has boots left, before the first boot. A failed build marks that
 * variant's boots; the others go on. Variants that were built before a resume are looked up again
 * and must be the same build. */
KB_MUST_CHECK int builds_make(struct engine *engine, struct err *err);

/* One build that no store is told about. A failure is told, counted, and no error. */
KB_MUST_CHECK int builds_try(struct engine *engine, size_t variant, int *failed, struct err *err);

#endif
