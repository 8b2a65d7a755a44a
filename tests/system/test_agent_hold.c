/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbracket-agent's hold: settings, services, scheduler features and a sched_ext scheduler, on a
 * MADE-UP /proc and /sys: its files keep what is written, its systemctl and its scheduler are shell
 * scripts. One test changes a real sysctl where it may.
 */
#include "base/base.h"

#include "agent_machine.h"
#include "agent_run.h"

/* A systemctl for two units whose state is a file; no other unit exists. */
static const char systemctl[] =
	"#!/bin/sh\n"
	"cd \"${0%/usr/bin/systemctl}/units\" || exit 1\n"
	"unit=$3\n" /* after -- */
	"case $1 in\n"
	"is-active) if [ -e \"$unit\" ]; then cat \"$unit\"; else echo inactive; exit 3; fi;;\n"
	"stop) [ -e stuck ] && echo 'Job failed.' && exit 1; echo inactive >\"$unit\";;\n"
	"start) echo active >\"$unit\";;\n"
	"esac\n";

/* Loads itself into the made-up sched_ext, and unloads at SIGTERM. */
static const char scheduler[] = "#!/bin/sh\n"
				"cd \"$1/sys/kernel/sched_ext\" || exit 1\n"
				"[ -e refuse ] && echo 'libbpf: no BTF' && exit 1\n"
				"trap 'echo disabled >state; rm -f root/ops; exit 0' TERM\n"
				"mkdir -p root; echo scx_fake >root/ops; echo enabled >state\n"
				"while :; do sleep 0.02; done\n";

struct hold_test {
	char *root, *file;
};

static void write_script(const char *root, const char *path, const char *text)
{
	char *full = xasprintf("%s%s", root, path);

	write_file(root, path, text);
	assert_int_equal(chmod(full, 0755), 0);
	free(full);
}

static struct hold_test begin(void)
{
	struct hold_test t = {make_machine(), in_folder("held.json")};

	write_script(t.root, "/usr/bin/systemctl", systemctl);
	write_file(t.root, "/units/irqbalance", "active\n");
	write_file(t.root, "/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
	return t;
}

static void end(struct hold_test *t)
{
	free(t->root);
	free(t->file);
}

#define HOLD(t, ...) CALL(NULL, "--root", (t).root, "hold", (t).file, ##__VA_ARGS__)

static json_t *report_of(struct answer *answer)
{
	json_t *report;

	if (answer->end.exit_code)
		fail_msg("exit %d: %s", answer->end.exit_code, str_text(&answer->end.err_out));
	report = json_loadb(str_text(&answer->end.out), answer->end.out.len, 0, NULL);
	assert_non_null(report);
	answer_release(answer);
	return report;
}

/* A member of the item of held with the key; "(null)" when it is null. */
static const char *item(const json_t *report, const char *key, const char *member)
{
	size_t i;
	json_t *o;

	json_array_foreach(json_object_get(report, "held"), i, o)
	{
		const char *text = json_string_value(json_object_get(o, member));

		if (strcmp(json_string_value(json_object_get(o, "key")), key) == 0)
			return text ? text : "(null)";
	}
	fail_msg("no %s in the report", key);
	return NULL;
}

static void assert_line(const struct hold_test *t, const char *path, const char *expected)
{
	char *full = xasprintf("%s%s", t->root, path), *text = file_text(full);

	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, expected);
	free(text);
	free(full);
}

static bool is_held(const struct hold_test *t)
{
	return file_exists(t->file);
}

static void put_all_back(struct hold_test *t)
{
	struct answer a = HOLD(*t);
	json_t *report = report_of(&a);

	assert_int_equal(json_array_size(json_object_get(report, "left")), 0);
	assert_false(is_held(t));
	json_decref(report);
}

static void settings_are_changed_and_put_back(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a = HOLD(t, "turbo=off", "vm.swappiness=10", "service.irqbalance=stop",
		"service.nothing=stop", "swap=off");
	json_t *report = report_of(&a);

	assert_string_equal(item(report, "turbo", "before"), "1");
	assert_string_equal(item(report, "turbo", "after"), "0");
	assert_string_equal(item(report, "vm.swappiness", "before"), "60");
	assert_string_equal(item(report, "service.irqbalance", "before"), "active");
	assert_string_equal(item(report, "service.nothing", "error"), "(null)");
	assert_line(&t, CPU "/cpufreq/boost", "0");
	assert_line(&t, "/proc/sys/vm/swappiness", "10");
	assert_line(&t, "/units/irqbalance", "inactive");
	json_decref(report);
	put_all_back(&t);
	assert_line(&t, CPU "/cpufreq/boost", "1");
	assert_line(&t, "/proc/sys/vm/swappiness", "60");
	assert_line(&t, "/units/irqbalance", "active");
	end(&t);
}

