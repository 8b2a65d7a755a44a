/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "backend/guest_cmdline.h"
#include "backend/guest_console.h"
#include "backend/guest_disk.h"
#include "backend/guest_image.h"
#include "backend/guest_run.h"
#include "backend/guest_stage.h"
#include "backend/machine_ops.h"
#include "sys/ssh.h"

/*
 * A QEMU guest. It is started with the safe kernel and the initramfs of guest_image.h and reached
 * by ssh over a loopback port. Kernels and initramfs for a kexec come by the disk of guest_disk.h.
 */

/* A guest under a working KVM reaches its init in about a second. */
enum { KVM_PROBE_S = 10, QEMU_START_S = 60 };

/* A kexec under emulation takes about twice the CPU time of a start from outside, which takes some
 * seconds. */
enum { STUCK_FACTOR = 12, STUCK_FIRST_S = 120 };

/* What the init of guest_image.h prints. */
#define MARK_INIT "kbracket-guest: init"
#define MARK_UP "kbracket-guest: up"

struct qemu {
	struct guest_image image;
	enum qemu_accel accel; /* of the guest that runs or ran last */
	bool proven;	       /* a guest has come up with it */
	struct guest_run *run;
	struct ssh *ssh;
	char *dir;    /* private, short: sockets */
	char *initrd; /* of the kernel that is started next */
	char *disk;
	struct guest_console console;
	int64_t first_cpu_ns; /* what the first start of this guest took to come up; 0: not known */
	bool stuck;	      /* the present kernel, in its start */
	int64_t cpu_from_ns;  /* what QEMU had used when the present kernel was started */
};

static void end_guest(struct qemu *qemu)
{
	ssh_close(qemu->ssh);
	qemu->ssh = NULL;
	guest_run_end(qemu->run);
	qemu->run = NULL;
}

