/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/stop.h"
#include "base/strv.h"
#include "sys/gitrepo_walk_int.h"

/* The object at a path of a tree; all zero when there is none. */
static git_oid object_at(struct gitlisting *l, const git_tree *tree, const char *path)
{
	git_tree_entry *entry = NULL;
	size_t len = strlen(path);
	char *bare = xstrndup(path, len && path[len - 1] == '/' ? len - 1 : len);
	git_oid id = {{0}};

	if (tree && !git_tree_entry_bypath(&entry, tree, bare)) {
		id = *git_tree_entry_id(entry);
		l->path_seen = true;
	}
	git_tree_entry_free(entry);
	free(bare);
	return id;
}

static bool differs(struct gitlisting *l, const git_tree *a, const git_tree *b)
{
	for (const char *const *path = l->spec->paths; *path; path++) {
		git_oid one = object_at(l, a, *path), other = object_at(l, b, *path);

		if (git_oid_cmp(&one, &other))
			return true;
	}
	return false;
}

static int parent_tree(struct gitlisting *l, const git_commit *commit, unsigned n, git_tree **tree,
	struct err *err)
{
	git_commit *parent = NULL;
	int ret = 0;

	if (git_commit_parent(&parent, commit, n) || git_commit_tree(tree, parent))
		ret = git_fail(err, ERR_USAGE, "%s: a parent of commit %s", l->repo->path,
			git_oid_tostr_s(git_commit_id(commit)));
	git_commit_free(parent);
	return ret;
}

/* 1 when the commit changes something below the paths: against each of its parents that count. */
static int touches(struct gitlisting *l, const git_commit *commit, struct err *err)
{
	unsigned count = git_commit_parentcount(commit);
	git_tree *own = NULL;
	int ret = 1;

	if (!argv_count(l->spec->paths))
		return 1;
	if (git_commit_tree(&own, commit))
		return git_fail(err, ERR_USAGE, "%s: the tree of commit %s", l->repo->path,
			git_oid_tostr_s(git_commit_id(commit)));
	if (l->spec->first_parent && count > 1)
		count = 1;
	for (unsigned i = 0; i < count && ret == 1; i++) {
		git_tree *before = NULL;

		ret = parent_tree(l, commit, i, &before, err);
		if (!ret)
			ret = differs(l, own, before);
		git_tree_free(before);
	}
	if (!count)
		ret = differs(l, own, NULL);
	git_tree_free(own);
	return ret;
}

static int is_listed(struct gitlisting *l, git_commit *commit, struct err *err)
{
	const char *subject = git_commit_summary(commit);

	if (git_commit_parentcount(commit) > 1 && !l->spec->merges && !l->spec->first_parent)
		return 0;
	if (l->not_subject && subject && regex_matches(l->not_subject, subject, strlen(subject)))
		return 0;
	return touches(l, commit, err);
}

static int add_to_list(struct gitwalk *walk, git_commit *commit, struct err *err)
{
	const git_signature *author = git_commit_author(commit);
	const char *subject = git_commit_summary(commit);
	struct gitwalk_commit *item;

	if (walk->count == GITWALK_MAX)
		return err_set(err, ERR_USAGE,
			"more than %d commits are between good and bad: name ends that are nearer, "
			"or --path",
			(int)GITWALK_MAX);
	GROW(walk->commits, walk->count, walk->capacity);
	item = &walk->commits[walk->count++];
	git_oid_tostr(item->id.hex, sizeof(item->id.hex), git_commit_id(commit));
	item->subject = xstrdup(subject ? subject : "");
	item->author = author ? xasprintf("%s <%s>", author->name, author->email) : xstrdup("");
	item->time_s = git_commit_time(commit);
	item->parents = git_commit_parentcount(commit);
	return 0;
}

/* A commit that git lists between the ends, before it is known whether it descends from good. */
struct found {
	git_oid id;
	size_t node; /* SIZE_MAX: does not descend from good */
};

static int by_oid(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct found *)a)->id, &((const struct found *)b)->id);
}

