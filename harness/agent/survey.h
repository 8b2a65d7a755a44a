/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SURVEY_H
#define KB_AGENT_SURVEY_H

#include "base/base.h"

#include <jansson.h>

/*
 * What a machine does while nobody measures on it, for `kbracket doctor`: two snapshots with a
 * pause of window_ns between them, in which nothing is done. Members (null: not known):
 *
 *	before after		see snapshot.h
 *	busiest			[{name, cpu_ns}]: the processes that used the most CPU time in
 *				between, at most five, the agent left out
 *	daemons			names of running processes that start others at set times
 *	disk_bytes disk_free_bytes	of the file system of folder
 *	node_memory_bytes	of each NUMA node, in their order
 *	root			the agent may change settings
 *	programs		{name: path}: of the names asked for, null when not there
 *
 * New reference.
 */
json_t *survey(
	const char *root, const char *folder, int64_t window_ns, const char *const *programs);

#endif
