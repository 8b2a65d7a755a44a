/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "report/health.h"

/* What doctor says of machines that are made up here: heat, steal and unequal memory are not to be
 * had on demand. */
struct ward {
	struct arena arena;
	struct health health;
	struct machine_spec spec;
};

static const char *const no_stop[] = {NULL};

static int enter(void **state)
{
	struct ward *ward = xcalloc(1, sizeof(*ward));

	ward->health.arena = &ward->arena;
	ward->spec = (struct machine_spec){.name = "box",
		.kind = MACHINE_SSH,
		.boot = BOOT_KEXEC,
		.cmdline = "",
		.tune = {.stop = no_stop}};
	*state = ward;
	return 0;
}

static int leave(void **state)
{
	struct ward *ward = *state;

	health_release(&ward->health);
	arena_release(&ward->arena);
	free(ward);
	return 0;
}

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (json_parse(text, strlen(text), 1 << 16, &value, &err))
		fail_msg("%s", err.text);
	return value;
}

/* Exactly one finding of that name. */
static const struct health_finding *only(const struct ward *ward, const char *what)
{
	const struct health_finding *found = NULL;

	for (size_t i = 0; i < ward->health.count; i++)
		if (!strcmp(ward->health.items[i].what, what)) {
			assert_null(found);
			found = &ward->health.items[i];
		}
	if (!found)
		fail_msg("nothing is said of %s", what);
	return found;
}

static void look(struct ward *ward, const char *survey, const char *const *programs)
{
	json_t *value = parse(survey);

	health_survey(&ward->health, value, &ward->spec, programs);
	json_decref(value);
}

static void a_quiet_machine_is_well(void **state)
{
	static const char *const programs[] = {"kexec", NULL};
	struct ward *ward = *state;

	look(ward,
		"{\"before\": {\"monotonic_ns\": 0, \"cpu\": {\"busy_ns\": 0, \"idle_ns\": 0,"
		" \"steal_ns\": 0}, \"throttle_core\": 0, \"throttle_package\": 0},"
		" \"after\": {\"monotonic_ns\": 5000000000, \"cpu\": {\"busy_ns\": 10000000,"
		" \"idle_ns\": 39990000000, \"steal_ns\": 0}, \"throttle_core\": 0,"
		" \"throttle_package\": 0, \"temperature_mc\": 41000}, \"busiest\": [],"
		" \"daemons\": [], \"disk_bytes\": 100000000000, \"disk_free_bytes\": 50000000000,"
		" \"node_memory_bytes\": [1000, 1001], \"root\": true,"
		" \"programs\": {\"kexec\": \"/sbin/kexec\"}}",
		programs);
	for (size_t i = 0; i < ward->health.count; i++) {
		assert_int_equal(ward->health.items[i].level, HEALTH_OK);
		assert_null(ward->health.items[i].mend);
	}
	assert_string_equal(only(ward, "temperature")->text, "41.0 C without load");
}

static void what_spoils_is_told(void **state)
{
	static const char *const programs[] = {"kexec", "dracut", NULL};
	static const char *const stop[] = {"atd", NULL};
	struct ward *ward = *state;

	ward->spec.tune.stop = stop;
	look(ward,
		"{\"before\": {\"monotonic_ns\": 0, \"cpu\": {\"busy_ns\": 0, \"idle_ns\": 0,"
		" \"steal_ns\": 0}, \"throttle_core\": 7, \"throttle_package\": 0},"
		" \"after\": {\"monotonic_ns\": 5000000000, \"cpu\": {\"busy_ns\": 10000000000,"
		" \"idle_ns\": 9000000000, \"steal_ns\": 1000000000}, \"throttle_core\": 9,"
		" \"throttle_package\": 0, \"temperature_mc\": 91500},"
		" \"busiest\": [{\"name\": \"post\\u001b[2Jgres\", \"cpu_ns\": 9000000000}],"
		" \"daemons\": [\"cron\", \"atd\"], \"disk_bytes\": 100000000000,"
		" \"disk_free_bytes\": 5000, \"node_memory_bytes\": [1073741824, 2147483648],"
		" \"root\": false, \"programs\": {\"kexec\": \"/sbin/kexec\", \"dracut\": null}}",
		programs);
	assert_int_equal(only(ward, "kexec")->level, HEALTH_OK);
	assert_int_equal(only(ward, "dracut")->level, HEALTH_MISSING);
	assert_int_equal(only(ward, "root")->level, HEALTH_MISSING);
	assert_int_equal(only(ward, "other CPU use")->level, HEALTH_SPOILS);
	assert_non_null(strstr(only(ward, "other CPU use")->text, "2.00 CPUs"));
	assert_non_null(strstr(only(ward, "other CPU use")->text, "gres 9.00 s"));
	assert_null(strchr(only(ward, "other CPU use")->text, '\033'));
	assert_non_null(strstr(only(ward, "steal")->text, "5.0 %"));
	assert_int_equal(only(ward, "throttling")->level, HEALTH_SPOILS);
	assert_int_equal(only(ward, "temperature")->level, HEALTH_SPOILS);
	assert_string_equal(only(ward, "cron")->mend, "tune: {stop: [cron]}");
	assert_int_equal(only(ward, "disk")->level, HEALTH_NOISE);
	assert_non_null(strstr(only(ward, "memory")->text, "1.0 GiB, 2.0 GiB"));
}

