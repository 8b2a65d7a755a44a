/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "sys/dialog.h"
#include "sys/proc.h"

static const int64_t end_grace_ns = 2 * NS_PER_S;

struct dialog {
	struct proc *proc;
	int fd;		  /* our end of a socket pair that is its stdin and stdout */
	struct str ahead; /* what came behind the line that was asked for */
	char *name;
};

/* Where the program's complaints go: our own stderr, unless that is a socket or closed. */
static const char *complaints(void)
{
	int fd = open("/dev/stderr", O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return "/dev/null";
	close(fd);
	return "/dev/stderr";
}

int dialog_start(const char *const *argv, struct dialog **out, struct err *err)
{
	struct proc_spec spec = {.argv = argv, .output_path = complaints()};
	struct dialog *d;
	struct proc *proc;
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_errno(err, ERR_INFRA, errno, "cannot make a socket pair");
	spec.input_fd = fds[1];
	spec.output_fd = fds[1];
	ret = proc_start(&spec, &proc, err);
	close(fds[1]);
	if (ret) {
		close(fds[0]);
		return ret;
	}
	d = xcalloc(1, sizeof(*d));
	d->proc = proc;
	d->fd = fds[0];
	d->name = xstrdup(argv[0]);
	*out = d;
	return 0;
}

static int ended(const struct dialog *d, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct str how = STR_INIT;
	int ret;

	/* Its end is seen on the socket a moment before it can be reaped. */
	for (int i = 0; i < 50 && proc_alive(d->proc, &result); i++)
		(void)poll(NULL, 0, 10);
	if (proc_alive(d->proc, &result))
		str_add(&how, "it closed its output");
	else
		proc_describe(&result, &how);
	ret = err_set(
		err, ERR_INFRA, "%s ended in the middle of the talk: %s", d->name, str_text(&how));
	str_release(&how);
	return ret;
}

static int send_line(struct dialog *d, const char *line, struct err *err)
{
	struct str text = STR_INIT;
	size_t sent = 0;
	ssize_t n = 0;

	str_addf(&text, "%s\n", line);
	while (sent < text.len && n >= 0) {
		n = send(d->fd, str_text(&text) + sent, text.len - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR && !stop_requested())
			n = 0;
		sent += n > 0 ? (size_t)n : 0;
	}
	str_release(&text);
	return n < 0 ? ended(d, err) : 0;
}

/* Moves the first line of what has come to *answer. False when there is no whole line yet. */
static bool take_line(struct dialog *d, struct str *answer)
{
	const char *bytes = str_text(&d->ahead), *end = memchr(bytes, '\n', d->ahead.len);
	struct str rest = STR_INIT;
	size_t len;

	if (!end)
		return false;
	len = (size_t)(end - bytes);
	str_add_bytes(&rest, end + 1, d->ahead.len - len - 1);
	str_reset(answer);
	str_add_bytes(answer, bytes, len && bytes[len - 1] == '\r' ? len - 1 : len);
	str_release(&d->ahead);
	d->ahead = rest;
	return true;
}

/* Waits for more of the answer. */
static int receive(struct dialog *d, int64_t deadline_ns, struct err *err)
{
	struct pollfd fds[] = {
		{.fd = d->fd, .events = POLLIN}, {.fd = stop_fd(), .events = POLLIN}};
	char bytes[4096];
	ssize_t n;

	if (poll(fds, ARRAY_SIZE(fds), clock_poll_ms(deadline_ns)) < 0 && errno != EINTR)
		return err_errno(err, ERR_INFRA, errno, "cannot wait for %s", d->name);
	if (stop_requested())
		return stop_check(err);
	if (!(fds[0].revents & (POLLIN | POLLHUP | POLLERR)))
		return clock_now_ns() < deadline_ns
			       ? 0
			       : err_set(err, ERR_TIMEOUT, "%s does not answer in time", d->name);
	n = read(d->fd, bytes, sizeof(bytes));
	if (n == 0 || (n < 0 && errno != EINTR))
		return ended(d, err);
	if (n > 0)
		str_add_bytes(&d->ahead, bytes, (size_t)n);
	return 0;
}

int dialog_ask(
	struct dialog *d, const char *line, int64_t timeout_ns, struct str *answer, struct err *err)
{
	int64_t deadline_ns = clock_now_ns() + timeout_ns;
	int ret = send_line(d, line, err);

	while (!ret && !take_line(d, answer)) {
		if (d->ahead.len > DIALOG_LINE_MAX)
			return err_set(err, ERR_INFRA,
				"%s answers with a line of more than %d bytes", d->name,
				DIALOG_LINE_MAX);
		ret = receive(d, deadline_ns, err);
	}
	if (!ret && (answer->len > DIALOG_LINE_MAX || memchr(str_text(answer), 0, answer->len)))
		ret = err_set(err, ERR_INVALID, "%s answers with what is no line of text", d->name);
	return ret;
}

void dialog_end(struct dialog *d, const char *line)
{
	struct err ignored = ERR_INIT;

	if (!d)
		return;
	if (line)
		(void)send_line(d, line, &ignored);
	(void)shutdown(d->fd, SHUT_WR);
	for (int64_t until = clock_now_ns() + end_grace_ns;
		proc_alive(d->proc, NULL) && clock_now_ns() < until;)
		(void)poll(NULL, 0, 10);
	proc_free(d->proc);
	close(d->fd);
	str_release(&d->ahead);
	free(d->name);
	free(d);
}
