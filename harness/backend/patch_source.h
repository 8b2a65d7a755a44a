/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_PATCH_SOURCE_H
#define KB_BACKEND_PATCH_SOURCE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/* Where the patches of a variant come from. All memory is the arena's. */
struct patch_text {
	const char *name;   /* a file's own name, FOLDER/NAME, or lore:MESSAGE-ID */
	const char *sha256; /* of the bytes as they were found */
	const char *text;   /* mails decoded */
	size_t len;
};

struct patch_series {
	struct patch_text *items;
	size_t count;
};

/* Reads all of a variant's patches in order. Each is a file, a folder (its *.patch, *.diff, *.mbox
 * and *.eml files by name) or "lore:MESSAGE-ID", with " sha256:HEX" behind it when it is pinned.
 *
 * A mail is fetched from lore_url/MESSAGE-ID/raw once and kept in cache_dir/mails, its SHA-256
 * beside it. One that is not what its pin or that record says is ERR_USAGE, as is a patch that is
 * not there; a mail that cannot be fetched is ERR_INFRA. */
KB_MUST_CHECK int patch_series_read(struct arena *arena, const char *const *specs,
	const char *lore_url, const char *cache_dir, struct patch_series *out, struct err *err);

#endif
