/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/wire.h"

#include "agent/bytes.h"
#include "agent/reply.h"

/* Part and file; the first must be there. */
static const struct {
	const char *part, *file;
} parts[] = {{"result", "result.json"}, {"stdout", "stdout"}, {"stderr", "stderr"},
	{"dmesg", "dmesg"}, {"around", "around"}, {"counters", "counters"}};

static int put_text(int fd, struct str *text, struct err *err)
{
	int ret = bytes_write(fd, text->text, text->len, err);

	str_reset(text);
	return ret;
}

static int put_part(int fd, const char *part, const char *path, struct err *err)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), ret;
	struct str text = STR_INIT;
	struct stat st;

	if (from < 0 || fstat(from, &st) != 0)
		ret = err_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, errno,
			"cannot open %s", path);
	else {
		wire_add_part(&text, part, (size_t)st.st_size);
		ret = put_text(fd, &text, err);
		if (ret == 0)
			ret = bytes_copy(from, fd, (size_t)st.st_size, path, err);
		if (ret == 0)
			ret = bytes_write(fd, "\n", 1, err);
	}
	if (from >= 0)
		(void)close(from); /* only read from */
	str_release(&text);
	return ret;
}

int reply_write(const struct place *place, int fd, struct err *err)
{
	struct str text = STR_INIT;
	size_t count = 0;
	int ret;

	wire_add_start(&text);
	ret = put_text(fd, &text, err);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && ret == 0; i++) {
		char *path = place_path(place, parts[i].file);

		ret = put_part(fd, parts[i].part, path, err);
		if (ret == ERR_NOT_FOUND && i > 0)
			ret = 0;
		else
			count++;
		free(path);
	}
	if (ret == 0) {
		wire_add_end(&text, count);
		ret = put_text(fd, &text, err);
	}
	str_release(&text);
	return ret;
}
