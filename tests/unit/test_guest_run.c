/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's QEMU process: its start and every way to end, with a script in QEMU's place. */
#include "base/base.h"

#include "scratch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/num.h"
#include "backend/guest_run.h"
#include "backend/qmp.h"

/* The script's beginning: notes its arguments and finds its monitor's path. */
#define FAKE                                                       \
	"#!/bin/sh\n"                                              \
	"cd \"$(dirname \"$0\")\" && echo \"$@\" >>arguments\n"    \
	"for word; do case $word in unix:*) monitor=${word#unix:}" \
	" monitor=${monitor%%,*} ;; esac; done\n"
/* What a QEMU that works does: its monitor appears, and it stays. */
#define RUNS "echo $$ >pid; : >\"$monitor\"; exec sleep 1000\n"

static struct qemu_spec spec;

static struct guest_start fake_start(const char *script)
{
	struct guest_start start = {.spec = &spec,
		.accel = ACCEL_TCG,
		.kernel = "/k",
		.initrd = "/i",
		.cmdline = "quiet",
		.console = "/c,d",
		.disk = "/d",
		.dir = scratch,
		.deadline_ns = clock_now_ns() + 60 * NS_PER_S};

	spec = (struct qemu_spec){.cpus = 8,
		.llcs = 4,
		.memory_bytes = 1 << 30,
		.program = put_script("qemu", script)};
	return start;
}

static bool is_gone(pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		/* sys/proc has made us the heir of orphans, so that it may be ours to reap */
		(void)waitpid(pid, NULL, WNOHANG);
		if (kill(pid, 0) != 0 && errno == ESRCH)
			return true;
		clock_sleep_ns(10 * NS_PER_MS);
	}
	return false;
}

static pid_t noted_pid(void)
{
	struct str text = STR_INIT;
	int64_t pid = 0;

	for (int i = 0; i < 1000 && pid <= 0; i++) {
		if (file_read_line(in_scratch("pid"), &text, NULL) != 0 ||
			num_int(str_text(&text), 1, INT32_MAX, &pid, NULL) != 0)
			clock_sleep_ns(10 * NS_PER_MS);
	}
	str_release(&text);
	assert_true(pid > 1);
	return (pid_t)pid;
}

static void a_guest_gets_its_cpus_and_ends_when_told(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE RUNS);
	struct guest_run *run;
	struct err err = ERR_INIT;
	char *arguments;
	pid_t pid;

	if (guest_run_start(&start, &run, &err))
		fail_msg("%s", err.text);
	assert_true(guest_run_port(run) > 0);
	assert_int_equal(guest_run_check(run, &err), 0);
	arguments = get_text(in_scratch("arguments"));
	assert_non_null(strstr(arguments, "-smp 8,sockets=1,dies=4,cores=2,threads=1"));
	assert_non_null(strstr(arguments, "-m 1048576K"));
	assert_non_null(strstr(arguments, "path=/c,,d"));
	assert_non_null(strstr(arguments, "restrict=on,hostfwd=tcp:127.0.0.1:"));
	assert_non_null(strstr(arguments, "tcg"));
	assert_null(strstr(arguments, "kvm"));
	pid = noted_pid();
	guest_run_end(run);
	assert_true(is_gone(pid));
	free(arguments);
}

static void the_cpu_model_can_be_chosen(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE RUNS);
	struct guest_run *run;
	char *arguments;

	spec.cpu = "EPYC";
	start.accel = ACCEL_KVM;
	assert_int_equal(guest_run_start(&start, &run, NULL), 0);
	arguments = get_text(in_scratch("arguments"));
	assert_non_null(strstr(arguments, "-accel kvm -cpu EPYC "));
	guest_run_end(run);
	free(arguments);
}

static void an_end_at_once_is_told_in_qemus_words(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE "echo no such CPU >&2; echo more >&2; exit 3\n");
	struct guest_run *run = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(guest_run_start(&start, &run, &err), ERR_INFRA);
	assert_null(run);
	assert_non_null(strstr(err.text, "exit 3; no such CPU)"));
}

static void a_later_end_is_seen(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE ": >\"$monitor\"; sleep 0.2; exit 0\n");
	struct guest_run *run;
	struct err err = ERR_INIT;
	int ret = 0;

	assert_int_equal(guest_run_start(&start, &run, &err), 0);
	for (int i = 0; i < 1000 && ret == 0; i++) {
		ret = guest_run_check(run, &err);
		clock_sleep_ns(10 * NS_PER_MS);
	}
	assert_int_equal(ret, ERR_INFRA);
	assert_non_null(strstr(err.text, "the guest has ended"));
	guest_run_end(run);
}

static void a_qemu_that_hangs_is_ended_at_the_deadline(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE "echo $$ >pid; exec sleep 1000\n");
	struct guest_run *run = NULL;
	struct err err = ERR_INIT;

	start.deadline_ns = clock_now_ns() + NS_PER_S;
	assert_int_equal(guest_run_start(&start, &run, &err), ERR_TIMEOUT);
	assert_null(run);
	assert_true(is_gone(noted_pid()));
}

