/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbracket-agent's facts, proof and files. Heat, throttling, steal time and topology are
 * tested on a made-up /proc and /sys, for no test machine has them on demand.
 */
#include "base/base.h"

#include "base/sha256.h"

#include "agent_machine.h"
#include "agent_run.h"

/* The agent's JSON answer; it must have ended well. */
static json_t *json_answer(const struct answer *answer)
{
	json_t *value;

	assert_int_equal(answer->end.exit_code, 0);
	value = json_loadb(str_text(&answer->end.out), answer->end.out.len, 0, NULL);
	assert_non_null(value);
	return value;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(none)";
}

static int64_t int_at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void facts_describe_the_machine(void **state KB_UNUSED)
{
	char *root = make_machine();
	struct answer a = CALL(NULL, "--root", root, "facts");
	json_t *facts = json_answer(&a), *cpu = json_object_get(facts, "cpu");
	const struct {
		const json_t *object;
		const char *key, *text;
	} texts[] = {
		{cpu, "model", "AMD Ryzen Threadripper 9960X"},
		{cpu, "microcode", "0xb404032"},
		{cpu, "model_number", "8"},
		{facts, "cpus_list", "0-7"},
		{facts, "smt", "on"},
		{facts, "turbo", "on"},
		{facts, "governor", "performance"},
		{facts, "clocksource", "tsc"},
		{facts, "thp", "madvise"},
		{facts, "preemption", "full"},
		{facts, "autogroup", "1"},
		{facts, "distribution", "Debian GNU/Linux 12 (bookworm)"},
		{facts, "kernel_release", "6.18.8-kb1"},
		{json_object_get(facts, "mitigations"), "spectre_v1", "Mitigation: usercopy"},
		{json_object_get(facts, "firmware"), "bios_version", "1.2.3"},
	};
	const struct {
		const char *key;
		int64_t value;
	} ints[] = {{"cpus_online", 8}, {"sockets", 2}, {"cores", 4}, {"llc_domains", 4},
		{"numa_nodes", 2}, {"memory_bytes", 1024000}, {"swap_bytes", 51200}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_string_equal(text_at(texts[i].object, texts[i].key), texts[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(ints); i++)
		assert_int_equal(int_at(facts, ints[i].key), ints[i].value);
	assert_true(json_is_true(json_object_get(facts, "virtual")));
	assert_int_equal(json_array_size(json_object_get(facts, "caches")), 2);
	json_decref(facts);
	answer_release(&a);
	free(root);
}

/* A kernel that tells nothing is no error: everything is null. */
static void facts_of_nothing_are_null(void **state KB_UNUSED)
{
	char *root = in_folder("empty");
	struct answer a = CALL(NULL, "--root", root, "facts");
	json_t *facts = json_answer(&a);

	assert_true(json_is_null(json_object_get(facts, "cpus_online")));
	assert_true(json_is_null(json_object_get(facts, "preemption")));
	assert_true(json_is_null(json_object_get(facts, "llc_domains")));
	json_decref(facts);
	answer_release(&a);
	free(root);
}

static void the_real_machine_has_facts_and_proof(void **state KB_UNUSED)
{
	struct answer a = CALL(NULL, "facts"), b = CALL(NULL, "proof");
	json_t *facts = json_answer(&a), *proof = json_answer(&b);

	assert_int_equal(int_at(facts, "cpus_online"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(int_at(proof, "cpus_online"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_string_equal(text_at(facts, "kernel_release"), text_at(proof, "release"));
	assert_int_equal(strlen(text_at(proof, "boot_id")), 36);
	json_decref(facts);
	json_decref(proof);
	answer_release(&a);
	answer_release(&b);
}

/* Two notes before the build-id, as x86 kernels have them; lengths are padded to four. */
static void the_build_id_is_read_from_the_notes(void **state KB_UNUSED)
{
	static const unsigned char notes[] = {4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 'X', 'e', 'n', 0,
		'a', 'b', 'c', 'd', 'e', 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'L', 'i', 'n',
		'u', 'x', 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
		0xde, 0x0a, 0xff, 0};
	char *root = make_machine(), *path = xasprintf("%s/sys/kernel/notes", root);
	struct err err = ERR_INIT;

	/* cut anywhere, it is not a build-id */
	for (size_t len = sizeof(notes); len >= sizeof(notes) - 9; len--) {
		struct answer a;
		json_t *proof;

		assert_int_equal(file_write_atomic(path, notes, len, 0644, &err), 0);
		a = CALL(NULL, "--root", root, "proof");
		proof = json_answer(&a);
		assert_string_equal(
			text_at(proof, "build_id"), len >= sizeof(notes) - 1 ? "de0aff" : "(none)");
		assert_string_equal(
			text_at(proof, "boot_id"), "0f0e0d0c-0b0a-0908-0706-050403020100");
		assert_string_equal(text_at(proof, "cmdline"), "root=/dev/sda1 quiet");
		assert_string_equal(text_at(proof, "features"), "GENTLE NO_HRTICK NI_RANDOM");
		assert_int_equal(int_at(proof, "taint"), 512);
		assert_int_equal(int_at(proof, "uptime_s"), 1234);
		json_decref(proof);
		answer_release(&a);
	}
	free(path);
	free(root);
}

/* What happens around a run: the program itself changes the made-up machine. */
static void the_environment_is_seen_before_and_after(void **state KB_UNUSED)
{
	char *root = make_machine(), *dir = in_folder("r");
	char *script = xasprintf("cd %s; echo 'cpu  160 5 50 4000 10 3 2 95 1 0' > proc/stat; "
				 "echo 8 > ." CPU "/cpu0/thermal_throttle/core_throttle_count; "
				 "echo 0-6 > ." CPU "/online; echo 513 > proc/sys/kernel/tainted; "
				 "echo pswpin 15 > proc/vmstat; "
				 "echo performance > ." CPU "/cpu7/cpufreq/scaling_governor; "
				 "echo 99000 > sys/class/thermal/thermal_zone0/temp",
		root);
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000, "");
	struct answer a = CALL(spec, "--root", root, "run", "--spec-on-stdin", dir);
	json_t *before = json_object_get(a.result, "before");
	json_t *after = json_object_get(a.result, "after");
	json_t *cpu_before = json_object_get(before, "cpu"),
	       *cpu_after = json_object_get(after, "cpu");
	const struct {
		const char *key;
		int64_t before, after;
	} ints[] = {{"throttle_core", 28, 36}, {"throttle_package", 16, 16}, {"taint", 512, 513},
		{"swap_in", 11, 15}, {"temperature_mc", 61500, 99000}, {"interrupts", 987, -1},
		{"memory_available_bytes", 409600, 409600}, {"load_1min", 125, 125}};

	assert_int_equal(int_at(cpu_before, "busy_ns"), 160 * (NS_PER_S / 100));
	assert_int_equal(int_at(cpu_after, "busy_ns"), 220 * (NS_PER_S / 100));
	assert_int_equal(int_at(cpu_after, "idle_ns"), 4010 * (NS_PER_S / 100));
	assert_int_equal(int_at(cpu_before, "steal_ns"), 70 * (NS_PER_S / 100));
	assert_int_equal(int_at(cpu_after, "steal_ns"), 95 * (NS_PER_S / 100));
	for (size_t i = 0; i < ARRAY_SIZE(ints); i++) {
		assert_int_equal(int_at(before, ints[i].key), ints[i].before);
		assert_int_equal(int_at(after, ints[i].key), ints[i].after);
	}
	assert_string_equal(text_at(before, "cpus_online"), "0-7");
	assert_string_equal(text_at(after, "cpus_online"), "0-6");
	assert_string_equal(text_at(before, "governors"), "performance,powersave");
	assert_string_equal(text_at(after, "governors"), "performance");
	free(spec);
	free(script);
	free(dir);
	free(root);
	answer_release(&a);
}

static const char *heat_of(struct answer *a, const char *member)
{
	const json_t *value = json_object_get(json_object_get(a->result, "heat"), member);

	return json_is_true(value) ? "true" : json_is_false(value) ? "false" : "none";
}

/* The made-up sensor reads 61.5 C and never cools. */
static void a_run_waits_until_it_is_cool(void **state KB_UNUSED)
{
	static const struct {
		const char *more, *reached;
		bool waits;
	} cases[] = {
		{", \"heat_mc\": 60000, \"heat_within_mc\": 2000, \"heat_wait_ns\": 60000000000",
			"true", false},
		{", \"heat_mc\": 55000, \"heat_within_mc\": 2000, \"heat_wait_ns\": 50000000",
			"false", true},
		/* waiting warms nothing */
		{", \"heat_mc\": 70000, \"heat_within_mc\": 2000, \"heat_wait_ns\": 60000000000",
			"false", false},
		{"", "none", false},
	};
	char *root = make_machine();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *name = xasprintf("r%zu", i), *dir = in_folder(name);
		char *spec = shell_spec("true", 60 * NS_PER_S, 1000, cases[i].more);
		struct answer a = CALL(spec, "--root", root, "run", "--spec-on-stdin", dir);
		int64_t waited = int_at(json_object_get(a.result, "heat"), "waited_ns");

		assert_string_equal(heat_of(&a, "reached"), cases[i].reached);
		assert_true(cases[i].waits ? waited >= 50 * NS_PER_MS : waited < 30 * NS_PER_S);
		answer_release(&a);
		free(spec);
		free(dir);
		free(name);
	}
	free(root);
}

static void files_are_received_whole_or_not_at_all(void **state KB_UNUSED)
{
	char *path = in_folder("program"), *text;
	char hex[SHA256_HEX_LEN + 1], other[SHA256_HEX_LEN + 1];
	struct answer a;
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	json_t *list;

	sha256_of("hello", 5, hex);
	sha256_of("world", 5, other);
	a = CALL("hello", "receive", path, "5", hex, "755");
	assert_int_equal(a.end.exit_code, 0);
	answer_release(&a);
	assert_int_equal(access(path, X_OK), 0);
	a = CALL("", "receive", path, "5", hex, "755"); /* already there: nothing is read */
	assert_int_equal(a.end.exit_code, 0);
	answer_release(&a);
	a = CALL("hello", "receive", path, "5", other, "755");
	assert_int_equal(a.end.exit_code, 1);
	assert_non_null(strstr(str_text(&a.end.err_out), hex));
	answer_release(&a);
	a = CALL("worl", "receive", path, "5", other, "755");
	assert_int_equal(a.end.exit_code, 1);
	answer_release(&a);
	a = CALL("worlds", "receive", path, "5", other, "755");
	assert_int_equal(a.end.exit_code, 1);
	answer_release(&a);
	a = CALL("world", "receive", path, "5", other, "4755");
	assert_int_equal(a.end.exit_code, 2);
	answer_release(&a);
	text = file_text(path);
	assert_string_equal(text, "hello");
	assert_int_equal(file_list(folder, &names, &err), 0);
	assert_int_equal(names.count, 1);
	a = CALL(NULL, "digest", path, "/no/such/file");
	list = json_answer(&a);
	assert_string_equal(text_at(json_array_get(list, 0), "sha256"), hex);
	assert_int_equal(int_at(json_array_get(list, 0), "bytes"), 5);
	assert_true(json_is_null(json_object_get(json_array_get(list, 1), "sha256")));
	json_decref(list);
	answer_release(&a);
	strv_release(&names);
	free(text);
	free(path);
}

/* Brackets in a process's name, a daemon, two nodes; and the real machine. */
static void a_survey_tells_what_else_there_is(void **state KB_UNUSED)
{
	char *root = make_machine();
	struct answer a;
	json_t *seen, *nodes;

	write_file(root, "/proc/7/stat",
		"7 (odd) (name) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 99 0 0\n");
	write_file(
		root, "/proc/8/stat", "8 (cron) S 1 8 8 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n");
	write_file(root, "/proc/9/stat", "9 (cut) S 1 9\n");
	write_file(root, "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  2048 kB\n");
	write_file(root, "/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  1024 kB\n");
	a = CALL(NULL, "--root", root, "survey", folder, "1000", "sh", "no-such-program");
	seen = json_answer(&a);
	nodes = json_object_get(seen, "node_memory_bytes");
	assert_int_equal(json_array_size(json_object_get(seen, "busiest")), 0);
	assert_int_equal(json_array_size(json_object_get(seen, "daemons")), 1);
	assert_int_equal(json_array_size(nodes), 2);
	assert_int_equal(json_integer_value(json_array_get(nodes, 0)), 2 << 20);
	assert_true(int_at(seen, "disk_bytes") >= int_at(seen, "disk_free_bytes"));
	assert_true(json_is_object(json_object_get(seen, "before")));
	assert_true(json_is_string(json_object_get(json_object_get(seen, "programs"), "sh")));
	assert_true(json_is_null(
		json_object_get(json_object_get(seen, "programs"), "no-such-program")));
	json_decref(seen);
	answer_release(&a);
	a = CALL(NULL, "survey", folder, "1000");
	seen = json_answer(&a);
	assert_true(json_is_object(json_object_get(json_object_get(seen, "after"), "cpu")));
	json_decref(seen);
	answer_release(&a);
	free(root);
}

static void wrong_arguments_are_usage_errors(void **state KB_UNUSED)
{
	static const char *const words[][4] = {{NULL}, {"bogus"}, {"facts", "x"}, {"run"},
		{"run", "relative"}, {"run", "/tmp/a", "--forget"}, {"collect"},
		{"receive", "/x", "1"}, {"hold"}, {"hold", "x"}, {"survey", "/tmp"},
		{"survey", "/tmp", "x"}, {"held"}, {"forget"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct answer a = call(NULL, words[i]);

		assert_int_equal(a.end.exit_code, 2);
		assert_int_equal(json_is_object(a.result), 0);
		assert_true(a.end.err_out.len > 0);
		answer_release(&a);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
	const struct CMUnitTest tests[] = {
		T(facts_describe_the_machine),
		T(facts_of_nothing_are_null),
		T(the_real_machine_has_facts_and_proof),
		T(the_build_id_is_read_from_the_notes),
		T(the_environment_is_seen_before_and_after),
		T(a_run_waits_until_it_is_cool),
		T(files_are_received_whole_or_not_at_all),
		T(a_survey_tells_what_else_there_is),
		T(wrong_arguments_are_usage_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