static void what_is_not_known_is_not_judged(void **state)
{
	static const char *const nothing[] = {NULL};
	struct ward *ward = *state;
	json_t *list = json_array();

	look(ward, "{}", nothing);
	look(ward,
		"{\"before\": 1, \"after\": [], \"busiest\": {}, \"daemons\": [1, null],"
		" \"disk_bytes\": \"much\", \"node_memory_bytes\": [\"a\", {}], \"root\": 3}",
		nothing);
	health_facts(&ward->health, list, &ward->spec);
	json_decref(list);
	assert_int_equal(ward->health.count, 0);
}

static void what_tune_sets_is_no_fault(void **state)
{
	struct ward *ward = *state;
	json_t *facts = parse("{\"governor\": \"powersave\", \"turbo\": \"on\","
			      " \"clocksource\": \"hpet\", \"swap_bytes\": 4096}");

	ward->spec.tune.governor = "performance";
	ward->spec.tune.turbo = "keep";
	ward->spec.tune.swap = "off";
	health_facts(&ward->health, facts, &ward->spec);
	json_decref(facts);
	assert_int_equal(only(ward, "governor")->level, HEALTH_OK);
	assert_int_equal(only(ward, "turbo")->level, HEALTH_NOISE);
	assert_string_equal(only(ward, "turbo")->mend, "tune: {turbo: off}");
	assert_int_equal(only(ward, "clocksource")->level, HEALTH_SPOILS);
	assert_int_equal(ward->health.count, 3);
}

static void options_that_cost_are_named(void **state)
{
	struct ward *ward = *state;

	health_config(&ward->health, "CONFIG_SMP=y\n# CONFIG_KASAN is not set\n"
				     "CONFIG_KASAN_STACK=y\nCONFIG_PROVE_LOCKING=y\r\n"
				     "CONFIG_DEBUG_LIST=y");
	assert_int_equal(ward->health.count, 2);
	assert_int_equal(only(ward, "CONFIG_PROVE_LOCKING")->level, HEALTH_SPOILS);
	assert_int_equal(only(ward, "CONFIG_DEBUG_LIST")->level, HEALTH_NOISE);
	health_config(&ward->health, "");
	assert_int_equal(only(ward, "debugging")->level, HEALTH_OK);
}

static void timers_that_are_not_stopped_are_named(void **state)
{
	static const char *const stop[] = {"fstrim.timer", NULL};
	struct ward *ward = *state;

	ward->spec.tune.stop = stop;
	health_timers(&ward->health,
		"Mon 2026-12-07 10:00:00 UTC 19min left - - apt-daily.timer apt-daily.service\n"
		"Mon 2026-12-07 11:00:00 UTC 1h left - - fstrim.timer fstrim.service\n"
		"- - - - logrotate.timer logrotate.service",
		&ward->spec);
	assert_string_equal(
		only(ward, "timers")->mend, "tune: {stop: [apt-daily.timer, logrotate.timer]}");
	assert_int_equal(ward->health.count, 1);
	health_timers(&ward->health, "", &ward->spec);
	assert_int_equal(ward->health.count, 1);
}

static void mitigations_are_compared(void **state)
{
	struct ward *ward = *state;

	ward->spec.cmdline = "quiet nosmt";
	health_cmdline(&ward->health, "root=/dev/sda1 mitigations=off quiet\n", &ward->spec);
	assert_int_equal(ward->health.count, 2);
	assert_non_null(strstr(ward->health.items[0].text, "with mitigations=off"));
	assert_non_null(strstr(ward->health.items[1].text, "with nosmt"));
	ward->spec.cmdline = "mitigations=off";
	health_cmdline(&ward->health, "mitigations=off", &ward->spec);
	assert_int_equal(ward->health.count, 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, enter, leave)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_quiet_machine_is_well),
		T(what_spoils_is_told),
		T(what_is_not_known_is_not_judged),
		T(what_tune_sets_is_no_fault),
		T(options_that_cost_are_named),
		T(timers_that_are_not_stopped_are_named),
		T(mitigations_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
