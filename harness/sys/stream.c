/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "sys/stream.h"

enum { LINE_MAX_BYTES = 65536 };

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t put = write(fd, bytes, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		bytes += put;
		len -= (size_t)put;
	}
	return 0;
}

static void end_line(struct stream *stream)
{
	struct str *line = &stream->line;

	if (line->len && line->text[line->len - 1] == '\r')
		line->text[--line->len] = '\0';
	stream->on_line(stream->arg, str_text(line));
	str_reset(line);
}

static void split_lines(struct stream *stream, const char *bytes, size_t len)
{
	while (len) {
		const char *newline = memchr(bytes, '\n', len);
		size_t part = newline ? (size_t)(newline - bytes) : len;
		size_t room = LINE_MAX_BYTES - stream->line.len;

		if (part > room) {
			part = room;
			newline = NULL;
		}
		str_add_bytes(&stream->line, bytes, part);
		if (newline || stream->line.len == LINE_MAX_BYTES)
			end_line(stream);
		part += newline != NULL;
		bytes += part;
		len -= part;
	}
}

static void take(struct stream *stream, const char *bytes, size_t len)
{
	size_t room = stream->limit_bytes - stream->seen_bytes;

	if (len > room) {
		stream->over = true;
		len = room;
	}
	stream->seen_bytes += len;
	if (stream->capture)
		str_add_bytes(stream->capture, bytes, len);
	if (stream->file_fd >= 0 && !stream->write_errno &&
		write_all(stream->file_fd, bytes, len) != 0)
		stream->write_errno = errno;
	if (stream->on_line)
		split_lines(stream, bytes, len);
}

void stream_pump(struct stream *stream, size_t max_bytes)
{
	char buffer[65536];
	size_t total = 0;

	while (stream->fd >= 0 && total < max_bytes) {
		ssize_t got = read(stream->fd, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			(void)close(stream->fd); /* only read from */
			stream->fd = -1;
			return;
		}
		take(stream, buffer, (size_t)got);
		total += (size_t)got;
	}
}

void stream_finish(struct stream *stream)
{
	if (stream->on_line && stream->line.len)
		end_line(stream);
	str_release(&stream->line);
	if (stream->fd >= 0)
		(void)close(stream->fd); /* only read from */
	stream->fd = -1;
}
