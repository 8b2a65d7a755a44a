/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket-agent: runs that do not end by themselves, or whose agent or connection is gone. */
#include "base/base.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <sched.h>
#include <sys/mount.h>

#include "agent_run.h"

/* A tree of processes that write their numbers to the file and stay: in the group, in the
 * background, in sessions of their own, and one that ignores SIGTERM. */
static char *family_script(const char *pids)
{
	return xasprintf("p=%s; : > $p; (echo $(exec sh -c 'echo $PPID') >> $p; exec sleep 1000) & "
			 "setsid sh -c \"echo \\$\\$ >> $p; exec sleep 1000\" & "
			 "setsid sh -c \"setsid sh -c 'echo \\$\\$ >> $p; exec sleep 1000' & "
			 "exit 0\" & "
			 "sh -c \"trap '' TERM INT HUP; echo \\$\\$ >> $p; while :; do sleep 1000; "
			 "done\" & "
			 "while [ $(wc -l < $p) -lt 4 ]; do sleep 0.01; done; "
			 "echo $$ >> $p; echo all there; ",
		pids);
}

/* With ever more time, until the family is complete before its time is over. */
static struct answer let_family_time_out(struct answer (*run)(const char *, const char *))
{
	char *pids = in_folder("pids"), *family = family_script(pids);
	char *script = xasprintf("%s exec sleep 1000", family);
	struct answer a = {.result = NULL};
	bool complete = false;

	for (int64_t patience_ns = NS_PER_S; !complete; patience_ns *= 4) {
		char *spec = shell_spec(script, patience_ns, 1000, ""), *out;
		char *name = xasprintf("family-%lld", (long long)patience_ns);
		char *dir = in_folder(name);

		answer_release(&a);
		a = run(dir, spec);
		out = part_text(&a, "stdout");
		complete = strcmp(out, "all there\n") == 0;
		free(out);
		free(dir);
		free(name);
		free(spec);
	}
	free(script);
	free(family);
	free(pids);
	return a;
}

static void assert_family_ended(const struct answer *a)
{
	char *pids = in_folder("pids"), *list = file_text(pids);

	assert_true(result_true(a, "timed_out"));
	assert_int_equal(result_int(a, "signal"), SIGKILL);
	assert_int_equal(result_int(a, "survivors"), 0);
	assert_true(result_int(a, "killed") >= 3);
	assert_gone(list);
	free(list);
	free(pids);
}

static struct answer run_as_me(const char *dir, const char *spec)
{
	return CALL(spec, "run", "--spec-on-stdin", dir);
}

static void a_timeout_ends_the_whole_family(void **state KB_UNUSED)
{
	struct answer a = let_family_time_out(run_as_me);

	assert_family_ended(&a);
	answer_release(&a);
}

static void what_a_program_leaves_behind_is_ended(void **state KB_UNUSED)
{
	char *pids = in_folder("pids"), *family = family_script(pids);
	char *script = xasprintf("%s exit 0", family), *list;
	struct answer a = run_script("r", script, "");

	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_false(result_true(&a, "timed_out"));
	assert_true(result_int(&a, "killed") >= 4);
	list = file_text(pids);
	assert_gone(list);
	free(list);
	free(script);
	free(family);
	free(pids);
	answer_release(&a);
	/* Orphans that ended by themselves are not worth telling. */
	a = run_script("r2", "(true &); (true &); sleep 0.1", "");
	assert_int_equal(result_int(&a, "killed"), 0);
	answer_release(&a);
}

