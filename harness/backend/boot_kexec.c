/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"
#include "backend/machine_ops.h"

enum { LOAD_TIMEOUT_S = 120 };

/* kexec_file_load first: it is the only one that a locked-down kernel allows. The old call is for
 * kernels and images that it cannot do. */
static int load(struct machine *machine, const struct boot_image *image, const char *kernel,
	const char *initrd, struct err *err)
{
	static const char *const forms[] = {"-s", "-c"};
	char *cmdline = machine->ops->cmdline ? machine->ops->cmdline(machine, image->cmdline)
					      : xstrdup(image->cmdline);
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct strv argv = STRV_INIT;
		struct err first = *err;

		strv_add_many(&argv, "kexec", forms[i], "-l", kernel, NULL);
		strv_addf(&argv, "--command-line=%s", cmdline);
		if (initrd)
			strv_addf(&argv, "--initrd=%s", initrd);
		ret = machine_command(machine, strv_argv(&argv), LOAD_TIMEOUT_S * NS_PER_S, err);
		strv_release(&argv);
		if (ret == 0 || ret == ERR_INTERRUPTED)
			break;
		if (i)
			*err = first;
	}
	free(cmdline);
	return ret == 0 ? 0 : err_wrap(err, "kexec cannot load %s", image->release);
}

static int kexec_boot(struct machine *machine, const struct boot_image *image, struct err *err)
{
	/* The jump comes after the session has ended: it takes the network away. */
	static const char *const jump[] = {
		"sh", "-c", "sync; (sleep 0.2; exec kexec -e) >/dev/null 2>&1 </dev/null &", NULL};
	char *kernel = NULL, *initrd = NULL;
	int ret;

	if (!machine->ops->stage)
		return err_set(
			err, ERR_USAGE, "%s machines do not boot by kexec", machine->ops->name);
	ret = machine->ops->stage(machine, image, &kernel, &initrd, err);
	if (ret == 0)
		ret = load(machine, image, kernel, initrd, err);
	if (ret == 0)
		ret = machine_command(machine, jump, 30 * NS_PER_S, err);
	free(kernel);
	free(initrd);
	return ret;
}

const struct boot_ops boot_kexec = {.name = "kexec", .boot = kexec_boot, .wait_after = true};