/* Adds the node when it descends from good: its parents have been looked at before it. */
static int add_node(struct gitlisting *l, git_commit *commit, struct found *founds, size_t count,
	struct err *err)
{
	struct gitwalk *walk = l->walk;
	struct gitnode node = {
		.id = *git_commit_id(commit), .first_parent = walk->parent_count, .index = -1};
	struct found *own =
		bsearch(&(struct found){.id = node.id}, founds, count, sizeof(*founds), by_oid);
	unsigned parents = git_commit_parentcount(commit);
	bool descends = false;
	int listed;

	if (l->spec->first_parent && parents > 1)
		parents = 1;
	for (unsigned i = 0; i < parents; i++) {
		const git_oid *id = git_commit_parent_id(commit, i);
		const struct found *parent =
			bsearch(&(struct found){.id = *id}, founds, count, sizeof(*founds), by_oid);

		descends = descends || git_oid_equal(id, &walk->good);
		if (!parent || parent->node == SIZE_MAX)
			continue;
		descends = true;
		GROW(walk->parents, walk->parent_count, walk->parent_capacity);
		walk->parents[walk->parent_count++] = parent->node;
		node.parent_count++;
	}
	if (!descends)
		return 0;
	listed = is_listed(l, commit, err);
	if (listed < 0)
		return listed;
	if (listed && (node.index = (int)walk->count, add_to_list(walk, commit, err)))
		return ERR_USAGE;
	own->node = walk->node_count;
	GROW(walk->nodes, walk->node_count, walk->node_capacity);
	walk->nodes[walk->node_count++] = node;
	return 0;
}

/* All commits that bad has and good has not, ancestors first. */
static int collect(struct gitlisting *l, const git_oid *bad, struct found **out, size_t *count,
	struct err *err)
{
	git_revwalk *revs = NULL;
	size_t capacity = 0;
	int got = 0, ret = 0;

	*out = NULL;
	*count = 0;
	if (git_revwalk_new(&revs, l->repo->git) ||
		git_revwalk_sorting(revs, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) ||
		git_revwalk_push(revs, bad) || git_revwalk_hide(revs, &l->walk->good))
		ret = git_fail(err, ERR_USAGE, "%s: its history", l->repo->path);
	if (!ret && l->spec->first_parent)
		(void)git_revwalk_simplify_first_parent(revs); /* cannot fail */
	while (!ret) {
		GROW(*out, *count, capacity);
		got = git_revwalk_next(&(*out)[*count].id, revs);
		if (got)
			break;
		(*out)[(*count)++].node = SIZE_MAX;
		ret = stop_check(err);
	}
	if (!ret && got != GIT_ITEROVER)
		ret = git_fail(err, ERR_USAGE, "%s: its history", l->repo->path);
	git_revwalk_free(revs);
	return ret;
}

int gitwalk_list(struct gitlisting *l, const git_oid *bad, struct err *err)
{
	struct found *order = NULL, *founds = NULL;
	size_t count = 0;
	int ret = collect(l, bad, &order, &count, err);

	if (!ret) {
		founds = xcalloc(count + 1, sizeof(*founds));
		memcpy(founds, order, count * sizeof(*founds));
		qsort(founds, count, sizeof(*founds), by_oid);
	}
	for (size_t i = 0; i < count && !ret; i++) {
		git_commit *commit = NULL;

		ret = stop_check(err);
		if (!ret && git_commit_lookup(&commit, l->repo->git, &order[i].id))
			ret = git_fail(err, ERR_USAGE, "%s: commit %s", l->repo->path,
				git_oid_tostr_s(&order[i].id));
		if (!ret)
			ret = add_node(l, commit, founds, count, err);
		git_commit_free(commit);
	}
	free(order);
	free(founds);
	return ret;
}

void gitwalk_look(struct gitlisting *l, const git_oid *id)
{
	git_commit *commit = NULL;
	git_tree *tree = NULL;

	if (!git_commit_lookup(&commit, l->repo->git, id) && !git_commit_tree(&tree, commit))
		(void)differs(l, tree, NULL);
	git_tree_free(tree);
	git_commit_free(commit);
}
