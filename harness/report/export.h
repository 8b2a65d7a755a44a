/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_EXPORT_H
#define KB_REPORT_EXPORT_H

#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/store_rows.h"

/*
 * Every sample of an experiment in long form, in parts as they are read, so that a million of them
 * need no memory. The sink gets whole lines; anything but 0 from it ends the export and is
 * returned.
 *
 * Each line holds: experiment, machine, variant, boot, block, suite, condition, saturation_pct,
 * workers, cpus, run, warmup, metric, unit, better, ordinal, value, state, reason. reason: what the
 * validity ledger says of a finished run, or why one failed; failed runs come last and have no
 * metric and value. Where something was counted, each counter of a run made for it is a line, with
 * its name as counter, total and counted_pct, and without metric, better and ordinal. An import of
 * boot means has n_runs, mean and cv_pct in place of run, warmup, ordinal, value, state and reason.
 */
enum export_format { EXPORT_CSV, EXPORT_JSONL };

typedef int export_sink_fn(void *arg, const struct str *lines);

KB_MUST_CHECK int export_write(struct store *store, int64_t experiment_id,
	enum export_format format, struct arena *arena, export_sink_fn *sink, void *arg,
	struct err *err);

#endif
