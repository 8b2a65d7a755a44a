/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket-agent run: what the program gets, and how its end is told. */
#include "base/base.h"

#include "agent_run.h"

static void a_run_gives_everything_in_one_reply(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "echo to stdout; echo to stderr >&2; exit 3",
		", \"id\": \"run 17\", \"settle_ns\": 1000000");
	char *out = part_text(&a, "stdout"), *err_out = part_text(&a, "stderr");
	const json_t *before = json_object_get(a.result, "before");
	const json_t *after = json_object_get(a.result, "after");

	assert_string_equal(result_text(&a, "state"), "ended");
	assert_string_equal(result_text(&a, "id"), "run 17");
	assert_true(json_is_null(json_object_get(a.result, "error")));
	assert_string_equal(out, "to stdout\n");
	assert_string_equal(err_out, "to stderr\n");
	assert_int_equal(result_int(&a, "exit_code"), 3);
	assert_int_equal(result_int(&a, "signal"), -1);
	assert_false(result_true(&a, "timed_out"));
	assert_false(result_true(&a, "output_limit"));
	assert_true(result_int(&a, "wall_ns") > 0);
	assert_true(result_int(&a, "max_rss_bytes") > 0);
	assert_true(result_int(&a, "ended_wall_ns") > result_int(&a, "started_wall_ns"));
	assert_true(json_integer_value(json_object_get(after, "context_switches")) >
		    json_integer_value(json_object_get(before, "context_switches")));
	assert_non_null(wire_find(&a.reply, "dmesg"));
	free(out);
	free(err_out);
	answer_release(&a);
}

static void the_program_gets_a_clean_world(void **state KB_UNUSED)
{
	struct answer a = run_script("r",
		"echo $LC_ALL $A; ls /proc/self/fd | wc -l; pwd; readlink data; ls -a | wc -l;"
		"[ $(ps -o sid= -p $$) = $$ ] && echo leads its session;"
		"grep -h -e SigIgn -e SigBlk /proc/self/status | cut -f 2 | sort -u; read x || "
		"echo end",
		", \"env\": [\"A=b c\"], \"links\": {\"data\": \"/proc/self/status\"}");
	char *dir = in_folder("r"), *out = part_text(&a, "stdout");
	char *expect = xasprintf("C b c\n4\n%s/work\n/proc/self/status\n3\nleads its session\n"
				 "0000000000000000\nend\n",
		dir);

	assert_string_equal(out, expect);
	free(expect);
	free(out);
	free(dir);
	answer_release(&a);
}

/* ssh, a shell or nohup may have left these ignored. */
static int ignore_signals(void *arg KB_UNUSED)
{
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	return 0;
}

static void ignored_signals_are_reset(void **state KB_UNUSED)
{
	char *spec = shell_spec("grep SigIgn /proc/self/status; exit 5", NS_PER_S * 60, 1000, "");
	char *path = agent_path(), *dir = in_folder("r"), *out;
	const char *argv[] = {path, "run", "--spec-on-stdin", dir, NULL};
	struct answer a = {.end = PROC_RESULT_INIT};
	struct err err = ERR_INIT;

	assert_int_equal(proc_run(&(struct proc_spec){.argv = argv,
					  .input = spec,
					  .input_len = strlen(spec),
					  .in_child = ignore_signals},
				 &a.end, &err),
		0);
	answer_release(&a);
	a = CALL(NULL, "collect", dir);
	out = part_text(&a, "stdout");
	assert_string_equal(out, "SigIgn:\t0000000000000000\n");
	assert_int_equal(result_int(&a, "exit_code"), 5);
	free(out);
	free(spec);
	free(path);
	free(dir);
	answer_release(&a);
}

static void the_end_by_a_signal_is_told(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "kill -SEGV $$", "");

	assert_int_equal(result_int(&a, "signal"), SIGSEGV);
	assert_int_equal(result_int(&a, "exit_code"), -1);
	answer_release(&a);
}

