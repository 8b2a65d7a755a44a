/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_BYTES_H
#define KB_AGENT_BYTES_H

#include "base/base.h"

#include "base/err.h"

/* Moving bytes between descriptors and files. */

/* Writes all of it. */
KB_MUST_CHECK int bytes_write(int fd, const void *bytes, size_t len, struct err *err);
/* Copies exactly len bytes from where `from` stands; `what` is named in errors. */
KB_MUST_CHECK int bytes_copy(int from, int to, size_t len, const char *what, struct err *err);

/* Makes or replaces a file by rename, 0600, without syncing it: other processes see the old or the
 * new content, a power loss may show neither. For the folder of a run, which costs no disk time
 * beside a measurement that way; result.json, which is synced, holds the sizes of its siblings. */
KB_MUST_CHECK int bytes_put_file(const char *path, const void *bytes, size_t len, struct err *err);

#endif
