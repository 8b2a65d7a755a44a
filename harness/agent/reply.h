/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_REPLY_H
#define KB_AGENT_REPLY_H

#include "base/base.h"

#include "base/err.h"

#include "agent/place.h"

/* Writes a finished run to a descriptor as in base/wire.h: the parts "result" (result.json), and
 * "stdout", "stderr", "dmesg" as far as they are there. */
KB_MUST_CHECK int reply_write(const struct place *place, int fd, struct err *err);

#endif
