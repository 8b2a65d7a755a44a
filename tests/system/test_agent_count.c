/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket-agent run, made for counting: with the real perf, and with a tracefs that is a folder.
 */
#include "base/base.h"

#include "agent_run.h"

#define WITH(perf, events) ", \"perf\": \"" perf "\", \"events\": [" events "]"

static char *perf_members(const char *events, const char *more)
{
	char *perf = proc_find_program("perf"), *members;

	if (!perf)
		skip();
	members = xasprintf(", \"perf\": \"%s\", \"events\": [%s]%s", perf, events, more);
	free(perf);
	return members;
}

static struct answer run_counted(const char *script, const char *events, const char *more)
{
	char *members = perf_members(events, more);
	struct answer answer = run_script("r", script, members);

	free(members);
	return answer;
}

/* What the agent counted: a reply within the reply. */
static void inner_reply(const struct answer *answer, struct wire_reply *out)
{
	const struct wire_part *part = wire_find(&answer->reply, "counters");
	struct err err = ERR_INIT;

	assert_non_null(part);
	assert_int_equal(wire_parse(part->bytes, part->len, out, &err), 0);
	assert_int_equal(result_int(answer, "counters_bytes"), part->len);
}

static char *inner_text(const struct answer *answer, const char *name)
{
	const struct wire_part *part;
	struct wire_reply inner;

	inner_reply(answer, &inner);
	part = wire_find(&inner, name);
	if (!part)
		fail_msg("there is no part %s", name);
	return xstrndup(part->bytes, part->len);
}

/* The number that stands before ";;EVENT;". */
static int64_t count_in(const char *csv, const char *event)
{
	char *wanted = xasprintf(";;%s;", event);
	const char *at = strstr(csv, wanted), *start = at;
	int64_t value = -1;

	if (!at)
		fail_msg("there is no %s in: %s", event, csv);
	while (start > csv && start[-1] >= '0' && start[-1] <= '9')
		start--;
	if (start < at)
		value = strtoll(start, NULL, 10);
	free(wanted);
	return value;
}

/* Fifty short processes, each of which faults its pages in. */
static const char forks[] = "for i in 0 1 2 3 4; do for k in 0 1 2 3 4 5 6 7 8 9; do /bin/true; "
			    "done; done; echo done";

static int64_t faults(const char *more)
{
	struct answer a =
		run_counted(forks, "\"page-faults\", \"context-switches,task-clock\"", more);
	char *csv = inner_text(&a, "perf"), *out = part_text(&a, "stdout");
	int64_t count = count_in(csv, "page-faults");
	char *dir = in_folder("r");
	struct err err = ERR_INIT;

	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_string_equal(out, "done\n");
	assert_true(count_in(csv, "context-switches") >= 0);
	assert_non_null(strstr(csv, ";msec;task-clock;"));
	assert_int_equal(file_remove_tree(dir, &err), 0);
	free(dir);
	free(csv);
	free(out);
	answer_release(&a);
	return count;
}

static void the_whole_program_or_its_main_thread_is_counted(void **state KB_UNUSED)
{
	int64_t all = faults(""), main_thread = faults(", \"main_thread\": true");

	assert_true(main_thread > 0);
	assert_true(all > 2 * main_thread);
}

/* perf stat that starts a program itself would say 0. */
static void how_the_program_ended_is_not_lost(void **state KB_UNUSED)
{
	struct answer a = run_counted("kill -9 $$", "\"task-clock\"", "");
	char *csv = inner_text(&a, "perf");

	assert_int_equal(result_int(&a, "signal"), SIGKILL);
	assert_int_equal(result_int(&a, "killed"), 0);
	assert_non_null(strstr(csv, ";msec;task-clock;"));
	free(csv);
	answer_release(&a);
	a = run_script("s", "exit 3", "");
	assert_null(wire_find(&a.reply, "counters"));
	answer_release(&a);
}

static void a_timeout_ends_both(void **state KB_UNUSED)
{
	char *members = perf_members("\"task-clock\"", "");
	char *spec = shell_spec("sleep 60", NS_PER_S / 2, 1000, members), *dir = in_folder("r");
	struct answer a = CALL(spec, "run", "--spec-on-stdin", dir);
	char *csv = inner_text(&a, "perf");

	assert_true(result_true(&a, "timed_out"));
	assert_int_equal(result_int(&a, "survivors"), 0);
	assert_non_null(strstr(csv, "task-clock"));
	free(csv);
	free(spec);
	free(dir);
	free(members);
	answer_release(&a);
}

