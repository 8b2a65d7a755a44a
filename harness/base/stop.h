/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_STOP_H
#define KB_BASE_STOP_H

#include "base/base.h"

#include "base/err.h"

/*
 * A person asked us to stop (SIGINT, SIGTERM, SIGHUP). The first signal asks for an orderly end:
 * every wait in sys/ returns ERR_INTERRUPTED. A third one ends the program at once.
 */

/* Installs the handlers. Called by cmd/ once, and again by a forked process that goes on by itself:
 * from then on only signals to that process ask it to stop. */
void stop_catch_signals(void);
/* True after the first signal. */
bool stop_requested(void);
/* A file descriptor that becomes readable with the first signal, for poll(2); -1 when
 * stop_catch_signals was not called. */
int stop_fd(void);
/* 0, or ERR_INTERRUPTED with a text when a stop was asked for. */
KB_MUST_CHECK int stop_check(struct err *err);

#endif
