/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections by ssh(1), with a script in its place that runs the far commands here. */
#include "base/base.h"

#include "fake_ssh.h"
#include "scratch.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/strv.h"
#include "sys/ssh.h"

static char *old_path;

static int set_up(void **state)
{
	char *path;

	if (make_scratch(state))
		return -1;
	put_script("bin/ssh", fake_ssh);
	put_script("bin/id", "#!/bin/sh\necho ${FAKE_UID:-0}\n");
	put_script("bin/sudo", "#!/bin/sh\n[ \"$FAKE_SUDO\" ] || { echo 'sudo: a password is "
			       "required' >&2; exit 1; }\n"
			       "export FAKE_UID=0; shift 2; exec \"$@\"\n");
	old_path = xstrdup(getenv("PATH"));
	path = xasprintf("%s:%s", in_scratch("bin"), old_path);
	(void)setenv("PATH", path, 1);
	(void)setenv("FAKE_SSH_LOG", in_scratch("log"), 1);
	free(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)setenv("PATH", old_path, 1);
	free(old_path);
	(void)unsetenv("FAKE_UID");
	(void)unsetenv("FAKE_SUDO");
	(void)unsetenv("FAKE_SSH_REFUSE");
	(void)unsetenv("FAKE_SSH_HANG");
	return remove_scratch(state);
}

static struct ssh *open_ssh(void)
{
	const struct ssh_spec spec = {.destination = "root@host", .socket_dir = scratch};
	struct ssh *ssh;

	assert_int_equal(ssh_open(&spec, &ssh, NULL), 0);
	return ssh;
}

