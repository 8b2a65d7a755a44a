/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_ANSWER_H
#define KB_CMD_ANSWER_H

#include "base/base.h"

#include "cmd/cmd.h"
#include "report/report.h"

/* Verdicts and the report, for all verbs that end with them. */

/* The layout of the terminal, or of a file: 80 columns. */
struct layout answer_layout(void);

/* Judges the experiment unless its verdicts are of this kbracket and nothing was stored since. */
KB_MUST_CHECK int answer_judge(struct cmd *cmd, int64_t experiment_id, struct err *err);

/* Judges when needed, writes the report as text or JSON, and returns the status. Inconclusive and
 * invalid count as fine when allow_open. */
KB_MUST_CHECK int answer_report(
	struct cmd *cmd, int64_t experiment_id, bool allow_open, struct err *err);

/* Writes a report that is loaded already; the same status. */
enum status answer_write(struct cmd *cmd, const struct report *report, bool allow_open);

/* Writes a JSON value and frees it. */
void answer_json(json_t *value);

#endif
