/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_RAW_H
#define KB_RUN_RAW_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/store_plan.h"

/*
 * Raw output, kept packed under the store's folder. A file is complete, synced and in its place
 * before the transaction that names it begins. Writing one again (after a kill between the two)
 * replaces it with the same content.
 */

/* Packs the bytes with zstd into FOLDER/PATH.zst. *out lives in the arena. */
KB_MUST_CHECK int raw_keep(struct arena *arena, const char *folder, const char *path,
	const char *kind, const void *bytes, size_t len, struct store_raw *out, struct err *err);

/* The same for a file; one larger than max_bytes is kept from its end, with a line that says so. An
 * absent or empty file gives ERR_NOT_FOUND. */
KB_MUST_CHECK int raw_keep_file(struct arena *arena, const char *folder, const char *path,
	const char *kind, const char *file, size_t max_bytes, struct store_raw *out,
	struct err *err);

#endif
