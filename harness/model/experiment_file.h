/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_EXPERIMENT_FILE_H
#define KB_MODEL_EXPERIMENT_FILE_H

#include "base/base.h"

#include "model/experiment.h"

/* Only for experiment.c and its tables: the struct behind experiment_opts. Names are resolved when
 * the whole mapping has been read; until then the nodes that hold them are kept. */
struct experiment_file {
	struct experiment e;
	const char *baseline;
	const char *const *variants;
	const struct ynode *machines, *kernels, *suites;
};

#endif
