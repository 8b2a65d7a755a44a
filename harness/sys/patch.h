/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_PATCH_H
#define KB_SYS_PATCH_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"

/*
 * Reads unified diffs as git and diff -u write them, with any mail text around them. The bytes are
 * hostile: at most 16 MiB, 10,000 files and 1,000,000 lines; paths that leave the tree are refused,
 * as are binary patches. Everything lives in the arena.
 */
enum patch_line_kind { PATCH_CONTEXT = ' ', PATCH_ADD = '+', PATCH_REMOVE = '-' };

struct patch_line {
	enum patch_line_kind kind;
	bool no_newline; /* the file ends here without a newline */
	const char *text;
	size_t len; /* without the newline */
};

struct patch_hunk {
	size_t old_start, old_count; /* as the header says; lines count from 1 */
	size_t new_start, new_count;
	struct patch_line *lines;
	size_t line_count;
};

struct patch_file {
	const char *old_path; /* NULL: the file is created */
	const char *new_path; /* NULL: the file is deleted */
	bool is_copy;	      /* old_path stays */
	unsigned new_mode;    /* 0100644, 0100755, 0120000; 0: as it was */
	const char *old_id;   /* hex start of the git blob that it was made for; "" */
	struct patch_hunk *hunks;
	size_t hunk_count;
};

struct patch {
	const char *name;	 /* as given by the caller */
	const char *subject;	 /* of the first mail around it, one line; "" */
	const char *base_commit; /* 40 hex digits that it says it is based on; "" */
	struct patch_file *files;
	size_t file_count;
};

/* ERR_USAGE when this is not a patch that can be read; the text names the line. name stands for the
 * patch in messages. */
KB_MUST_CHECK int patch_parse(struct arena *arena, const char *name, const char *bytes, size_t len,
	struct patch *out, struct err *err);

/* Applies one file's hunks to its old content (NULL, 0 for a created file). Context must match
 * exactly; its place may have moved: the nearest match at or after the hunk before it is taken, as
 * git apply does. *out gets the new content. On failure nothing is changed, *bad_hunk is the hunk's
 * index and the text names hunk, line and the first line that differs. */
struct str;
KB_MUST_CHECK int patch_apply(const struct patch_file *file, const char *old, size_t old_len,
	struct str *out, size_t *bad_hunk, struct err *err);

#endif
