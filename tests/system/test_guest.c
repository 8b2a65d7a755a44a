/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A real guest with Debian's kernel: it comes up, switches kernels, fails in several ways, and
 * never outlives us. Slow: each start takes seconds to half a minute without KVM. */
#include "base/base.h"

#include "scratch.h"
#include "test_kernel.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "backend/machine.h"

enum { CPUS = 4, LLCS = 2 };

static struct arena arena;
static struct build kernel;
static struct machine *machine;
static struct strv logged;
static struct machine_program programs[] = {{"hang", NULL, "", false}, {"tool", NULL, "", false},
	{"spin", NULL, "", false}, {"words", NULL, "", true}};
static struct machine_env env = {NULL, NULL, programs, ARRAY_SIZE(programs), NULL, NULL};
static const char *const nothing[] = {NULL};
static struct machine_spec spec = {.name = "guest",
	.kind = MACHINE_QEMU,
	.qemu = {.cpus = CPUS,
		.llcs = LLCS,
		.memory_bytes = 512 << 20,
		.accel = ACCEL_AUTO,
		.program = "qemu-system-x86_64"},
	.boot = BOOT_KEXEC,
	.cmdline = "",
	.initramfs = nothing,
	.power_cycle = nothing,
	.boot_timeout_ns = 300 * NS_PER_S,
	.cpus = CPUS,
	.workdir = "/run/kbracket"};

static void keep_log(void *arg KB_UNUSED, enum log_level level KB_UNUSED, const char *line)
{
	strv_add(&logged, line);
}

static bool was_logged(const char *text)
{
	for (size_t i = 0; i < logged.count; i++)
		if (strstr(logged.items[i], text))
			return true;
	return false;
}

static struct boot_image image(const char *cmdline)
{
	return (struct boot_image){kernel.image, kernel.modules, kernel.release, cmdline, "", false};
}

static void must(int ret, const struct err *err)
{
	if (ret)
		fail_msg("%s", err->text);
}

/* Runs a shell script there; its output is good until the next one. */
static const char *there(const char *script)
{
	static struct proc_result result;
	const char *argv[] = {"sh", "-c", script, NULL};
	struct proc_spec run = {.argv = argv, .timeout_ns = 120 * NS_PER_S};
	struct err err = ERR_INIT;

	proc_result_release(&result);
	must(machine_exec(machine, &run, &result, &err), &err);
	if (result.exit_code)
		fail_msg("'%s' there: %s", script, str_text(&result.err_out));
	return str_text(&result.out);
}

static char *boot_id(void)
{
	return xstrdup(there("cat /proc/sys/kernel/random/boot_id"));
}

static void start_guest(void)
{
	struct boot_image safe = image("");
	struct err err = ERR_INIT;

	must(machine_open(&spec, &env, &machine, &err), &err);
	must(machine_start(machine, &safe, &err), &err);
}

static void the_guest_is_what_was_asked_for(void **state KB_UNUSED)
{
	start_guest();
	assert_true(was_logged("no KVM here") != (strstr(machine_about(machine), "KVM") != NULL));
	assert_string_equal(machine_boot_method(machine), "kexec");
	assert_string_equal(there("nproc"), "4\n");
	assert_string_equal(there("cat /sys/devices/system/cpu/cpu*/cache/index3/shared_cpu_list"),
		"0-1\n0-1\n2-3\n2-3\n");
	assert_int_equal(strncmp(there("uname -r"), kernel.release, strlen(kernel.release)), 0);
	/* the clock must not be one that is read by an exit of the guest */
	if (strstr(machine_about(machine), "TCG"))
		assert_string_equal(there("cat /sys/devices/system/clocksource/clocksource0/"
					  "current_clocksource"),
			"tsc\n");
}

static void a_kexec_brings_another_boot_of_the_kernel(void **state KB_UNUSED)
{
	struct boot_image next = image("kbracket.test=1");
	struct err err = ERR_INIT;
	char *before = boot_id(), *after, *console;

	must(machine_boot(machine, &next, in_scratch("console"), &err), &err);
	after = boot_id();
	assert_string_not_equal(before, after);
	assert_non_null(strstr(there("cat /proc/cmdline"), "kbracket.test=1"));
	console = get_text(in_scratch("console"));
	assert_non_null(strstr(console, "kbracket-guest: up"));
	free(before);
	free(after);
	free(console);
}

