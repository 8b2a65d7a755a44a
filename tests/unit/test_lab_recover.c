/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way back to a lab machine's own kernel. The machine is made up: a file says what runs there,
 * which scripts in the place of ssh(1), of programs there and of the power switch read and write.
 */
#include "base/base.h"

#include "fake_ssh.h"
#include "scratch.h"

#include "base/clock.h"
#include "backend/lab.h"

static char *old_path;
static struct str rungs; /* "kind found, ..." */
static int64_t boot_timeout_ns;

/* RUNS: own, ours, dead or refused. */
static const char cat[] =
	"#!/bin/sh\n"
	"runs=$(/bin/cat \"$BOX/runs\")\n"
	"[ $runs != dead ] || exit 255\n"
	"case $1 in\n"
	"*boot_id) printf '%08d-0000-0000-0000-000000000000\\n' $(/bin/cat \"$BOX/boots\") ;;\n"
	"*) echo 6.1; case $runs in own) echo root=/dev/x ;; *) echo kbracket.boot=1 ;; esac ;;\n"
	"esac\n";
/* The next line of a file of states is what runs from now on. */
static const char turn[] = "#!/bin/sh\n"
			   "echo $(($(/bin/cat \"$BOX/boots\") + 1)) >\"$BOX/boots\"\n"
			   "head -n 1 \"$BOX/next\" >\"$BOX/runs\"; sed -i 1d \"$BOX/next\"\n"
			   "[ \"$(/bin/cat \"$BOX/runs\")\" != fails ] || "
			   "{ echo 'the BMC is busy' >&2; echo dead >\"$BOX/runs\"; exit 1; }\n"
			   "echo turned >>\"$BOX/turns\"\n";

static int set_up(void **state)
{
	char *path;

	if (make_scratch(state))
		return -1;
	put_script("bin/ssh-program", fake_ssh);
	put_script("bin/ssh",
		"#!/bin/sh\ncase $(/bin/cat \"$BOX/runs\") in\n"
		"refused) echo 'REMOTE HOST IDENTIFICATION HAS CHANGED' >&2; exit 255 ;;\n"
		"dead) echo 'Connection refused' >&2; exit 255 ;;\n"
		"esac; exec ssh-program \"$@\"\n");
	put_script("bin/id", "#!/bin/sh\necho 0\n");
	put_script("bin/cat", cat);
	put_script("bin/systemctl", turn);
	put_script("bin/turn", turn);
	put_script("bin/reboot", "#!/bin/sh\n"); /* never this host's own */
	boot_timeout_ns = 120 * NS_PER_S; /* never reached */
	put_text("boots", "1");
	put_text("turns", "");
	old_path = xstrdup(getenv("PATH"));
	path = xasprintf("%s:%s", in_scratch("bin"), old_path);
	(void)setenv("PATH", path, 1);
	(void)setenv("BOX", scratch, 1);
	(void)setenv("FAKE_SSH_LOG", in_scratch("log"), 1);
	free(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)setenv("PATH", old_path, 1);
	free(old_path);
	str_release(&rungs);
	return remove_scratch(state);
}

static void note(void *arg KB_UNUSED, const struct machine_rung *rung)
{
	assert_true(rung->took_ns >= 0 && rung->began_ns > 0 && rung->limit_ns > 0);
	str_addf(&rungs, "%s%s %s", rungs.len ? ", " : "", rung->kind, rung->found);
}

static const char *const turn_argv[] = {"turn", NULL}, *const no_argv[] = {NULL};

/* Brings it back: what runs at first, and after every turn. */
static int recover(
	const char *runs, const char *next, const char *const *power, int turns, struct err *err)
{
	const struct machine_spec spec = {.name = "box",
		.ssh = {.to = "root@box"},
		.power_cycle = power,
		.power_wait_ns = 300 * NS_PER_MS,
		.power_limit = 4,
		.boot_timeout_ns = boot_timeout_ns,
		.workdir = "/x"};
	const struct machine_env env = {.rung = note};
	const struct ssh_spec to = {.destination = "root@box", .socket_dir = scratch};
	struct lab lab = {.turns = turns};
	struct machine machine = {.spec = &spec, .env = &env, .ops = &machine_ssh, .state = &lab};
	int ret;

	put_text("runs", runs);
	put_text("next", next);
	assert_int_equal(ssh_open(&to, &lab.ssh, err), 0);
	ret = lab_recover(&machine, err);
	ssh_close(lab.ssh);
	return ret;
}

static void assert_turns(size_t count)
{
	char *turns = get_text(in_scratch("turns"));

	assert_int_equal(strlen(turns), count * strlen("turned\n"));
	free(turns);
}

static void its_own_kernel_is_left_alone(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	assert_int_equal(recover("own", "", turn_argv, 0, &err), 0);
	assert_string_equal(str_text(&rungs), "look own");
	assert_turns(0);
}

static void one_of_ours_is_restarted(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	if (recover("ours", "own\n", turn_argv, 0, &err))
		fail_msg("%s", err.text);
	assert_string_equal(str_text(&rungs), "look ours, restart own");
	assert_turns(1);
}

static void a_silent_one_is_power_cycled(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	if (recover("dead", "own\n", turn_argv, 0, &err))
		fail_msg("%s", err.text);
	assert_string_equal(str_text(&rungs), "look nothing, wait nothing, power own");
	assert_turns(1);
}

static void a_power_command_may_fail_once(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	if (recover("dead", "fails\nown\n", turn_argv, 0, &err))
		fail_msg("%s", err.text);
	assert_string_equal(
		str_text(&rungs), "look nothing, wait nothing, power failed, power own");
	assert_int_equal(recover("dead", "fails\nfails\n", turn_argv, 0, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "the power command"));
	assert_non_null(strstr(err.text, "the BMC is busy"));
}

static void what_never_comes_back_is_given_up(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	boot_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(recover("dead", "dead\ndead\nown\n", turn_argv, 0, &err), ERR_INFRA);
	boot_timeout_ns = 120 * NS_PER_S;
	assert_non_null(strstr(err.text, "does not come back after 2 power cycles"));
	assert_turns(2);
	assert_int_equal(recover("ours", "ours\nours\nours\nown\n", turn_argv, 0, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "its default boot entry is not its own kernel"));
	assert_int_equal(recover("dead", "", no_argv, 0, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "no power: {cycle: ...} command"));
}

/* Nothing is gained by turning a machine off that another one answers for. */
static void another_host_is_left_alone(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	assert_int_equal(recover("refused", "own\n", turn_argv, 0, &err), ERR_INFRA);
	assert_string_equal(str_text(&rungs), "look failed");
	assert_non_null(strstr(err.text, "another key"));
	assert_turns(0);
}

static void turning_has_an_end(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	assert_int_equal(recover("ours", "own\n", turn_argv, 4, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "restarted or power-cycled 4 times"));
	assert_turns(0);
	boot_timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(recover("dead", "dead\nown\n", turn_argv, 3, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "restarted or power-cycled 4 times"));
	assert_turns(1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(its_own_kernel_is_left_alone),
		TEST(one_of_ours_is_restarted),
		TEST(a_silent_one_is_power_cycled),
		TEST(a_power_command_may_fail_once),
		TEST(what_never_comes_back_is_given_up),
		TEST(another_host_is_left_alone),
		TEST(turning_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
