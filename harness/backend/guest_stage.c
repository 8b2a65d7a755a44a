/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "backend/guest_disk.h"
#include "backend/guest_stage.h"
#include "backend/machine_ops.h"

static int by_disk(struct machine *machine, const struct guest_stage *stage, struct err *err)
{
	static const char script[] =
		"set -e; test -b /dev/vda || { echo there is no /dev/vda >&2; exit 1; }\n"
		"get() { dd if=/dev/vda of=\"$1\" bs=1M skip=\"$2\" count=\"$3\" iflag=direct; }\n"
		"get \"$1\" \"$2\" \"$3\"; get \"$4\" \"$5\" \"$6\"\n";
	const char *const from[2] = {stage->kernel, stage->initrd};
	struct guest_disk disk = {stage->disk, 0};
	char first_text[2][24], count_text[2][24];
	const char *argv[] = {"sh", "-c", script, "sh", stage->kernel_there, first_text[0],
		count_text[0], stage->initrd_there, first_text[1], count_text[1], NULL};

	for (int i = 0; i < 2; i++) {
		int64_t first, count;
		int ret = guest_disk_add(&disk, from[i], &first, &count, err);

		if (ret)
			return ret;
		(void)snprintf(first_text[i], sizeof(first_text[i]), "%lld", (long long)first);
		(void)snprintf(count_text[i], sizeof(count_text[i]), "%lld", (long long)count);
	}
	return machine_command(machine, argv, 60 * NS_PER_S, err);
}

static int by_ssh(struct machine *machine, const struct guest_stage *stage, struct err *err)
{
	int ret = machine_put(machine, stage->kernel, path_name(stage->kernel_there), 0600, err);

	return ret ? ret
		   : machine_put(machine, stage->initrd, path_name(stage->initrd_there), 0600, err);
}

int guest_stage(struct machine *machine, const struct guest_stage *stage, struct err *err)
{
	struct err why = ERR_INIT;
	int ret = by_disk(machine, stage, &why);

	if (ret == 0)
		return 0;
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", why.text);
	log_line(LOG_DEBUG, "machine '%s': the kernel goes by ssh, not by disk: %.300s",
		machine->spec->name, why.text);
	return by_ssh(machine, stage, err);
}
