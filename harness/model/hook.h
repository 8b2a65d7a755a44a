/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_HOOK_H
#define KB_MODEL_HOOK_H

#include "base/base.h"

#include "model/opt.h"

/* A person's own programs, called on this host around an experiment, its boots and its runs. */
enum hook_point {
	HOOK_BEFORE_EXPERIMENT,
	HOOK_AFTER_EXPERIMENT,
	HOOK_BEFORE_BOOT,
	HOOK_AFTER_BOOT,
	HOOK_BEFORE_RUN,
	HOOK_AFTER_RUN
};

/* What its failure means. */
enum hook_failure {
	HOOK_IGNORE,
	HOOK_FLAG, /* a run, or all runs of the boot, carry the reason "hook" */
	HOOK_STOP  /* the experiment stops; it can be resumed */
};

struct hook {
	enum hook_point at;
	const char *const *argv;
	int64_t timeout_ns;
	enum hook_failure failure;
};

/* "before-boot", ... */
const char *hook_point_name(enum hook_point at);

/* Reads a list of hooks into {struct hook *, size_t} at the row's offset and count_offset; writes
 * it back. */
void hooks_read(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
json_t *hooks_json(const struct opt *row, const void *base);

extern const struct opt hook_opts[];

#endif
