/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/mem.h"
#include "backend/machine_ops.h"

/*
 * This host under its running kernel, never booted: for A/A checks and for run-time toggles. The
 * working folder is made by open; the agent is copied into it.
 */
static int local_open(struct machine *machine, struct err *err)
{
	char *programs = path_join(machine->workdir, "programs");
	int ret = file_mkdirs(programs, 0700, err);

	free(programs);
	return ret;
}

static int local_start(struct machine *machine KB_UNUSED, const struct boot_image *safe KB_UNUSED,
	struct err *err KB_UNUSED)
{
	return 0;
}

static int local_exec(struct machine *machine KB_UNUSED, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	return proc_run(spec, result, err);
}

static int local_put_agent(struct machine *machine, struct err *err)
{
	return file_copy(machine->env->agent, machine->agent, err);
}

static void local_close(struct machine *machine KB_UNUSED)
{
}

const struct machine_ops machine_local = {
	.name = "local",
	.open = local_open,
	.start = local_start,
	.exec = local_exec,
	.put_agent = local_put_agent,
	.close = local_close,
};
