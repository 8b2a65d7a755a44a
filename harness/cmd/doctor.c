/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/file.h"
#include "cmd/doctor.h"
#include "sys/proc.h"

static const struct {
	const char *program, *package, *use;
} programs[] = {
	{"make", "build-essential", "building kernels from git refs"},
	{"gcc", "build-essential", "building kernels from git refs"},
	{"flex", "flex", "building kernels from git refs"},
	{"bison", "bison", "building kernels from git refs"},
	{"bc", "bc", "building kernels from git refs"},
	{"cpio", "cpio", "building kernels from git refs"},
	{"depmod", "kmod", "kernel modules"},
	{"ssh", "openssh-client", "reaching machines and guests"},
	{"qemu-system-x86_64", "qemu-system-x86", "guests"},
	{"busybox", "busybox-static", "guests: their shell and small programs"},
	{"dropbear", "dropbear-bin", "guests: their ssh server"},
	{"kexec", "kexec-tools", "guests: switching kernels"},
	{"hackbench", "rt-tests", "the suite hackbench"},
	{"stress-ng", "stress-ng", "the suite stress-ng"},
	{"perf", "linux-perf", "counters"},
};

static void find_program(struct health *findings, size_t i)
{
	char *path = proc_find_program(programs[i].program);

	if (path)
		health_add(findings, HEALTH_OK, programs[i].program, path, NULL);
	else
		health_add(findings, HEALTH_MISSING, programs[i].program,
			arena_printf(findings->arena, "not found; for %s", programs[i].use),
			arena_printf(findings->arena, "apt-get install %s", programs[i].package));
	free(path);
}

static void find_kvm(struct health *findings)
{
	if (access("/dev/kvm", R_OK | W_OK) == 0)
		health_add(findings, HEALTH_OK, "KVM",
			"/dev/kvm can be opened; whether a guest really starts is seen when one is "
			"started",
			NULL);
	else
		health_add(findings, HEALTH_NOISE, "KVM",
			file_exists("/dev/kvm")
				? "/dev/kvm may not be opened by this user; guests are emulated"
				: "there is no /dev/kvm; guests are emulated, slowly, and timings "
				  "in them say little about hardware",
			NULL);
}

void doctor_guest(struct health *findings, const char *qemu)
{
	char *path = proc_find_program(qemu);

	health_add(findings, path ? HEALTH_OK : HEALTH_MISSING, qemu,
		path ? path : "not found; it runs the guest",
		path ? NULL : "apt-get install qemu-system");
	free(path);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (str_starts(programs[i].use, "guests: ") ||
			strcmp(programs[i].program, "ssh") == 0)
			find_program(findings, i);
	find_kvm(findings);
}

void doctor_programs(struct health *findings)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		find_program(findings, i);
	find_kvm(findings);
}
