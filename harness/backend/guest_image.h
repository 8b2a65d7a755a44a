/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_IMAGE_H
#define KB_BACKEND_GUEST_IMAGE_H

#include "base/base.h"

#include "base/err.h"
#include "backend/machine.h"

/*
 * The initramfs of QEMU guests, made of this host's own programs: busybox, dropbear, kexec, perf
 * where it is installed, the agent, and the suites' programs, each with its libraries. Made once
 * and kept in the cache under a name that is the hash of everything in it. The kernel's modules
 * that a guest needs before it has a network come in a second archive behind it, one per kernel.
 *
 * In the guest the agent is /bin/kbracket-agent and programs are /kb/programs/NAME.
 */
struct guest_image {
	char *path;	   /* of the archive here */
	char *identity;	   /* private key for logging in */
	char *known_hosts; /* holds the guest's host key under the name "kbracket-guest" */
};

#define GUEST_HOST_NAME "kbracket-guest"
#define GUEST_WORKDIR "/run/kbracket"

/* Finds it in the cache or makes it. ERR_USAGE names a program that is missing here and the package
 * that has it. */
KB_MUST_CHECK int guest_image_make(
	const struct machine_env *env, struct guest_image *out, struct err *err);
void guest_image_release(struct guest_image *image);

/* Where a suite's program is in guests: as the machine's configuration names it, else as it is
 * found here; NULL when it is not here. Both paths are freed by the caller; from may be NULL. */
char *guest_program_path(const struct machine_program *program, char **from);

/* Writes an initramfs as one file: the image, then an archive with the modules that a guest needs,
 * from the folder holding lib/modules/RELEASE ("": none). */
KB_MUST_CHECK int guest_initrd_write(const struct guest_image *image, const char *modules,
	const char *release, const char *path, struct err *err);

#endif
