/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_KERNEL_IMAGE_H
#define KB_BACKEND_KERNEL_IMAGE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/* What a kernel file says about itself. All text is the arena's. */
struct kernel_image {
	const char *release;	  /* uname -r; "" when it cannot be read */
	const char *proc_version; /* as /proc/version reads, without the newline; "" */
	const char *build_id;	  /* hex; "" */
	const char *why_weak;	  /* why build_id is ""; "" otherwise */
};

/* Reads a bzImage (through its compressed payload) or a vmlinux. At most 256 MiB of file and 1 GiB
 * unpacked. What cannot be read is "", with why_weak; ERR_USAGE when it is no kernel at all. */
KB_MUST_CHECK int kernel_image_read(
	struct arena *arena, const char *path, struct kernel_image *out, struct err *err);

#endif
