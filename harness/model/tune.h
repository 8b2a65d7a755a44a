/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_TUNE_H
#define KB_MODEL_TUNE_H

#include "base/base.h"

#include "base/strv.h"
#include "model/opt.h"
#include "model/pair.h"

/*
 * How a machine is set while it is measured: tune: in its file. The agent knows what each setting
 * means there. Nothing is changed that is not listed; nothing is pinned or isolated.
 */
struct tune {
	/* words; NULL: kept as it is */
	const char *governor, *epp, *turbo, *thp, *irqbalance, *nmi_watchdog, *aslr, *swap;
	const char *sched_schedstats, *numa_balancing, *autogroup, *smt;
	const char *const *stop; /* services and timers; empty: none */
	struct pairs sysctls;
};

/* Adds "KEY=VALUE" as the agent's hold takes them, in the order in which they are to be set: SMT
 * last, for CPUs that are offline have no files. */
void tune_settings(const struct tune *tune, struct strv *out);

extern const struct opt tune_opts[];

#endif
