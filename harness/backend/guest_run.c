/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/strv.h"
#include "backend/guest_run.h"
#include "backend/qmp.h"
#include "sys/proc.h"

enum { START_TRIES = 5 };

struct guest_run {
	struct proc *proc;
	int port;
	char *monitor; /* socket */
	char *log;     /* QEMU's own messages */
};

/* A port that is free now. Somebody may take it before QEMU does: then QEMU ends and we try
 * another. */
static int free_port(struct err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = -1;

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
		getsockname(fd, (struct sockaddr *)&address, &len) == 0)
		port = ntohs(address.sin_port);
	if (port < 0)
		port = err_errno(err, ERR_INFRA, errno, "no free port on 127.0.0.1");
	if (fd >= 0)
		(void)close(fd);
	return port;
}

/* A file name as the value of a QEMU option: commas are doubled. */
static void add_file_option(struct strv *argv, const char *before, const char *path)
{
	struct str option = STR_INIT;

	str_add(&option, before);
	for (; *path; path++)
		str_add(&option, *path == ',' ? ",," : (const char[]){*path, '\0'});
	strv_add(argv, str_text(&option));
	str_release(&option);
}

/* Each die has a last-level cache of its own. Under emulation a model of Intel's family 6 saves
 * seconds of every boot: kernels take its TSC as constant and need not calibrate each CPU. It also
 * lacks what is slow to emulate (SMAP, five-level page tables). */
static void add_cpus(struct strv *argv, const struct qemu_spec *spec, bool kvm)
{
	const char *model = kvm ? "host,host-cache-info=off,l3-cache=on" : "Nehalem,+rdrand";

	strv_add_many(argv, "-accel", kvm ? "kvm" : "tcg,thread=multi", "-cpu",
		spec->cpu ? spec->cpu : model, "-smp", NULL);
	strv_addf(argv, "%lld,sockets=1,dies=%lld,cores=%lld,threads=1", (long long)spec->cpus,
		(long long)spec->llcs, (long long)(spec->cpus / spec->llcs));
	strv_add(argv, "-m");
	strv_addf(argv, "%lldK", (long long)(spec->memory_bytes / 1024));
}

static void add_arguments(
	struct strv *argv, const struct guest_start *start, const struct guest_run *run)
{
	strv_add_many(argv, start->spec->program, "-nodefaults", "-no-user-config", "-display",
		"none", "-no-reboot", "-machine", "q35", NULL);
	add_cpus(argv, start->spec, start->accel == ACCEL_KVM);
	strv_add_many(argv, "-kernel", start->kernel, "-initrd", start->initrd, "-append",
		start->cmdline, "-netdev", NULL);
	strv_addf(argv, "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:%d-10.0.2.15:22", run->port);
	strv_add_many(argv, "-device", "virtio-net-pci,netdev=net,romfile=", "-drive", NULL);
	add_file_option(argv, "id=files,if=none,format=raw,readonly=on,file=", start->disk);
	strv_add_many(argv, "-device", "virtio-blk-pci,drive=files", "-serial", "chardev:console",
		"-chardev", NULL);
	add_file_option(argv, "file,id=console,append=on,path=", start->console);
	strv_add(argv, "-qmp");
	strv_addf(argv, "unix:%s,server=on,wait=off", run->monitor);
}

/* True when QEMU's message says that the port was taken in the meantime. */
static bool port_was_taken(const struct guest_run *run)
{
	struct str text = STR_INIT;
	struct err ignored;
	bool taken = file_read(run->log, 65536, &text, &ignored) == 0 && text.text &&
		     strstr(text.text, "host forwarding rule");

	str_release(&text);
	return taken;
}

/* The monitor's socket is there once QEMU has taken all of its arguments. */
static int wait_for_monitor(struct guest_run *run, int64_t deadline_ns, struct err *err)
{
	while (!file_exists(run->monitor)) {
		int ret = guest_run_check(run, err);

		if (ret == 0)
			ret = stop_check(err);
		if (ret == 0 && clock_now_ns() > deadline_ns)
			ret = err_set(err, ERR_TIMEOUT, "QEMU hangs while it starts");
		if (ret)
			return ret;
		clock_sleep_ns(10 * NS_PER_MS);
	}
	return 0;
}

static int start_once(const struct guest_start *start, struct guest_run *run, struct err *err)
{
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {.output_path = run->log};
	int ret;

	run->port = free_port(err);
	if (run->port < 0)
		return run->port;
	(void)unlink(run->log);
	(void)unlink(run->monitor);
	add_arguments(&argv, start, run);
	spec.argv = strv_argv(&argv);
	ret = proc_start(&spec, &run->proc, err);
	if (ret == 0)
		ret = wait_for_monitor(run, start->deadline_ns, err);
	strv_release(&argv);
	return ret;
}

int guest_run_start(const struct guest_start *start, struct guest_run **out, struct err *err)
{
	struct guest_run *run = xcalloc(1, sizeof(*run));
	int ret = ERR_INFRA;

	run->monitor = path_join(start->dir, "monitor");
	run->log = path_join(start->dir, "qemu.log");
	for (int i = 0; i < START_TRIES; i++) {
		ret = start_once(start, run, err);
		if (ret == 0 || !port_was_taken(run))
			break;
		proc_free(run->proc);
		run->proc = NULL;
	}
	if (ret)
		guest_run_end(run);
	else
		*out = run;
	return ret;
}

int guest_run_port(const struct guest_run *run)
{
	return run->port;
}

int guest_run_check(struct guest_run *run, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct str how = STR_INIT, said = STR_INIT, safe = STR_INIT;
	struct err ignored;
	int ret = 0;

	if (!proc_alive(run->proc, &result)) {
		proc_describe(&result, &how);
		if (file_read_line(run->log, &said, &ignored) == 0) {
			size_t len = strcspn(str_text(&said), "\n");

			str_add_safe(&safe, str_text(&said), len > 300 ? 300 : len);
		}
		ret = err_set(err, ERR_INFRA, "the guest has ended (QEMU: %s%s%s)", str_text(&how),
			safe.len ? "; " : "", str_text(&safe));
	}
	proc_result_release(&result);
	str_release(&how);
	str_release(&said);
	str_release(&safe);
	return ret;
}

int64_t guest_run_cpu_ns(const struct guest_run *run)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(proc_pid(run->proc), &clock) || clock_gettime(clock, &used))
		return 0;
	return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

int guest_run_console(struct guest_run *run, const char *path, struct err *err)
{
	return qmp_change_file(run->monitor, "console", path, err);
}

void guest_run_end(struct guest_run *run)
{
	if (!run)
		return;
	proc_free(run->proc);
	(void)unlink(run->monitor);
	(void)unlink(run->log);
	free(run->monitor);
	free(run->log);
	free(run);
}
