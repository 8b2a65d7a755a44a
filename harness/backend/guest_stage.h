/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_STAGE_H
#define KB_BACKEND_GUEST_STAGE_H

#include "base/base.h"

#include "base/err.h"
#include "backend/machine.h"

/* What kexec is to load, as files here and in the guest. */
struct guest_stage {
	const char *disk; /* of guest_disk.h; the guest sees it as /dev/vda */
	const char *kernel, *initrd;
	char *kernel_there, *initrd_there; /* in machine_workdir */
};

/* Brings both to a running guest: by the disk, and by ssh where its kernel has no virtio_blk or
 * they do not fit. */
KB_MUST_CHECK int guest_stage(
	struct machine *machine, const struct guest_stage *stage, struct err *err);

#endif
