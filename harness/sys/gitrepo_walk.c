/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "sys/gitrepo_walk_int.h"
#include "sys/regex.h"

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
			"Exchange them");
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

static int check_list(struct gitlisting *l, const git_oid *bad, struct err *err)
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
	gitwalk_look(l, bad);
	if (argv_count(spec->paths) && !l->path_seen)
		return err_set(err, ERR_USAGE, "there is no %s in any commit between good and bad",
			spec->paths[0]);
	return err_set(err, ERR_USAGE, "no commit between good and bad %s",
		argv_count(spec->paths) || spec->not_subject
			? "is left: --path and --not-subject exclude all of them"
			: "can be named: they are all merges (--merges lists them)");
}

static int walk_between(struct gitlisting *l, struct err *err)
{
	git_oid bad;

	if (git_oid_fromstr(&l->walk->good, l->spec->good.hex) ||
		git_oid_fromstr(&bad, l->spec->bad.hex))
		return err_set(err, ERR_USAGE, "an end is not a commit id");
	if (check_ends(l->repo, &l->walk->good, &bad, err) || gitwalk_list(l, &bad, err))
		return err ? (int)err->code : ERR_USAGE;
	return check_list(l, &bad, err);
}

int gitwalk_make(struct gitrepo *repo, const struct gitwalk_spec *spec, struct gitwalk **out,
	struct err *err)
{
	static const char *const none[] = {NULL};
	struct gitwalk_spec whole = *spec;
	struct gitlisting l = {.repo = repo, .spec = &whole};
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
