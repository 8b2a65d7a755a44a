/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/strv.h"

#include "agent/facts.h"
#include "agent/js.h"
#include "agent/probe.h"

/* Facts that are one line of one file. */
static const struct {
	const char *key, *path;
} lines[] = {
	{"kernel_release", "/proc/sys/kernel/osrelease"},
	{"kernel_version", "/proc/version"},
	{"cmdline", "/proc/cmdline"},
	{"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"sched_ext", "/sys/kernel/sched_ext/state"},
	{"autogroup", "/proc/sys/kernel/sched_autogroup_enabled"},
	{"numa_balancing", "/proc/sys/kernel/numa_balancing"},
};

/* Firmware and board, from SMBIOS. */
static const char *const dmi[] = {
	"sys_vendor", "product_name", "board_name", "bios_vendor", "bios_version", "bios_date"};

/* Files that list choices with the current one in brackets. */
static const struct {
	const char *key, *path;
} choices[] = {
	{"thp", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
};

static void add_line(json_t *o, const char *root, const char *key, const char *path)
{
	struct str line = STR_INIT;

	js_text(o, key, probe_line(&line, root, "%s", path) ? str_text(&line) : NULL);
	str_release(&line);
}

/* The text between `open` and `shut`; the whole line when there is no pair of them. */
static void add_chosen(
	json_t *o, const char *root, const char *key, const char *path, char open, char shut)
{
	struct str line = STR_INIT;
	const char *from, *to;
	char *chosen;

	if (!probe_line(&line, root, "%s", path)) {
		js_text(o, key, NULL);
		str_release(&line);
		return;
	}
	from = strchr(line.text, open);
	to = from ? strchr(from, shut) : NULL;
	chosen = to ? xstrndup(from + 1, (size_t)(to - from - 1)) : xstrdup(line.text);
	js_text(o, key, chosen);
	free(chosen);
	str_release(&line);
}

/* The preemption mode that can be switched at run time, else what the version text says. */
static void add_preemption(json_t *facts, const char *root)
{
	struct str text = STR_INIT;
	const char *word = NULL;

	if (probe_line(&text, root, "/sys/kernel/debug/sched/preempt")) {
		add_chosen(facts, root, "preemption", "/sys/kernel/debug/sched/preempt", '(', ')');
		str_release(&text);
		return;
	}
	if (probe_line(&text, root, "/proc/version"))
		word = strstr(text.text, " PREEMPT_RT") ? "rt"
		       : strstr(text.text, " PREEMPT")	? "preempt"
							: NULL;
	js_text(facts, "preemption", word);
	str_release(&text);
}

static void add_mitigations(json_t *facts, const char *root)
{
	struct strv names = STRV_INIT;
	json_t *o = json_object();

	probe_list(&names, root, "/sys/devices/system/cpu/vulnerabilities");
	for (size_t i = 0; i < names.count; i++) {
		char *path =
			xasprintf("/sys/devices/system/cpu/vulnerabilities/%s", names.items[i]);

		add_line(o, root, names.items[i], path);
		free(path);
	}
	js_set(facts, "mitigations", o);
	strv_release(&names);
}

static void add_memory(json_t *facts, const char *root)
{
	struct str text = STR_INIT;
	struct strv names = STRV_INIT;
	int64_t total_kb, swap_kb, nodes = 0;

	(void)probe_text(&text, root, "/proc/meminfo"); /* then both are null */
	total_kb = probe_field_int(str_text(&text), "MemTotal", -1);
	swap_kb = probe_field_int(str_text(&text), "SwapTotal", -1);
	js_count(facts, "memory_bytes", total_kb < 0 ? -1 : total_kb * 1024);
	js_count(facts, "swap_bytes", swap_kb < 0 ? -1 : swap_kb * 1024);
	probe_list(&names, root, "/sys/devices/system/node");
	for (size_t i = 0; i < names.count; i++)
		nodes += str_starts(names.items[i], "node") &&
			 strchr("0123456789", names.items[i][4]) && names.items[i][4];
	js_count(facts, "numa_nodes", nodes ? nodes : -1);
	strv_release(&names);
	str_release(&text);
}

static void add_distribution(json_t *facts, const char *root)
{
	struct str text = STR_INIT, name = STR_INIT;
	char *plain;

	if (probe_text(&text, root, "/etc/os-release") &&
		probe_field(text.text, "PRETTY_NAME", &name) && name.len) {
		bool quoted = name.len > 1 && name.text[0] == '"' && name.text[name.len - 1] == '"';

		plain = xstrndup(name.text + quoted, name.len - 2 * (size_t)quoted);
		js_text(facts, "distribution", plain);
		free(plain);
	} else {
		js_text(facts, "distribution", NULL);
	}
	str_release(&text);
	str_release(&name);
}

static void add_firmware(json_t *facts, const char *root)
{
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(dmi); i++) {
		char *path = xasprintf("/sys/class/dmi/id/%s", dmi[i]);

		add_line(o, root, dmi[i], path);
		free(path);
	}
	js_set(facts, "firmware", o);
}

json_t *facts_read(const char *root)
{
	json_t *facts = json_object();

	probe_mount_debugfs(root);
	facts_add_cpus(facts, root);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		add_line(facts, root, lines[i].key, lines[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		add_chosen(facts, root, choices[i].key, choices[i].path, '[', ']');
	add_preemption(facts, root);
	add_mitigations(facts, root);
	add_memory(facts, root);
	add_distribution(facts, root);
	add_firmware(facts, root);
	return facts;
}