/* A gigabyte of output: what is kept is the limit, and it is told. */
static void a_flood_is_bounded(void **state KB_UNUSED)
{
	static const char *const scripts[] = {
		"yes | head -c 1000000000", "yes | head -c 1000000000 >&2"};
	static const char *const streams[] = {"stdout", "stderr"};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		char *spec = shell_spec(scripts[i], 60 * NS_PER_S, 100000, "");
		char *dir = in_folder(streams[i]), *file = xasprintf("%s/%s", dir, streams[i]);
		struct answer a = CALL(spec, "run", "--spec-on-stdin", dir);

		assert_true(result_true(&a, "output_limit"));
		assert_int_equal(wire_find(&a.reply, streams[i])->len, 100000);
		assert_int_equal(file_size(file), 100000);
		free(file);
		free(dir);
		free(spec);
		answer_release(&a);
	}
}

static void output_at_the_limit_is_whole(void **state KB_UNUSED)
{
	static const char *const scripts[] = {"yes | head -c 5000", "yes | head -c 5001"};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		char *spec = shell_spec(scripts[i], 60 * NS_PER_S, 5000, "");
		char *dir = in_folder(i ? "over" : "at");
		struct answer a = CALL(spec, "run", "--spec-on-stdin", dir);

		assert_int_equal(result_true(&a, "output_limit"), i == 1);
		assert_int_equal(wire_find(&a.reply, "stdout")->len, 5000);
		free(dir);
		free(spec);
		answer_release(&a);
	}
}

/* Starts "agent run DIR" with the spec stored there, as a child of a shell, like under sshd. */
static struct proc *start_in_shell(const char *dir, const char *spec)
{
	char *spec_path = xasprintf("%s/spec.json", dir), *agent = agent_path();
	char *line = xasprintf("'%s' run '%s'; true", agent, dir);
	const char *argv[] = {"sh", "-c", line, NULL};
	struct err err = ERR_INIT;
	struct proc *proc = NULL;

	assert_int_equal(file_mkdirs(dir, 0700, &err), 0);
	assert_int_equal(file_write_atomic(spec_path, spec, strlen(spec), 0600, &err), 0);
	assert_int_equal(proc_start(&(struct proc_spec){.argv = argv}, &proc, &err), 0);
	free(line);
	free(agent);
	free(spec_path);
	return proc;
}

static void a_lost_connection_loses_nothing(void **state KB_UNUSED)
{
	char *dir = in_folder("r"), *marks = in_folder("marks"), *go = in_folder("go"), *out;
	char *script = xasprintf("echo first; echo >> %s; while ! [ -e %s ]; do sleep 0.01; done; "
				 "echo last",
		marks, go);
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000, "");
	struct proc *shell = start_in_shell(dir, spec);
	struct err err = ERR_INIT;
	struct answer a;

	wait_for_lines(marks, 1);
	proc_kill(shell, 0); /* the whole group of the shell, the waiting agent in it */
	proc_free(shell);
	a = CALL(NULL, "collect", "--no-wait", dir);
	assert_int_equal(a.end.exit_code, 4);
	answer_release(&a);
	assert_int_equal(file_write_atomic(go, "", 0, 0600, &err), 0);
	a = CALL(NULL, "collect", dir);
	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	out = part_text(&a, "stdout");
	assert_string_equal(out, "first\nlast\n");
	free(out);
	free(spec);
	free(script);
	free(go);
	free(marks);
	free(dir);
	answer_release(&a);
}

static pid_t supervisor_of(const char *dir)
{
	char *path = xasprintf("%s/started", dir), *text = file_text(path);
	long long pid = 0;

	assert_int_equal(sscanf(text, "%*s %lld", &pid), 1);
	free(path);
	free(text);
	return (pid_t)pid;
}

