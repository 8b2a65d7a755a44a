/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_SUITE_FILE_H
#define KB_MODEL_SUITE_FILE_H

#include "base/base.h"

#include "model/suite.h"

/* Between suite.c, suite_conditions.c and the tables of suite_opts.c. */

static inline struct place suite_file_place(const struct ynode *node)
{
	return (struct place){node->file, node->line, node->column};
}

/* A condition as it stands in the file, before lists of parameters are multiplied out. */
struct condition_draft {
	struct condition_spec spec;
	const struct ynode *params; /* NULL: none */
};

void suite_file_read_conditions(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
void suite_file_read_metrics(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
void suite_file_read_echoes(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);

/* A list of argument lists, for the struct command_list at row->offset. */
void suite_file_read_commands(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);

/* Names of parameters; they must not hide a word that templates know. */
KB_MUST_CHECK int suite_file_check_param(const char *text, struct err *err);

#endif
