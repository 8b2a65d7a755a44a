/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"

#include "agent/js.h"
#include "agent/probe.h"
#include "agent/scheduler.h"
#include "agent/snapshot.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* Columns of the "cpu" line of /proc/stat, proc(5). guest and guest_nice are part of user and
 * nice. */
enum stat_column {
	STAT_USER,
	STAT_NICE,
	STAT_SYSTEM,
	STAT_IDLE,
	STAT_IOWAIT,
	STAT_IRQ,
	STAT_SOFTIRQ,
	STAT_STEAL,
	STAT_COLUMNS
};

/* Fills what the line has; older kernels have fewer columns, which stay 0. */
static bool parse_cpu_line(const char *stat, int64_t ticks[STAT_COLUMNS])
{
	struct str line = STR_INIT;
	const char *at;
	bool ok;

	memset(ticks, 0, STAT_COLUMNS * sizeof(*ticks));
	ok = probe_field(stat, "cpu", &line);
	at = str_text(&line);
	for (int i = 0; ok && i < STAT_COLUMNS && *at; i++) {
		char *end;

		ticks[i] = strtoll(at, &end, 10);
		if (end == at)
			break;
		at = end;
	}
	str_release(&line);
	return ok;
}

static int64_t ticks_to_ns(int64_t ticks)
{
	return ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static int64_t busy_ticks(const int64_t ticks[STAT_COLUMNS])
{
	return ticks[STAT_USER] + ticks[STAT_NICE] + ticks[STAT_SYSTEM] + ticks[STAT_IRQ] +
	       ticks[STAT_SOFTIRQ];
}

static void add_stat(json_t *o, const char *root)
{
	struct str stat = STR_INIT;
	int64_t ticks[STAT_COLUMNS];
	json_t *cpu = json_object();
	bool known;

	(void)probe_text(&stat, root, "/proc/stat"); /* then all are null */
	known = parse_cpu_line(str_text(&stat), ticks);
	js_count(cpu, "busy_ns", known ? ticks_to_ns(busy_ticks(ticks)) : -1);
	js_count(cpu, "idle_ns", known ? ticks_to_ns(ticks[STAT_IDLE] + ticks[STAT_IOWAIT]) : -1);
	js_count(cpu, "steal_ns", known ? ticks_to_ns(ticks[STAT_STEAL]) : -1);
	js_set(o, "cpu", cpu);
	js_count(o, "context_switches", probe_field_int(str_text(&stat), "ctxt", -1));
	js_count(o, "interrupts", probe_field_int(str_text(&stat), "intr", -1));
	js_count(o, "forks", probe_field_int(str_text(&stat), "processes", -1));
	js_count(o, "running", probe_field_int(str_text(&stat), "procs_running", -1));
	str_release(&stat);
}

int64_t snapshot_busy_ns(const char *root)
{
	struct str stat = STR_INIT;
	int64_t ticks[STAT_COLUMNS], busy = -1;

	if (probe_text(&stat, root, "/proc/stat") && parse_cpu_line(stat.text, ticks))
		busy = ticks_to_ns(busy_ticks(ticks));
	str_release(&stat);
	return busy;
}

static void add_load(json_t *o, const char *root)
{
	struct str line = STR_INIT;
	struct err err;
	double load;

	(void)probe_line(&line, root, "/proc/loadavg"); /* then it is null */
	if (line.len)
		line.text[strcspn(line.text, " ")] = '\0';
	js_count(o, "load_1min",
		num_double(str_text(&line), &load, &err) == 0 ? (int64_t)(load * 100 + 0.5) : -1);
	str_release(&line);
}

/* What every CPU has its own file for. */
static void add_per_cpu(json_t *o, const char *root)
{
	struct strv names = STRV_INIT, governors = STRV_INIT;
	struct str line = STR_INIT, all = STR_INIT;
	int64_t core = -1, package = -1;

	probe_list(&names, root, CPU_DIR);
	for (size_t i = 0; i < names.count; i++) {
		const char *cpu = names.items[i];
		int64_t n;

		if (!str_starts(cpu, "cpu") || !strchr("0123456789", cpu[3]) || !cpu[3])
			continue;
		n = probe_int(root, -1, CPU_DIR "/%s/thermal_throttle/core_throttle_count", cpu);
		core = n < 0 ? core : n + (core < 0 ? 0 : core);
		n = probe_int(root, -1, CPU_DIR "/%s/thermal_throttle/package_throttle_count", cpu);
		package = n < 0 ? package : n + (package < 0 ? 0 : package);
		if (probe_line(&line, root, CPU_DIR "/%s/cpufreq/scaling_governor", cpu) &&
			!strv_has(&governors, line.text))
			strv_add(&governors, line.text);
	}
	for (size_t i = 0; i < governors.count; i++)
		str_addf(&all, "%s%s", i ? "," : "", governors.items[i]);
	js_count(o, "throttle_core", core);
	js_count(o, "throttle_package", package);
	js_text(o, "governors", governors.count ? str_text(&all) : NULL);
	strv_release(&names);
	strv_release(&governors);
	str_release(&line);
	str_release(&all);
}

/* The highest value of the sensor files of one class. */
static int64_t hottest(const char *root, const char *folder, const char *prefix, const char *suffix)
{
	struct strv devices = STRV_INIT, files = STRV_INIT;
	int64_t max = -1;

	probe_list(&devices, root, "%s", folder);
	for (size_t i = 0; i < devices.count; i++) {
		probe_list(&files, root, "%s/%s", folder, devices.items[i]);
		for (size_t k = 0; k < files.count; k++) {
			int64_t mc;

			if (!str_starts(files.items[k], prefix) ||
				!str_ends(files.items[k], suffix))
				continue;
			mc = probe_int(
				root, -1, "%s/%s/%s", folder, devices.items[i], files.items[k]);
			max = mc > max ? mc : max;
		}
		strv_release(&files);
	}
	strv_release(&devices);
	return max;
}

int64_t snapshot_temperature_mc(const char *root)
{
	int64_t zones = hottest(root, "/sys/class/thermal", "temp", "temp");
	int64_t chips = hottest(root, "/sys/class/hwmon", "temp", "_input");

	return zones > chips ? zones : chips;
}

static void add_memory(json_t *o, const char *root)
{
	struct str text = STR_INIT;
	int64_t free_kb, available_kb;

	(void)probe_text(&text, root, "/proc/vmstat"); /* then these are null */
	js_count(o, "swap_in", probe_field_int(str_text(&text), "pswpin", -1));
	js_count(o, "swap_out", probe_field_int(str_text(&text), "pswpout", -1));
	js_count(o, "oom_kills", probe_field_int(str_text(&text), "oom_kill", -1));
	(void)probe_text(&text, root, "/proc/meminfo");
	free_kb = probe_field_int(str_text(&text), "MemFree", -1);
	available_kb = probe_field_int(str_text(&text), "MemAvailable", -1);
	js_count(o, "memory_free_bytes", free_kb < 0 ? -1 : free_kb * 1024);
	js_count(o, "memory_available_bytes", available_kb < 0 ? -1 : available_kb * 1024);
	str_release(&text);
}

json_t *snapshot_take(const char *root)
{
	struct str online = STR_INIT;
	json_t *o = json_object(), *sched_ext;

	js_int(o, "realtime_ns", clock_wall_ns());
	js_int(o, "monotonic_ns", clock_now_ns());
	add_stat(o, root);
	add_load(o, root);
	add_per_cpu(o, root);
	js_count(o, "temperature_mc", snapshot_temperature_mc(root));
	js_count(o, "taint", probe_int(root, -1, "/proc/sys/kernel/tainted"));
	js_text(o, "cpus_online",
		probe_line(&online, root, CPU_DIR "/online") ? str_text(&online) : NULL);
	add_memory(o, root);
	sched_ext = scheduler_look(root);
	js_set(o, "sched_ext", sched_ext ? sched_ext : json_null());
	str_release(&online);
	return o;
}