/* The program dies with its supervisor; nothing is run again, and nothing stays. */
static void a_killed_agent_is_a_lost_run(void **state KB_UNUSED)
{
	char *dir = in_folder("r"), *pids = in_folder("pids"), *family = family_script(pids);
	char *script = xasprintf("%s exec sleep 1000", family), *list;
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000, "");
	struct proc *shell = start_in_shell(dir, spec);
	struct answer a;

	wait_for_lines(pids, 5);
	list = file_text(pids);
	proc_kill(shell, 0); /* the agent that waits would clean up */
	assert_int_equal(kill(supervisor_of(dir), SIGKILL), 0);
	/* the program, the last in the list, at once; its family when somebody asks */
	list[strlen(list) - 1] = '\0';
	wait_until_dead(strrchr(list, '\n') + 1);
	free(list);
	for (int again = 0; again < 2; again++) {
		a = again ? CALL(NULL, "run", dir) : CALL(NULL, "collect", dir);
		assert_string_equal(result_text(&a, "state"), "lost");
		assert_non_null(strstr(result_text(&a, "error"), "killed"));
		answer_release(&a);
	}
	list = file_text(pids);
	wait_until_dead(list);
	proc_free(shell);
	free(list);
	free(spec);
	free(script);
	free(family);
	free(pids);
	free(dir);
}

/* A disk of 4 MiB in this test's own view of the machine. */
static char *small_disk(void)
{
	char *path = in_folder("disk");

	assert_int_equal(mkdir(path, 0700), 0);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", path, "tmpfs", 0, "size=4M,mode=0700") != 0) {
		free(path);
		skip();
	}
	return path;
}

static void a_full_disk_is_told_as_one(void **state KB_UNUSED)
{
	char *disk = small_disk(), *other = xasprintf("cat /dev/zero > %s/other; echo done", disk);
	struct answer a = run_script("disk/r", "cat /dev/zero > big; echo done", "");
	char *out = part_text(&a, "stdout"), *path = xasprintf("%s/other", disk);

	/* what the program wrote into its own folder goes with that */
	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_int_equal(result_int(&a, "disk_free_bytes"), 0);
	assert_string_equal(out, "done\n");
	answer_release(&a);
	a = run_script("disk/s", other, "");
	assert_int_not_equal(a.end.exit_code, 0);
	assert_non_null(strstr(str_text(&a.end.err_out), "No space left on device"));
	answer_release(&a);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(umount2(disk, MNT_DETACH), 0);
	free(path);
	free(out);
	free(other);
	free(disk);
}

static void outputs_that_a_power_loss_took_are_a_lost_run(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "echo a", "");
	char *dir = in_folder("r"), *file = in_folder("r/stdout");

	answer_release(&a);
	assert_int_equal(truncate(file, 0), 0);
	a = CALL(NULL, "collect", dir);
	assert_string_equal(result_text(&a, "state"), "lost");
	answer_release(&a);
	free(file);
	free(dir);
}

static void one_folder_is_one_run(void **state KB_UNUSED)
{
	char *dir = in_folder("r"), *count = in_folder("count"), *text;
	char *script = xasprintf("echo ran >> %s; sleep 0.2; echo $$", count);
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000, ""), *other;
	struct proc *procs[5];
	struct answer a, b;

	for (size_t i = 0; i < ARRAY_SIZE(procs); i++)
		procs[i] = start_in_shell(dir, spec);
	a = CALL(spec, "run", "--spec-on-stdin", dir);
	b = CALL(NULL, "collect", dir);
	assert_string_equal(str_text(&a.end.out), str_text(&b.end.out));
	assert_string_equal(result_text(&a, "state"), "ended");
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		while (proc_alive(procs[i], NULL))
			clock_sleep_ns(NS_PER_MS);
		proc_free(procs[i]);
	}
	text = file_text(count);
	assert_string_equal(text, "ran\n");
	answer_release(&a);
	answer_release(&b);
	other = shell_spec("echo another", 60 * NS_PER_S, 1000, "");
	a = CALL(other, "run", "--spec-on-stdin", dir);
	assert_int_equal(a.end.exit_code, 2);
	assert_non_null(strstr(str_text(&a.end.err_out), "another run"));
	answer_release(&a);
	free(other);
	free(text);
	free(spec);
	free(script);
	free(count);
	free(dir);
}

