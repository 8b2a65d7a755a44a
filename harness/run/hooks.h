/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_HOOKS_H
#define KB_RUN_HOOKS_H

#include "base/base.h"

#include "run/engine_state.h"

/* Calls the experiment's hooks of one point, in their order, on this host. They get our environment
 * with KBRACKET_HOOK, _MACHINE, _VARIANT and _RELEASE ("" where there is none) and _RESULTS, the
 * folder of the database. Nothing is being measured meanwhile. rig and boot may be NULL.
 *
 * *trouble gets what failed of those whose failure is flagged; NULL: that is only told. ERR_INFRA
 * when one failed whose failure stops the experiment; ERR_INTERRUPTED. */
KB_MUST_CHECK int hooks_call(struct engine *engine, enum hook_point at, const struct rig *rig,
	const struct store_boot *boot, struct str *trouble, struct err *err);

#endif