static int make_folder(struct qemu *qemu, struct err *err)
{
	char *parent;
	int ret = machine_private_folder(&parent, err);

	if (ret)
		return ret;
	qemu->dir = xasprintf("%s/guest-%ld-XXXXXX", parent, (long)getpid());
	if (!mkdtemp(qemu->dir)) {
		ret = err_errno(err, ERR_INFRA, errno, "cannot make a folder in %s", parent);
		free(qemu->dir);
		qemu->dir = NULL;
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
	for (size_t i = 0; i < machine->env->program_count; i++) {
		char *there = guest_program_path(&machine->env->programs[i], NULL);

		strv_add(&machine->program_paths, there ? there : "");
		free(there);
	}
	ret = make_folder(qemu, err);
	if (ret)
		return ret;
	qemu->initrd = path_join(qemu->dir, "initrd");
	qemu->disk = path_join(qemu->dir, "disk");
	return guest_disk_make(qemu->disk, err);
}

static int launch(
	struct machine *machine, const struct boot_image *image, int64_t deadline, struct err *err)
{
	struct qemu *qemu = machine->state;
	char *cmdline = guest_cmdline(qemu->accel, image->cmdline);
	struct guest_start start = {.spec = &machine->spec->qemu,
		.accel = qemu->accel,
		.kernel = image->image,
		.initrd = qemu->initrd,
		.cmdline = cmdline,
		.console = qemu->console.path,
		.disk = qemu->disk,
		.dir = qemu->dir,
		.deadline_ns = deadline};
	struct ssh_spec ssh = {.destination = "root@" GUEST_HOST_NAME,
		.address = "127.0.0.1",
		.identity = qemu->image.identity,
		.known_hosts = qemu->image.known_hosts,
		.socket_dir = qemu->dir};
	int ret = guest_run_start(&start, &qemu->run, err);

	qemu->cpu_from_ns = 0;
	qemu->stuck = false;
	if (ret == 0) {
		ssh.port = guest_run_port(qemu->run);
		ret = ssh_open(&ssh, &qemu->ssh, err);
	}
	free(cmdline);
	return ret;
}

/* 0 while the guest runs; else how it ended, and what its kernel said about it. */
static int check_guest(struct qemu *qemu, struct err *err)
{
	int ret = qemu->run ? guest_run_check(qemu->run, err)
			    : err_set(err, ERR_INFRA, "the guest does not run");
	char *panic = ret ? guest_console_panic(&qemu->console) : NULL;

	if (panic)
		(void)err_wrap(err, "%.300s", panic);
	free(panic);
	return ret;
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

static int reach_init(
	struct machine *machine, const struct boot_image *image, int64_t deadline, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = launch(machine, image, deadline, err);

	while (ret == 0 && !guest_console_shows(&qemu->console, MARK_INIT)) {
		ret = stop_check(err);
		if (ret == 0)
			ret = check_guest(qemu, err);
		if (ret == 0 && clock_now_ns() > deadline)
			ret = err_set(err, ERR_TIMEOUT,
				"a guest did not reach its init within %d s", KVM_PROBE_S);
		clock_sleep_ns(50 * NS_PER_MS);
	}
	return ret;
}

/* KVM is used only where a guest has been seen to reach its init under it; a /dev/kvm may exist and
 * hang. When the kernel does not come up without KVM either, the question stays open. */
static int try_kvm(struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct qemu *qemu = machine->state;
	struct err why = ERR_INIT;
	int ret;

	qemu->accel = ACCEL_KVM;
	ret = reach_init(machine, image, clock_now_ns() + KVM_PROBE_S * NS_PER_S, &why);
	if (ret == 0)
		return 0;
	end_guest(qemu);
	if (ret == ERR_INTERRUPTED || ret == ERR_NOT_FOUND)
		return err_set(err, ret, "%s", why.text);
	qemu->accel = ACCEL_TCG;
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
	if (ret == 0 && machine->spec->qemu.accel == ACCEL_AUTO && !qemu->proven)
		ret = try_kvm(machine, image, err);
	if (ret == 0 && !qemu->run)
		ret = launch(machine, image, clock_now_ns() + QEMU_START_S * NS_PER_S, err);
	describe(machine);
	return ret;
}

/* The safe kernel: started from outside, its console not that of any boot. */
static int start_and_wait(struct machine *machine, const struct boot_image *image, struct err *err)
{
	struct qemu *qemu = machine->state;
	char *console = path_join(qemu->dir, "console");
	int ret;

	guest_console_set(&qemu->console, console);
	free(console);
	ret = qemu_start_with(machine, image, err);
	return ret ? ret
		   : machine_wait_answer(
			     machine, NULL, clock_now_ns() + machine->spec->boot_timeout_ns, err);
}

static int qemu_start(struct machine *machine, const struct boot_image *safe, struct err *err)
{
	struct qemu *qemu = machine->state;
	struct err why = ERR_INIT;
	int ret = 0;

	if (!qemu->image.path)
		ret = guest_image_make(machine->env, &qemu->image, err);
	if (ret)
		return ret;
	ret = start_and_wait(machine, safe, &why);
	if (ret && qemu->stuck) {
		log_line(LOG_WARN, "machine '%s': %s; starting it again", machine->spec->name,
			why.text);
		ret = start_and_wait(machine, safe, &why);
	}
	return ret ? err_set(err, ret, "%s", why.text) : 0;
}

static int qemu_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = check_guest(qemu, err);

	return ret ? ret : ssh_run(qemu->ssh, spec, result, err);
}

static int qemu_stage(struct machine *machine, const struct boot_image *image, char **kernel,
	char **initrd, struct err *err)
{
	struct qemu *qemu = machine->state;
	struct guest_stage stage = {.disk = qemu->disk,
		.kernel = image->image,
		.initrd = qemu->initrd,
		.kernel_there = path_join(machine->workdir, "kernel"),
		.initrd_there = path_join(machine->workdir, "initrd")};
	int ret =
		guest_initrd_write(&qemu->image, image->modules, image->release, qemu->initrd, err);

	if (ret == 0)
		ret = guest_stage(machine, &stage, err);
	if (ret) {
		free(stage.kernel_there);
		free(stage.initrd_there);
		return ret;
	}
	*kernel = stage.kernel_there;
	*initrd = stage.initrd_there;
	return 0;
}

static char *qemu_cmdline(struct machine *machine, const char *cmdline)
{
	const struct qemu *qemu = machine->state;

	return guest_cmdline(qemu->accel, cmdline);
}

static int qemu_console(struct machine *machine, const char *path, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = qemu->run ? guest_run_console(qemu->run, path, err) : 0;

	if (ret == 0)
		guest_console_set(&qemu->console, path);
	return ret;
}

/* QEMU 7.2 now and then goes on with an instruction that the guest's kernel has patched since, and
 * all CPUs trap for ever. Such a boot shows in CPU time long before its deadline, however busy the
 * host is. */
static int check_stuck(struct qemu *qemu, int64_t used_ns, struct err *err)
{
	int64_t enough_ns =
		qemu->first_cpu_ns ? STUCK_FACTOR * qemu->first_cpu_ns : STUCK_FIRST_S * NS_PER_S;

	qemu->stuck = qemu->accel == ACCEL_TCG && used_ns > enough_ns;
	if (!qemu->stuck)
		return 0;
	return err_set(err, ERR_INFRA,
		"the kernel is stuck: its start has used %lld s of CPU time (the limit is %lld "
		"s%s)",
		(long long)(used_ns / NS_PER_S), (long long)(enough_ns / NS_PER_S),
		qemu->first_cpu_ns ? ", twelve times what the guest's first kernel took" : "");
}

/* TCP connections to a guest that is not up yet hang for seconds: its init says when it is. */
static int qemu_ready(struct machine *machine, struct err *err)
{
	struct qemu *qemu = machine->state;
	int ret = check_guest(qemu, err);
	int64_t used_ns;

	if (ret)
		return ret;
	used_ns = guest_run_cpu_ns(qemu->run) - qemu->cpu_from_ns;
	if (!guest_console_shows(&qemu->console, MARK_UP))
		return check_stuck(qemu, used_ns, err);
	if (!qemu->first_cpu_ns)
		qemu->first_cpu_ns = used_ns;
	qemu->proven = true;
	return 1;
}

static bool qemu_alive(struct machine *machine)
{
	struct qemu *qemu = machine->state;

	return qemu->run && guest_run_check(qemu->run, NULL) == 0;
}

/* The kernel of before has been left. */
static void qemu_forget(struct machine *machine)
{
	struct qemu *qemu = machine->state;

	if (qemu->run)
		qemu->cpu_from_ns = guest_run_cpu_ns(qemu->run);
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
	free(qemu->disk);
	guest_console_release(&qemu->console);
	free(qemu);
}

const struct machine_ops machine_qemu = {
	.name = "qemu",
	.unchecked_kexec = true,
	.open = qemu_open,
	.start = qemu_start,
	.recover = qemu_start,
	.exec = qemu_exec,
	.stage = qemu_stage,
	.start_with = qemu_start_with,
	.cmdline = qemu_cmdline,
	.console = qemu_console,
	.ready = qemu_ready,
	.alive = qemu_alive,
	.forget = qemu_forget,
	.close = qemu_close,
};