static void a_run_can_be_cancelled_and_forgotten(void **state KB_UNUSED)
{
	char *dir = in_folder("r"), *marks = in_folder("marks");
	char *script = xasprintf("echo >> %s; exec sleep 1000", marks);
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000, "");
	struct proc *shell = start_in_shell(dir, spec);
	struct answer a;

	wait_for_lines(marks, 1);
	a = CALL(NULL, "forget", dir);
	assert_int_equal(a.end.exit_code, 4);
	answer_release(&a);
	a = CALL(NULL, "cancel", dir);
	assert_true(result_true(&a, "cancelled"));
	assert_int_equal(result_int(&a, "signal"), SIGKILL);
	answer_release(&a);
	free(spec);
	spec = shell_spec("true", 60 * NS_PER_S, 1000, "");
	a = CALL(spec, "run", "--spec-on-stdin", marks, "--forget", dir, "/tmp/no-such-run");
	assert_false(file_exists(dir));
	answer_release(&a);
	a = CALL(NULL, "collect", dir);
	assert_int_equal(a.end.exit_code, 3);
	answer_release(&a);
	proc_free(shell);
	free(spec);
	free(script);
	free(marks);
	free(dir);
}

/* Everything again without rights: no cgroup, no tmpfs. */
static int become_nobody(void *arg KB_UNUSED)
{
	return setgid(65534) != 0 || setuid(65534) != 0;
}

static struct answer run_as_nobody(const char *dir, const char *spec)
{
	/* a copy: the build may lie in a folder that others may not enter */
	char *from = agent_path(), *path = in_folder("agent");
	const char *argv[] = {path, "run", "--spec-on-stdin", dir, NULL};
	struct answer a = {.end = PROC_RESULT_INIT};
	struct err err = ERR_INIT;

	assert_int_equal(file_copy(from, path, &err), 0);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(proc_run(&(struct proc_spec){.argv = argv,
					  .input = spec,
					  .input_len = strlen(spec),
					  .in_child = become_nobody},
				 &a.end, &err),
		0);
	assert_int_equal(wire_parse(str_text(&a.end.out), a.end.out.len, &a.reply, &err), 0);
	a.result = json_loadb(
		wire_find(&a.reply, "result")->bytes, wire_find(&a.reply, "result")->len, 0, NULL);
	free(path);
	free(from);
	return a;
}

static void without_rights_it_works_as_well_as_it_can(void **state KB_UNUSED)
{
	char *spec = shell_spec("yes | head -c 1000000000", 60 * NS_PER_S, 100000, "");
	char *large = shell_spec(
		"head -c 3000000 /dev/zero > file; wc -c < file", 60 * NS_PER_S, 100000, "");
	char *dir = in_folder("r"), *other = in_folder("s"), *out;
	struct answer a;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(folder, 65534, 65534), 0);
	a = run_as_nobody(dir, spec);
	assert_false(result_true(&a, "tmpfs"));
	assert_true(result_true(&a, "output_limit"));
	assert_int_equal(wire_find(&a.reply, "stdout")->len, 100000);
	answer_release(&a);
	a = run_as_nobody(other, large);
	out = part_text(&a, "stdout");
	assert_string_equal(out, "3000000\n");
	free(out);
	answer_release(&a);
	a = let_family_time_out(run_as_nobody);
	assert_false(result_true(&a, "cgroup"));
	assert_family_ended(&a);
	answer_release(&a);
	free(spec);
	free(large);
	free(other);
	free(dir);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
	const struct CMUnitTest tests[] = {
		T(a_timeout_ends_the_whole_family),
		T(what_a_program_leaves_behind_is_ended),
		T(a_flood_is_bounded),
		T(output_at_the_limit_is_whole),
		T(a_lost_connection_loses_nothing),
		T(a_killed_agent_is_a_lost_run),
		T(a_full_disk_is_told_as_one),
		T(outputs_that_a_power_loss_took_are_a_lost_run),
		T(one_folder_is_one_run),
		T(a_run_can_be_cancelled_and_forgotten),
		T(without_rights_it_works_as_well_as_it_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
