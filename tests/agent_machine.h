/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_AGENT_MACHINE_H
#define KB_TESTS_AGENT_MACHINE_H

/* A made-up /proc and /sys for the tests of kbracket-agent. */

#include "agent_run.h"

struct fake_file {
	const char *path, *text;
};

#define CPU "/sys/devices/system/cpu"

/* Two sockets with two cores of two threads each; a last-level cache per core. */
static const struct fake_file machine[] = {
	{"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\n"
			  "model\t\t: 8\nmodel name\t: AMD Ryzen Threadripper 9960X\n"
			  "stepping\t: 1\nmicrocode\t: 0xb404032\nflags\t\t: fpu hypervisor sse\n"},
	{"/proc/meminfo", "MemTotal:       1000 kB\nMemFree:         300 kB\n"
			  "MemAvailable:    400 kB\nSwapTotal:       50 kB\n"},
	{"/proc/version", "Linux version 6.18.8-kb1 (kb@kb) #1 SMP PREEMPT_DYNAMIC\n"},
	{"/proc/cmdline", "root=/dev/sda1 quiet\n"},
	{"/proc/sys/kernel/osrelease", "6.18.8-kb1\n"},
	{"/proc/sys/kernel/tainted", "512\n"},
	{"/proc/sys/kernel/random/boot_id", "0f0e0d0c-0b0a-0908-0706-050403020100\n"},
	{"/proc/sys/kernel/sched_autogroup_enabled", "1\n"},
	{"/proc/sys/vm/swappiness", "60\n"},
	{"/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"},
	{"/proc/uptime", "1234.56 7890.12\n"},
	{"/proc/stat", "cpu  100 5 50 4000 10 3 2 70 1 0\ncpu0 100 5 50 4000 10 3 2 70 1 0\n"
		       "intr 987 1 2 3\nctxt 4321\nbtime 1\nprocesses 55\nprocs_running 2\n"},
	{"/proc/loadavg", "1.25 0.50 0.25 2/345 6789\n"},
	{"/proc/vmstat", "pswpin 11\npswpout 22\noom_kill 1\n"},
	{"/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"},
	{"/sys/class/dmi/id/bios_version", "1.2.3\n"},
	{"/sys/class/thermal/thermal_zone0/temp", "45000\n"},
	{"/sys/class/hwmon/hwmon0/temp1_input", "61500\n"},
	{"/sys/class/hwmon/hwmon0/temp1_max", "95000\n"},
	{"/sys/devices/system/node/node0/cpulist", "0-3\n"},
	{"/sys/devices/system/node/node1/cpulist", "4-7\n"},
	{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
	{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
	{"/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n"},
	{"/sys/kernel/debug/sched/features", "GENTLE NO_HRTICK NI_RANDOM"},
	{CPU "/online", "0-7\n"},
	{CPU "/possible", "0-15\n"},
	{CPU "/smt/control", "on\n"},
	{CPU "/cpufreq/boost", "1\n"},
	{CPU "/vulnerabilities/meltdown", "Not affected\n"},
	{CPU "/vulnerabilities/spectre_v1", "Mitigation: usercopy\n"},
};

KB_UNUSED static void write_file(const char *root, const char *path, const char *text)
{
	char *full = xasprintf("%s%s", root, path), *dir = path_dir(full);
	struct err err = ERR_INIT;
	FILE *file;

	assert_int_equal(file_mkdirs(dir, 0755, &err), 0);
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(full);
	free(dir);
}

KB_PRINTF(4, 5)
static void write_cpu(const char *root, int cpu, const char *name, const char *fmt, ...)
{
	char *path = xasprintf(CPU "/cpu%d/%s", cpu, name);
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	write_file(root, path, text);
	free(path);
}

KB_UNUSED static char *make_machine(void)
{
	char *root = in_folder("root");

	for (size_t i = 0; i < ARRAY_SIZE(machine); i++)
		write_file(root, machine[i].path, machine[i].text);
	for (int cpu = 0; cpu < 8; cpu++) {
		write_cpu(root, cpu, "topology/physical_package_id", "%d\n", cpu / 4);
		write_cpu(root, cpu, "topology/thread_siblings_list", "%d-%d\n", cpu / 2 * 2,
			cpu / 2 * 2 + 1);
		write_cpu(root, cpu, "cache/index0/level", "1\n");
		write_cpu(root, cpu, "cache/index0/type", "Data\n");
		write_cpu(root, cpu, "cache/index0/size", "48K\n");
		write_cpu(root, cpu, "cache/index0/shared_cpu_list", "%d\n", cpu);
		write_cpu(root, cpu, "cache/index1/level", "3\n");
		write_cpu(root, cpu, "cache/index1/type", "Unified\n");
		write_cpu(root, cpu, "cache/index1/size", "32768K\n");
		write_cpu(root, cpu, "cache/index1/shared_cpu_list", "%d-%d\n", cpu / 2 * 2,
			cpu / 2 * 2 + 1);
		write_cpu(root, cpu, "cpufreq/scaling_governor",
			cpu == 7 ? "powersave\n" : "performance\n");
		write_cpu(root, cpu, "thermal_throttle/core_throttle_count", "%d\n", cpu);
		write_cpu(root, cpu, "thermal_throttle/package_throttle_count", "2\n");
	}
	return root;
}

#endif
