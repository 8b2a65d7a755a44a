/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "backend/guest_image.h"
#include "backend/guest_run.h"
#include "backend/machine_ops.h"
#include "sys/ssh.h"

/*
 * A QEMU guest. It is started with the safe kernel and the initramfs of guest_image.h and reached
 * by ssh over a loopback port. For a kexec the new kernel's initramfs is put together in the guest:
 * the running kernel keeps its own (retain_initrd), whose first part is the same for every kernel.
 */

/* A guest under a working KVM reaches its init in about a second. */
enum { KVM_PROBE_S = 10 };

struct qemu {
	struct guest_image image;
	enum qemu_accel accel; /* as decided; ACCEL_AUTO: not yet */
	struct guest_run *run;
	struct ssh *ssh;
	char *dir;     /* private, short: sockets */
	char *initrd;  /* of the kernel that QEMU is started with */
	char *console; /* where the console goes now */
};

static void end_guest(struct qemu *qemu)
{
	ssh_close(qemu->ssh);
	qemu->ssh = NULL;
	guest_run_end(qemu->run);
	qemu->run = NULL;
}

/* Folders of guests whose kbracket was killed: "guest-PID-...". */
static void remove_stale_folders(const char *parent)
{
	struct strv names = STRV_INIT;
	struct err ignored;

	if (file_list(parent, &names, &ignored) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		long pid = str_starts(names.items[i], "guest-")
				   ? strtol(names.items[i] + 6, NULL, 10)
				   : 0;
		char *path = path_join(parent, names.items[i]);

		if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
			(void)!file_remove_tree(path, &ignored);
		free(path);
	}
	strv_release(&names);
}

/* Under /tmp, since the path of a socket may have 107 bytes only. */
static int make_folder(struct qemu *qemu, struct err *err)
{
	char *parent = xasprintf("/tmp/kbracket-%ld", (long)getuid());
	int ret = file_mkdirs(parent, 0700, err);

	if (ret == 0) {
		remove_stale_folders(parent);
		qemu->dir = xasprintf("%s/guest-%ld-XXXXXX", parent, (long)getpid());
		if (!mkdtemp(qemu->dir))
			ret = err_errno(
				err, ERR_INFRA, errno, "cannot make a folder in %s", parent);
	}
	free(parent);
	return ret;
}

static int qemu_open(struct machine *machine, struct err *err)
{
	struct qemu *qemu = xcalloc(1, sizeof(*qemu));
	int ret;

	machine->state = qemu;
	qemu->accel = machine->spec->qemu.accel;
	free(machine->agent);
	machine->agent = xstrdup("/bin/kbracket-agent");
	free(machine->workdir);
	machine->workdir = xstrdup(GUEST_WORKDIR);
	for (size_t i = 0; i < machine->env->program_count; i++)
		strv_addf(&machine->program_paths,
			machine->env->programs[i].path ? "/kb/programs/%s" : "%.0s",
			machine->env->programs[i].name);
	ret = make_folder(qemu, err);
	if (ret)
		return ret;
	qemu->initrd = path_join(qemu->dir, "initrd");
	qemu->console = path_join(qemu->dir, "console");
	return 0;
}

/* What every guest kernel needs on its command line, behind the caller's. */
static char *guest_cmdline(const struct qemu *qemu, const char *cmdline)
{
	return xasprintf("%s%sconsole=ttyS0 panic=-1 oops=panic retain_initrd%s", cmdline,
		cmdline[0] ? " " : "",
		qemu->accel == ACCEL_TCG ? " tsc=reliable no_timer_check random.trust_cpu=on" : "");
}

static int launch(struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct qemu *qemu = machine->state;
	char *cmdline = guest_cmdline(qemu, image->cmdline);
	struct guest_start start = {.spec = &machine->spec->qemu,
		.accel = qemu->accel,
		.kernel = image->image,
		.initrd = qemu->initrd,
		.cmdline = cmdline,
		.console = qemu->console,
		.dir = qemu->dir};
	struct ssh_spec ssh = {.destination = "root@" GUEST_HOST_NAME,
		.address = "127.0.0.1",
		.identity = qemu->image.identity,
		.known_hosts = qemu->image.known_hosts,
		.socket_dir = qemu->dir};
	int ret = guest_run_start(&start, &qemu->run, err);

	if (ret == 0) {
		ssh.port = guest_run_port(qemu->run);
		ret = ssh_open(&ssh, &qemu->ssh, err);
	}
	free(cmdline);
	return ret;
}

static bool console_shows(const struct qemu *qemu, const char *mark)
{
	struct str text = STR_INIT;
	struct err ignored;
	bool found = file_read(qemu->console, 64 << 20, &text, &ignored) == 0 && text.len &&
		     memmem(text.text, text.len, mark, strlen(mark));

	str_release(&text);
	return found;
}

static void describe(struct machine *machine)
{
	const struct qemu_spec *spec = &machine->spec->qemu;
	struct qemu *qemu = machine->state;
	struct str text = STR_INIT;

	str_addf(&text, "QEMU guest (%s), %lld CPUs in %lld LLC domains, ",
		qemu->accel == ACCEL_KVM ? "KVM" : "TCG", (long long)spec->cpus,
		(long long)spec->llcs);
	num_add_bytes(&text, spec->memory_bytes);
	free(machine->about);
	machine->about = str_take(&text);
}

