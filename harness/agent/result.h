/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_RESULT_H
#define KB_AGENT_RESULT_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"

#include "agent/place.h"

/*
 * result.json: how a run ended. Members:
 *
 *	state		"ended"; "not-started"; "lost": the supervisor was killed, the machine was
 *			restarted, or the outputs could not be kept
 *	error		a sentence that says why, null for "ended"
 *	id token	of the spec; of this run
 *	exit_code signal	one of them is null
 *	timed_out cancelled output_limit	true: we ended it, or cut its output
 *	stdout_bytes stderr_bytes dmesg_bytes	of the files beside it
 *	wall_ns started_wall_ns ended_wall_ns	from just before exec to the end of the program
 *	user_ns system_ns max_rss_bytes voluntary_switches involuntary_switches minor_faults
 *	major_faults	of the program and the children that it waited for
 *	cgroup_cpu_ns	CPU time of everything in the run's cgroup; null without one
 *	killed survivors	processes that were left and killed at the end; that could not be
 *	tmpfs cgroup work_tmpfs	whether there was one
 *	agent_switches	context switches of the agent from the start of its wait to the end of it:
 *			1 is the wait itself
 *	window		wall_ns and busy_ns (all CPUs) between the agent's first look and the start
 *	around_error	the server ended before the program did, or a tear-down command failed: a
 *			sentence; null where all is well
 *	around_bytes	of the log of set-up, server and tear-down; absent without any
 *	counters_bytes	of the file of that name; absent where nothing was to be counted
 *	disk_free_bytes	where the program's folder is, after the run
 *	heat		see heat.h; absent when it was not asked for
 *	before after	see snapshot.h
 *	kmsg		see kmsg.h
 */

/* Written atomically and synced: from then on the run is over. */
KB_MUST_CHECK int result_write(const struct place *place, const json_t *result, struct err *err);

/* The result of a run that was never started, or whose supervisor died: the caller holds the
 * lock. Kills what is left of a lost run. */
KB_MUST_CHECK int result_not_started(const struct place *place, const char *why, struct err *err);
KB_MUST_CHECK int result_lost(const struct place *place, struct err *err);

/* The outputs of a run that is over are not synced: when their sizes are not those in the result,
 * the machine lost power in between, and the result becomes "lost". */
KB_MUST_CHECK int result_check_kept(const struct place *place, struct err *err);

#endif
