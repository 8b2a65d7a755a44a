/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "report/health.h"

/* A fact that ought to have a value, or ought not to, and what it does otherwise. */
static const struct {
	const char *key, *wanted, *unwanted, *otherwise;
	size_t tune; /* member of struct tune that sets it */
	const char *mend;
} rules[] = {
	{"governor", "performance", NULL, "the clock follows the load",
		offsetof(struct tune, governor), "tune: {governor: performance}"},
	{"turbo", "off", NULL, "the clock depends on heat and on what neighbours do",
		offsetof(struct tune, turbo), "tune: {turbo: off}"},
	{"smt", NULL, "on", "a thread's speed depends on its sibling; say so beside numbers",
		offsetof(struct tune, smt), "tune: {smt: off}, where siblings are not the subject"},
	{"numa_balancing", "0", NULL, "pages move while a run is measured",
		offsetof(struct tune, numa_balancing), "tune: {numa_balancing: off}"},
	{"autogroup", "0", NULL,
		"what a workload gets depends on the session that it was started from",
		offsetof(struct tune, autogroup), "tune: {autogroup: off}"},
};

static bool is_tuned(const struct machine_spec *spec, size_t member)
{
	const char *word = spec ? *(const char *const *)((const char *)&spec->tune + member) : NULL;

	return word && strcmp(word, "keep") != 0;
}

/* Text from outside, made safe; the arena's. */
static const char *safe(const struct health *findings, const char *text)
{
	struct str out = STR_INIT;
	const char *kept;

	str_add_safe(&out, text, strnlen(text, 200));
	kept = arena_strdup(findings->arena, str_text(&out));
	str_release(&out);
	return kept;
}

static void check_rule(
	struct health *findings, const json_t *facts, const struct machine_spec *spec, size_t i)
{
	const char *value = safe(findings, json_get_text(facts, rules[i].key, ""));
	bool bad = (rules[i].wanted && strcmp(value, rules[i].wanted) != 0) ||
		   (rules[i].unwanted && strcmp(value, rules[i].unwanted) == 0);

	if (!*value)
		return; /* the machine does not have it */
	if (is_tuned(spec, rules[i].tune))
		health_add(findings, HEALTH_OK, rules[i].key,
			arena_printf(findings->arena,
				"it is '%s'; tune: sets it while it is measured", value),
			NULL);
	else
		health_add(findings, bad ? HEALTH_NOISE : HEALTH_OK, rules[i].key,
			bad ? arena_printf(
				      findings->arena, "it is '%s': %s", value, rules[i].otherwise)
			    : value,
			bad ? rules[i].mend : NULL);
}

static void check_clocksource(struct health *findings, const json_t *facts)
{
	const char *source = safe(findings, json_get_text(facts, "clocksource", ""));
	bool slow =
		!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") || !strcmp(source, "jiffies");

	if (*source)
		health_add(findings, slow ? HEALTH_SPOILS : HEALTH_OK, "clocksource",
			slow ? arena_printf(findings->arena,
				       "it is '%s': reading the time is slow or coarse", source)
			     : source,
			slow ? "dmesg | grep -i tsc  # why the kernel does not trust the TSC"
			     : NULL);
}

/* SMBIOS writes 04/01/2014. */
static void check_firmware(struct health *findings, const json_t *facts)
{
	const char *date =
		safe(findings, json_get_text(json_object_get(facts, "firmware"), "bios_date", ""));

	if (*date && !json_get_bool(facts, "virtual", false))
		health_add(findings, HEALTH_OK, "firmware",
			arena_printf(findings->arena, "of %s", date), NULL);
}

void health_facts(struct health *findings, const json_t *facts, const struct machine_spec *spec)
{
	if (json_get_bool(facts, "virtual", false))
		health_add(findings, HEALTH_NOISE, "virtual",
			"it is a virtual machine: its neighbours and its host are part of every "
			"number",
			NULL);
	if (json_get_int(facts, "swap_bytes", 0) > 0 &&
		!is_tuned(spec, offsetof(struct tune, swap)))
		health_add(findings, HEALTH_NOISE, "swap",
			"there is swap; a run that swaps is flagged", "tune: {swap: off}");
	check_clocksource(findings, facts);
	check_firmware(findings, facts);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		check_rule(findings, facts, spec, i);
}

