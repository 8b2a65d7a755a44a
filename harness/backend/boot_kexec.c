/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"
#include "backend/machine_ops.h"

enum { LOAD_TIMEOUT_S = 120 };

/* kexec_file_load first: it is the only one that a locked-down kernel allows. The old call is for
 * kernels and images that it cannot do. The sums that kexec_file_load has computed and the jump
 * checks again take 15 s under emulation, so a machine whose images come from here over a path that
 * cannot damage them does without. */
static const char *const checked[][3] = {{"-s", NULL}, {"-c", NULL}};
static const char *const unchecked[][3] = {{"-c", "--no-checks", NULL}, {"-s", NULL}};

static int load_by(struct machine *machine, const char *const *form, const char *kernel,
	const char *cmdline, const char *initrd, struct err *err)
{
	struct strv argv = STRV_INIT;
	int ret;

	strv_add(&argv, "kexec");
	strv_add_all(&argv, form);
	strv_add_many(&argv, "-l", kernel, NULL);
	strv_addf(&argv, "--command-line=%s", cmdline);
	if (initrd)
		strv_addf(&argv, "--initrd=%s", initrd);
	ret = machine_command(machine, strv_argv(&argv), LOAD_TIMEOUT_S * NS_PER_S, err);
	strv_release(&argv);
	return ret;
}

static int load(struct machine *machine, const struct boot_image *image, const char *kernel,
	const char *initrd, struct err *err)
{
	const char *const(*forms)[3] = machine->ops->unchecked_kexec ? unchecked : checked;
	char *cmdline = machine->ops->cmdline ? machine->ops->cmdline(machine, image->cmdline)
					      : xstrdup(image->cmdline);
	struct err second = ERR_INIT;
	int ret = load_by(machine, forms[0], kernel, cmdline, initrd, err);

	if (ret && ret != ERR_INTERRUPTED &&
		load_by(machine, forms[1], kernel, cmdline, initrd, &second) == 0)
		ret = 0;
	if (second.code == ERR_INTERRUPTED)
		ret = err_set(err, ERR_INTERRUPTED, "%s", second.text);
	free(cmdline);
	return ret == 0 ? 0 : err_wrap(err, "kexec cannot load %s", image->release);
}

static int kexec_boot(struct machine *machine, const struct boot_image *image, struct err *err)
{
	/* The jump comes after the session has ended: it takes the network away. systemd stops the
	 * services and unmounts first. */
	static const char *const jump[] = {"sh", "-c",
		"sync; (sleep 0.2; [ -d /run/systemd/system ] && systemctl kexec || exec kexec -e) "
		">/dev/null 2>&1 </dev/null &",
		NULL};
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
