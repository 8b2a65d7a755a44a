/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_ORPHANS_H
#define KB_SYS_ORPHANS_H

#include "base/base.h"

#include <sys/types.h>

/*
 * What our children leave behind when they end, such as an agent's supervisor on this host, becomes
 * our child and has to be reaped, or it stays a zombie for as long as we live. Private to child.c.
 */

/* From now on the orphans of our children are given to us. A parent that ignored SIGCHLD (as it may
 * have been told by its own parent) could not learn how its children end: it no longer does. */
void orphans_adopt(void);

/* A child that we started and reap ourselves; and one that we no longer do. */
void orphans_except(pid_t child);
void orphans_include(pid_t child);

/* Reaps those that have ended. Never waits. Children in our own session were forked by somebody
 * else in this process and are left to them. */
void orphans_reap(void);

#endif