/* A wrapper that hangs, floods, or leaves children, in perf's place. */
static void a_perf_that_is_none_does_no_harm(void **state KB_UNUSED)
{
	static const char script[] = "#!/bin/sh\necho no counters today >&2\n"
				     "echo $$ >>PIDS; sleep 1000 & echo $! >>PIDS\n"
				     "setsid sh -c 'echo $$ >>PIDS; exec sleep 1000' &\n"
				     "while ! test $(wc -l <PIDS) -ge 3; do sleep 0.01; done\n"
				     "yes >&2\n";
	char *path = in_folder("perf"), *pids = in_folder("pids"), *more, *text, *rest;
	struct str full = STR_INIT;
	struct err err = ERR_INIT;
	struct answer a;

	for (const char *at = script; *at; at++)
		if (str_starts(at, "PIDS")) {
			str_add(&full, pids);
			at += 3;
		} else {
			str_add_char(&full, *at);
		}
	assert_int_equal(file_write_atomic(path, str_text(&full), full.len, 0755, &err), 0);
	more = xasprintf(", \"perf\": \"%s\", \"events\": [\"task-clock\"]", path);
	a = run_script("r", "echo never", more);
	assert_string_equal(result_text(&a, "state"), "not-started");
	assert_string_equal(result_text(&a, "error"), "perf cannot count: no counters today");
	text = file_text(pids);
	assert_gone(text);
	rest = in_folder("r/perf-log");
	assert_true(file_size(rest) <= 1 << 20);
	free(rest);
	free(text);
	free(more);
	free(path);
	free(pids);
	str_release(&full);
	answer_release(&a);
}

/* As with kernel.perf_event_paranoid. */
static void what_perf_complains_of_is_told(void **state KB_UNUSED)
{
	static const char script[] = "#!/bin/sh\nprintf 'Error:\\nIt is limited.\\nMore.\\n' >&2\n"
				     "exit 255\n";
	char *path = in_folder("perf"), *more;
	struct err err = ERR_INIT;
	struct answer a;

	assert_int_equal(file_write_atomic(path, script, strlen(script), 0755, &err), 0);
	more = xasprintf(", \"perf\": \"%s\", \"events\": [\"task-clock\"]", path);
	a = run_script("r", "echo never", more);
	assert_string_equal(result_text(&a, "error"), "perf cannot count: It is limited.");
	free(more);
	free(path);
	answer_release(&a);
}

/* The number behind NAME in the text of a /proc/stat. */
static int64_t counted(const char *stat, const char *name)
{
	const char *at = strstr(stat, name);

	assert_non_null(at);
	return strtoll(at + strlen(name), NULL, 10);
}

/* A sleep switches contexts however idle the machine; some machines take no interrupt for it. */
static void what_the_kernel_counts_is_read_twice(void **state KB_UNUSED)
{
	struct answer a = run_counted("sleep 0.1", "\"task-clock\"", "");
	char *before = inner_text(&a, "stat-before"), *after = inner_text(&a, "stat-after");

	assert_true(counted(after, "\nctxt ") > counted(before, "\nctxt "));
	assert_true(counted(after, "\nintr ") >= counted(before, "\nintr "));
	free(before);
	free(after);
	after = inner_text(&a, "interrupts-after");
	assert_non_null(strstr(after, "CPU0"));
	free(after);
	answer_release(&a);
}

static void a_refusal_of_perf_is_told_in_its_words(void **state KB_UNUSED)
{
	struct answer a = run_counted("touch started", "\"no-such-event\"", "");
	char *started = in_folder("r/work/started");

	assert_string_equal(result_text(&a, "state"), "not-started");
	assert_non_null(strstr(result_text(&a, "error"), "perf cannot count: "));
	assert_non_null(strstr(result_text(&a, "error"), "no-such-event"));
	assert_false(file_exists(started));
	answer_release(&a);
	a = run_script("s", "true", WITH("/no/such/perf", "\"task-clock\""));
	assert_string_equal(result_text(&a, "state"), "not-started");
	assert_non_null(strstr(result_text(&a, "error"), "/no/such/perf cannot be executed"));
	answer_release(&a);
	a = run_script("t", "true", ", \"events\": [\"task-clock\"]");
	assert_int_not_equal(a.end.exit_code, 0);
	assert_non_null(strstr(str_text(&a.end.err_out), "events need perf"));
	answer_release(&a);
	free(started);
}

