/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/machine_ops.h"

/* The running kernel stays. Runs of one boot are then no boots of their own: reports say so. */
static int none_boot(struct machine *machine KB_UNUSED, const struct boot_image *image KB_UNUSED,
	struct err *err KB_UNUSED)
{
	return 0;
}

const struct boot_ops boot_none = {.name = "none", .boot = none_boot};
