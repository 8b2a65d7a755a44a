/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/strv.h"

#include "agent/knobs.h"
#include "agent/probe.h"
#include "agent/tunable.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define KERNEL "/proc/sys/kernel/"

/* A word of ours, what is written for it, and what else reads as meaning it. */
struct word {
	const char *word, *written, *also;
};

/* Where a setting may be; a * stands for one part of a name. No words: any, as it is. */
struct setting_place {
	const char *pattern;
	struct word words[4];
};

/* clang-format off */
#define ON_1_OFF_0 {{"on", "1", NULL}, {"off", "0", NULL}}

static const struct setting {
	const char *key;
	struct setting_place places[3]; /* the first that is there is the machine's */
	const char *without;		/* why there may be none */
} settings[] = {
	{"governor", {{CPU_DIR "/cpu*/cpufreq/scaling_governor", {{NULL}}}},
		"it has no cpufreq driver"},
	{"epp", {{CPU_DIR "/cpu*/cpufreq/energy_performance_preference", {{NULL}}}},
		"only intel_pstate and amd_pstate have it, in their active mode"},
	{"turbo", {
		{CPU_DIR "/intel_pstate/no_turbo", {{"on", "0", NULL}, {"off", "1", NULL}}},
		{CPU_DIR "/cpufreq/boost", ON_1_OFF_0},
		{CPU_DIR "/cpu*/cpufreq/boost", ON_1_OFF_0}},
		"its cpufreq driver has no switch for it; the firmware may"},
	{"smt", {{CPU_DIR "/smt/control", {{"on", "on", NULL},
		{"off", "off", " forceoff notsupported notimplemented "}}}},
		"its kernel has no switch for it"},
	{"thp", {{"/sys/kernel/mm/transparent_hugepage/enabled", {{NULL}}}},
		"its kernel has no transparent huge pages"},
	{"nmi_watchdog", {{KERNEL "nmi_watchdog", ON_1_OFF_0}}, "its kernel has none"},
	{"aslr", {{KERNEL "randomize_va_space",
		{{"on", "2", NULL}, {"off", "0", NULL}, {"conservative", "1", NULL}}}}, ""},
	{"sched_schedstats", {{KERNEL "sched_schedstats", ON_1_OFF_0}},
		"its kernel has no CONFIG_SCHEDSTATS"},
	{"numa_balancing", {{KERNEL "numa_balancing", ON_1_OFF_0}},
		"its kernel has no CONFIG_NUMA_BALANCING"},
	{"autogroup", {{KERNEL "sched_autogroup_enabled", ON_1_OFF_0}},
		"its kernel has no CONFIG_SCHED_AUTOGROUP"},
};
/* clang-format on */

/* Takes `at` over. */
static void add(
	struct tunable *out, enum switch_kind kind, char *at, const char *value, const char *also)
{
	GROW(out->places, out->count, out->capacity);
	out->places[out->count++] = (struct tunable_place){kind, at, xstrdup(value), also};
}

void tunable_release(struct tunable *tunable)
{
	for (size_t i = 0; i < tunable->count; i++) {
		free(tunable->places[i].at);
		free(tunable->places[i].value);
	}
	free(tunable->places);
	*tunable = (struct tunable){NULL, 0, 0};
}

/* The files that match a pattern; part of one name is open: "/cpu*" + "/cpufreq". */
static void find(const char *root, const char *pattern, struct strv *out)
{
	const char *star = strchr(pattern, '*'), *slash;
	struct strv names = STRV_INIT;
	size_t prefix;

	if (!star) {
		if (probe_exists(root, "%s", pattern))
			strv_add(out, pattern);
		return;
	}
	slash = memrchr(pattern, '/', (size_t)(star - pattern));
	prefix = (size_t)(star - slash - 1);
	probe_list(&names, root, "%.*s", (int)(slash - pattern), pattern);
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];

		if (strncmp(name, slash + 1, prefix) == 0 && strchr("0123456789", name[prefix]) &&
			name[prefix] &&
			probe_exists(
				root, "%.*s/%s%s", (int)(slash - pattern), pattern, name, star + 1))
			strv_addf(
				out, "%.*s/%s%s", (int)(slash - pattern), pattern, name, star + 1);
	}
	strv_release(&names);
}

