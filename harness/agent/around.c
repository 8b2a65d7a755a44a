/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#include "agent/around.h"
#include "agent/reap.h"

#define READY_NAP_NS (50 * NS_PER_MS)
#define TERM_PATIENCE_NS (5 * NS_PER_S)

enum { CONNECT_MS = 1000 };

/* Fails with the sentence and the last line that was printed, in parentheses. */
static int fail(const struct around *around, struct err *err, const char *what, const char *how)
{
	char tail[400];
	off_t size = lseek(around->launch.out_fd, 0, SEEK_END);
	off_t most = (off_t)sizeof(tail);
	ssize_t got =
		pread(around->launch.out_fd, tail, sizeof(tail), size > most ? size - most : 0);
	struct str line = STR_INIT;
	const char *start;

	while (got > 0 && (tail[got - 1] == '\n' || tail[got - 1] == '\r'))
		got--;
	if (got > 0) {
		start = memrchr(tail, '\n', (size_t)got);
		start = start ? start + 1 : tail;
		str_add_safe(&line, start, (size_t)(tail + got - start));
	}
	(void)err_set(
		err, ERR_INFRA, line.len ? "%s %s (%.200s)" : "%s %s", what, how, str_text(&line));
	str_release(&line);
	return ERR_INFRA;
}

/* The caller releases the command, also when it cannot be started. ERR_NOT_FOUND without a program
 * of that name. */
static int start(const struct around *around, const struct strv *argv,
	struct around_command *command, struct err *err)
{
	struct launch launch = around->launch;
	pid_t pid;

	*command = (struct around_command){0, launch_find(argv->items[0], launch.env), NULL};
	launch.program = command->path;
	launch.argv = strv_argv(argv);
	if (!command->path)
		return err_set(err, ERR_NOT_FOUND, "there is no program \"%.100s\" in the PATH",
			argv->items[0]);
	command->mark = launch_mark_make();
	pid = launch_start(&launch, command->mark);
	if (pid < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot fork");
	command->pid = pid;
	return 0;
}

static void command_release(struct around_command *command)
{
	if (command->mark)
		(void)munmap(command->mark, sizeof(*command->mark));
	free(command->path);
	*command = (struct around_command){0};
}

/* How a command ended that did not end well. */
static int fail_ended(const struct around *around, const struct around_command *command, int status,
	const char *what, struct err *err)
{
	char how[64];

	if (command->mark->stage)
		return launch_failed(command->mark, what, command->path, err);
	if (WIFEXITED(status))
		(void)snprintf(how, sizeof(how), "ended with exit %d", WEXITSTATUS(status));
	else
		(void)snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
	return fail(around, err, what, how);
}

/* Until it ends or the deadline passes, when its group is killed. 0 when it ended with exit 0. */
static int run_command(struct around *around, const struct strv *argv, const char *kind,
	int64_t deadline_ns, struct err *err)
{
	char *what = xasprintf("the %s command \"%.100s\"", kind, argv->items[0]);
	struct around_command command;
	int status = 0, ret = start(around, argv, &command, err);
	enum wait_end end;

	if (ret == 0) {
		end = reap_wait(command.pid, deadline_ns);
		(void)kill(-command.pid, SIGKILL); /* what it left in its group, too */
		while (waitpid(command.pid, &status, 0) < 0 && errno == EINTR)
			;
		around->cancelled |= end == WAIT_CANCELLED;
		if (end == WAIT_CANCELLED)
			ret = fail(around, err, what, "was cancelled");
		else if (end == WAIT_DEADLINE)
			ret = fail(around, err, what, "took too long and was killed");
		else if (status)
			ret = fail_ended(around, &command, status, what, err);
	}
	command_release(&command);
	free(what);
	return ret;
}

static int run_all(struct around *around, const struct spec_commands *commands, const char *kind,
	struct err *err)
{
	struct err ignored = ERR_INIT;
	int first = 0;

