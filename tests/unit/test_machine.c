/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all kinds of machine have in common, tried on this host as the machine. */
#include "base/base.h"

#include "scratch.h"

#include "base/clock.h"
#include "base/strv.h"
#include "backend/machine.h"
#include "backend/machine_ops.h"

static const char *const nothing[] = {NULL};

static struct machine_spec local_spec(void)
{
	return (struct machine_spec){.name = "here",
		.kind = MACHINE_LOCAL,
		.boot = BOOT_NONE,
		.cmdline = "",
		.initramfs = nothing,
		.power_cycle = nothing,
		.boot_timeout_ns = 60 * NS_PER_S,
		.workdir = in_scratch("work")};
}

static char *agent(void)
{
	const char *build = getenv("KB_BUILD");

	return xasprintf("%s/kbracket-agent", build ? build : "build");
}

static void this_host_gets_the_agent_and_programs(void **state KB_UNUSED)
{
	struct machine_program programs[] = {
		{"tool", put_script("tool", "#!/bin/sh\necho a tool\n"), "0123456789abcdef01",
			false},
		{"other", NULL, "", false}};
	struct machine_env env = {in_scratch("cache"), agent(), programs, 2, NULL, NULL};
	struct machine_spec spec = local_spec();
	struct boot_image none = {
		.image = "", .modules = "", .release = "", .cmdline = "", .config = ""};
	struct proc_spec run = {.timeout_ns = 60 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct machine *machine;
	struct err err = ERR_INIT;
	const char *argv[2] = {NULL};

	if (!file_exists(env.agent))
		skip();
	if (machine_open(&spec, &env, &machine, &err) || machine_start(machine, &none, &err))
		fail_msg("%s", err.text);
	assert_string_equal(machine_about(machine), "local");
	assert_string_equal(machine_boot_method(machine), "none");
	assert_null(machine_program_path(machine, "other"));
	assert_null(machine_program_path(machine, "unknown"));
	argv[0] = machine_program_path(machine, "tool");
	assert_non_null(argv[0]);
	run.argv = argv;
	assert_int_equal(machine_exec(machine, &run, &result, &err), 0);
	assert_string_equal(str_text(&result.out), "a tool\n");
	assert_int_equal(machine_boot(machine, &none, NULL, &err), 0);
	assert_int_equal(machine_recover(machine, &none, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "power-cycled"));
	proc_result_release(&result);
	machine_close(machine);
	free((char *)env.agent);
}

static void a_put_is_checked_and_whole(void **state KB_UNUSED)
{
	struct machine_env env = {in_scratch("cache"), agent(), NULL, 0, NULL, NULL};
	struct machine_spec spec = local_spec();
	struct boot_image none = {
		.image = "", .modules = "", .release = "", .cmdline = "", .config = ""};
	struct machine *machine;
	struct err err = ERR_INIT;
	struct stat st;

	if (!file_exists(env.agent))
		skip();
	if (machine_open(&spec, &env, &machine, &err) || machine_start(machine, &none, &err))
		fail_msg("%s", err.text);
	put_text("file", "content");
	if (machine_put(machine, in_scratch("file"), "there", 0640, &err))
		fail_msg("%s", err.text);
	assert_file("work/there", "content");
	assert_int_equal(stat(in_scratch("work/there"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_true(machine_put(machine, in_scratch("absent"), "there", 0640, &err) < 0);
	assert_file("work/there", "content");
	machine_close(machine);
	free((char *)env.agent);
}

static void what_killed_ones_left_is_removed(void **state KB_UNUSED)
{
	char *folder, *mine, *dead, *socket, *strange;

	assert_int_equal(machine_private_folder(&folder, NULL), 0);
	mine = xasprintf("%s/guest-%ld-x", folder, (long)getpid());
	dead = xasprintf("%s/guest-2147483646-x", folder);
	socket = xasprintf("%s/ssh-2147483646-0x1", folder);
	strange = xasprintf("%s/guest-of-honour-%ld", folder, (long)getpid());
	assert_int_equal(file_mkdirs(mine, 0700, NULL), 0);
	assert_int_equal(file_mkdirs(dead, 0700, NULL), 0);
	assert_int_equal(file_write_atomic(socket, "", 0, 0600, NULL), 0);
	assert_int_equal(file_write_atomic(strange, "", 0, 0600, NULL), 0);
	free(folder);
	assert_int_equal(machine_private_folder(&folder, NULL), 0);
	assert_true(file_exists(mine));
	assert_false(file_exists(dead));
	assert_false(file_exists(socket));
	assert_true(file_exists(strange));
	assert_int_equal(rmdir(mine), 0);
	assert_int_equal(unlink(strange), 0);
	free(folder);
	free(mine);
	free(dead);
	free(socket);
	free(strange);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(this_host_gets_the_agent_and_programs),
		TEST(a_put_is_checked_and_whole),
		TEST(what_killed_ones_left_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
