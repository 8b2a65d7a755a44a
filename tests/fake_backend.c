/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real kbracket with a FAKE machine: linked with the verbs in place of run/backend_ops.c, it
 * takes every word that kbracket takes, reads real repositories and has them built by the real
 * builder. What is built is a text file instead of a kernel (bisect_lab.h), and a boot only copies
 * it to where the machine's programs find it.
 */
#include "base/base.h"

#include "fake_kernel.h"
#include "fake_lab.h"

/* A machine that is not there yet runs some kernel of its own. */
static int start(struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	char *own = fake_path(machine, "own");
	int ret;

	if (fake_flag(machine, "broken")) {
		free(own);
		return err_set(err, ERR_INFRA, "the fake machine does not answer");
	}
	fake_line(machine->spec->workdir, "own", "6.1.0-own 0000000000000000 ok");
	ret = fake_start(machine, &(struct boot_image){.image = own, .cmdline = ""}, err);
	free(own);
	return ret;
}

static int recover(
	struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	return start(machine, NULL, err);
}

static int boot(struct machine *machine, const struct boot_image *kernel, const char *console,
	struct err *err)
{
	static const char version[] = FAKE_BANNER("6.12.9-fake", "1");
	char *image = fake_path(machine, "image");
	int ret = fake_boot(machine, kernel, console, err);

	if (!ret)
		ret = file_copy(kernel->image, image, err);
	fake_write(machine->spec->workdir, "root/proc/version", version, strlen(version));
	free(image);
	return ret;
}

const struct backend_ops backend_ops_real = {
	.builder_for = builder_for,
	.open = fake_open,
	.start = start,
	.boot = boot,
	.recover = recover,
	.exec = fake_exec,
	.alive = fake_alive,
	.workdir = fake_workdir,
	.agent = fake_agent,
	.program_path = fake_program_path,
	.boot_method = fake_text,
	.about = fake_text,
	.close = fake_close,
};