static void a_port_that_is_taken_leads_to_another(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE
		"[ \"$(wc -l <arguments)\" -ge 3 ] || { echo Could not set up host forwarding rule "
		">&2; exit 1; }\n" RUNS);
	struct guest_run *run;
	struct err err = ERR_INIT;

	if (guest_run_start(&start, &run, &err))
		fail_msg("%s", err.text);
	assert_int_equal(guest_run_check(run, &err), 0);
	guest_run_end(run);
}

static void no_port_at_all_is_told(void **state KB_UNUSED)
{
	struct guest_start start =
		fake_start(FAKE "echo Could not set up host forwarding rule >&2; exit 1\n");
	struct guest_run *run;
	struct err err = ERR_INIT;

	assert_int_equal(guest_run_start(&start, &run, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "host forwarding rule"));
}

static void a_missing_emulator_is_told(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE RUNS);
	struct guest_run *run;
	struct err err = ERR_INIT;

	spec.program = "no-such-qemu";
	assert_int_equal(guest_run_start(&start, &run, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "no-such-qemu"));
}

/* However we end, kill -9 too. */
static void a_guest_does_not_outlive_us(void **state KB_UNUSED)
{
	struct guest_start start = fake_start(FAKE RUNS);
	struct guest_run *run;
	pid_t child = fork(), guest;
	int status;

	if (child == 0) {
		if (guest_run_start(&start, &run, NULL) == 0)
			for (;;)
				pause();
		_exit(1);
	}
	guest = noted_pid();
	assert_int_equal(kill(guest, 0), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(is_gone(guest));
}

/* A monitor of ours: greets, then answers each line with the next of the answers. */
static pid_t serve_monitor(const char *path, const char *const *answers)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	memcpy(address.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	pid = fork();
	if (pid == 0) {
		int client = accept(fd, NULL, NULL);
		FILE *in = fdopen(client, "r"), *out = fdopen(dup(client), "w");
		FILE *heard = fopen(in_scratch("heard"), "w");
		char line[4096];

		(void)fprintf(out, "{\"QMP\": {}}\n");
		(void)fflush(out);
		for (; *answers && fgets(line, sizeof(line), in); answers++) {
			(void)fputs(line, heard);
			(void)fprintf(out, "%s", *answers);
			(void)fflush(out);
		}
		(void)fclose(heard);
		_exit(0);
	}
	(void)close(fd);
	return pid;
}

static void the_console_changes_its_file(void **state KB_UNUSED)
{
	static const char *const answers[] = {
		"{\"return\": {}}\n", "{\"event\": \"STOP\"}\n{\"return\": {}}\n", NULL};
	pid_t server = serve_monitor(in_scratch("m"), answers);
	struct err err = ERR_INIT;
	char *heard;

	if (qmp_change_file(in_scratch("m"), "console", "/some/\"file\"", &err))
		fail_msg("%s", err.text);
	assert_int_equal(waitpid(server, NULL, 0), server);
	heard = get_text(in_scratch("heard"));
	assert_non_null(strstr(heard, "qmp_capabilities"));
	assert_non_null(strstr(heard, "chardev-change"));
	assert_non_null(strstr(heard, "/some/\\\"file\\\""));
	free(heard);
}

static void what_the_monitor_refuses_is_told(void **state KB_UNUSED)
{
	static const char *const refused[] = {
		"{\"return\": {}}\n", "{\"error\": {\"desc\": \"no such file\"}}\n", NULL};
	static const char *const broken[] = {"what?\n", NULL}, *const gone[] = {NULL};
	struct {
		const char *const *answers;
		const char *text;
	} cases[] = {{refused, "no such file"}, {broken, ""}, {gone, ""}};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t server = serve_monitor(in_scratch("m"), cases[i].answers);

		assert_true(qmp_change_file(in_scratch("m"), "console", "/f", &err) < 0);
		assert_non_null(strstr(err.text, cases[i].text));
		assert_int_equal(waitpid(server, NULL, 0), server);
		assert_int_equal(unlink(in_scratch("m")), 0);
	}
	assert_int_equal(qmp_change_file(in_scratch("m"), "console", "/f", &err), ERR_INFRA);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_gets_its_cpus_and_ends_when_told),
		TEST(the_cpu_model_can_be_chosen),
		TEST(an_end_at_once_is_told_in_qemus_words),
		TEST(a_later_end_is_seen),
		TEST(a_qemu_that_hangs_is_ended_at_the_deadline),
		TEST(a_port_that_is_taken_leads_to_another),
		TEST(no_port_at_all_is_told),
		TEST(a_missing_emulator_is_told),
		TEST(a_guest_does_not_outlive_us),
		TEST(the_console_changes_its_file),
		TEST(what_the_monitor_refuses_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