static void quoted_words_reach_the_far_side_unchanged(void **state KB_UNUSED)
{
	static const char *const words[] = {"printf", "<%s>", "", "a b", "it's", "$HOME `id` \\ \"",
		"*;&|\n\t!#~", "\xff", NULL};
	struct proc_spec spec = {.argv = words, .timeout_ns = 30 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	if (ssh_run(ssh, &spec, &result, &err))
		fail_msg("%s", err.text);
	assert_string_equal(
		str_text(&result.out), "<><a b><it's><$HOME `id` \\ \"><*;&|\n\t!#~><\xff>");
	proc_result_release(&result);
	ssh_close(ssh);
}

static void results_and_input_pass_through(void **state KB_UNUSED)
{
	static const char *const argv[] = {"sh", "-c", "cat; echo no >&2; exit 7", NULL};
	struct proc_spec spec = {
		.argv = argv, .input = "in", .input_len = 2, .timeout_ns = 30 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	assert_int_equal(ssh_run(ssh, &spec, &result, &err), 0);
	assert_int_equal(result.exit_code, 7);
	assert_string_equal(str_text(&result.out), "in");
	assert_string_equal(str_text(&result.err_out), "no\n");
	proc_result_release(&result);
	ssh_close(ssh);
}

static size_t times_logged(const char *word)
{
	char *log = get_text(in_scratch("log"));
	size_t count = 0;

	for (const char *at = log; (at = strstr(at, word)); at += strlen(word))
		count++;
	free(log);
	return count;
}

static void one_connection_serves_all_commands(void **state KB_UNUSED)
{
	static const char *const argv[] = {"true", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct ssh *ssh = open_ssh();

	for (int i = 0; i < 3; i++) {
		struct proc_result result = PROC_RESULT_INIT;

		assert_int_equal(ssh_run(ssh, &spec, &result, NULL), 0);
		proc_result_release(&result);
	}
	assert_int_equal(times_logged(" -M "), 1);
	assert_true(times_logged("ServerAliveInterval=0") > 0);
	assert_true(times_logged("BatchMode=yes") > 0);
	ssh_drop(ssh);
	assert_int_equal(ssh_connect(ssh, 30 * NS_PER_S, NULL), 0);
	assert_int_equal(times_logged(" -M "), 2);
	ssh_close(ssh);
}

static void a_refusal_is_told_in_sshs_words(void **state KB_UNUSED)
{
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	(void)setenv("FAKE_SSH_REFUSE", "root@host: Permission denied (publickey).", 1);
	assert_int_equal(ssh_connect(ssh, 30 * NS_PER_S, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "ssh root@host: "));
	assert_non_null(strstr(err.text, "Permission denied (publickey)."));
	ssh_close(ssh);
}

/* As OpenSSH 9.2 prints it. */
static const char other_key[] =
	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n"
	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\n"
	"Someone could be eavesdropping on you right now (man-in-the-middle attack)!\n"
	"It is also possible that a host key has just been changed.\n"
	"The fingerprint for the ED25519 key sent by the remote host is\n"
	"SHA256:S6hFWsjvnWGoUAKfTUg3VZTCTZTbTWZwu0l9x8oYd6A.\n"
	"Please contact your system administrator.\n"
	"Add correct host key in /lab/known_hosts to get rid of this message.\n"
	"Offending ED25519 key in /lab/known_hosts:3\n"
	"Host key for host has changed and you have requested strict checking.\n"
	"Host key verification failed.";

static void another_host_key_is_named(void **state KB_UNUSED)
{
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	(void)setenv("FAKE_SSH_REFUSE", other_key, 1);
	assert_int_equal(ssh_connect(ssh, 30 * NS_PER_S, &err), ERR_INFRA);
	assert_true(ssh_was_refused(ssh));
	assert_non_null(strstr(err.text, "(SHA256:S6hFWsjvnWGoUAKfTUg3VZTCTZTbTWZwu0l9x8oYd6A.)"));
	assert_non_null(strstr(err.text, "(/lab/known_hosts:3)"));
	assert_null(strstr(err.text, "@@"));
	ssh_close(ssh);
}

static void a_host_that_hangs_is_told_at_the_deadline(void **state KB_UNUSED)
{
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	(void)setenv("FAKE_SSH_HANG", "1", 1);
	assert_int_equal(ssh_connect(ssh, 500 * NS_PER_MS, &err), ERR_TIMEOUT);
	ssh_close(ssh);
}

static void a_lost_connection_is_no_result(void **state KB_UNUSED)
{
	static const char *const argv[] = {"sh", "-c", "echo half; exit 255", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	assert_int_equal(ssh_run(ssh, &spec, &result, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "connection was lost"));
	proc_result_release(&result);
	ssh_close(ssh);
}

static void others_than_root_go_by_sudo(void **state KB_UNUSED)
{
	static const char *const argv[] = {"id", "-u", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct ssh *ssh = open_ssh();
	struct err err = ERR_INIT;

	(void)setenv("FAKE_UID", "1000", 1);
	assert_int_equal(ssh_connect(ssh, 30 * NS_PER_S, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "'sudo -n' does not make it root (sudo: a password is "
					 "required): put a line 'USER ALL"));
	assert_true(ssh_was_refused(ssh));
	(void)setenv("FAKE_SUDO", "1", 1);
	assert_int_equal(ssh_run(ssh, &spec, &result, &err), 0);
	assert_string_equal(str_text(&result.out), "0\n");
	proc_result_release(&result);
	ssh_close(ssh);
}

static void our_own_hosts_file_keeps_other_configuration_out(void **state KB_UNUSED)
{
	const struct ssh_spec spec = {.destination = "root@guest",
		.address = "127.0.0.1",
		.port = 2222,
		.identity = "/key",
		.known_hosts = "/hosts",
		.socket_dir = scratch};
	struct ssh *ssh;

	assert_int_equal(ssh_open(&spec, &ssh, NULL), 0);
	assert_int_equal(ssh_connect(ssh, 30 * NS_PER_S, NULL), 0);
	assert_true(times_logged("-F none") > 0);
	assert_true(times_logged("StrictHostKeyChecking=yes") > 0);
	assert_true(times_logged("-oUserKnownHostsFile=/hosts") > 0);
	assert_true(times_logged("-oHostKeyAlias=guest") > 0);
	assert_true(times_logged("-oHostName=127.0.0.1") > 0);
	assert_true(times_logged("-oPort=2222") > 0);
	ssh_close(ssh);
}

static void options_are_no_destinations(void **state KB_UNUSED)
{
	struct ssh_spec spec = {.destination = "-oProxyCommand=x", .socket_dir = scratch};
	struct ssh *ssh;

	assert_int_equal(ssh_open(&spec, &ssh, NULL), ERR_USAGE);
	spec.destination = "";
	assert_int_equal(ssh_open(&spec, &ssh, NULL), ERR_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quoted_words_reach_the_far_side_unchanged),
		TEST(results_and_input_pass_through),
		TEST(one_connection_serves_all_commands),
		TEST(a_refusal_is_told_in_sshs_words),
		TEST(another_host_key_is_named),
		TEST(a_host_that_hangs_is_told_at_the_deadline),
		TEST(a_lost_connection_is_no_result),
		TEST(others_than_root_go_by_sudo),
		TEST(our_own_hosts_file_keeps_other_configuration_out),
		TEST(options_are_no_destinations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
