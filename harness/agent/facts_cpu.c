/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/mem.h"
#include "base/strv.h"

#include "agent/facts.h"
#include "agent/js.h"
#include "agent/probe.h"

#define CPU_DIR "/sys/devices/system/cpu"

enum { FACTS_MAX_CPUS = 8192, FACTS_MAX_CACHES = 16 };

/* Distinct texts seen over all CPUs: sockets, cores, cache domains. */
static void add_distinct(struct strv *seen, const char *text)
{
	if (*text && !strv_has(seen, text))
		strv_add(seen, text);
}

/* Names in /proc/cpuinfo differ by architecture; the first that is there wins. */
static void set_cpuinfo(json_t *o, const char *key, const char *cpuinfo, const char *const *names)
{
	struct str value = STR_INIT;
	bool found = false;

	for (; *names && !found; names++)
		found = probe_field(cpuinfo, *names, &value);
	js_text(o, key, found ? str_text(&value) : NULL);
	str_release(&value);
}

/* Who runs this virtual machine, as the processor says it: "KVMKVMKVM", "TCGTCGTCGTCG" (QEMU
 * without hardware's help), ... NULL where it does not say. */
#if defined(__x86_64__)
static const char *hypervisor(char text[13])
{
	unsigned eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1U << 31)))
		return NULL;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(text, &ebx, 4);
	memcpy(text + 4, &ecx, 4);
	memcpy(text + 8, &edx, 4);
	text[12] = '\0';
	return *text ? text : NULL;
}
#else
static const char *hypervisor(char text[13] KB_UNUSED)
{
	return NULL;
}
#endif

static void add_model(json_t *facts, const char *root)
{
	static const struct {
		const char *key;
		const char *names[4];
	} fields[] = {
		{"model", {"model name", "cpu", "CPU part", NULL}},
		{"vendor", {"vendor_id", "CPU implementer", NULL}},
		{"family", {"cpu family", "CPU architecture", NULL}},
		{"model_number", {"model", "CPU variant", NULL}},
		{"stepping", {"stepping", "CPU revision", "revision", NULL}},
		{"microcode", {"microcode", NULL}},
	};
	struct str cpuinfo = STR_INIT, flags = STR_INIT;
	json_t *cpu = json_object();
	char signature[13];

	(void)probe_text(&cpuinfo, root, "/proc/cpuinfo"); /* then all are null */
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		set_cpuinfo(cpu, fields[i].key, str_text(&cpuinfo), fields[i].names);
	js_set(facts, "cpu", cpu);
	(void)probe_field(str_text(&cpuinfo), "flags", &flags);
	js_text(facts, "hypervisor", *root ? NULL : hypervisor(signature));
	js_bool(facts, "virtual", strstr(str_text(&flags), " hypervisor ") != NULL);
	str_release(&cpuinfo);
	str_release(&flags);
}

/* One cache of CPU cpu0, with the number of CPUs that share it. */
static json_t *read_cache(const char *root, int cpu, int index)
{
	struct str text = STR_INIT;
	json_t *o = json_object();

	js_count(o, "level", probe_int(root, -1, CPU_DIR "/cpu%d/cache/index%d/level", cpu, index));
	js_text(o, "type",
		probe_line(&text, root, CPU_DIR "/cpu%d/cache/index%d/type", cpu, index)
			? str_text(&text)
			: NULL);
	js_text(o, "size",
		probe_line(&text, root, CPU_DIR "/cpu%d/cache/index%d/size", cpu, index)
			? str_text(&text)
			: NULL);
	js_count(o, "shared_by",
		probe_line(&text, root, CPU_DIR "/cpu%d/cache/index%d/shared_cpu_list", cpu, index)
			? probe_cpu_list(str_text(&text), NULL, 0)
			: -1);
	str_release(&text);
	return o;
}

static void add_caches(json_t *facts, const char *root, int cpu)
{
	json_t *caches = json_array();

	for (int i = 0; i < FACTS_MAX_CACHES &&
			probe_exists(root, CPU_DIR "/cpu%d/cache/index%d/level", cpu, i);
		i++)
		(void)json_array_append_new(caches, read_cache(root, cpu, i));
	js_set(facts, "caches", caches);
}

