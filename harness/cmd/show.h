/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_SHOW_H
#define KB_CMD_SHOW_H

#include "base/base.h"

#include "cmd/cmd.h"

/* What `kbracket show` shows, as text or JSON, written to the answer. 0 or a negative code. */
KB_MUST_CHECK int show_list(struct cmd *cmd, struct err *err);
KB_MUST_CHECK int show_experiment(struct cmd *cmd, int64_t experiment_id, struct err *err);
KB_MUST_CHECK int show_spec(struct cmd *cmd, int64_t experiment_id, struct err *err);
/* machine NULL: the experiment's only one. */
KB_MUST_CHECK int show_boot(
	struct cmd *cmd, int64_t experiment_id, const char *machine, int ordinal, struct err *err);
KB_MUST_CHECK int show_run(struct cmd *cmd, int64_t run_id, struct err *err);
/* By the name of a variant or the beginning of a key, at least 4 digits. */
KB_MUST_CHECK int show_build(
	struct cmd *cmd, int64_t experiment_id, const char *which, struct err *err);

#endif
