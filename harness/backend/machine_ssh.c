/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "backend/lab.h"

/* A Linux host in somebody's lab, reached by OpenSSH as the user set it up. */

static int ssh_machine_open(struct machine *machine, struct err *err)
{
	struct ssh_spec spec = {
		.destination = machine->spec->ssh.to, .config = machine->spec->ssh.config};
	char *socket_dir;
	struct lab *lab;
	int ret = machine_private_folder(&socket_dir, err);

	if (ret)
		return ret;
	lab = machine->state = xcalloc(1, sizeof(*lab));
	spec.socket_dir = socket_dir;
	ret = ssh_open(&spec, &lab->ssh, err);
	free(socket_dir);
	return ret;
}

/* One that is off is turned on. */
static int ssh_machine_start(
	struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	struct lab *lab = lab_of(machine);
	int ret = ssh_connect(lab->ssh, 30 * NS_PER_S, err);

	if (ret && ret != ERR_INTERRUPTED && !ssh_was_refused(lab->ssh) &&
		machine->spec->power_cycle[0]) {
		log_line(LOG_WARN, "machine '%s': %s", machine->spec->name, err->text);
		ret = lab_recover(machine, err);
	}
	return ret;
}

static int ssh_machine_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	return ssh_run(lab_of(machine)->ssh, spec, result, err);
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

static char *ssh_machine_cmdline(struct machine *machine, const char *cmdline)
{
	return lab_cmdline(machine->spec, lab_of(machine)->own_cmdline, cmdline);
}

/* A kernel that panics early leads back to the machine's own, through its firmware. */
static int ssh_machine_came_up(
	struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct str release = STR_INIT;
	bool is_ours = false;
	int ret = lab_running(machine, &is_ours, &release, err);

	if (ret == 0 && !is_ours)
		ret = err_set(err, ERR_INFRA,
			"%s did not come up: the machine came back with its own kernel %s",
			image->release, str_text(&release));
	if (is_ours)
		lab_of(machine)->turns = 0;
	else
		lab_of(machine)->turns++;
	str_release(&release);
	return ret;
}

static void ssh_machine_forget(struct machine *machine)
{
	ssh_drop(lab_of(machine)->ssh);
}

static int ssh_machine_recover(
	struct machine *machine, const struct boot_image *safe KB_UNUSED, struct err *err)
{
	return lab_recover(machine, err);
}

static void ssh_machine_close(struct machine *machine)
{
	struct lab *lab = lab_of(machine);

	if (!lab)
		return;
	ssh_close(lab->ssh);
	free(lab->own_cmdline);
	strv_release(&lab->staged);
	free(lab);
}

const struct machine_ops machine_ssh = {
	.name = "ssh",
	.open = ssh_machine_open,
	.start = ssh_machine_start,
	.recover = ssh_machine_recover,
	.exec = ssh_machine_exec,
	.put_agent = ssh_machine_put_agent,
	.stage = lab_stage,
	.cmdline = ssh_machine_cmdline,
	.came_up = ssh_machine_came_up,
	.forget = ssh_machine_forget,
	.close = ssh_machine_close,
};
