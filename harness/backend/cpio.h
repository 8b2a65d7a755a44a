/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_CPIO_H
#define KB_BACKEND_CPIO_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"

/*
 * Writing initramfs archives: cpio "newc" (the kernel's Documentation/driver-api/early-userspace/
 * buffer-format.rst). Everything belongs to root and has no date, so that the same content gives
 * the same bytes. Parents of a file are added by themselves. Paths are without a leading slash.
 */
struct cpio {
	FILE *file;
	struct strv folders; /* already written */
	int64_t bytes;
	uint32_t inode;
	int errno_value; /* of the first write that failed */
};

/* Starts an archive on a stream that stays the caller's. */
void cpio_begin(struct cpio *cpio, FILE *file);
void cpio_add_bytes(
	struct cpio *cpio, const char *path, unsigned mode, const void *bytes, size_t len);
void cpio_add_folder(struct cpio *cpio, const char *path, unsigned mode);
void cpio_add_link(struct cpio *cpio, const char *path, const char *target);
/* A file of this host, at most 256 MiB. */
KB_MUST_CHECK int cpio_add_file(
	struct cpio *cpio, const char *path, unsigned mode, const char *from, struct err *err);
/* Ends the archive, padded to 512 bytes. ERR_INFRA when any write failed (a full disk). */
KB_MUST_CHECK int cpio_end(struct cpio *cpio, struct err *err);

#endif
