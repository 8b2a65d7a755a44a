/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "sys/proc.h"
#include "sys/sandbox.h"

static char top[64];
static struct sandbox box;

static char *at(const char *name)
{
	static char paths[16][256];
	static unsigned next;
	char *path = paths[next++ % 16];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static int set_up(void **state KB_UNUSED)
{
	strncpy(top, "/tmp/kb-sandbox-XXXXXX", sizeof(top));
	assert_non_null(mkdtemp(top));
	/* nobody but the owner may enter, as in a home folder */
	assert_int_equal(chmod(top, 0700), 0);
	assert_int_equal(file_mkdirs(at("source"), 0755, NULL), 0);
	assert_int_equal(file_write_atomic(at("source/file"), "text\n", 5, 0644, NULL), 0);
	assert_int_equal(
		sandbox_init(&box, at("source"), at("output"), at("scratch"), -1, NULL), 0);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	sandbox_release(&box);
	return file_remove_tree(top, NULL);
}

/* Runs a shell line in the sandbox; its exit code. {} in front: the three folders as $1 to $3. */
static int run(const char *line, struct str *out)
{
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {
		.in_child = sandbox_enter, .arg = &box, .timeout_ns = 60 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct err err = ERR_INIT;
	int code;

	sandbox_argv(&box, &argv);
	strv_add_many(&argv, "sh", "-c", line, "sh", sandbox_source(&box), sandbox_output(&box),
		sandbox_scratch(&box), NULL);
	spec.argv = strv_argv(&argv);
	if (proc_run(&spec, &result, &err))
		fail_msg("%s", err.text);
	code = result.exit_code;
	if (out) {
		str_reset(out);
		str_add(out, str_text(&result.out));
	}
	proc_result_release(&result);
	strv_release(&argv);
	return code;
}

static void folders_are_there(void **state KB_UNUSED)
{
	assert_int_equal(run("test \"$(cat $1/file)\" = text", NULL), 0);
	assert_int_equal(
		run("echo made >$2/x && echo made >$3/y && pwd -P | grep -q output", NULL), 0);
	assert_true(file_exists(at("output/x")));
	assert_true(file_exists(at("scratch/y")));
}

static void the_network_is_gone(void **state KB_UNUSED)
{
	struct str out = STR_INIT;

	if (box.level == SANDBOX_NONE || box.level == SANDBOX_USER)
		skip();
	/* only the loopback device, and that one is down */
	assert_int_equal(run("grep -c : /proc/self/net/dev", &out), 0);
	assert_string_equal(str_text(&out), "1\n");
	str_release(&out);
}

static void root_is_given_up(void **state KB_UNUSED)
{
	struct str out = STR_INIT;

	if (box.level < SANDBOX_USER)
		skip();
	assert_int_equal(run("id -u; id -g; id -G", &out), 0);
	assert_string_equal(str_text(&out), "65432\n65432\n65432\n");
	assert_int_not_equal(run("echo x >$1/new", NULL), 0);
	assert_int_not_equal(run("echo x >/var/kb-sandbox-test", NULL), 0);
	str_release(&out);
}

static void only_its_folders_are_seen_through(void **state KB_UNUSED)
{
	if (box.level != SANDBOX_FULL)
		skip();
	assert_int_equal(run("test ! -e "
			     "/tmp/kb-sandbox-test",
				 NULL),
		0);
	assert_int_equal(run("echo x >/tmp/kb-sandbox-test", NULL), 0);
	assert_false(file_exists("/tmp/kb-sandbox-test"));
}

/* A program that leaves its group and stays behind is ended with the sandbox. */
static void nothing_stays_behind(void **state KB_UNUSED)
{
	int64_t deadline = clock_now_ns() + 20 * NS_PER_S;
	int fd, lock;

	if (box.level == SANDBOX_NONE || box.level == SANDBOX_USER)
		skip();
	assert_int_equal(file_write_atomic(at("output/hold"), "", 0, 0666, NULL), 0);
	assert_int_equal(run("setsid sh -c 'exec 9>$0/hold; flock 9; : >$0/held; sleep 1000' $2 & "
			     "while [ ! -e $2/held ]; do sleep 0.05; done",
				 NULL),
		0);
	fd = open(at("output/hold"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	do {
		struct file_lock take = FILE_LOCK_INIT;

		lock = file_lock_take(&take, at("output/hold"), 0, NULL);
		file_lock_release(&take);
		clock_sleep_ns(20 * NS_PER_MS);
	} while (lock && clock_now_ns() < deadline);
	assert_int_equal(lock, 0);
	(void)close(fd); /* only looked at */
}

static void a_kept_descriptor_lives_inside(void **state KB_UNUSED)
{
	struct file_lock lock = FILE_LOCK_INIT;
	char line[64];

	assert_int_equal(file_lock_take(&lock, at("lock"), 0, NULL), 0);
	box.keep_fd = lock.fd;
	(void)snprintf(line, sizeof(line), "test -e /proc/self/fd/%d", lock.fd);
	assert_int_equal(run(line, NULL), 0);
	box.keep_fd = -1;
	assert_int_not_equal(run(line, NULL), 0);
	file_lock_release(&lock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(folders_are_there),
		TEST(the_network_is_gone),
		TEST(root_is_given_up),
		TEST(only_its_folders_are_seen_through),
		TEST(nothing_stays_behind),
		TEST(a_kept_descriptor_lives_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
