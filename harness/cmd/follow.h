/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_FOLLOW_H
#define KB_CMD_FOLLOW_H

#include "base/base.h"

#include "run/progress.h"

/* Tells a person what the engine is doing: a progress line with an estimate of the end, and a line
 * for everything worth keeping. A progress_fn; arg is not used. */
void follow_progress(void *arg, const struct progress *progress);

#endif
