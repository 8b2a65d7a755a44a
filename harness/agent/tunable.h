/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_TUNABLE_H
#define KB_AGENT_TUNABLE_H

#include "base/base.h"

#include "base/err.h"

#include "agent/switch.h"

/*
 * What a setting means on this machine: "turbo=off" is one file on one machine, and another one for
 * each CPU on another. Keys:
 *
 *	governor epp turbo smt thp nmi_watchdog aslr sched_schedstats numa_balancing autogroup
 *			see the table in tunable.c
 *	swap		off: every device in /proc/swaps
 *	service.UNIT	stop
 *	feature.NAME	on, off: a scheduler feature
 *	anything else	a sysctl with dots, or an absolute path below /proc/sys or /sys
 */
struct tunable_place {
	enum switch_kind kind;
	char *at, *value; /* in the words of switch.h */
	const char *also; /* see switch_write; NULL: none */
};

struct tunable {
	struct tunable_place *places;
	size_t count, capacity;
};

/* ERR_NOT_FOUND when the machine has no such thing, ERR_USAGE for a key or value that does not
 * exist. The caller ends with tunable_release in any case. */
KB_MUST_CHECK int tunable_resolve(
	const char *root, const char *key, const char *value, struct tunable *out, struct err *err);
void tunable_release(struct tunable *tunable);

#endif
