/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "backend/machine_ops.h"
#include "sys/ssh.h"

/* A Linux host in somebody's lab, reached by OpenSSH as the user set it up. */

static int ssh_machine_open(struct machine *machine, struct err *err)
{
	struct ssh_spec spec = {.destination = machine->spec->ssh};
	char *socket_dir;
	struct ssh *ssh;
	int ret = machine_private_folder(&socket_dir, err);

	if (ret)
		return ret;
	spec.socket_dir = socket_dir;
	ret = ssh_open(&spec, &ssh, err);
	if (ret == 0)
		machine->state = ssh;
	free(socket_dir);
	return ret;
}

static int ssh_machine_start(
	struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	return ssh_connect(machine->state, 30 * NS_PER_S, err);
}

static int ssh_machine_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	return ssh_run(machine->state, spec, result, err);
}

/* Without an agent there is only a shell: the content goes to a temporary name, its SHA-256 is
 * checked there, and it is renamed. The folder must be root's and closed to others. */
static int ssh_machine_put_agent(struct machine *machine, struct err *err)
{
	static const char script[] =
		"set -eu; umask 077; mkdir -p \"$1/programs\"; "
		"test \"$(stat -c %u:%a \"$1\")\" = 0:700 || "
		"{ echo \"$1 is not a folder of root with mode 700\" >&2; exit 1; }; "
		"cat > \"$2.new\"; "
		"test \"$(sha256sum < \"$2.new\")\" = \"$3  -\" || { echo damaged >&2; exit 1; }; "
		"chmod 700 \"$2.new\"; mv \"$2.new\" \"$2\"";
	char hex[SHA256_HEX_LEN + 1];
	const char *argv[] = {
		"sh", "-c", script, "sh", machine->workdir, machine->agent, hex, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 120 * NS_PER_S};
	int ret = sha256_of_file(machine->env->agent, hex, err);

	if (ret)
		return ret;
	spec.input_fd = open(machine->env->agent, O_RDONLY | O_CLOEXEC);
	if (spec.input_fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot open %s", machine->env->agent);
	ret = machine_check(machine, &spec, err);
	(void)close(spec.input_fd);
	return ret ? err_wrap(err, "putting the agent there") : 0;
}

/* As /lib/modules/RELEASE, where an initramfs generator and modprobe look for them. */
static int stage_modules(struct machine *machine, const struct boot_image *image, struct err *err)
{
	char *archive = xasprintf("%s/modules-%s.tar", machine->env->cache_dir, image->release);
	char *name = xasprintf("modules-%s.tar", image->release);
	char *folder = xasprintf("lib/modules/%s", image->release);
	char *there = xasprintf("%s/%s", machine->workdir, name);
	const char *pack[] = {"tar", "-C", image->modules, "--owner=0", "--group=0", "-cf", archive,
		folder, NULL};
	const char *unpack[] = {"tar", "-C", "/", "--keep-directory-symlink", "-xf", there, NULL};
	const char *index[] = {"depmod", image->release, NULL};
	const char *remove[] = {"rm", "-f", there, NULL};
	struct proc_spec spec = {.argv = pack, .timeout_ns = 300 * NS_PER_S};
	int ret = proc_check(&spec, NULL, err);

	if (ret == 0)
		ret = machine_put(machine, archive, name, 0600, err);
	if (ret == 0)
		ret = machine_command(machine, unpack, 300 * NS_PER_S, err);
	if (ret == 0)
		ret = machine_command(machine, index, 300 * NS_PER_S, err);
	if (ret == 0)
		ret = machine_command(machine, remove, 30 * NS_PER_S, err);
	(void)unlink(archive);
	free(archive);
	free(name);
	free(folder);
	free(there);
	return ret ? err_wrap(err, "modules of %s", image->release) : 0;
}

/* The machine's own command makes the initramfs; {initrd} and {release} stand for themselves. */
static int make_initrd(
	struct machine *machine, const struct boot_image *image, char **initrd, struct err *err)
{
	char *path = xasprintf("%s/initrd-%s", machine->workdir, image->release);
	struct strv argv = STRV_INIT;
	int ret;

	for (const char *const *word = machine->spec->initramfs; *word; word++)
		strv_add(&argv, strcmp(*word, "{initrd}") == 0	  ? path
				: strcmp(*word, "{release}") == 0 ? image->release
								  : *word);
	ret = machine_command(machine, strv_argv(&argv), 600 * NS_PER_S, err);
	strv_release(&argv);
	if (ret) {
		free(path);
		return err_wrap(err, "making the initramfs");
	}
	*initrd = path;
	return 0;
}

static int ssh_machine_stage(struct machine *machine, const struct boot_image *image, char **kernel,
	char **initrd, struct err *err)
{
	char *name = xasprintf("image-%s", image->release);
	int ret = machine_put(machine, image->image, name, 0600, err);

	if (ret == 0 && image->modules[0])
		ret = stage_modules(machine, image, err);
	if (ret == 0 && machine->spec->initramfs[0])
		ret = make_initrd(machine, image, initrd, err);
	if (ret == 0)
		*kernel = xasprintf("%s/%s", machine->workdir, name);
	free(name);
	return ret;
}

static void ssh_machine_forget(struct machine *machine)
{
	ssh_drop(machine->state);
}

static int ssh_machine_recover(
	struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	struct proc_spec spec = {.argv = machine->spec->power_cycle, .timeout_ns = 120 * NS_PER_S};
	int ret;

	ssh_machine_forget(machine);
	if (!spec.argv[0])
		return err_set(err, ERR_INFRA,
			"it does not answer and has no power: {cycle: ...} command");
	ret = proc_check(&spec, NULL, err);
	if (ret)
		return err_wrap(err, "power cycle");
	return machine_wait_answer(
		machine, NULL, clock_now_ns() + machine->spec->boot_timeout_ns, err);
}

static void ssh_machine_close(struct machine *machine)
{
	ssh_close(machine->state);
}

const struct machine_ops machine_ssh = {
	.name = "ssh",
	.open = ssh_machine_open,
	.start = ssh_machine_start,
	.recover = ssh_machine_recover,
	.exec = ssh_machine_exec,
	.put_agent = ssh_machine_put_agent,
	.stage = ssh_machine_stage,
	.forget = ssh_machine_forget,
	.close = ssh_machine_close,
};