/* Each vendor has its own file, and intel_pstate's is the other way round. */
static void a_setting_is_where_the_machine_has_it(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a;
	json_t *report;

	write_file(t.root, CPU "/intel_pstate/no_turbo", "0");
	a = HOLD(t, "turbo=off", "governor=performance");
	report = report_of(&a);
	assert_string_equal(item(report, "governor", "before"), "performance, powersave");
	assert_line(&t, CPU "/intel_pstate/no_turbo", "1");
	assert_line(&t, CPU "/cpufreq/boost", "1");
	assert_line(&t, CPU "/cpu0/cpufreq/scaling_governor", "performance");
	json_decref(report);
	/* off is already so where there is no SMT */
	write_file(t.root, CPU "/smt/control", "notsupported");
	a = HOLD(t, "smt=off");
	report = report_of(&a);
	assert_string_equal(item(report, "smt", "error"), "(null)");
	json_decref(report);
	put_all_back(&t);
	assert_line(&t, CPU "/intel_pstate/no_turbo", "0");
	end(&t);
}

/* After a kill -9 another kbracket wants other values: what it finds is not the original. */
static void the_first_original_wins(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a = HOLD(t, "vm.swappiness=10", "turbo=off");
	json_t *report = report_of(&a);

	json_decref(report);
	a = HOLD(t, "vm.swappiness=20", "service.irqbalance=stop");
	report = report_of(&a);
	assert_string_equal(item(report, "vm.swappiness", "before"), "60");
	assert_string_equal(item(report, "vm.swappiness", "after"), "20");
	assert_line(&t, CPU "/cpufreq/boost", "1"); /* no longer asked for */
	json_decref(report);
	put_all_back(&t);
	assert_line(&t, "/proc/sys/vm/swappiness", "60");
	assert_line(&t, "/units/irqbalance", "active");
	end(&t);
}

static void a_restart_makes_the_file_void(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a = HOLD(t, "vm.swappiness=10");

	json_decref(report_of(&a));
	write_file(t.root, "/proc/sys/kernel/random/boot_id", "another\n");
	write_file(t.root, "/proc/sys/vm/swappiness", "30"); /* the new boot's own */
	put_all_back(&t);
	assert_line(&t, "/proc/sys/vm/swappiness", "30");
	end(&t);
}

static void what_cannot_be_done_is_told(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a;
	json_t *report;

	write_file(t.root, "/units/stuck", "");
	a = HOLD(t, "epp=performance", "vm.swappiness=7\n8", "vm.no_such_thing=1",
		"service.irqbalance=stop", "feature.NI_RATE=on", "thp=madvise");
	report = report_of(&a);
	assert_non_null(strstr(item(report, "epp", "error"), "amd_pstate"));
	assert_non_null(strstr(item(report, "vm.swappiness", "error"), "reads \"7\""));
	assert_non_null(strstr(item(report, "vm.no_such_thing", "error"), "there is no"));
	assert_non_null(strstr(item(report, "service.irqbalance", "error"), "Job failed."));
	assert_non_null(
		strstr(item(report, "feature.NI_RATE", "error"), "no scheduler feature NI_RATE"));
	assert_string_equal(item(report, "thp", "error"), "(null)");
	json_decref(report);
	a = HOLD(t);
	report = report_of(&a);
	json_decref(report);
	assert_line(&t, "/proc/sys/vm/swappiness", "60");
	end(&t);
}

/* What cannot be put back stays in the file. */
static void what_is_left_is_told_and_kept(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	char *path = xasprintf("%s" CPU "/cpufreq/boost", t.root);
	struct answer a = HOLD(t, "turbo=off", "vm.swappiness=10");
	json_t *report = report_of(&a), *left;

	json_decref(report);
	assert_int_equal(unlink(path), 0);
	a = HOLD(t);
	report = report_of(&a);
	left = json_object_get(report, "left");
	assert_int_equal(json_array_size(left), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(left, 0), "original")), "1");
	json_decref(report);
	assert_line(&t, "/proc/sys/vm/swappiness", "60");
	assert_true(is_held(&t));
	write_file(t.root, CPU "/cpufreq/boost", "0");
	put_all_back(&t);
	assert_line(&t, CPU "/cpufreq/boost", "1");
	free(path);
	end(&t);
}

static void features_are_switched_and_put_back(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	struct answer a;
	json_t *report;

	/* of this tree, a feature that is written is then the only one */
	a = HOLD(t, "feature.NI_RANDOM=off");
	report = report_of(&a);
	assert_string_equal(json_string_value(json_object_get(report, "features")), "NO_NI_RANDOM");
	assert_string_equal(item(report, "feature.NI_RANDOM", "before"), "on");
	json_decref(report);
	put_all_back(&t);
	assert_line(&t, "/sys/kernel/debug/sched/features", "NI_RANDOM");
	end(&t);
}

