/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BISECT_CONFIG_H
#define KB_CMD_BISECT_CONFIG_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/* How two kernel configurations, or fragments of them, differ. */
struct config_change {
	const char *line; /* "CONFIG_A=y" or "# CONFIG_A is not set": what the second one says */
};

/* In the order of the second file; what only the first sets comes last, as not set. The arena's. */
KB_MUST_CHECK int config_changes(struct arena *arena, const char *first, const char *second,
	struct config_change **out, size_t *count, struct err *err);

/* Writes the first so many changes as a fragment into a folder of the cache, named by its content.
 * *path is the arena's. */
KB_MUST_CHECK int config_write(struct arena *arena, const char *cache,
	const struct config_change *changes, size_t count, const char **path, struct err *err);

#endif
