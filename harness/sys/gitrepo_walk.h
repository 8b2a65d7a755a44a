/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_GITREPO_WALK_H
#define KB_SYS_GITREPO_WALK_H

#include "base/base.h"

#include "base/mem.h"
#include "sys/gitrepo.h"

/*
 * The commits between a good and a bad one, with the graph that they form. Listed are those that
 * may be named; others (merges, commits outside the paths) only connect them. The list is in an
 * order in which a commit stands behind all of its ancestors: oldest first.
 */
enum { GITWALK_MAX = 20000 }; /* listed commits; of the others memory is the bound */

struct gitwalk_spec {
	struct gitid good, bad;
	const char *const *paths; /* literal, relative to the tree; NULL or empty: all of it */
	const char *not_subject;  /* PCRE2 pattern: commits whose subject matches are not listed */
	bool merges;		  /* lists merges too */
	bool first_parent; /* follows first parents only; a merge then stands for its branch */
};

struct gitwalk_commit {
	struct gitid id;
	char *subject, *author; /* raw; author is "Name <address>" */
	int64_t time_s;		/* of the commit, since 1970 */
	size_t parents;
};

struct gitwalk;

/* ERR_USAGE, with what to do, when good and bad are swapped or the same, good is no ancestor of
 * bad, a path exists in neither, the list is empty, or it is longer than GITWALK_MAX. A commit that
 * does not descend from good is not listed (--ancestry-path of git). */
KB_MUST_CHECK int gitwalk_make(struct gitrepo *repo, const struct gitwalk_spec *spec,
	struct gitwalk **out, struct err *err);
void gitwalk_free(struct gitwalk *walk);

size_t gitwalk_count(const struct gitwalk *walk);
const struct gitwalk_commit *gitwalk_at(const struct gitwalk *walk, size_t index);
/* Index in the list, or -1. */
int gitwalk_find(const struct gitwalk *walk, const char *hex);

/*
 * A chain of kernels to test, each an ancestor of the next, that covers a part of the list: a
 * change in one of a link's members shows in that link and all after it, and in none before it.
 * Without branches every commit is a link with itself as its only member.
 */
struct gitwalk_link {
	struct gitid id;
	int index;	       /* in the list; -1: only connects (a merge) */
	const size_t *members; /* indices in the list, ascending */
	size_t count;
};

/* The longest such chain to bad for the listed commits that bad has and none of the good ones has;
 * its last link is bad itself. good and bad are commits of the walk's graph, or its ends. The
 * arena's. ERR_USAGE when one of them is not in the graph. */
KB_MUST_CHECK int gitwalk_chain(const struct gitwalk *walk, const struct gitid *good,
	size_t good_count, const struct gitid *bad, struct arena *arena,
	struct gitwalk_link **links, size_t *count, struct err *err);

/* The first parent of a commit; ERR_USAGE when it has none. */
KB_MUST_CHECK int gitwalk_parent(
	struct gitrepo *repo, const struct gitid *commit, struct gitid *parent, struct err *err);

#endif