static void nothing_else_is_written(void **state KB_UNUSED)
{
	static const char *const items[] = {"/etc/os-release=x", "/proc/sys/../../etc/os-release=x",
		"../../etc/os-release=x", "=x", "vm.swappiness", "/proc/version=x", "turbo=maybe",
		"service.irqbalance=start", "nonsense=1"};
	static const char damaged[] =
		"{\"boot_id\": \"0f0e0d0c-0b0a-0908-0706-050403020100\", \"entries\": [{\"key\": "
		"\"x\", \"kind\": \"file\", \"at\": \"/etc/os-release\", \"original\": \"x\"}]}";
	struct hold_test t = begin();
	struct err err = ERR_INIT;
	struct answer a;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		a = HOLD(t, items[i]);
		assert_int_equal(a.end.exit_code, 2);
		answer_release(&a);
	}
	assert_int_equal(file_write_atomic(t.file, damaged, strlen(damaged), 0600, &err), 0);
	a = HOLD(t);
	assert_int_equal(a.end.exit_code, 1);
	assert_non_null(strstr(str_text(&a.end.err_out), "is damaged"));
	answer_release(&a);
	assert_line(&t, "/etc/os-release", "NAME=\"Debian\"");
	end(&t);
}

static const char *scheduler_member(const json_t *report, const char *member)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(report, "scheduler"), member));

	return text ? text : "(null)";
}

static void a_scheduler_is_started_kept_and_stopped(void **state KB_UNUSED)
{
	struct hold_test t = begin();
	char *program = xasprintf("%s/scx_fake", t.root);
	struct answer a;
	json_t *report, *first, *second;

	write_script(t.root, "/scx_fake", scheduler);
	a = HOLD(t, "--scheduler", program, t.root);
	report = report_of(&a);
	assert_true(json_is_true(json_object_get(json_object_get(report, "scheduler"), "missing")));
	assert_non_null(strstr(scheduler_member(report, "error"), "no sched_ext"));
	json_decref(report);
	write_file(t.root, "/sys/kernel/sched_ext/state", "disabled\n");
	write_file(t.root, "/sys/kernel/sched_ext/refuse", "");
	a = HOLD(t, "--scheduler", program, t.root);
	report = report_of(&a);
	assert_non_null(strstr(scheduler_member(report, "error"), "(libbpf: no BTF)"));
	json_decref(report);
	free(program);
	program = xasprintf("%s/sys/kernel/sched_ext/refuse", t.root);
	assert_int_equal(unlink(program), 0);
	free(program);
	program = xasprintf("%s/scx_fake", t.root);
	a = HOLD(t, "vm.swappiness=10", "--scheduler", program, t.root);
	report = report_of(&a);
	assert_string_equal(scheduler_member(report, "ops"), "scx_fake");
	assert_string_equal(scheduler_member(report, "error"), "(null)");
	json_decref(report);
	a = CALL(NULL, "--root", t.root, "held", t.file);
	first = report_of(&a);
	/* the same one again: it goes on */
	a = HOLD(t, "--scheduler", program, t.root);
	json_decref(report_of(&a));
	a = CALL(NULL, "--root", t.root, "held", t.file);
	second = report_of(&a);
	assert_true(json_equal(
		json_object_get(first, "scheduler"), json_object_get(second, "scheduler")));
	json_decref(first);
	json_decref(second);
	put_all_back(&t);
	assert_line(&t, "/sys/kernel/sched_ext/state", "disabled");
	free(program);
	end(&t);
}

/* On this host, where it is root's: a sysctl that matters to nobody for a moment. */
static void a_real_sysctl_is_changed_and_put_back(void **state KB_UNUSED)
{
	static const char path[] = "/proc/sys/kernel/printk_ratelimit_burst";
	char *file = in_folder("held.json"), *before, *after;
	struct answer a;

	if (access(path, W_OK) != 0) {
		print_message("%s cannot be written here\n", path);
		free(file);
		skip();
	}
	before = file_text(path);
	a = CALL(NULL, "hold", file, "kernel.printk_ratelimit_burst=11");
	json_decref(report_of(&a));
	after = file_text(path);
	assert_string_equal(after, "11\n");
	free(after);
	a = CALL(NULL, "hold", file);
	json_decref(report_of(&a));
	after = file_text(path);
	assert_string_equal(after, before);
	free(after);
	free(before);
	free(file);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
	const struct CMUnitTest tests[] = {
		T(settings_are_changed_and_put_back),
		T(a_setting_is_where_the_machine_has_it),
		T(the_first_original_wins),
		T(a_restart_makes_the_file_void),
		T(what_cannot_be_done_is_told),
		T(what_is_left_is_told_and_kept),
		T(features_are_switched_and_put_back),
		T(nothing_else_is_written),
		T(a_scheduler_is_started_kept_and_stopped),
		T(a_real_sysctl_is_changed_and_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
