/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_PROOF_H
#define KB_AGENT_PROOF_H

#include "base/base.h"

#include <jansson.h>

/* What the running kernel says about itself. New reference. */
json_t *proof_read(const char *root);

#endif
