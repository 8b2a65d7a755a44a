/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

enum { ASKED_MAX = 256, REQUEST_MAX = 16384 };

struct support_http {
	const struct support_route *routes;
	size_t count;
	int listener, port;
	int stop[2]; /* a pipe; closed to stop */
	pthread_t thread;
	pthread_mutex_t lock;
	char *asked[ASKED_MAX];
	size_t asked_count;
};

/* Waits; true when the server is to end. */
static bool pause_or_stop(struct support_http *server, int ms)
{
	struct pollfd fd = {.fd = server->stop[0], .events = POLLIN};

	return poll(&fd, 1, ms) != 0;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);

		if (put <= 0)
			return false;
		bytes += put;
		len -= (size_t)put;
	}
	return true;
}

static void send_body(
	struct support_http *server, int fd, const struct support_route *route, size_t len)
{
	do {
		if (!route->drip_ms && !send_all(fd, route->body, len))
			return;
		for (size_t i = 0; route->drip_ms && i < len; i++)
			if (!send_all(fd, route->body + i, 1) ||
				pause_or_stop(server, route->drip_ms))
				return;
	} while (route->endless && !pause_or_stop(server, 0));
}

static void answer(struct support_http *server, int fd, const struct support_route *route)
{
	size_t len = route->body_len ? route->body_len : strlen(route->body ? route->body : "");
	char head[1024], length[64] = "";
	int used;

	if (!route->endless && !(route->headers && strstr(route->headers, "Content-Length")))
		(void)snprintf(length, sizeof(length), "Content-Length: %zu\r\n", len);
	used = snprintf(head, sizeof(head), "HTTP/1.1 %d Status\r\nConnection: close\r\n%s%s\r\n",
		route->status ? route->status : 200, length, route->headers ? route->headers : "");
	if (pause_or_stop(server, route->delay_ms) || !send_all(fd, head, (size_t)used))
		return;
	if (len)
		send_body(server, fd, route, len);
}

static bool read_request(int fd, char *request)
{
	size_t used = 0;

	request[0] = '\0';
	while (!strstr(request, "\r\n\r\n")) {
		ssize_t got = recv(fd, request + used, REQUEST_MAX - 1 - used, 0);

		if (got <= 0)
			return false;
		used += (size_t)got;
		request[used] = '\0';
	}
	return true;
}

static void note(struct support_http *server, const char *path)
{
	(void)pthread_mutex_lock(&server->lock);
	if (server->asked_count < ASKED_MAX)
		server->asked[server->asked_count++] = support_path("%s", path);
	(void)pthread_mutex_unlock(&server->lock);
}

static void serve(struct support_http *server, int fd)
{
	static const struct support_route absent = {.status = 404, .body = "absent\n"};
	struct timeval patience = {.tv_sec = 10};
	const struct support_route *route = &absent;
	char request[REQUEST_MAX], *path, *end;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!read_request(fd, request))
		return;
	path = strchr(request, ' ');
	end = path ? strchr(path + 1, ' ') : NULL;
	if (!end)
		return;
	path++;
	*end = '\0';
	note(server, path);
	for (size_t i = 0; i < server->count; i++)
		if (strcmp(server->routes[i].path, path) == 0)
			route = &server->routes[i];
	answer(server, fd, route);
}

static void *run(void *arg)
{
	struct support_http *server = arg;
	struct pollfd fds[2] = {
		{.fd = server->listener, .events = POLLIN}, {.fd = server->stop[0]}};

	while (poll(fds, 2, -1) >= 0 && !fds[1].revents) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue;
		serve(server, fd);
		(void)shutdown(fd, SHUT_WR);
		(void)close(fd);
	}
	return NULL;
}

struct support_http *support_http_start(const struct support_route *routes, size_t count)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	struct support_http *server = calloc(1, sizeof(*server));

	if (!server)
		abort();
	server->routes = routes;
	server->count = count;
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server->listener, (struct sockaddr *)&address, len) != 0 ||
		listen(server->listener, 16) != 0 ||
		getsockname(server->listener, (struct sockaddr *)&address, &len) != 0 ||
		pipe2(server->stop, O_CLOEXEC) != 0) {
		perror("tests/support_http.c");
		abort();
	}
	server->port = ntohs(address.sin_port);
	(void)pthread_mutex_init(&server->lock, NULL);
	if (pthread_create(&server->thread, NULL, run, server) != 0)
		abort();
	return server;
}

int support_http_port(const struct support_http *server)
{
	return server->port;
}

char *support_http_url(const struct support_http *server, const char *path)
{
	return support_path("http://127.0.0.1:%d%s", server->port, path);
}

int support_http_hits(struct support_http *server, const char *path)
{
	int hits = 0;

	(void)pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < server->asked_count; i++)
		hits += strcmp(server->asked[i], path) == 0;
	(void)pthread_mutex_unlock(&server->lock);
	return hits;
}

void support_http_stop(struct support_http *server)
{
	if (!server)
		return;
	(void)close(server->stop[1]);
	(void)pthread_join(server->thread, NULL);
	(void)close(server->stop[0]);
	(void)close(server->listener);
	for (size_t i = 0; i < server->asked_count; i++)
		free(server->asked[i]);
	(void)pthread_mutex_destroy(&server->lock);
	free(server);
}
