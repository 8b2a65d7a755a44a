/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_MUST_H
#define KB_BENCH_MUST_H

#include "base/base.h"

#include "base/err.h"

/* What benchmarks do when something that must work does not. The call passes &err. */
#define MUST(call)                                                                    \
	do {                                                                          \
		struct err err = ERR_INIT;                                            \
                                                                                      \
		if (call) {                                                           \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, err.text); \
			exit(3);                                                      \
		}                                                                     \
	} while (0)

#endif
