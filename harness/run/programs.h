/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_PROGRAMS_H
#define KB_RUN_PROGRAMS_H

#include "base/base.h"

#include "run/engine_state.h"

/* The suites' programs on a machine. */

/* Fills in rig->programs and rig->env before the machine is opened: our own workloads and what the
 * machine's `programs:` names are files here, others must be there. */
void programs_list(struct rig *rig);

/* After the machine was started: where each suite's program is on it, and its row in the store with
 * its SHA-256; and where perf is, when events are to be counted. ERR_USAGE names a program that is
 * not there. */
KB_MUST_CHECK int programs_find(struct rig *rig, struct err *err);

/* Before the runs of a boot: whether the programs that the machine has by itself are what they were
 * when it was opened. ERR_USAGE names one that is not. */
KB_MUST_CHECK int programs_check(struct rig *rig, struct err *err);

#endif
