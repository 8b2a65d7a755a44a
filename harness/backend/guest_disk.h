/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_DISK_H
#define KB_BACKEND_GUEST_DISK_H

#include "base/base.h"

#include "base/err.h"

/*
 * The disk by which files reach a running guest: the guest may only read it, and what stands on it
 * is written here. Under emulation this is ten times as fast as ssh, whose ciphers are emulated
 * too. There is no file system on it: each file begins at a whole block and is filled up with zeros
 * to the end of its last block, so that it can be read past the page cache.
 */
enum { GUEST_DISK_BLOCK = 1 << 20, GUEST_DISK_BLOCKS = 1024 };

struct guest_disk {
	const char *path; /* borrowed */
	int64_t next;	  /* first free block */
};

/* Makes it, or makes it empty. It takes no room until files are put on it. */
KB_MUST_CHECK int guest_disk_make(const char *path, struct err *err);

/* Writes a file behind what was added before (start with {path, 0}); *first and *count are its
 * blocks. ERR_INFRA when it does not fit or cannot be read or written (a full file system). */
KB_MUST_CHECK int guest_disk_add(
	struct guest_disk *disk, const char *from, int64_t *first, int64_t *count, struct err *err);

#endif
