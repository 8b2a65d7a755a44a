/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/stop.h"
#include "base/strv.h"
#include "sys/gitrepo_walk_int.h"
#include "sys/regex.h"

/* What a list is made with. */
struct listing {
	struct gitrepo *repo;
	const struct gitwalk_spec *spec;
	struct regex *not_subject;
	struct gitwalk *walk;
	bool path_seen; /* one of the paths exists in some tree that was looked at */
};

void gitwalk_free(struct gitwalk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; i < walk->count; i++) {
		free(walk->commits[i].subject);
		free(walk->commits[i].author);
	}
	free(walk->commits);
	free(walk->nodes);
	free(walk->parents);
	free(walk->sorted);
	free(walk);
}

size_t gitwalk_count(const struct gitwalk *walk)
{
	return walk->count;
}

const struct gitwalk_commit *gitwalk_at(const struct gitwalk *walk, size_t index)
{
	return &walk->commits[index];
}

int gitwalk_find(const struct gitwalk *walk, const char *hex)
{
	git_oid id;
	size_t node;

	if (git_oid_fromstr(&id, hex))
		return -1;
	node = gitwalk_node(walk, &id);
	return node == SIZE_MAX ? -1 : walk->nodes[node].index;
}

static int by_id(const void *a, const void *b, void *arg)
{
	const struct gitwalk *walk = arg;

	return git_oid_cmp(
		&walk->nodes[*(const size_t *)a].id, &walk->nodes[*(const size_t *)b].id);
}

/* Nodes come in no order of their ids: found by a list that is sorted once all are there. */
static void sort_nodes(struct gitwalk *walk)
{
	walk->sorted = xcalloc(walk->node_count + 1, sizeof(*walk->sorted));
	for (size_t i = 0; i < walk->node_count; i++)
		walk->sorted[i] = i;
	qsort_r(walk->sorted, walk->node_count, sizeof(*walk->sorted), by_id, walk);
}