/* What costs, by the symbol that turns it on; the first ones change what is measured. */
static const struct {
	const char *symbol, *text;
	enum health_level level;
} options[] = {
	{"KASAN", "every memory access is checked: several times slower", HEALTH_SPOILS},
	{"KCSAN", "memory accesses are watched for races: several times slower", HEALTH_SPOILS},
	{"KMSAN", "every memory access is checked: several times slower", HEALTH_SPOILS},
	{"UBSAN_TRAP", "undefined behaviour is checked for", HEALTH_NOISE},
	{"PROVE_LOCKING", "lockdep follows every lock: locks are what is measured", HEALTH_SPOILS},
	{"LOCK_STAT", "every lock keeps statistics", HEALTH_SPOILS},
	{"DEBUG_KMEMLEAK", "every allocation is tracked", HEALTH_SPOILS},
	{"DEBUG_PAGEALLOC_ENABLE_DEFAULT", "freed pages are unmapped", HEALTH_SPOILS},
	{"SLUB_DEBUG_ON", "every slab object is checked", HEALTH_SPOILS},
	{"DEBUG_PREEMPT", "per-CPU accesses are checked", HEALTH_NOISE},
	{"DEBUG_SPINLOCK", "spinlocks are checked", HEALTH_NOISE},
	{"DEBUG_MUTEXES", "mutexes are checked", HEALTH_NOISE},
	{"DEBUG_ATOMIC_SLEEP", "sleeping is checked for", HEALTH_NOISE},
	{"DEBUG_LIST", "every list operation is checked", HEALTH_NOISE},
	{"DEBUG_OBJECTS", "timers and work items are tracked", HEALTH_NOISE},
	{"FAULT_INJECTION", "allocations ask whether to fail", HEALTH_NOISE},
	{"GCOV_KERNEL", "every branch is counted", HEALTH_SPOILS},
	{"KCOV", "every branch can be recorded", HEALTH_NOISE},
};

static bool has_option(const char *config, const char *symbol)
{
	char *line = xasprintf("CONFIG_%s=y", symbol);
	size_t len = strlen(line);
	bool found = false;

	for (const char *at = config; at && !found; at = strchr(at, '\n')) {
		at += *at == '\n';
		found = !strncmp(at, line, len) && (!at[len] || strchr("\r\n", at[len]));
	}
	free(line);
	return found;
}

void health_config(struct health *findings, const char *config)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!has_option(config, options[i].symbol))
			continue;
		any = true;
		health_add(findings, options[i].level,
			arena_printf(findings->arena, "CONFIG_%s", options[i].symbol),
			options[i].text,
			arena_printf(findings->arena,
				"scripts/config -d %s, then build the kernel again",
				options[i].symbol));
	}
	if (!any)
		health_add(findings, HEALTH_OK, "debugging",
			"the running kernel has no option that costs", NULL);
}

static bool is_stopped(const struct machine_spec *spec, const char *unit)
{
	size_t len = strcspn(unit, ".");

	for (size_t i = 0; spec && i < argv_count(spec->tune.stop); i++) {
		const char *stop = spec->tune.stop[i];

		if (!strcmp(stop, unit) ||
			(str_ends(unit, ".service") && !strncmp(stop, unit, len) && !stop[len]))
			return true;
	}
	return false;
}

/* UNIT is the word of a line that ends in .timer. */
void health_timers(struct health *findings, const char *list, const struct machine_spec *spec)
{
	struct str names = STR_INIT;
	int count = 0;

	for (const char *at = list; *at;) {
		size_t len = strcspn(at, " \t\r\n");
		const char *word = arena_strndup(findings->arena, at, len < 100 ? len : 100);

		if (str_ends(word, ".timer") && !is_stopped(spec, word)) {
			str_add(&names, count++ ? ", " : "");
			str_add_safe(&names, word, strlen(word));
		}
		at += len + strspn(at + len, " \t\r\n");
	}
	if (count)
		health_add(findings, HEALTH_NOISE, "timers",
			arena_printf(findings->arena, "systemd starts things when it suits it: %s",
				str_text(&names)),
			arena_printf(findings->arena, "tune: {stop: [%s]}", str_text(&names)));
	str_release(&names);
}

static bool is_mitigation(const char *word)
{
	static const char *const starts[] = {"mitigations=", "nospectre", "spectre_", "spec_store_",
		"nopti", "pti=", "mds=", "l1tf=", "retbleed=", "tsx_async_abort=", "srbds=",
		"mmio_stale_data=", "gather_data_sampling=", "spec_rstack_overflow=", "nosmt"};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(word, starts[i]))
			return true;
	return false;
}

static void split(const struct health *findings, const char *text, struct strv *out)
{
	for (text += strspn(text, " \t\r\n"); *text;) {
		size_t len = strcspn(text, " \t\r\n");

		if (len < 200)
			strv_add(out, arena_strndup(findings->arena, text, len));
		text += len + strspn(text + len, " \t\r\n");
	}
}

void health_cmdline(struct health *findings, const char *running, const struct machine_spec *spec)
{
	struct strv now = STRV_INIT, then = STRV_INIT;

	split(findings, running, &now);
	split(findings, spec->cmdline, &then);
	for (size_t i = 0; i < now.count; i++)
		if (is_mitigation(now.items[i]) && !strv_has(&then, now.items[i]))
			health_add(findings, HEALTH_NOISE, "mitigations",
				arena_printf(findings->arena,
					"the running kernel was started with %s, kernels under "
					"test will not be",
					safe(findings, now.items[i])),
				arena_printf(findings->arena, "cmdline: \"... %s\"",
					safe(findings, now.items[i])));
	for (size_t i = 0; i < then.count; i++)
		if (is_mitigation(then.items[i]) && !strv_has(&now, then.items[i]))
			health_add(findings, HEALTH_NOISE, "mitigations",
				arena_printf(findings->arena,
					"kernels under test are started with %s, the running one "
					"was not",
					then.items[i]),
				NULL);
	strv_release(&now);
	strv_release(&then);
}