/* The index of the last-level data or unified cache of a CPU; -1 when there is none. */
static int last_level(const char *root, int cpu)
{
	struct str type = STR_INIT;
	int64_t best_level = 0;
	int best = -1;

	for (int i = 0; i < FACTS_MAX_CACHES; i++) {
		int64_t level = probe_int(root, -1, CPU_DIR "/cpu%d/cache/index%d/level", cpu, i);

		if (level <= best_level ||
			!probe_line(&type, root, CPU_DIR "/cpu%d/cache/index%d/type", cpu, i) ||
			strcmp(str_text(&type), "Instruction") == 0)
			continue;
		best_level = level;
		best = i;
	}
	str_release(&type);
	return best;
}

static void add_topology(json_t *facts, const char *root, const int *cpus, size_t count)
{
	struct strv sockets = STRV_INIT, cores = STRV_INIT, llcs = STRV_INIT;
	struct str text = STR_INIT;

	for (size_t i = 0; i < count; i++) {
		int llc = last_level(root, cpus[i]);

		if (probe_line(&text, root, CPU_DIR "/cpu%d/topology/physical_package_id", cpus[i]))
			add_distinct(&sockets, str_text(&text));
		if (probe_line(
			    &text, root, CPU_DIR "/cpu%d/topology/thread_siblings_list", cpus[i]))
			add_distinct(&cores, str_text(&text));
		if (llc >= 0 &&
			probe_line(&text, root, CPU_DIR "/cpu%d/cache/index%d/shared_cpu_list",
				cpus[i], llc))
			add_distinct(&llcs, str_text(&text));
	}
	js_count(facts, "sockets", sockets.count ? (int64_t)sockets.count : -1);
	js_count(facts, "cores", cores.count ? (int64_t)cores.count : -1);
	js_count(facts, "llc_domains", llcs.count ? (int64_t)llcs.count : -1);
	strv_release(&sockets);
	strv_release(&cores);
	strv_release(&llcs);
	str_release(&text);
}

static void add_one_line(json_t *facts, const char *root, const char *key, const char *path)
{
	struct str line = STR_INIT;

	js_text(facts, key, probe_line(&line, root, "%s", path) ? str_text(&line) : NULL);
	str_release(&line);
}

/* "on", "off", or null where neither driver says. */
static void add_turbo(json_t *facts, const char *root)
{
	int64_t no_turbo = probe_int(root, -1, CPU_DIR "/intel_pstate/no_turbo");
	int64_t boost = probe_int(root, -1, CPU_DIR "/cpufreq/boost");

	if (no_turbo >= 0)
		js_text(facts, "turbo", no_turbo ? "off" : "on");
	else
		js_text(facts, "turbo", boost < 0 ? NULL : boost ? "on" : "off");
}

void facts_add_cpus(json_t *facts, const char *root)
{
	int *cpus = xcalloc(FACTS_MAX_CPUS, sizeof(*cpus));
	struct str online = STR_INIT;
	int64_t count = -1;

	add_model(facts, root);
	if (probe_line(&online, root, CPU_DIR "/online"))
		count = probe_cpu_list(str_text(&online), cpus, FACTS_MAX_CPUS);
	js_count(facts, "cpus_online", count);
	add_one_line(facts, root, "cpus_list", CPU_DIR "/online");
	add_one_line(facts, root, "cpus_possible", CPU_DIR "/possible");
	add_one_line(facts, root, "cpus_isolated", CPU_DIR "/isolated");
	if (count > FACTS_MAX_CPUS)
		count = FACTS_MAX_CPUS;
	add_topology(facts, root, cpus, count > 0 ? (size_t)count : 0);
	add_caches(facts, root, count > 0 ? cpus[0] : 0);
	add_one_line(facts, root, "smt", CPU_DIR "/smt/control");
	add_one_line(facts, root, "governor", CPU_DIR "/cpu0/cpufreq/scaling_governor");
	add_one_line(facts, root, "frequency_driver", CPU_DIR "/cpu0/cpufreq/scaling_driver");
	add_one_line(facts, root, "max_khz", CPU_DIR "/cpu0/cpufreq/cpuinfo_max_freq");
	add_one_line(facts, root, "idle_driver", CPU_DIR "/cpuidle/current_driver");
	add_turbo(facts, root);
	str_release(&online);
	free(cpus);
}
