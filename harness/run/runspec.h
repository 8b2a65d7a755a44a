/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RUNSPEC_H
#define KB_RUN_RUNSPEC_H

#include "base/base.h"

#include "run/engine_state.h"

/* What the agent is asked to run, as its spec.h describes it. Freed by the caller. */
char *runspec_json(const struct rig *rig, const struct store_run *run, int64_t kmsg_after);
/* When its reply must be there at the latest, from now. */
int64_t runspec_deadline_ns(const struct rig *rig, const struct store_run *run);
/* Largest reply that is in order. */
size_t runspec_reply_bytes(const struct rig *rig, const struct store_run *run);

#endif
