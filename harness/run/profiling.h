/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_PROFILING_H
#define KB_RUN_PROFILING_H

#include "base/base.h"

#include "model/store_plan.h"
#include "run/engine_state.h"

/*
 * Runs under `perf record`, for an experiment that asks for it (profile:). perf samples the whole
 * machine while the program runs. What it wrote is read on the machine itself, under the kernel
 * that was measured, whose symbols are there; both come back and are kept with the run.
 */

/* Kinds of the files that are kept: samples by function, as text; and what perf wrote. */
#define PROFILING_TEXT "profile"
#define PROFILING_DATA "perf-data"

/* Tries perf on the machine; nothing when no run is profiled. ERR_USAGE says what to do about a
 * machine that forbids it. */
KB_MUST_CHECK int profiling_check(struct rig *rig, struct err *err);

/* True for runs that perf looks at. */
bool profiling_wants(const struct rig *rig, const struct store_run *run);

/* What is put before the program, NULL-ended; in the engine's arena. */
const char *const *profiling_prefix(struct rig *rig);

/* After a run that ended well: keeps what perf saw, at most two files into raws, and adds their
 * number to *count. What cannot be had is noted as an event and costs the profile of this run
 * only. An error is one of keeping. */
KB_MUST_CHECK int profiling_keep(struct rig *rig, const struct store_boot *boot,
	const struct store_run *run, struct arena *arena, struct store_raw *raws, size_t *count,
	struct err *err);

#endif
