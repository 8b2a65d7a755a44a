/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_GITREPO_H
#define KB_SYS_GITREPO_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * A git repository that kernels come from, through libgit2: read, and written to only under
 * refs/kbracket/ and in its object store. Its branches, tags, index, HEAD and working tree are
 * never touched. Ids are 40 hex digits.
 */
enum { GITREPO_ID_LEN = 40 };
struct gitid {
	char hex[GITREPO_ID_LEN + 1];
};

struct gitrepo;

/* Opens a repository: its working tree, a linked worktree, its .git folder or a bare one; parents
 * are not searched. ERR_USAGE with what to do for what libgit2 cannot read in full: shallow and
 * partial clones, SHA-256 objects, unknown extensions. */
KB_MUST_CHECK int gitrepo_open(const char *path, struct gitrepo **out, struct err *err);
void gitrepo_free(struct gitrepo *repo);
/* The path given to gitrepo_open; and the one folder that all its worktrees share. Borrowed. */
const char *gitrepo_path(const struct gitrepo *repo);
const char *gitrepo_common_dir(const struct gitrepo *repo);

/* What a ref (branch, tag, id, abbreviation, v6.18^, ...) means: its commit, and the subject line
 * made safe for a terminal (may be NULL). ERR_USAGE when there is none. */
KB_MUST_CHECK int gitrepo_resolve(struct gitrepo *repo, const char *ref, struct gitid *commit,
	struct str *subject, struct err *err);
KB_MUST_CHECK int gitrepo_tree_of(
	struct gitrepo *repo, const struct gitid *commit, struct gitid *tree, struct err *err);

/* What is done to the tree of a commit, in order. */
enum git_step_kind { GIT_STEP_REVERT, GIT_STEP_PICK, GIT_STEP_PATCH };
struct git_step {
	enum git_step_kind kind;
	const char *name; /* a ref; or what the patch is called in messages */
	const char *note; /* said about it in the commit message, e.g. its SHA-256; "" */
	const char *patch;
	size_t patch_len; /* GIT_STEP_PATCH: its text */
};

/* Applies the steps in memory and writes the result as one commit on top of base, kept under
 * refs/kbracket/. The same base and steps give the same commit id everywhere: fixed author, the
 * base's date plus a second, one line per step in the message. No steps: *commit is base and
 * nothing is written. ERR_USAGE names file and hunk of a patch that does not apply and, where its
 * base-commit or blob ids are known here, the newest commit it applies to; for a revert or pick the
 * files in conflict; a repository that is not its user's own is refused. */
KB_MUST_CHECK int gitrepo_compose(struct gitrepo *repo, const struct gitid *base,
	const struct git_step *steps, size_t count, struct gitid *commit, struct gitid *tree,
	struct err *err);

/* Whether gitrepo_compose would succeed: the same errors, and nothing is written. The repository
 * must be closed afterwards. */
KB_MUST_CHECK int gitrepo_try(struct gitrepo *repo, const struct gitid *base,
	const struct git_step *steps, size_t count, struct err *err);

/* Writes a ref under refs/kbracket/, so that a commit and all before it stay when its branch moves
 * or goes and git cleans up. A repository that is not its user's own is refused. */
KB_MUST_CHECK int gitrepo_keep(struct gitrepo *repo, const struct gitid *id, struct err *err);

/* Makes folder hold exactly the files of a tree, writing only what differs: files that are the same
 * keep their times, others get the present time, files that are not in the tree go. folder is ours
 * alone; its state is kept beside it in folder.state, so that the next call only looks at what
 * changed between the trees (after an interruption: at everything). Not safe against a second
 * caller: hold a lock. *written (may be NULL) is the number of files written or removed. */
KB_MUST_CHECK int gitrepo_checkout(struct gitrepo *repo, const struct gitid *tree,
	const char *folder, size_t *written, struct err *err);

#endif
