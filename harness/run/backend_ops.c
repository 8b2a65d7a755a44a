/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/backend_ops.h"

const struct backend_ops backend_ops_real = {
	.builder_for = builder_for,
	.open = machine_open,
	.start = machine_start,
	.boot = machine_boot,
	.recover = machine_recover,
	.equip = machine_equip,
	.exec = machine_exec,
	.alive = machine_alive,
	.workdir = machine_workdir,
	.agent = machine_agent,
	.program_path = machine_program_path,
	.boot_method = machine_boot_method,
	.about = machine_about,
	.close = machine_close,
};
