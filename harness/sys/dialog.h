/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_DIALOG_H
#define KB_SYS_DIALOG_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/* A program that is asked a line at a time on its stdin and answers each with a line on its stdout.
 * Its stderr is ours. */
struct dialog;

enum { DIALOG_LINE_MAX = 65536 };

/* ERR_NOT_FOUND when there is no such program. The caller ends it with dialog_end. */
KB_MUST_CHECK int dialog_start(const char *const *argv, struct dialog **out, struct err *err);

/* Sends a line (without its end) and waits for one in answer, which *answer gets without its end.
 * ERR_TIMEOUT when none comes in time, ERR_INVALID when it is longer than DIALOG_LINE_MAX or holds
 * a byte 0, ERR_INFRA when the program has ended, ERR_INTERRUPTED when a stop was asked for. */
KB_MUST_CHECK int dialog_ask(struct dialog *dialog, const char *line, int64_t timeout_ns,
	struct str *answer, struct err *err);

/* Sends a last line that is not answered (NULL: none), gives the program a moment to end, kills
 * what is left of it, and frees. NULL is fine. */
void dialog_end(struct dialog *dialog, const char *line);

#endif
