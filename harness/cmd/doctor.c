/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/file.h"
#include "cmd/doctor.h"
#include "sys/proc.h"

void doctor_add(struct doctor_findings *findings, enum doctor_level level, const char *what,
	const char *text)
{
	GROW(findings->items, findings->count, findings->capacity);
	findings->items[findings->count++] = (struct doctor_finding){
		level, arena_strdup(findings->arena, what), arena_strdup(findings->arena, text)};
}

void doctor_release(struct doctor_findings *findings)
{
	free(findings->items);
	findings->items = NULL;
	findings->count = findings->capacity = 0;
}

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

static void find_program(struct doctor_findings *findings, size_t i)
{
	char *path = proc_find_program(programs[i].program);

	if (path)
		doctor_add(findings, DOCTOR_OK, programs[i].program, path);
	else
		doctor_add(findings, DOCTOR_MISSING, programs[i].program,
			arena_printf(findings->arena, "not found; for %s (Debian package %s)",
				programs[i].use, programs[i].package));
	free(path);
}

static void find_kvm(struct doctor_findings *findings)
{
	if (access("/dev/kvm", R_OK | W_OK) == 0)
		doctor_add(findings, DOCTOR_OK, "KVM",
			"/dev/kvm can be opened; whether a guest really starts is seen when one is "
			"started");
	else
		doctor_add(findings, DOCTOR_NOISE, "KVM",
			file_exists("/dev/kvm")
				? "/dev/kvm may not be opened by this user; guests are emulated"
				: "there is no /dev/kvm; guests are emulated, slowly, and timings "
				  "in them say little about hardware");
}

void doctor_guest(struct doctor_findings *findings, const char *qemu)
{
	char *path = proc_find_program(qemu);

	doctor_add(findings, path ? DOCTOR_OK : DOCTOR_MISSING, qemu,
		path ? path : "not found; it runs the guest");
	free(path);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (str_starts(programs[i].use, "guests: ") ||
			strcmp(programs[i].program, "ssh") == 0)
			find_program(findings, i);
	find_kvm(findings);
}

void doctor_programs(struct doctor_findings *findings)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		find_program(findings, i);
	find_kvm(findings);
}

/* A fact that ought to have a value, or ought not to, and what it does otherwise. */
static const struct {
	const char *key, *wanted, *unwanted, *otherwise;
} rules[] = {
	{"governor", "performance", NULL,
		"the clock follows the load; tune: {governor: performance} changes it"},
	{"turbo", "off", NULL, "the clock depends on heat and on what neighbours do"},
	{"smt", NULL, "on", "a thread's speed depends on its sibling; say so beside numbers"},
	{"numa_balancing", "0", NULL, "pages move while a run is measured"},
	{"autogroup", "0", NULL,
		"what a workload gets depends on the session that it was started from"},
	{"clocksource", NULL, "hpet", "it is slow to read; look for an unstable TSC in dmesg"},
};

static void check_rule(struct doctor_findings *findings, const json_t *facts, size_t i)
{
	const char *value = json_get_text(facts, rules[i].key, "");
	bool bad = (rules[i].wanted && strcmp(value, rules[i].wanted) != 0) ||
		   (rules[i].unwanted && strcmp(value, rules[i].unwanted) == 0);

	if (!*value)
		return; /* the machine does not have it */
	doctor_add(findings, bad ? DOCTOR_NOISE : DOCTOR_OK, rules[i].key,
		bad ? arena_printf(findings->arena, "it is '%s': %s", value, rules[i].otherwise)
		    : value);
}

void doctor_facts(struct doctor_findings *findings, const json_t *facts)
{
	if (json_get_bool(facts, "virtual", false))
		doctor_add(findings, DOCTOR_NOISE, "virtual",
			"it is a virtual machine: its neighbours and its host are part of every "
			"number");
	if (json_get_int(facts, "swap_bytes", 0) > 0)
		doctor_add(findings, DOCTOR_NOISE, "swap",
			"there is swap; a run that swaps is flagged");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		check_rule(findings, facts, i);
}
