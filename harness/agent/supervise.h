/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SUPERVISE_H
#define KB_AGENT_SUPERVISE_H

#include "base/base.h"

#include "agent/place.h"
#include "agent/spec.h"

/*
 * One run from beginning to end, in a process of its own that holds the run's lock. It starts the
 * program, sleeps in one wait until its end, and then writes result.json:
 *
 *	state		"ended"; "not-started"; "lost": the supervisor was killed, the machine was
 *			restarted, or the outputs could not be kept
 *	error		a sentence that says why, null for "ended"
 *	id token	of the spec; of this run
 *	exit_code signal	one of them is null
 *	timed_out cancelled output_limit	true: we ended it, or cut its output
 *	wall_ns started_wall_ns ended_wall_ns	from just before exec to the end of the program
 *	user_ns system_ns max_rss_bytes voluntary_switches involuntary_switches minor_faults
 *	major_faults	of the program and the children that it waited for
 *	cgroup_cpu_ns	CPU time of everything in the run's cgroup; null without one
 *	killed survivors	processes that were left and killed at the end; that could not be
 *	tmpfs cgroup work_tmpfs	whether there was one
 *	agent_switches	context switches of the agent from the start of its wait to the end of it:
 *			1 is the wait itself
 *	window		wall_ns and busy_ns (all CPUs) between the agent's first look and the start
 *	before after	see snapshot.h
 *	kmsg		see kmsg.h
 */
/* root: where /proc and /sys are read (tests), "" on a machine. */
void supervise_run(const struct place *place, const struct run_spec *spec, const char *root);

/* result.json for a run that was never started, or whose supervisor died: the caller holds the
 * lock. Kills what is left of a lost run. */
KB_MUST_CHECK int supervise_not_started(
	const struct place *place, const char *why, struct err *err);
KB_MUST_CHECK int supervise_lost(const struct place *place, struct err *err);

#endif
