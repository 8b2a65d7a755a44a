/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket-agent run: set-up, server and tear-down around the program. The servers are shells. */
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "agent_run.h"

#define SH(script) "[\"sh\", \"-c\", \"" script "\"]"

/* A server that says so in a file, and never ends by itself. */
#define SERVER "\"server\": " SH("echo serving; touch up; while :; do sleep 0.05; done")
#define READY "\"ready\": " SH("test -e up")

static void all_of_it_surrounds_the_program(void **state KB_UNUSED)
{
	char *log = in_folder("log"), *dir = in_folder("r"), *out, *around;
	char *more =
		xasprintf(", \"setup\": [" SH("echo setting; echo data > input") ", " SH(
				  "cat input >> %s") "], " SERVER ", " READY
						     ", \"teardown\": [" SH("cat up input >> "
									    "%s; echo over") "]",
			log, log);
	struct answer a = run_script("r", "cat input; test -e up", more);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	out = part_text(&a, "stdout");
	around = part_text(&a, "around");
	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_true(json_is_null(json_object_get(a.result, "error")));
	assert_null(json_object_get(a.result, "around_error"));
	assert_string_equal(out, "data\n");
	assert_string_equal(around, "setting\nserving\nover\n");
	assert_int_equal(file_read(log, 1000, &text, &err), 0);
	assert_string_equal(str_text(&text), "data\ndata\n");
	str_release(&text);
	free(out);
	free(around);
	free(more);
	free(log);
	free(dir);
	answer_release(&a);
}

/* What a server started in another session goes with it. */
static void nothing_of_a_server_is_left(void **state KB_UNUSED)
{
	char *alive = in_folder("alive"), *more;
	struct answer a;
	int64_t size;

	more = xasprintf(", \"server\": " SH("setsid sh -c 'while :; do echo >> %s; sleep 0.01; "
					     "done' & touch up; trap : TERM; while :; do sleep "
					     "0.05; done") ", " READY,
		alive);
	a = run_script("s", "while ! test -s ../../alive; do sleep 0.01; done", more);
	assert_string_equal(result_text(&a, "state"), "ended");
	size = file_size(alive);
	clock_sleep_ns(200 * NS_PER_MS);
	assert_int_equal(file_size(alive), size);
	free(alive);
	free(more);
	answer_release(&a);
}

static void what_fails_around_is_the_reason(void **state KB_UNUSED)
{
	static const struct {
		const char *more, *error;
	} cases[] = {
		{", \"setup\": [" SH("echo no room; exit 4") ", " SH("touch $KB_MARK") "]",
			"the set-up command \"sh\" ended with exit 4 (no room)"},
		{", \"setup\": [" SH("kill -9 $$") "]",
			"the set-up command \"sh\" was ended by signal 9"},
		{", \"setup\": [[\"sleep\", \"60\"]], \"step_ns\": 50000000",
			"the set-up command \"sleep\" took too long and was killed"},
		{", \"setup\": [[\"no-such-program\"]]",
			"there is no program \"no-such-program\" in the PATH"},
		{", \"server\": " SH("echo no licence; exit 3") ", \"ready\": [\"false\"]",
			"the server ended with exit 3 (no licence)"},
		{", " SERVER ", \"ready\": [\"false\"], \"step_ns\": 2000000000",
			"the server was not ready in time: the readiness command \"false\" "
			"ended with exit 1 (serving)"},
		{", \"server\": [\"sleep\", \"60\"], \"ready\": [\"sleep\", \"60\"], "
		 "\"step_ns\": 200000000",
			"the server was not ready in time: the readiness command \"sleep\" took "
			"too long and was killed"},
		/* known at once, so that nobody waits */
		{", " SERVER ", \"ready\": [\"no-such-program\"], \"step_ns\": 3600000000000",
			"there is no program \"no-such-program\" in the PATH"},
		{", \"server\": [\"/tmp\"], \"ready\": [\"true\"]",
			"the server cannot be executed: Permission denied"},
		{", \"setup\": [[\"/tmp\"]]",
			"the set-up command \"/tmp\" cannot be executed: Permission denied"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *mark = in_folder("mark"), *over = in_folder("over"), *more, name[] = "ra";
		struct answer a;

		name[1] = (char)('a' + i);
		more = xasprintf("%s, \"env\": [\"KB_MARK=%s\"], \"teardown\": [[\"touch\", "
				 "\"%s%zu\"]]",
			cases[i].more, mark, over, i);
		a = run_script(name, "touch $KB_MARK", more);
		assert_string_equal(result_text(&a, "state"), "not-started");
		assert_string_equal(result_text(&a, "error"), cases[i].error);
		assert_false(file_exists(mark));
		free(over);
		over = xasprintf("%s/over%zu", folder, i);
		assert_true(file_exists(over));
		free(mark);
		free(over);
		free(more);
		answer_release(&a);
	}
}

/* The program has room for what it prints all the same. */
static void what_a_server_prints_is_not_the_programs(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "echo done",
		", \"server\": " SH(
			"head -c 9000000 /dev/zero; touch up; exec sleep 60") ", " READY);
	char *out = part_text(&a, "stdout");

	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_null(json_object_get(a.result, "around_error"));
	assert_false(result_true(&a, "output_limit"));
	assert_int_equal(result_int(&a, "around_bytes"), 256 << 10);
	assert_string_equal(out, "done\n");
	free(out);
	answer_release(&a);
}

static void a_server_that_ends_early_is_told(void **state KB_UNUSED)
{
	struct answer a = run_script("r", "touch stop; sleep 0.5",
		", \"server\": " SH(
			"while ! test -e stop; do sleep 0.01; done; echo lost; exit 7"));

	assert_string_equal(result_text(&a, "state"), "ended");
	assert_int_equal(result_int(&a, "exit_code"), 0);
	assert_string_equal(result_text(&a, "around_error"), "the server ended with exit 7 (lost)");
	answer_release(&a);
	a = run_script("s", "true", ", \"teardown\": [[\"false\"], [\"touch\", \"x\"]]");
	assert_string_equal(result_text(&a, "around_error"),
		"the tear-down command \"false\" ended with exit 1");
	answer_release(&a);
}

static void a_port_that_is_taken_is_no_server(void **state KB_UNUSED)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);
	struct answer a;
	char *more;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	more = xasprintf(
		", " SERVER ", \"ready_port\": %d, \"step_ns\": 200000000", ntohs(at.sin_port));
	a = run_script("r", "true", more);
	assert_string_equal(result_text(&a, "error"), "the server was not ready in time (serving)");
	answer_release(&a);
	assert_int_equal(listen(fd, 1), 0);
	a = run_script("s", "true", more);
	assert_non_null(strstr(result_text(&a, "error"), "something else answers on port"));
	answer_release(&a);
	free(more);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
	const struct CMUnitTest tests[] = {
		T(all_of_it_surrounds_the_program),
		T(nothing_of_a_server_is_left),
		T(what_fails_around_is_the_reason),
		T(what_a_server_prints_is_not_the_programs),
		T(a_server_that_ends_early_is_told),
		T(a_port_that_is_taken_is_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
