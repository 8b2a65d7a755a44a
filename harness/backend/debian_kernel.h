/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_DEBIAN_KERNEL_H
#define KB_BACKEND_DEBIAN_KERNEL_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/* Debian's kernel packages, installed or from the archive; nothing is ever installed. All text is
 * the arena's. */
struct debian_kernel {
	const char *package; /* the one that holds the kernel, not a metapackage */
	const char *version;
	const char *sha256;   /* of the archive's file; "" when installed */
	int64_t size_bytes;   /* of the archive's file */
	const char *boot_dir; /* folder with vmlinuz-RELEASE when installed; "" otherwise */
};

/* Finds a package by its exact name or by the start of it with a * behind (the newest version
 * then). Metapackages lead to the package they depend on. Reads only. ERR_USAGE when there is none.
 */
KB_MUST_CHECK int debian_kernel_find(
	struct arena *arena, const char *name, struct debian_kernel *out, struct err *err);

/* Downloads the package (at most 1 GiB, 15 minutes), checks its SHA-256 and unpacks its boot/ and
 * lib/modules/ into folder. */
KB_MUST_CHECK int debian_kernel_unpack(
	const struct debian_kernel *kernel, const char *folder, struct err *err);

#endif
