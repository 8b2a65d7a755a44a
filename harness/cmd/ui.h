/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_UI_H
#define KB_CMD_UI_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * What a person sees while kbracket works. The chatter goes to stderr: log lines, and progress as
 * one line that is rewritten on a terminal, as plain lines now and then elsewhere. The answer goes
 * to stdout, through ui_write only, so that a full disk or a closed pipe is noticed.
 */
enum ui_colour { UI_COLOUR_AUTO, UI_COLOUR_ALWAYS, UI_COLOUR_NEVER };

/* Installs the log sink. verbose: debug lines too. */
void ui_start(bool verbose, enum ui_colour colour);
/* Removes the progress line, says warnings again that have scrolled away. */
void ui_stop(void);

/* True when the answer may be coloured: as asked, or stdout is a terminal and NO_COLOR is unset. */
bool ui_stdout_colour(void);
/* True when the locale's character set is UTF-8. */
bool ui_utf8(void);
/* Columns of the terminal on stdout, between 40 and 80; 80 elsewhere. */
int ui_columns(void);

/* Writes a part of the answer. The first failure is kept and told by ui_flush. */
void ui_write(const void *bytes, size_t len);
void ui_write_text(const struct str *text);
/* ERR_INFRA when anything of the answer could not be written. */
KB_MUST_CHECK int ui_flush(struct err *err);

/* Progress with an estimate of the end. */
struct ui_progress {
	const char *what; /* "boot 3 of 8, proportional" */
	int64_t spent_ns; /* so far */
	int64_t left_ns;  /* expected for what is left; < 0: not known */
	bool guess;	  /* the estimate rests on declared durations, not on measured ones */
};
void ui_progress(const struct ui_progress *progress);

#endif
