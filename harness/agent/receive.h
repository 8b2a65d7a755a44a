/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_RECEIVE_H
#define KB_AGENT_RECEIVE_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"

/* Stores exactly `size` bytes from a descriptor as path, through a temporary name: synced, checked
 * against the SHA-256, and only then renamed. The folder must belong to us alone. On failure path
 * is as it was. When it has that content and mode already, nothing is read. */
KB_MUST_CHECK int receive_file(
	int fd, const char *path, int64_t size, const char *sha256, unsigned mode, struct err *err);

/* {path, bytes, sha256, built} of a file; bytes and sha256 are null when it is not there. built is
 * what the file says of its compiler, "" nothing. New reference. */
json_t *receive_digest(const char *path);

#endif