static void programs_and_the_agent_are_there(void **state KB_UNUSED)
{
	char *run = xasprintf("%s; %s --version; ls -ld %s; cat %s",
		machine_program_path(machine, "tool"), machine_agent(machine),
		machine_workdir(machine), machine_program_path(machine, "words"));
	const char *seen = there(run);

	assert_int_equal(strncmp(seen, "a tool\nkbracket-agent ", 21), 0);
	assert_non_null(strstr(seen, "\ndrwx------"));
	assert_non_null(strstr(seen, "\nnothing to run"));
	free(run);
}

static void a_file_is_put_whole(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;
	char *shown;

	put_text("file", "some content");
	must(machine_put(machine, in_scratch("file"), "put here", 0640, &err), &err);
	shown = xasprintf(
		"cd '%s'; stat -c %%a 'put here'; cat 'put here'", machine_workdir(machine));
	assert_string_equal(there(shown), "640\nsome content");
	free(shown);
}

static void a_panic_costs_seconds_and_is_told(void **state KB_UNUSED)
{
	struct boot_image next = image("rdinit=/absent"), safe = image("");
	struct err err = ERR_INIT;
	char *console;

	assert_int_equal(machine_boot(machine, &next, in_scratch("panic"), &err), ERR_INFRA);
	if (!strstr(err.text, "Kernel panic"))
		fail_msg("%s", err.text);
	console = get_text(in_scratch("panic"));
	assert_non_null(strstr(console, "Kernel panic"));
	free(console);
	must(machine_recover(machine, &safe, &err), &err);
	assert_string_equal(there("nproc"), "4\n");
	/* what came after is not the console of that boot */
	console = get_text(in_scratch("panic"));
	assert_null(strstr(console, "kbracket-guest: up"));
	free(console);
}

static void a_hang_is_told_at_the_deadline(void **state KB_UNUSED)
{
	struct boot_image next = image("rdinit=/kb/programs/hang");
	struct err err = ERR_INIT;

	spec.boot_timeout_ns = 20 * NS_PER_S;
	assert_int_equal(machine_boot(machine, &next, in_scratch("hang"), &err), ERR_TIMEOUT);
	spec.boot_timeout_ns = 300 * NS_PER_S;
	machine_close(machine);
	machine = NULL;
}

/* All its CPU time is of no use: told long before the deadline. */
static void a_stuck_kernel_is_told_by_its_cpu_time(void **state KB_UNUSED)
{
	struct boot_image next = image("rdinit=/kb/programs/spin");
	struct err err = ERR_INIT;

	start_guest();
	if (!strstr(machine_about(machine), "TCG"))
		skip();
	spec.boot_timeout_ns = 3600 * NS_PER_S;
	assert_int_equal(machine_boot(machine, &next, in_scratch("spin"), &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "the kernel is stuck"));
	spec.boot_timeout_ns = 300 * NS_PER_S;
	machine_close(machine);
	machine = NULL;
}

/* The process whose command line holds a text, -1 when there is none. */
static pid_t find_process(const char *text)
{
	struct strv names = STRV_INIT;
	struct str line = STR_INIT;
	pid_t found = -1;

	assert_int_equal(file_list("/proc", &names, NULL), 0);
	for (size_t i = 0; i < names.count && found < 0; i++) {
		char *path = xasprintf("/proc/%s/cmdline", names.items[i]);
		long pid = strtol(names.items[i], NULL, 10);

		if (pid > 0 && file_read(path, 65536, &line, NULL) == 0 && line.len &&
			memmem(line.text, line.len, text, strlen(text)))
			found = (pid_t)pid;
		free(path);
	}
	str_release(&line);
	strv_release(&names);
	return found;
}

static void wait_for_process(const char *text, bool there_is)
{
	for (int i = 0; i < 3000; i++) {
		pid_t pid = find_process(text);

		if ((pid > 0) == there_is)
			return;
		if (!there_is)
			(void)waitpid(pid, NULL, WNOHANG); /* an orphan that we have inherited */
		clock_sleep_ns(20 * NS_PER_MS);
	}
	fail_msg("a process with '%s' %s", text, there_is ? "did not start" : "stayed");
}

