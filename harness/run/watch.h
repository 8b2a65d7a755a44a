/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_WATCH_H
#define KB_RUN_WATCH_H

#include "base/base.h"

#include "base/mem.h"
#include "model/store_result.h"
#include "sys/json.h"

/*
 * What the machine did around a run, as reasons of the validity ledger. Pure: the agent's result
 * in, flags out. The thresholds are one table in watch.c.
 */

/* What the machine was like before the first run of a boot; later runs are held to it. Empty text:
 * not seen yet. */
struct watch_boot {
	char governors[128];
	char cpus_online[128];
	char scheduler[128]; /* of sched_ext: state, name, how often one was loaded */
	int64_t taint;	     /* -1: not known */
	/* monotonic clocks, ours and the machine's, when the first result came; 0: not yet */
	int64_t clock_here_ns, clock_there_ns;
};

#define WATCH_BOOT_INIT              \
	{                            \
		"", "", "", -1, 0, 0 \
	}

struct watch_run {
	int64_t duration_ns;  /* asked for; 0: fixed work */
	double tolerance_pct; /* of the wall time against it; 0: none */
	double overrun_pct;   /* the same when it lasted longer; 0: as tolerance_pct */
	int64_t cpus;
	int64_t clock_here_ns; /* our monotonic clock when the result came; 0: it came late */
	const char *hooks;     /* what failed of those around it; NULL or "": nothing */
	const char *const *dmesg_allow; /* patterns of kernel warnings that mean nothing; NULL */
};

/* Appends the flags of a run; details live in the arena. boot is filled in by the first run. A
 * result without a before or after part gives no-environment. */
void watch_flags(const json_t *result, const struct watch_run *run, struct watch_boot *boot,
	struct arena *arena, struct store_flag **flags, size_t *count);

#endif