static const struct word *find_word(const struct setting_place *place, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(place->words) && place->words[i].word; i++)
		if (strcmp(place->words[i].word, value) == 0)
			return &place->words[i];
	return NULL;
}

static int resolve_setting(const char *root, const struct setting *setting, const char *value,
	struct tunable *out, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(setting->places) && setting->places[i].pattern; i++) {
		const struct setting_place *place = &setting->places[i];
		const struct word *word = find_word(place, value);
		struct strv paths = STRV_INIT;

		if (place->words[0].word && !word)
			return err_set(err, ERR_USAGE, "\"%s\" is no value of it", value);
		find(root, place->pattern, &paths);
		for (size_t k = 0; k < paths.count; k++)
			add(out, SWITCH_FILE, xstrdup(paths.items[k]), word ? word->written : value,
				word ? word->also : NULL);
		strv_release(&paths);
		if (out->count)
			return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "this machine has none (no %s%s%s)",
		setting->places[0].pattern, setting->without[0] ? "): " : ")", setting->without);
}

/* /proc/swaps: a head line, then a device at the start of each line. */
static int resolve_swap(const char *root, const char *value, struct tunable *out, struct err *err)
{
	struct str text = STR_INIT;
	const char *line;

	if (strcmp(value, "off") != 0)
		return err_set(err, ERR_USAGE, "\"%s\" is no value of it", value);
	(void)probe_text(&text, root, "/proc/swaps"); /* none without it */
	line = strchr(str_text(&text), '\n');
	while (line && *++line == '/') {
		add(out, SWITCH_SWAP, xstrndup(line, strcspn(line, " \t\n")), "off", NULL);
		line = strchr(line, '\n');
	}
	str_release(&text);
	return 0;
}

static int resolve_named(const char *key, const char *value, struct tunable *out, struct err *err)
{
	static const struct {
		const char *prefix, *values[2], *written[2];
		enum switch_kind kind;
	} families[] = {
		{"service.", {"stop", NULL}, {"inactive", NULL}, SWITCH_SERVICE},
		{"feature.", {"on", "off"}, {"on", "off"}, SWITCH_FEATURE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const char *name = key + strlen(families[i].prefix);

		if (!str_starts(key, families[i].prefix) || !*name || *name == '-')
			continue;
		for (size_t k = 0; k < 2 && families[i].values[k]; k++) {
			if (strcmp(families[i].values[k], value) != 0)
				continue;
			add(out, families[i].kind, xstrdup(name), families[i].written[k], NULL);
			return 0;
		}
		return err_set(err, ERR_USAGE, "\"%s\" is no value of it", value);
	}
	return 1;
}

static int resolve_path(
	const char *root, const char *key, const char *value, struct tunable *out, struct err *err)
{
	char *path = strpbrk(key, "./") ? knobs_path(key) : NULL;

	if (!path)
		return err_set(err, ERR_USAGE,
			"it is no setting, no sysctl and no path below /proc/sys or /sys");
	if (!probe_exists(root, "%s", path)) {
		int ret = err_set(err, ERR_NOT_FOUND, "there is no %s%s", root, path);

		free(path);
		return ret;
	}
	add(out, SWITCH_FILE, path, value, NULL);
	return 0;
}

int tunable_resolve(
	const char *root, const char *key, const char *value, struct tunable *out, struct err *err)
{
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (strcmp(settings[i].key, key) == 0)
			return resolve_setting(root, &settings[i], value, out, err);
	if (strcmp(key, "swap") == 0)
		return resolve_swap(root, value, out, err);
	ret = resolve_named(key, value, out, err);
	return ret <= 0 ? ret : resolve_path(root, key, value, out, err);
}
