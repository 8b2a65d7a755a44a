/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_WORKER_H
#define KB_RUN_WORKER_H

#include "base/base.h"

#include <signal.h>
#include <sys/types.h>

#include "base/log.h"
#include "run/engine_state.h"

/* Inside run/ only: a worker process, and what it says to the one that started it. Both are the
 * same program, so that structs are sent as they are, one a packet. */

enum worker_word {
	WORKER_NOTHING,	 /* a signal came, or the packet is none */
	WORKER_PROGRESS, /* progress */
	WORKER_LINE,	 /* level and text, for the log */
	WORKER_END,	 /* code, unusable and text: how its walk ended; the last thing it says */
	WORKER_GONE,	 /* its end of the socket is closed */
};

enum { WORKER_TEXT_MAX = 2048, WORKER_NAME_MAX = 512 };

struct worker_message {
	enum worker_word word;
	enum log_level level;
	struct progress progress; /* its texts point into this struct once it was received */
	enum err_code code;
	bool unusable; /* the error is about this machine only */
	bool has_variant, has_condition, has_text;
	char variant[WORKER_NAME_MAX], condition[WORKER_NAME_MAX], text[WORKER_TEXT_MAX];
};

/* The newest message of a worker of engine's machine with that name; waits for one. */
enum worker_word worker_receive(int fd, const char *machine, struct worker_message *out);

/* Goes on as the worker of a machine (an index) in a process that was just forked with all signals
 * blocked. fd: its end of the socket; mask: the signals that are to be blocked from now on. */
KB_NORETURN void worker_main(
	struct engine *engine, size_t machine, int fd, pid_t parent, const sigset_t *mask);

#endif
