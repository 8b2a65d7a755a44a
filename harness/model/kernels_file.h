/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_KERNELS_FILE_H
#define KB_MODEL_KERNELS_FILE_H

#include "base/base.h"

#include "model/variant.h"

/* Only for variant.c and its tables: the struct behind kernels_opts. What the file says for all of
 * its variants is read with each of them; `shared` makes the keys known and checks the values. */
struct kernels_file {
	struct variant shared; /* first: the shared rows have the offsets of struct variant */
	const struct ynode *variants;
};

/* Keeps the node of `variants` when it is a mapping of bearable size. */
void kernels_file_keep_variants(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);

#endif
