/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_FAULT_H
#define KB_RUN_FAULT_H

#include "base/base.h"

#include <sys/types.h>

/*
 * Named points at which tests let kbracket die as by kill -9: KB_FAULT=NAME, or NAME:COUNT for the
 * COUNT-th time the point is reached. MACHINE/NAME is that machine's worker only. With KB_FAULT_ALL
 * the process that started the worker dies first, and all workers with it. Only in builds with
 * -DKB_FAULT_POINTS; elsewhere nothing is compiled in.
 */
#ifdef KB_FAULT_POINTS
void fault_point(const char *name);
/* From here on this process is a machine's worker; name must live on. */
void fault_worker(pid_t parent, const char *name);
#else
static inline void fault_worker(pid_t parent KB_UNUSED, const char *name KB_UNUSED)
{
}
static inline void fault_point(const char *name KB_UNUSED)
{
}
#endif

#endif