size_t gitwalk_node(const struct gitwalk *walk, const git_oid *id)
{
	size_t low = 0, high = walk->node_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = git_oid_cmp(id, &walk->nodes[walk->sorted[mid]].id);

		if (!order)
			return walk->sorted[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return SIZE_MAX;
}

/* The object at a path of a tree; all zero when there is none. */
static git_oid object_at(struct listing *l, const git_tree *tree, const char *path)
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

static bool differs(struct listing *l, const git_tree *a, const git_tree *b)
{
	for (const char *const *path = l->spec->paths; *path; path++) {
		git_oid one = object_at(l, a, *path), other = object_at(l, b, *path);

		if (git_oid_cmp(&one, &other))
			return true;
	}
	return false;
}

static int parent_tree(
	struct listing *l, const git_commit *commit, unsigned n, git_tree **tree, struct err *err)
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
static int touches(struct listing *l, const git_commit *commit, struct err *err)
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

static int is_listed(struct listing *l, git_commit *commit, struct err *err)
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
static int add_node(
	struct listing *l, git_commit *commit, struct found *founds, size_t count, struct err *err)
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
static int collect(
	struct listing *l, const git_oid *bad, struct found **out, size_t *count, struct err *err)
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

static int list_commits(struct listing *l, const git_oid *bad, struct err *err)
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

/* Good must be an ancestor of bad; what is said otherwise names a way out. */
static int check_ends(
	struct gitrepo *repo, const git_oid *good, const git_oid *bad, struct err *err)
{
	struct str base_name = STR_INIT;
	git_oid base;

	if (git_oid_equal(good, bad))
		return err_set(err, ERR_USAGE, "good and bad are the same commit %.12s",
			git_oid_tostr_s(good));
	if (git_graph_descendant_of(repo->git, bad, good) == 1)
		return 0;
	if (git_graph_descendant_of(repo->git, good, bad) == 1)
		return err_set(err, ERR_USAGE,
			"good and bad are swapped: the bad commit is an ancestor of the good one. "
			"Exchange them; to find what made things faster, use --better with the "
			"other "
			"direction");
	if (git_merge_base(&base, repo->git, good, bad))
		return err_set(err, ERR_USAGE,
			"the good commit is not an ancestor of the bad one, and they have no "
			"ancestor in common");
	git_add_commit_name(repo, &base, &base_name);
	err_set(err, ERR_USAGE,
		"the good commit is not an ancestor of the bad one: they are on two branches that "
		"part at %s. Name that as good, when it is",
		str_text(&base_name));
	str_release(&base_name);
	return ERR_USAGE;
}

/* Looks for the paths in an end, which may have them when no commit that was looked at has. */
static void look_in(struct listing *l, const git_oid *id)
{
	git_commit *commit = NULL;
	git_tree *tree = NULL;

	if (!git_commit_lookup(&commit, l->repo->git, id) && !git_commit_tree(&tree, commit))
		(void)differs(l, tree, NULL);
	git_tree_free(tree);
	git_commit_free(commit);
}

static int check_list(struct listing *l, const git_oid *bad, struct err *err)
{
	const struct gitwalk_spec *spec = l->spec;

	if (l->walk->count)
		return 0;
	if (spec->first_parent && !l->walk->node_count)
		return err_set(err, ERR_USAGE,
			"the good commit came into the bad one by a merge, so that following first "
			"parents never meets it: leave --first-parent out, or name a good commit "
			"of "
			"the main line");
	look_in(l, bad);
	if (argv_count(spec->paths) && !l->path_seen)
		return err_set(err, ERR_USAGE, "there is no %s in any commit between good and bad",
			spec->paths[0]);
	return err_set(err, ERR_USAGE, "no commit between good and bad %s",
		argv_count(spec->paths) || spec->not_subject
			? "is left: --path and --not-subject exclude all of them"
			: "can be named: they are all merges (--merges lists them)");
}

static int walk_between(struct listing *l, struct err *err)
{
	git_oid bad;

	if (git_oid_fromstr(&l->walk->good, l->spec->good.hex) ||
		git_oid_fromstr(&bad, l->spec->bad.hex))
		return err_set(err, ERR_USAGE, "an end is not a commit id");
	if (check_ends(l->repo, &l->walk->good, &bad, err) || list_commits(l, &bad, err))
		return err ? (int)err->code : ERR_USAGE;
	return check_list(l, &bad, err);
}

int gitwalk_make(struct gitrepo *repo, const struct gitwalk_spec *spec, struct gitwalk **out,
	struct err *err)
{
	static const char *const none[] = {NULL};
	struct gitwalk_spec whole = *spec;
	struct listing l = {.repo = repo, .spec = &whole};
	int ret = 0;

	if (!whole.paths)
		whole.paths = none;
	if (whole.not_subject)
		ret = regex_compile(whole.not_subject, &l.not_subject, err);
	if (ret)
		return err_wrap(err, "--not-subject");
	l.walk = xcalloc(1, sizeof(*l.walk));
	ret = walk_between(&l, err);
	regex_free(l.not_subject);
	if (ret) {
		gitwalk_free(l.walk);
		return ret;
	}
	sort_nodes(l.walk);
	*out = l.walk;
	return 0;
}

int gitwalk_parent(
	struct gitrepo *repo, const struct gitid *commit, struct gitid *parent, struct err *err)
{
	git_commit *found = NULL;
	git_oid id;
	int ret = 0;

	if (git_oid_fromstr(&id, commit->hex) || git_commit_lookup(&found, repo->git, &id))
		return git_fail(err, ERR_USAGE, "%s: commit %s", repo->path, commit->hex);
	if (git_commit_parentcount(found))
		git_oid_tostr(parent->hex, sizeof(parent->hex), git_commit_parent_id(found, 0));
	else
		ret = err_set(err, ERR_USAGE, "commit %.12s has no parent", commit->hex);
	git_commit_free(found);
	return ret;
}
