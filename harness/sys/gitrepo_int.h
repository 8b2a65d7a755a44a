/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_GITREPO_INT_H
#define KB_SYS_GITREPO_INT_H

#include "base/base.h"

#include <git2.h>
#include <git2/sys/mempack.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/gitrepo.h"
#include "sys/patch.h"

/* Shared by the gitrepo_*.c files only. */
struct gitrepo {
	git_repository *git;
	char *path;
	char *common_dir;
};

/* err_set with ": " and what libgit2 last said at the end. */
KB_PRINTF(3, 4) int git_fail(struct err *err, enum err_code code, const char *fmt, ...);

/* The tree that a patch makes out of another. Nothing is written to the repository until
 * patched_tree_write; what it read from the repository stays unchanged. */
struct patched_file {
	const char *path;
	bool deleted;
	unsigned mode;
	struct str content;
};
struct patched_tree {
	struct patched_file *files;
	size_t count, capacity;
};

/* ERR_USAGE names patch, file and hunk when it does not apply to the tree. */
KB_MUST_CHECK int patched_tree_apply(struct gitrepo *repo, git_tree *base,
	const struct patch *patch, struct patched_tree *out, struct err *err);
KB_MUST_CHECK int patched_tree_write(struct gitrepo *repo, git_tree *base,
	const struct patched_tree *patched, git_oid *tree, struct err *err);
void patched_tree_release(struct patched_tree *patched);

/* The newest commit that a patch applies to, by its base-commit or the blob ids it names, looked
 * for in at most 5 s. false when none is found. *how tells which way ("its base-commit"). */
bool patch_newest_base(
	struct gitrepo *repo, const struct patch *patch, git_oid *commit, const char **how);

/* "a1b2c3d4e5f6 ("subject", 2026-01-31)", safe for a terminal. */
void git_add_commit_name(struct gitrepo *repo, const git_oid *commit, struct str *out);

#endif
