/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_CODE_IDENTITY_H
#define KB_BACKEND_CODE_IDENTITY_H

#include "base/base.h"

#include "base/err.h"
#include "base/sha256.h"

/*
 * What a kernel does, as one hash: the contents of all allocated sections of an ELF file (vmlinux,
 * a module; there with relocations and symbols), with what may differ without any difference in
 * code set to zero: the release string, the build-id, and the line numbers of BUG and WARN in
 * __bug_table. Two kernels with the same hash need to be measured only once. Anything else that
 * differs makes another hash, so that this only ever errs towards measuring.
 */

/* Adds a file to the hash. bug_lines: the kernel has CONFIG_DEBUG_BUGVERBOSE and relative pointers
 * in __bug_table, so that each entry of 12 bytes has a line number at offset 8. ERR_INVALID when it
 * is no ELF file that can be read. */
KB_MUST_CHECK int code_identity_add(struct sha256 *hash, const char *path, const char *release,
	bool bug_lines, struct err *err);

#endif
