/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_KEXEC_REFUSAL_H
#define KB_BACKEND_KEXEC_REFUSAL_H

#include "base/base.h"

#include "backend/machine_ops.h"

/* Why a machine loads no kernel by kexec: what kexec(8) says is "Operation not permitted" for most
 * of it. */

/* What to tell of a refusal, one sentence with what to do: from what the machine says of itself (as
 * kexec_refused asks it, a line "WORD VALUE" each) and what kexec said. NULL: neither tells. */
const char *kexec_why(const char *facts, const char *said);

/* Before anything is brought there: ERR_USAGE with why and what to do where no kernel can be loaded,
 * ERR_INFRA when it does not answer. */
KB_MUST_CHECK int kexec_check(struct machine *machine, struct err *err);

/* *err has what kexec said. Asks the machine; when it is the machine that refuses, and not this one
 * image that is wrong, *err begins with why and what to do, and the code is ERR_USAGE: no kernel
 * will be loaded until somebody changes the machine. Returns the code. */
KB_MUST_CHECK int kexec_refused(struct machine *machine, struct err *err);

#endif
