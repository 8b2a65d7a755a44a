/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BISECT_ORACLE_H
#define KB_CMD_BISECT_ORACLE_H

#include "base/base.h"

#include "base/err.h"
#include "model/opt.h"

/*
 * `kbracket bisect --oracle`: the engine of the real bisect over numbered commits that another
 * program measures. kbracket-bisect's section "The oracle" in the man page is the contract.
 */
struct bisect_oracle {
	const char *command; /* NULL: none was given */
	int64_t commits, runs, reply_timeout_ns;
	const char *cost;
	int better; /* 0 higher, 1 lower */
	/* Of the bisect's other options: */
	double confidence;
	int64_t max_boots;
	bool json;
};

/* Rows for what is above of the line. */
extern const struct opt bisect_oracle_opts[];

/* Talks with the program until the engine has its answer, writes that, and returns the status. */
KB_MUST_CHECK int bisect_ask_oracle(const struct bisect_oracle *oracle, struct err *err);

#endif
