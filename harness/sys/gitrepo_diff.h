/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_GITREPO_DIFF_H
#define KB_SYS_GITREPO_DIFF_H

#include "base/base.h"

#include "sys/gitrepo.h"

/* Appends what the second tree has otherwise than the first below a folder, as a unified diff with
 * three lines of context; nothing where they are the same. Trees are 40 hex digits. Reads only.
 * ERR_NOT_FOUND when the repository does not hold one of them, ERR_USAGE when the diff is longer
 * than max_bytes; *out is then unchanged. */
KB_MUST_CHECK int gitrepo_diff(struct gitrepo *repo, const char *from, const char *to,
	const char *folder, size_t max_bytes, struct str *out, struct err *err);

#endif