/* KVM is used only where a guest has been seen to reach its init under it. */
static int try_kvm(struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct qemu *qemu = machine->state;
	int64_t deadline = clock_now_ns() + KVM_PROBE_S * NS_PER_S;
	struct err why = ERR_INIT;
	int ret;

	if (access("/dev/kvm", R_OK | W_OK) != 0) {
		log_line(LOG_INFO,
			"machine '%s': /dev/kvm cannot be used (%s): using TCG, which is slow",
			machine->spec->name, strerror(errno));
		return 0;
	}
	qemu->accel = ACCEL_KVM;
	ret = launch(machine, image, &why);
	while (ret == 0 && !console_shows(qemu, "kbracket-guest: init")) {
		ret = stop_check(err);
		if (ret)
			return ret;
		ret = guest_run_check(qemu->run, &why);
		if (ret == 0 && clock_now_ns() > deadline)
			ret = err_set(&why, ERR_TIMEOUT,
				"a guest did not reach its init within %d s", KVM_PROBE_S);
		clock_sleep_ns(50 * NS_PER_MS);
	}
	if (ret == 0)
		return 0;
	end_guest(qemu);
	qemu->accel = ACCEL_AUTO;
	log_line(LOG_INFO, "machine '%s': no KVM here (%.300s): using TCG, which is slow",
		machine->spec->name, why.text);
	return 0;
}

static int qemu_start_with(struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret;

	end_guest(qemu);
	ret = guest_initrd_write(&qemu->image, image->modules, image->release, qemu->initrd, err);
	if (ret == 0 && qemu->accel == ACCEL_AUTO) {
		ret = try_kvm(machine, image, err);
		if (ret == 0 && qemu->accel == ACCEL_AUTO)
			qemu->accel = ACCEL_TCG;
	}
	if (ret == 0 && !qemu->run)
		ret = launch(machine, image, err);
	describe(machine);
	return ret;
}

/* Direct boots and the safe kernel: started from outside, then waited for. */
static int start_and_wait(struct machine *machine, const struct boot_image *image, struct err *err)
{
	int ret = qemu_start_with(machine, image, err);

	return ret ? ret
		   : machine_wait_answer(
			     machine, NULL, clock_now_ns() + machine->spec->boot_timeout_ns, err);
}

static int qemu_start(struct machine *machine, const struct boot_image *safe, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = guest_image_make(machine->env, &qemu->image, err);

	return ret ? ret : start_and_wait(machine, safe, err);
}

static int qemu_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret;

	if (!qemu->run)
		return err_set(err, ERR_INFRA, "the guest does not run");
	ret = guest_run_check(qemu->run, err);
	return ret ? ret : ssh_run(qemu->ssh, spec, result, err);
}

/* The initramfs for the next kernel: the part that all have in common, out of what the running
 * kernel kept, and the next kernel's modules. */
static int stage_initrd(
	struct machine *machine, const struct boot_image *image, char **initrd, struct err *err)
{
	static const char join[] = "set -e; head -c \"$1\" /sys/firmware/initrd > \"$3\"; "
				   "test \"$(stat -c %s \"$3\")\" = \"$1\"; cat \"$2\" >> \"$3\"";
	struct qemu *qemu = machine->state;
	char *modules_here = path_join(qemu->dir, "modules");
	char *modules = xasprintf("%s/modules", machine->workdir);
	char *path = xasprintf("%s/initrd", machine->workdir);
	char *bytes = xasprintf("%lld", (long long)qemu->image.bytes);
	const char *argv[] = {"sh", "-c", join, "sh", bytes, modules, path, NULL};
	int ret = guest_initrd_write(NULL, image->modules, image->release, modules_here, err);

	if (ret == 0)
		ret = machine_put(machine, modules_here, "modules", 0600, err);
	if (ret == 0)
		ret = machine_command(machine, argv, 60 * NS_PER_S, err);
	if (ret == 0)
		*initrd = path;
	else
		free(path);
	free(modules_here);
	free(modules);
	free(bytes);
	return ret;
}

static int qemu_stage(struct machine *machine, const struct boot_image *image, char **kernel,
	char **initrd, struct err *err)
{
	int ret = machine_put(machine, image->image, "kernel", 0600, err);

	if (ret == 0)
		ret = stage_initrd(machine, image, initrd, err);
	if (ret == 0)
		*kernel = xasprintf("%s/kernel", machine->workdir);
	return ret;
}

static char *qemu_cmdline(struct machine *machine, const char *cmdline)
{
	return guest_cmdline(machine->state, cmdline);
}

static int qemu_console(struct machine *machine, const char *path, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = qemu->run ? guest_run_console(qemu->run, path, err) : 0;

	if (ret == 0) {
		free(qemu->console);
		qemu->console = xstrdup(path);
	}
	return ret;
}

/* TCP connections to a guest that is not up yet hang for seconds: its init says when it is. */
static int qemu_ready(struct machine *machine, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = qemu->run ? guest_run_check(qemu->run, err)
			    : err_set(err, ERR_INFRA, "the guest does not run");

	return ret ? ret : console_shows(qemu, "kbracket-guest: up");
}

static void qemu_forget(struct machine *machine)
{
	struct qemu *qemu = machine->state;

	ssh_drop(qemu->ssh);
}

static void qemu_close(struct machine *machine)
{
	struct qemu *qemu = machine->state;
	struct err ignored;

	if (!qemu)
		return;
	end_guest(qemu);
	if (qemu->dir)
		(void)!file_remove_tree(qemu->dir, &ignored);
	guest_image_release(&qemu->image);
	free(qemu->dir);
	free(qemu->initrd);
	free(qemu->console);
	free(qemu);
}

const struct machine_ops machine_qemu = {
	.name = "qemu",
	.open = qemu_open,
	.start = qemu_start,
	.recover = start_and_wait,
	.exec = qemu_exec,
	.stage = qemu_stage,
	.start_with = qemu_start_with,
	.cmdline = qemu_cmdline,
	.console = qemu_console,
	.ready = qemu_ready,
	.forget = qemu_forget,
	.close = qemu_close,
};
