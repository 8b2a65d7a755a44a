/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SNAPSHOT_H
#define KB_AGENT_SNAPSHOT_H

#include "base/base.h"

#include <jansson.h>

/*
 * The machine's counters at one moment; two of them around a run say what else happened. All
 * counters are since boot. Members (null: not known):
 *
 *	realtime_ns monotonic_ns	clocks, read together; their difference moves when the wall
 *					clock is set
 *	cpu: busy_ns idle_ns steal_ns	over all CPUs, in ticks of 1/100 s: busy is all but idle,
 *					iowait and steal
 *	context_switches interrupts forks	of the whole machine
 *	running				runnable tasks, this one included
 *	load_1min			load average * 100
 *	throttle_core throttle_package	thermal throttle events, summed over CPUs
 *	temperature_mc			the hottest sensor, in 1/1000 degree Celsius
 *	taint
 *	cpus_online			"0-7"
 *	governors			"performance"; distinct ones joined by ","
 *	swap_in swap_out oom_kills	pages, pages, processes
 *	memory_free_bytes memory_available_bytes
 *	sched_ext			see scheduler.h; null without it
 */
json_t *snapshot_take(const char *root);

/* The hottest sensor, -1 when there is none. */
int64_t snapshot_temperature_mc(const char *root);

/* The cheapest part: busy ns over all CPUs, -1 when not known. */
int64_t snapshot_busy_ns(const char *root);

#endif
