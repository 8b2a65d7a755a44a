/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_PROGRAM_H
#define KB_BACKEND_GUEST_PROGRAM_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"

/* Files that go into a guest's image: items of the same index belong together. */
struct guest_files {
	struct strv to;	  /* path in the guest, without a leading slash; no two are the same */
	struct strv from; /* path here */
};

#define GUEST_FILES_INIT             \
	{                            \
		STRV_INIT, STRV_INIT \
	}

/* Does nothing when `to` is there already. */
void guest_files_add(struct guest_files *files, const char *to, const char *from);
void guest_files_release(struct guest_files *files);

/* Adds a program of this host and every library that it is linked with: as the dynamic loader that
 * it names lists them, without those made for particular CPUs, which a guest's may not be. A script
 * must be one of /bin/sh. ERR_USAGE when the program cannot run in a guest, with the reason. */
KB_MUST_CHECK int guest_program_add(
	struct guest_files *files, const char *to, const char *from, struct err *err);

#endif
