/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_ORACLE_REPLY_H
#define KB_MODEL_ORACLE_REPLY_H

#include "base/base.h"

#include "base/err.h"

/* What a bisect's oracle answers: lines of another program, of which nothing is taken for granted.
 * The contract stands in kbracket(1). */

/* To `boot I`: "ok" or "skip". ERR_INFRA otherwise. */
KB_MUST_CHECK int oracle_read_boot(const char *answer, bool *skip, struct err *err);

/* To `run K`: exactly count numbers above zero, separated by blanks. ERR_INFRA otherwise, values
 * may then hold some of them. */
KB_MUST_CHECK int oracle_read_values(
	const char *answer, size_t count, double *values, struct err *err);

#endif
