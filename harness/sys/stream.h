/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_STREAM_H
#define KB_SYS_STREAM_H

#include "base/base.h"

#include "base/str.h"

/*
 * What comes out of a child through one pipe: captured, or written to a file, and handed on line by
 * line. Private to proc.c.
 */
struct stream {
	int fd;		     /* our non-blocking end of the pipe; -1: no pipe, or at its end */
	struct str *capture; /* NULL: not captured */
	int file_fd;	     /* -1: not written to a file */
	size_t limit_bytes;
	size_t seen_bytes;
	bool over;	 /* more than limit_bytes came; the rest is thrown away */
	int write_errno; /* the file could not be written */
	void (*on_line)(void *arg, const char *line);
	void *arg;
	struct str line; /* the line begun */
};

#define STREAM_INIT                                                       \
	{                                                                 \
		-1, NULL, -1, SIZE_MAX, 0, false, 0, NULL, NULL, STR_INIT \
	}

/* Takes what is there, at most about max_bytes; closes fd at the pipe's end. Never waits. */
void stream_pump(struct stream *stream, size_t max_bytes);
/* Hands on a last line without a line end, closes fd, frees. */
void stream_finish(struct stream *stream);

#endif
