/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"
#include "report/health.h"

/* Above these something is told. */
static const struct {
	double busy_cpus, steal_share, disk_share, memory_ratio;
	int64_t disk_bytes, hot_mc;
} limits = {.busy_cpus = 0.05,
	.steal_share = 0.005,
	.disk_share = 0.05,
	.memory_ratio = 1.1,
	.disk_bytes = (int64_t)1 << 30,
	.hot_mc = 80000};

static double change(const json_t *survey, const char *object, const char *key)
{
	const json_t *before = json_object_get(survey, "before");
	const json_t *after = json_object_get(survey, "after");
	int64_t a, b;

	if (object) {
		before = json_object_get(before, object);
		after = json_object_get(after, object);
	}
	a = json_get_int(before, key, -1);
	b = json_get_int(after, key, -1);
	return a < 0 || b < 0 ? 0 : (double)b - (double)a;
}

/* "postgres 0.31 s, dockerd 0.02 s" */
static void add_busiest(struct str *out, const json_t *survey)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(survey, "busiest"), i, item)
	{
		const char *name = json_get_text(item, "name", "");

		str_add(out, i ? ", " : " (");
		str_add_safe(out, name, strnlen(name, 40));
		str_addf(
			out, " %.2f s", (double)json_get_int(item, "cpu_ns", 0) / (double)NS_PER_S);
	}
	str_add(out, i ? ")" : "");
}

static void check_cpu_use(struct health *findings, const json_t *survey)
{
	double wall = change(survey, NULL, "monotonic_ns");
	double busy = change(survey, "cpu", "busy_ns"), idle = change(survey, "cpu", "idle_ns");
	double steal = change(survey, "cpu", "steal_ns");
	struct str text = STR_INIT;

	if (!(wall > 0))
		return;
	str_addf(&text, "%.2f CPUs are used while nothing is measured", busy / wall);
	add_busiest(&text, survey);
	if (busy > limits.busy_cpus * wall)
		health_add(findings, HEALTH_SPOILS, "other CPU use", str_text(&text),
			"stop them, or tune: {stop: [SERVICE, ...]}");
	else
		health_add(findings, HEALTH_OK, "other CPU use", str_text(&text), NULL);
	if (steal > limits.steal_share * (busy + idle + steal))
		health_add(findings, HEALTH_SPOILS, "steal",
			arena_printf(findings->arena, "its host took %.1f %% of its CPU time away",
				100 * steal / (busy + idle + steal)),
			"measure on a machine that is not shared");
	str_release(&text);
}

static void check_heat(struct health *findings, const json_t *survey)
{
	const json_t *after = json_object_get(survey, "after");
	int64_t mc = json_get_int(after, "temperature_mc", -1);
	double now =
		change(survey, NULL, "throttle_core") + change(survey, NULL, "throttle_package");
	int64_t ever = json_get_int(after, "throttle_core", 0) +
		       json_get_int(after, "throttle_package", 0);

	if (now > 0)
		health_add(findings, HEALTH_SPOILS, "throttling",
			"it slows down for heat, also without load", "mend its cooling");
	else if (ever > 0)
		health_add(findings, HEALTH_NOISE, "throttling",
			arena_printf(findings->arena,
				"it slowed down for heat %lld times since it was started",
				(long long)ever),
			"mend its cooling; temperature: {within: 5} lets runs wait until it is "
			"cool");
	if (mc >= 0)
		health_add(findings, mc > limits.hot_mc ? HEALTH_SPOILS : HEALTH_OK, "temperature",
			arena_printf(findings->arena, "%.1f C without load", (double)mc / 1000),
			mc > limits.hot_mc ? "mend its cooling" : NULL);
}

static void check_disk(struct health *findings, const json_t *survey)
{
	int64_t all = json_get_int(survey, "disk_bytes", -1);
	int64_t left = json_get_int(survey, "disk_free_bytes", -1);
	struct str text = STR_INIT;
	bool full = left < limits.disk_bytes || (double)left < limits.disk_share * (double)all;

	if (all <= 0 || left < 0)
		return;
	num_add_bytes(&text, left);
	str_add(&text, " are left where kbracket keeps its files");
	health_add(findings, full ? HEALTH_NOISE : HEALTH_OK, "disk", str_text(&text),
		full ? "make room: kernels, modules and output have to fit" : NULL);
	str_release(&text);
}

static void check_memory(struct health *findings, const json_t *survey)
{
	const json_t *nodes = json_object_get(survey, "node_memory_bytes");
	struct str text = STR_INIT;
	int64_t least = INT64_MAX, most = 0;
	size_t i;
	json_t *item;

	json_array_foreach(nodes, i, item)
	{
		int64_t bytes = json_integer_value(item);

		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
		str_add(&text, i ? ", " : "");
		num_add_bytes(&text, bytes);
	}
	if (i > 1 && (double)most > limits.memory_ratio * (double)least)
		health_add(findings, HEALTH_NOISE, "memory",
			arena_printf(findings->arena,
				"NUMA nodes have unequal memory: %s; where a workload lands "
				"decides "
				"its speed",
				str_text(&text)),
			"put the same modules into every socket");
	str_release(&text);
}

static void check_daemons(
	struct health *findings, const json_t *survey, const struct machine_spec *spec)
{
	struct str names = STR_INIT;
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(survey, "daemons"), i, item)
	{
		const char *name = json_is_string(item) ? json_string_value(item) : "";
		bool stopped = false;

		for (size_t k = 0; k < argv_count(spec->tune.stop); k++)
			stopped = stopped || !strcmp(spec->tune.stop[k], name);
		if (!stopped) {
			str_add(&names, names.len ? ", " : "");
			str_add_safe(&names, name, strnlen(name, 40));
		}
	}
	if (names.len)
		health_add(findings, HEALTH_NOISE, "cron",
			arena_printf(findings->arena,
				"running, and may start something in a run: %s", str_text(&names)),
			arena_printf(findings->arena, "tune: {stop: [%s]}", str_text(&names)));
	str_release(&names);
}

static void check_program(struct health *findings, const char *name, const char *path)
{
	struct str text = STR_INIT;

	if (path)
		str_add_safe(&text, path, strnlen(path, 200));
	else
		str_add(&text, "not found on the machine");
	health_add(findings, path ? HEALTH_OK : HEALTH_MISSING, name, str_text(&text),
		path ? NULL : "install it there, or name it under programs:");
	str_release(&text);
}

static void check_rights(
	struct health *findings, const json_t *survey, const struct machine_spec *spec)
{
	struct strv settings = STRV_INIT;

	tune_settings(&spec->tune, &settings);
	if (!json_get_bool(survey, "root", true) && (settings.count || spec->boot != BOOT_NONE))
		health_add(findings, HEALTH_MISSING, "root",
			"without root's rights settings cannot be changed and no kernel booted",
			"ssh as root, or allow `sudo -n`; start kbracket as root for this host");
	strv_release(&settings);
}

void health_survey(struct health *findings, const json_t *survey, const struct machine_spec *spec,
	const char *const *programs)
{
	const json_t *found = json_object_get(survey, "programs");

	for (size_t i = 0; i < argv_count(programs); i++)
		check_program(findings, programs[i], json_get_text(found, programs[i], NULL));
	check_rights(findings, survey, spec);
	check_cpu_use(findings, survey);
	check_heat(findings, survey);
	check_daemons(findings, survey, spec);
	check_disk(findings, survey);
	check_memory(findings, survey);
}
