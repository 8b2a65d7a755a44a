/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_WORKERS_H
#define KB_RUN_WORKERS_H

#include "base/base.h"

#include "run/engine_state.h"

/*
 * Several machines are walked at the same time, each by a process of its own with a connection of
 * its own to the database. A machine that is lost, slow or stuck, and a worker that dies, hold up
 * nobody else. Workers say what they do to the process that started them, which alone talks to a
 * person. They die with it; SIGTERM asks one, or the process that started them asks all, for an
 * orderly end.
 */

/* Walks every machine that has boots left, as walk_machine does. 0: all came to their end. A
 * machine that can't be used, or whose worker died, is parked: its boots stay planned, and the
 * error (ERR_INFRA, or its own code when it is the only one) is returned after the others have
 * ended. ERR_INTERRUPTED: a stop was asked for. Another error is about all of them and stops all.
 */
KB_MUST_CHECK int workers_walk(struct engine *engine, struct err *err);

#endif
