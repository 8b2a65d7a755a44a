/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_ATTACH_H
#define KB_AGENT_ATTACH_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

#include "agent/place.h"
#include "agent/spec.h"

/*
 * perf stat beside a program that waits to be started. It is attached and does not start the
 * program itself, because it reports 0 for one that a signal ended: the exit status stays ours.
 * Without inheritance it counts the program's first thread alone.
 */
struct attach {
	pid_t perf; /* 0: none */
	char *csv_path, *log_path;
};

/* Returns once the counters run. ERR_INFRA with perf's own words when it refuses, or is too old for
 * --control (5.10). The caller ends with attach_stop always. */
KB_MUST_CHECK int attach_start(struct attach *attach, const struct place *place,
	const struct run_spec *spec, pid_t program, struct err *err);

/* Ends perf; what it wrote is appended to csv, or why it wrote nothing to why. */
void attach_stop(struct attach *attach, struct str *csv, struct str *why);

#endif
