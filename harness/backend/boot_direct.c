/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/machine_ops.h"

/* The machine is ended and started again with the kernel from outside: a cold boot of a guest. */
static int direct_boot(struct machine *machine, const struct boot_image *image, struct err *err)
{
	if (!machine->ops->start_with)
		return err_set(err, ERR_USAGE,
			"%s machines cannot be started with a kernel from outside",
			machine->ops->name);
	return machine->ops->start_with(machine, image, err);
}

const struct boot_ops boot_direct = {.name = "direct", .boot = direct_boot, .wait_after = true};