	for (size_t i = 0; i < commands->count; i++) {
		int ret = run_command(around, &commands->items[i], kind,
			clock_now_ns() + around->spec->step_ns, first ? &ignored : err);

		if (ret && !first)
			first = ret;
		if (ret && commands == &around->spec->setup)
			break; /* later steps rest on earlier ones; a tear-down does what it can */
	}
	return first;
}

/* Whether something takes connections on the port of the loopback. */
static bool answers(int64_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 1;
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(error);

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		error = 0;
	else if (errno == EINPROGRESS && poll(&poll_fd, 1, CONNECT_MS) == 1 &&
		 getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = 1;
	(void)close(fd); /* only asked whether it connects */
	return error == 0;
}

int around_check_server(const struct around *around, struct err *err)
{
	pid_t pid = around->server.pid;
	siginfo_t info = {0};

	if (!pid || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		info.si_pid != pid)
		return 0;
	return fail_ended(around, &around->server,
		info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status,
		"the server", err);
}

/* One look at whether the server does its work: 0 it does, 1 not yet, and *not_yet may know more,
 * negative never. */
static int look(struct around *around, int64_t deadline_ns, struct err *not_yet, struct err *err)
{
	const struct run_spec *spec = around->spec;
	struct err why = ERR_INIT;
	int ret;

	if (around_check_server(around, err))
		return ERR_INFRA;
	if (spec->ready_port && !answers(spec->ready_port))
		return 1;
	if (!spec->ready.count)
		return 0;
	ret = run_command(around, &spec->ready, "readiness", deadline_ns, &why);
	if (ret == ERR_NOT_FOUND || around->cancelled)
		return err_set(err, ERR_INFRA, "%s", why.text);
	/* the last look is killed at the deadline, and knows less than one before it */
	if (ret && (!not_yet->code || clock_now_ns() < deadline_ns))
		*not_yet = why;
	return ret ? 1 : 0;
}

static int wait_ready(struct around *around, struct err *err)
{
	int64_t deadline = clock_now_ns() + around->spec->step_ns;
	struct err not_yet = ERR_INIT;
	int state;

	while ((state = look(around, deadline, &not_yet, err)) == 1) {
		if (clock_now_ns() >= deadline && not_yet.code)
			return err_set(err, ERR_INFRA, "the server was not ready in time: %s",
				not_yet.text);
		if (clock_now_ns() >= deadline)
			return fail(around, err, "the server", "was not ready in time");
		clock_sleep_ns(READY_NAP_NS);
	}
	/* one that failed to bind may have been asked before it ended */
	return state ? state : around_check_server(around, err);
}

static int start_server(struct around *around, struct err *err)
{
	const struct run_spec *spec = around->spec;

	if (!spec->server.count)
		return 0;
	if (spec->ready_port && answers(spec->ready_port))
		return err_set(err, ERR_INFRA,
			"the server was not started: something else answers on port %lld already",
			(long long)spec->ready_port);
	if (start(around, &spec->server, &around->server, err))
		return err_wrap(err, "the server");
	return wait_ready(around, err);
}

int around_begin(struct around *around, const struct run_spec *spec, const struct launch *launch,
	struct err *err)
{
	int ret;

	*around = (struct around){.spec = spec, .launch = *launch, .begun = true};
	ret = run_all(around, &spec->setup, "set-up", err);
	return ret ? ret : start_server(around, err);
}

void around_stop_server(struct around *around)
{
	pid_t pid = around->server.pid;

	if (!pid)
		return;
	(void)kill(pid, SIGTERM);
	(void)reap_wait(pid, clock_now_ns() + TERM_PATIENCE_NS);
	(void)kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	around->server.pid = 0;
}

int around_end(struct around *around, struct err *err)
{
	around_stop_server(around);
	command_release(&around->server);
	return around->begun ? run_all(around, &around->spec->teardown, "tear-down", err) : 0;
}
