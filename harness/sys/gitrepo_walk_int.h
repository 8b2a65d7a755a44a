/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_GITREPO_WALK_INT_H
#define KB_SYS_GITREPO_WALK_INT_H

#include "base/base.h"

#include "sys/gitrepo_int.h"
#include "sys/gitrepo_walk.h"
#include "sys/regex.h"

/* Shared by the gitrepo_walk*.c files only. A commit between the ends that descends from good; its
 * parents among the nodes stand before it. */
struct gitnode {
	git_oid id;
	size_t first_parent, parent_count; /* in gitwalk.parents */
	int index;			   /* in the list; -1 */
};

struct gitwalk {
	git_oid good;
	struct gitnode *nodes;
	size_t node_count, node_capacity;
	size_t *parents; /* indices of nodes */
	size_t parent_count, parent_capacity;
	size_t *sorted; /* nodes by id */
	struct gitwalk_commit *commits;
	size_t count, capacity;
};

/* What a list is made with. */
struct gitlisting {
	struct gitrepo *repo;
	const struct gitwalk_spec *spec;
	struct regex *not_subject;
	struct gitwalk *walk;
	bool path_seen; /* one of the paths exists in some tree that was looked at */
};

/* Fills the walk with what bad has and good has not, ancestors first. */
KB_MUST_CHECK int gitwalk_list(struct gitlisting *l, const git_oid *bad, struct err *err);
/* Looks for the paths in an end, which may have them when no commit that was looked at has. */
void gitwalk_look(struct gitlisting *l, const git_oid *id);

/* Index of a node, SIZE_MAX when it is none. */
size_t gitwalk_node(const struct gitwalk *walk, const git_oid *id);

#endif
