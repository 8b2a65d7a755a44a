/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "backend/qmp.h"
#include "sys/json.h"

enum { QMP_TIMEOUT_S = 10, QMP_MAX_REPLY = 65536 };

static int connect_to(const char *path, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ERR_INFRA, "the socket path %s is too long", path);
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		(void)err_errno(err, ERR_INFRA, errno, "cannot connect to %s", path);
		if (fd >= 0)
			(void)close(fd);
		return ERR_INFRA;
	}
	return fd;
}

/* One line from the monitor. */
static int read_line(int fd, struct str *line, struct err *err)
{
	int64_t deadline = clock_now_ns() + QMP_TIMEOUT_S * NS_PER_S;
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	str_reset(line);
	while (line->len < QMP_MAX_REPLY) {
		char c;

		if (poll(&wait, 1, clock_poll_ms(deadline)) == 0)
			return err_set(err, ERR_TIMEOUT, "QEMU's monitor does not answer");
		if (read(fd, &c, 1) != 1)
			return err_set(err, ERR_INFRA, "QEMU's monitor has gone");
		if (c == '\n')
			return 0;
		str_add_char(line, c);
	}
	return err_set(err, ERR_INFRA, "QEMU's monitor says too much");
}

/* Sends a command (its reference is taken) and waits for its reply; events in between are passed
 * over. */
static int command(int fd, json_t *request, struct err *err)
{
	struct str line = STR_INIT;
	json_t *reply = NULL;
	int ret = 0;

	json_write(request, false, &line);
	json_decref(request);
	str_add_char(&line, '\n');
	if (send(fd, line.text, line.len, MSG_NOSIGNAL) != (ssize_t)line.len)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write to QEMU's monitor");
	while (ret == 0) {
		ret = read_line(fd, &line, err);
		if (ret == 0)
			ret = json_parse(str_text(&line), line.len, QMP_MAX_REPLY, &reply, err);
		if (ret || json_object_get(reply, "return"))
			break;
		if (json_object_get(reply, "error"))
			ret = err_set(err, ERR_INFRA, "QEMU's monitor: %s",
				json_get_text(json_object_get(reply, "error"), "desc", "refused"));
		json_decref(reply);
		reply = NULL;
	}
	json_decref(reply);
	str_release(&line);
	return ret;
}

int qmp_change_file(const char *socket_path, const char *id, const char *file, struct err *err)
{
	struct str greeting = STR_INIT;
	int fd = connect_to(socket_path, err);
	int ret = fd < 0 ? fd : read_line(fd, &greeting, err);

	str_release(&greeting);
	if (ret == 0)
		ret = command(fd, json_pack("{s:s}", "execute", "qmp_capabilities"), err);
	if (ret == 0)
		ret = command(fd,
			json_pack("{s:s, s:{s:s, s:{s:s, s:{s:s, s:b}}}}", "execute",
				"chardev-change", "arguments", "id", id, "backend", "type", "file",
				"data", "out", file, "append", 1),
			err);
	if (fd >= 0)
		(void)close(fd);
	return ret;
}