/* --- a tracefs that is a folder: what is written stays in ordinary files --- */

static void put(const char *name, const char *text)
{
	char *path = xasprintf("%s/root/sys/kernel/tracing/%s", folder, name);
	char *dir = path_dir(path);
	struct err err = ERR_INIT;

	assert_int_equal(file_mkdirs(dir, 0755, &err), 0);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, &err), 0);
	free(dir);
	free(path);
}

static char *get(const char *name)
{
	char *path = xasprintf("%s/root/sys/kernel/tracing/%s", folder, name);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_read(path, 1 << 16, &text, &err), 0);
	free(path);
	return str_take(&text);
}

static struct answer run_traced(const char *script)
{
	char *spec = shell_spec(script, 60 * NS_PER_S, 1000,
		", \"functions\": [\"schedule\", \"available_idle_cpu\"]");
	char *dir = in_folder("r"), *root = in_folder("root");
	struct answer a = CALL(spec, "--root", root, "run", "--spec-on-stdin", dir);

	free(spec);
	free(dir);
	free(root);
	return a;
}

static void must_hold(const char *name, const char *text)
{
	char *seen = get(name);

	assert_string_equal(seen, text);
	free(seen);
}

static void the_profiler_is_on_for_the_run_only(void **state KB_UNUSED)
{
	struct answer a;
	char *script, *out, *report;

	put("trace", "");
	put("current_tracer", "nop\n");
	put("set_ftrace_filter", "#### all functions enabled ####\n");
	put("function_profile_enabled", "0\n");
	put("trace_stat/function0", "  schedule   5   1 us\n");
	put("trace_stat/function1", "  schedule   7   1 us\n");
	script = xasprintf("cd %s/root/sys/kernel/tracing; cat set_ftrace_filter; head -c 1 "
			   "function_profile_enabled",
		folder);
	a = run_traced(script);
	out = part_text(&a, "stdout");
	report = inner_text(&a, "functions");
	assert_string_equal(out, "schedule\navailable_idle_cpu\n1");
	assert_string_equal(report, "by profile\n@ trace_stat/function0\n  schedule   5   1 us\n"
				    "@ trace_stat/function1\n  schedule   7   1 us\n");
	must_hold("set_ftrace_filter", "");
	must_hold("function_profile_enabled", "0\n");
	free(out);
	free(script);
	free(report);
	answer_release(&a);
}

static void a_tracer_that_others_use_is_left_alone(void **state KB_UNUSED)
{
	struct answer a;
	char *report;

	put("trace", "");
	put("current_tracer", "function\n");
	put("set_ftrace_filter", "theirs\n");
	put("function_profile_enabled", "0\n");
	a = run_traced("true");
	report = inner_text(&a, "functions");
	assert_string_equal(result_text(&a, "state"), "ended");
	assert_string_equal(report, "by none\n!! ftrace is used by something else on this "
				    "machine\n");
	must_hold("set_ftrace_filter", "theirs\n");
	free(report);
	answer_release(&a);
}

static void a_kernel_without_a_tracer_is_no_failure(void **state KB_UNUSED)
{
	struct answer a = run_traced("echo fine");
	char *report = inner_text(&a, "functions"), *out = part_text(&a, "stdout");

	assert_string_equal(out, "fine\n");
	assert_non_null(strstr(report, "by none\n!! there is no tracefs"));
	free(out);
	free(report);
	answer_release(&a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_whole_program_or_its_main_thread_is_counted),
		TEST(how_the_program_ended_is_not_lost),
		TEST(a_timeout_ends_both),
		TEST(a_perf_that_is_none_does_no_harm),
		TEST(what_perf_complains_of_is_told),
		TEST(what_the_kernel_counts_is_read_twice),
		TEST(a_refusal_of_perf_is_told_in_its_words),
		TEST(the_profiler_is_on_for_the_run_only),
		TEST(a_tracer_that_others_use_is_left_alone),
		TEST(a_kernel_without_a_tracer_is_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
