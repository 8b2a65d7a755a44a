/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/strv.h"

#include "agent/attach.h"
#include "agent/reap.h"

/* An emulated guest takes seconds to load perf and its libraries. */
#define READY_PATIENCE_NS (60 * NS_PER_S)
#define STOP_PATIENCE_NS (10 * NS_PER_S)

enum { CONTROL_FD = 3, ACK_FD = 4, MAX_FILE_BYTES = 1 << 20, LOOK_MS = 50 };

/* perf's ends of the two pipes, and ours. */
struct pipes {
	int control[2], ack[2];
};

static void close_pipes(struct pipes *pipes)
{
	int *const all[] = {&pipes->control[0], &pipes->control[1], &pipes->ack[0], &pipes->ack[1]};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (*all[i] >= 0)
			(void)close(*all[i]); /* only a word went through it */
}

static void make_arguments(
	const struct attach *attach, const struct run_spec *spec, pid_t program, struct strv *argv)
{
	strv_add_many(argv, spec->perf, "stat", "-x;", "-o", attach->csv_path, NULL);
	for (size_t i = 0; i < spec->events.count; i++)
		strv_add_many(argv, "-e", spec->events.items[i], NULL);
	if (spec->main_thread)
		strv_add(argv, "--no-inherit");
	strv_add_many(argv, "-D", "-1", NULL);
	strv_addf(argv, "--control=fd:%d,%d", CONTROL_FD, ACK_FD);
	strv_add(argv, "-p");
	strv_addf(argv, "%d", (int)program);
}

KB_NORETURN static void child(const struct pipes *pipes, const char *log_path,
	const char *const *argv, const char *const *env, pid_t parent)
{
	const struct rlimit file = {MAX_FILE_BYTES, MAX_FILE_BYTES};
	int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	int null_fd = open("/dev/null", O_RDONLY);
	/* out of the way of the numbers that they are to get */
	int control = fcntl(pipes->control[0], F_DUPFD_CLOEXEC, 10);
	int ack = fcntl(pipes->ack[1], F_DUPFD_CLOEXEC, 10);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || log < 0 ||
		null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
		dup2(control, CONTROL_FD) < 0 || dup2(ack, ACK_FD) < 0 ||
		setrlimit(RLIMIT_FSIZE, &file) != 0)
		_exit(127);
	for (int fd = ACK_FD + 1; fd < 1024; fd++)
		(void)close(fd); /* most are not open */
	signals_reset();
	execve(argv[0], (char *const *)argv, (char *const *)env);
	dprintf(2, "%s cannot be executed: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* "enable" is answered when all events are open and count: 1, or 0 when perf refuses, or
 * ERR_TIMEOUT. A perf that ended may have left a child that keeps its end of the pipe. */
static int enable(const struct attach *attach, const struct pipes *pipes)
{
	static const char word[] = "enable\n";
	struct pollfd answer = {.fd = pipes->ack[0], .events = POLLIN};
	int64_t deadline = clock_now_ns() + READY_PATIENCE_NS;
	char text[16];
	int ready;

	if (write(pipes->control[1], word, sizeof(word) - 1) != (ssize_t)sizeof(word) - 1)
		return 0;
	do {
		bool ended = reap_has_exited(attach->perf);

		ready = poll(&answer, 1, ended ? 0 : LOOK_MS);
		if (ended && ready == 0)
			return 0;
	} while (ready == 0 && clock_now_ns() < deadline);
	if (ready == 0)
		return ERR_TIMEOUT;
	return ready == 1 && read(answer.fd, text, sizeof(text)) > 0;
}

/* The first line that says something; a heading does not. */
static void add_log_line(const struct attach *attach, struct str *out)
{
	static const char heading[] = "Error:\n", blanks[] = " \t\r\n";
	struct str log = STR_INIT;
	const char *line;

	if (file_read(attach->log_path, MAX_FILE_BYTES, &log, NULL) == 0) {
		line = str_text(&log) + strspn(str_text(&log), blanks);
		if (str_starts(line, heading))
			line += strlen(heading) + strspn(line + strlen(heading), blanks);
		str_add_safe(out, line, strcspn(line, "\r\n"));
	}
	if (!out->len)
		str_add(out, "it said nothing");
	str_release(&log);
}

static int refuse(struct attach *attach, bool hangs, struct err *err)
{
	struct str words = STR_INIT;

	(void)kill(attach->perf, SIGKILL);
	add_log_line(attach, &words);
	(void)err_set(err, ERR_INFRA,
		hangs ? "perf does not begin to count; so far: %.300s"
		      : "perf cannot count: %.300s",
		str_text(&words));
	str_release(&words);
	return ERR_INFRA;
}

int attach_start(struct attach *attach, const struct place *place, const struct run_spec *spec,
	pid_t program, struct err *err)
{
	static const char *const env[] = {
		"LC_ALL=C", "HOME=/", "PERF_CONFIG=/dev/null", "PATH=/usr/bin:/bin", NULL};
	struct pipes pipes = {{-1, -1}, {-1, -1}};
	struct strv argv = STRV_INIT;
	pid_t parent = getpid();
	int ret = 0;

	attach->csv_path = place_path(place, "perf-stat");
	attach->log_path = place_path(place, "perf-log");
	if (pipe2(pipes.control, O_CLOEXEC) || pipe2(pipes.ack, O_CLOEXEC))
		ret = err_errno(err, ERR_INFRA, errno, "cannot make a pipe");
	make_arguments(attach, spec, program, &argv);
	attach->perf = ret ? 0 : fork();
	if (attach->perf == 0 && !ret)
		child(&pipes, attach->log_path, strv_argv(&argv), env, parent);
	if (attach->perf < 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot fork");
	if (!ret) {
		(void)close(pipes.ack[1]); /* so that perf's end is seen in the other */
		pipes.ack[1] = -1;
		ret = enable(attach, &pipes);
		ret = ret == 1 ? 0 : refuse(attach, ret == ERR_TIMEOUT, err);
	}
	close_pipes(&pipes);
	strv_release(&argv);
	return ret;
}

void attach_stop(struct attach *attach, struct str *csv, struct str *why)
{
	if (attach->perf > 0) {
		(void)kill(attach->perf, SIGINT);
		(void)reap_wait(attach->perf, clock_now_ns() + STOP_PATIENCE_NS);
		(void)kill(attach->perf, SIGKILL);
		while (waitpid(attach->perf, NULL, 0) < 0 && errno == EINTR)
			;
		if (file_read(attach->csv_path, MAX_FILE_BYTES, csv, NULL) || !csv->len)
			add_log_line(attach, why);
	}
	free(attach->csv_path);
	free(attach->log_path);
	*attach = (struct attach){0};
}