static void nothing_stays_when_we_are_killed(void **state KB_UNUSED)
{
	char mark[64], *parent = xasprintf("/tmp/kbracket-%ld", (long)getuid());
	struct strv names = STRV_INIT;
	struct machine *other;
	pid_t child = fork();

	if (child == 0) {
		start_guest();
		for (;;)
			pause();
	}
	(void)snprintf(mark, sizeof(mark), "guest-%ld-", (long)child);
	wait_for_process(mark, true);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	wait_for_process(mark, false);
	/* the next one clears up */
	assert_int_equal(machine_open(&spec, &env, &other, NULL), 0);
	assert_int_equal(file_list(parent, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		assert_false(str_starts(names.items[i], mark));
	machine_close(other);
	strv_release(&names);
	free(parent);
}

/* As a /dev/kvm that is there and does nothing: QEMU hangs in it. */
static void kvm_that_hangs_leads_to_emulation(void **state KB_UNUSED)
{
	struct boot_image next = image("kbracket.test=2");
	struct err err = ERR_INIT;
	int64_t start = clock_now_ns();

	strv_release(&logged);
	spec.boot = BOOT_DIRECT;
	spec.qemu.program = put_script("qemu",
		"#!/bin/sh\ncase \" $* \" in *' -accel kvm '*) exec sleep 1000 ;; esac\n"
		"exec qemu-system-x86_64 \"$@\"\n");
	start_guest();
	assert_true(clock_now_ns() - start >= 10 * NS_PER_S);
	assert_true(was_logged("no KVM here (QEMU hangs while it starts): using TCG"));
	assert_non_null(strstr(machine_about(machine), "TCG"));
	/* and the question is not asked again */
	strv_release(&logged);
	must(machine_boot(machine, &next, in_scratch("direct"), &err), &err);
	assert_false(was_logged("KVM"));
	assert_non_null(strstr(there("cat /proc/cmdline"), "kbracket.test=2"));
	machine_close(machine);
	machine = NULL;
}

static int set_up(void **state)
{
	const char *build = getenv("KB_BUILD");

	if (make_scratch(state))
		return -1;
	env.cache_dir = xstrdup(in_scratch("cache"));
	env.agent = xasprintf("%s/kbracket-agent", build ? build : "build");
	programs[0].path = xstrdup(
		put_script("hang", "#!/bin/sh\nwhile :; do /bin/busybox sleep 1000; done\n"));
	programs[3].path = xstrdup(put_script("words", "nothing to run\n"));
	programs[1].path = xstrdup(put_script("tool.sh", "#!/bin/sh\necho a tool\n"));
	programs[2].path = xstrdup(
		put_script("spin", "#!/bin/sh\nwhile :; do :; done &\nwhile :; do :; done\n"));
	return 0;
}

static int tear_down(void **state)
{
	machine_close(machine);
	free((char *)env.cache_dir);
	free((char *)env.agent);
	free((char *)programs[0].path);
	free((char *)programs[1].path);
	free((char *)programs[3].path);
	free((char *)programs[2].path);
	strv_release(&logged);
	arena_release(&arena);
	return remove_scratch(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guest_is_what_was_asked_for),
		cmocka_unit_test(a_kexec_brings_another_boot_of_the_kernel),
		cmocka_unit_test(programs_and_the_agent_are_there),
		cmocka_unit_test(a_file_is_put_whole),
		cmocka_unit_test(a_panic_costs_seconds_and_is_told),
		cmocka_unit_test(a_hang_is_told_at_the_deadline),
		cmocka_unit_test(a_stuck_kernel_is_told_by_its_cpu_time),
		cmocka_unit_test(nothing_stays_when_we_are_killed),
		cmocka_unit_test(kvm_that_hangs_leads_to_emulation),
	};
	char *qemu = proc_find_program(spec.qemu.program);

	if (!qemu)
		skip_program("there is no qemu-system-x86_64 here");
	free(qemu);
	find_test_kernel(&arena, &kernel);
	log_set_sink(keep_log, NULL);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
