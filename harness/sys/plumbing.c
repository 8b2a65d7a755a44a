/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/plumbing.h"

enum { CAPTURE_BYTES = 1 << 20 };

static void init(struct plumbing *plumbing)
{
	*plumbing = (struct plumbing){.child_fds = {-1, -1, -1}, .file_fd = -1};
	for (size_t i = 0; i < ARRAY_SIZE(plumbing->streams); i++)
		plumbing->streams[i] = (struct stream)STREAM_INIT;
}

static void set_child_fd(struct plumbing *plumbing, int which, int fd, bool owned)
{
	plumbing->child_fds[which] = fd;
	plumbing->owned[which] = owned;
}

/* Input lies in memory of its own instead of a pipe: nothing to feed, and no SIGPIPE when the child
 * does not read it. */
static int memory_file(const struct proc_spec *spec)
{
	const char *at = spec->input;
	size_t left = spec->input_len;
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	while (fd >= 0 && left) {
		ssize_t put = write(fd, at, left);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			(void)close(fd); /* errno is the write's */
			return -1;
		}
		at += put;
		left -= (size_t)put;
	}
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

static int open_stdin(struct plumbing *plumbing, const struct proc_spec *spec, struct err *err)
{
	int fd;

	if (spec->input_fd > 0) {
		set_child_fd(plumbing, 0, spec->input_fd, false);
		return 0;
	}
	fd = spec->input ? memory_file(spec) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(
			err, ERR_INFRA, errno, "cannot prepare the input of %s", spec->argv[0]);
	set_child_fd(plumbing, 0, fd, true);
	return 0;
}

static int open_output_file(
	struct plumbing *plumbing, const struct proc_spec *spec, struct err *err)
{
	if (!spec->output_path)
		return 0;
	plumbing->file_fd =
		open(spec->output_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (plumbing->file_fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot open %s for the output of %s",
			spec->output_path, spec->argv[0]);
	return 0;
}

/* A pipe whose writing end becomes the child's descriptor and whose reading end fills a stream. */
static int open_pipe(struct plumbing *plumbing, int child_fd, const struct proc_spec *spec,
	struct str *capture, struct err *err)
{
	struct stream *stream = &plumbing->streams[child_fd - 1];
	size_t limit = spec->max_output_bytes;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(err, ERR_INFRA, errno, "no pipe for %s", spec->argv[0]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	set_child_fd(plumbing, child_fd, ends[1], true);
	if (!limit)
		limit = plumbing->file_fd >= 0 ? SIZE_MAX : CAPTURE_BYTES;
	stream->fd = ends[0];
	stream->limit_bytes = limit;
	stream->file_fd = plumbing->file_fd;
	stream->capture = plumbing->file_fd >= 0 ? NULL : capture;
	stream->on_line = spec->on_line;
	stream->arg = spec->arg;
	return 0;
}

int plumbing_open(struct plumbing *plumbing, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	int ret;

	init(plumbing);
	ret = open_stdin(plumbing, spec, err);
	if (ret == 0)
		ret = open_output_file(plumbing, spec, err);
	if (ret)
		return ret;
	if (spec->output_path && !spec->on_line && !spec->max_output_bytes) {
		set_child_fd(plumbing, 1, plumbing->file_fd, false);
		set_child_fd(plumbing, 2, plumbing->file_fd, false);
	}
	if (spec->output_fd > 0)
		set_child_fd(plumbing, 1, spec->output_fd, false);
	if (plumbing->child_fds[1] < 0)
		ret = open_pipe(plumbing, 1, spec, &result->out, err);
	if (ret || plumbing->child_fds[2] >= 0)
		return ret;
	/* One pipe for both keeps their lines in order in a file. */
	if (spec->output_path && spec->output_fd <= 0)
		set_child_fd(plumbing, 2, plumbing->child_fds[1], false);
	else
		ret = open_pipe(plumbing, 2, spec, &result->err_out, err);
	return ret;
}

int plumbing_open_detached(struct plumbing *plumbing, const struct proc_spec *spec, struct err *err)
{
	int ret, null_fd, fallback;

	init(plumbing);
	ret = open_stdin(plumbing, spec, err);
	if (ret == 0)
		ret = open_output_file(plumbing, spec, err);
	if (ret)
		return ret;
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null_fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot open /dev/null");
	if (plumbing->file_fd < 0)
		plumbing->file_fd = null_fd;
	else
		(void)close(null_fd); /* not needed */
	fallback = spec->output_fd > 0 ? spec->output_fd : plumbing->file_fd;
	set_child_fd(plumbing, 1, fallback, false);
	set_child_fd(plumbing, 2, spec->output_path ? plumbing->file_fd : fallback, false);
	return 0;
}

void plumbing_close_child_ends(struct plumbing *plumbing)
{
	for (int i = 0; i < 3; i++) {
		if (plumbing->owned[i])
			(void)close(plumbing->child_fds[i]); /* the child has its own */
		plumbing->owned[i] = false;
		plumbing->child_fds[i] = -1;
	}
}

void plumbing_pump(struct plumbing *plumbing, size_t max_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(plumbing->streams); i++)
		stream_pump(&plumbing->streams[i], max_bytes);
}

bool plumbing_is_over(const struct plumbing *plumbing)
{
	return plumbing->streams[0].over || plumbing->streams[1].over;
}

int plumbing_write_errno(const struct plumbing *plumbing)
{
	return plumbing->streams[0].write_errno ? plumbing->streams[0].write_errno
						: plumbing->streams[1].write_errno;
}

void plumbing_close(struct plumbing *plumbing)
{
	plumbing_close_child_ends(plumbing);
	for (size_t i = 0; i < ARRAY_SIZE(plumbing->streams); i++)
		stream_finish(&plumbing->streams[i]);
	if (plumbing->file_fd >= 0)
		(void)close(plumbing->file_fd); /* write errors were seen at write */
	plumbing->file_fd = -1;
}
