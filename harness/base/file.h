/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_FILE_H
#define KB_BASE_FILE_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strv.h"

/* Reads a whole regular file or /proc entry into *out (replaced). Longer than max_bytes is an
 * error, as is a directory or a device. ERR_NOT_FOUND when there is no such file. */
KB_MUST_CHECK int file_read(const char *path, size_t max_bytes, struct str *out, struct err *err);

/* As file_read, with white space at the end cut off; for one-line files in /proc and /sys. */
KB_MUST_CHECK int file_read_line(const char *path, struct str *out, struct err *err);

/* Writes the bytes to a temporary file beside path, syncs it, renames it over path and syncs the
 * folder: path holds the old content or the new, never a part. mode is the file's, whatever the
 * umask. */
KB_MUST_CHECK int file_write_atomic(
	const char *path, const void *bytes, size_t len, unsigned mode, struct err *err);

/* Syncs the folder that holds path, so that a rename in it survives a power loss. */
KB_MUST_CHECK int file_sync_folder_of(const char *path, struct err *err);

/* Opens a regular file for reading; anything else (a FIFO, a device, a folder) is ERR_USAGE at
 * once. The caller closes *out. */
KB_MUST_CHECK int file_open(const char *path, int *out, struct err *err);

/* Copies a regular file with its permission bits, through a temporary name and rename; synced. */
KB_MUST_CHECK int file_copy(const char *from, const char *to, struct err *err);

/* Makes a folder and its parents; existing ones are fine. */
KB_MUST_CHECK int file_mkdirs(const char *path, unsigned mode, struct err *err);

/* Removes a file or a whole folder, never following symbolic links; absent is fine. */
KB_MUST_CHECK int file_remove_tree(const char *path, struct err *err);

/* Names in a folder, sorted by byte value, without . and .. */
KB_MUST_CHECK int file_list(const char *path, struct strv *names, struct err *err);

bool file_exists(const char *path);
bool file_is_folder(const char *path);
/* Size in bytes, -1 when it cannot be known. */
int64_t file_size(const char *path);
/* Wall time of its last change in ns since 1970, 0 when it cannot be known. */
int64_t file_modified_ns(const char *path);
/* Free bytes for an ordinary user on the file system that holds path, -1 when unknown. */
int64_t file_free_bytes(const char *path);
/* True when path (or its nearest existing parent) is on NFS, SMB, 9p, FUSE or another file
 * system whose locks SQLite cannot trust; *kind then names it. */
bool file_on_network(const char *path, const char **kind);

/* base joined with path, unless path is absolute; "~/" at the start is the home folder. Freed by
 * the caller. base may be NULL. */
char *path_join(const char *base, const char *path);
/* The folder part of a path ("." when there is none); freed by the caller. */
char *path_dir(const char *path);
/* The last part of a path; borrowed. */
const char *path_name(const char *path);

/*
 * A lock between processes: an flock on a file that stays where it is. It is released when the
 * holder dies.
 */
struct file_lock {
	int fd;
};

#define FILE_LOCK_INIT \
	{              \
		-1     \
	}

/* Takes the lock on path (created when absent). timeout_ns 0 means one try, negative waits for
 * ever. ERR_TIMEOUT when another process holds it; its pid is in the text when known. */
KB_MUST_CHECK int file_lock_take(
	struct file_lock *lock, const char *path, int64_t timeout_ns, struct err *err);
void file_lock_release(struct file_lock *lock);
/* The process that took the lock on path last, if it has not released it and still lives; else 0.
 * For telling people: nothing is locked or waited for. */
pid_t file_lock_holder(const char *path);

#endif