/* The folder holds everything that is not executable in three ways. */
static void a_program_that_cannot_start_is_told(void **state KB_UNUSED)
{
	static const char bad_script[] = "#!/no/such/interpreter\n";
	char *script = in_folder("script"), *plain = in_folder("plain");
	char *words = in_folder("words");
	const struct {
		const char *program, *more, *why;
	} cases[] = {
		{"no-such-program", "", "there is no program \"no-such-program\" in the PATH"},
		{"/no/such/program", "", "/no/such/program cannot be executed: No such file"},
		{script, "", "the interpreter or loader that it asks for is not there"},
		{words, "", "neither a program for this machine nor a script that begins with"},
		{"/tmp", "", "/tmp cannot be executed: Permission denied"},
		{plain, "", "cannot be executed: Permission denied"},
		{"true", ", \"cwd\": \"/no/such/folder\"", "no folder /no/such/folder to run in"},
		{"true", ", \"links\": {\"a\": \"/no/such/file\"}", "there is no /no/such/file"},
	};
	struct err err = ERR_INIT;

	assert_int_equal(file_write_atomic(script, bad_script, strlen(bad_script), 0755, &err), 0);
	assert_int_equal(file_write_atomic(plain, "x", 1, 0644, &err), 0);
	assert_int_equal(file_write_atomic(words, "echo x\n", 7, 0755, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *spec = xasprintf("{\"argv\": [\"%s\"], \"timeout_ns\": 1000000000, "
				       "\"output_bytes\": 1000%s}",
			cases[i].program, cases[i].more);
		char *name = xasprintf("r%zu", i), *dir = in_folder(name);
		struct answer a = CALL(spec, "run", "--spec-on-stdin", dir);

		assert_string_equal(result_text(&a, "state"), "not-started");
		assert_non_null(strstr(result_text(&a, "error"), cases[i].why));
		free(spec);
		free(name);
		free(dir);
		answer_release(&a);
	}
	free(script);
	free(words);
	free(plain);
}

static void wrong_specs_start_nothing(void **state KB_UNUSED)
{
	static const struct {
		const char *spec, *why;
	} cases[] = {
		{"", "no JSON"},
		{"[]", "no object"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1}", "output_bytes is missing"},
		{"{\"argv\": [], \"timeout_ns\": 1, \"output_bytes\": 1}", "argv must be a list"},
		{"{\"argv\": [1], \"timeout_ns\": 1, \"output_bytes\": 1}", "argv: item 1"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 0, \"output_bytes\": 1}",
			"timeout_ns must"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1.5, \"output_bytes\": 1}",
			"timeout_ns must"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1, \"output_bytes\": 1, \"timeot_ns\": 1}",
			"unknown member \"timeot_ns\""},
		{"{\"argv\": [\"true\"], \"argv\": [\"true\"]}", "duplicate"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1, \"output_bytes\": 1, \"env\": [\"A\"]}",
			"env: item 1"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1, \"output_bytes\": 1, \"cwd\": \"x\"}",
			"cwd must be an absolute path"},
		{"{\"argv\": [\"true\"], \"timeout_ns\": 1, \"output_bytes\": 1, "
		 "\"links\": {\"../x\": \"/etc\"}}",
			"is not a file name"},
		{"{\"argv\": [\"a\\u0000b\"], \"timeout_ns\": 1, \"output_bytes\": 1}", "no JSON"},
	};
	char *dir = in_folder("r");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answer a = CALL(cases[i].spec, "run", "--spec-on-stdin", dir);

		assert_int_equal(a.end.exit_code, 2);
		assert_int_equal(a.end.out.len, 0);
		assert_non_null(strstr(str_text(&a.end.err_out), cases[i].why));
		answer_release(&a);
	}
	assert_false(file_exists(dir));
	free(dir);
}

static void folders_that_others_can_write_to_are_refused(void **state KB_UNUSED)
{
	char *dir = in_folder("r"), *spec = shell_spec("true", NS_PER_S, 1000, "");
	struct answer a;

	assert_int_equal(chmod(folder, 0777), 0);
	a = CALL(spec, "run", "--spec-on-stdin", dir);
	assert_int_equal(a.end.exit_code, 1);
	assert_non_null(strstr(str_text(&a.end.err_out), "0700"));
	answer_release(&a);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(symlink("/tmp", dir), 0);
	a = CALL(spec, "run", "--spec-on-stdin", dir);
	assert_int_equal(a.end.exit_code, 1);
	answer_release(&a);
	a = CALL(spec, "run", "--spec-on-stdin", "relative");
	assert_int_equal(a.end.exit_code, 2);
	answer_release(&a);
	free(spec);
	free(dir);
}

static void the_program_starts_in_a_new_second(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "true", ", \"on_second\": true");
	const json_t *before = json_object_get(a.result, "before");
	int64_t looked_ns = json_integer_value(json_object_get(before, "realtime_ns"));

	assert_true(looked_ns / NS_PER_S < result_int(&a, "started_wall_ns") / NS_PER_S);
	answer_release(&a);
}

/* One wait, whatever the program does: its many exits and writes do not wake us. */
static void the_agent_sleeps_while_the_program_runs(void **state KB_UNUSED)
{
	struct answer a = run_script("r",
		"i=0; while [ $i -lt 200 ]; do (echo $i; echo $i >&2) & i=$((i + 1)); done; wait",
		"");

	/* The wait itself is one; a busy machine may preempt us before it. 400 would be polling. */
	assert_in_range(result_int(&a, "agent_switches"), 1, 10);
	answer_release(&a);
}

static void kernel_messages_are_kept(void **state KB_UNUSED)
{
	struct answer a;
	char *dmesg;
	json_t *kmsg;

	if (access("/dev/kmsg", W_OK) != 0)
		skip();
	a = run_script("r", "echo '<4>kbracket: a test of the harness' > /dev/kmsg", "");
	kmsg = json_object_get(a.result, "kmsg");
	assert_true(json_integer_value(json_object_get(kmsg, "warnings")) >= 1);
	assert_true(json_integer_value(json_object_get(kmsg, "next")) > 0);
	assert_true(json_integer_value(json_object_get(kmsg, "worst_level")) <= 4);
	dmesg = part_text(&a, "dmesg");
	assert_non_null(strstr(dmesg, "kbracket: a test of the harness\n"));
	free(dmesg);
	answer_release(&a);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
	const struct CMUnitTest tests[] = {
		T(a_run_gives_everything_in_one_reply),
		T(the_program_gets_a_clean_world),
		T(ignored_signals_are_reset),
		T(the_end_by_a_signal_is_told),
		T(a_program_that_cannot_start_is_told),
		T(wrong_specs_start_nothing),
		T(folders_that_others_can_write_to_are_refused),
		T(the_program_starts_in_a_new_second),
		T(the_agent_sleeps_while_the_program_runs),
		T(kernel_messages_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
