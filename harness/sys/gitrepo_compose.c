/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/gitrepo_int.h"

static int refuse_foreign(struct gitrepo *repo, struct err *err)
{
	struct stat st;

	if (stat(repo->common_dir, &st) != 0)
		return err_errno(err, ERR_INFRA, errno, "cannot look at %s", repo->common_dir);
	if (st.st_uid == geteuid())
		return 0;
	return err_set(err, ERR_USAGE,
		"%s belongs to user %u, and kbracket runs as user %u: it does not write to other "
		"people's repositories. Clone it (git clone --no-local), or run kbracket as its "
		"owner",
		repo->path, (unsigned)st.st_uid, (unsigned)geteuid());
}

static void add_conflicts(git_index *index, struct str *out)
{
	const git_index_entry *ancestor, *ours, *theirs;
	git_index_conflict_iterator *walk = NULL;
	size_t count = 0;

	if (git_index_conflict_iterator_new(&walk, index))
		return;
	while (git_index_conflict_next(&ancestor, &ours, &theirs, walk) == 0) {
		const git_index_entry *entry = ours ? ours : theirs ? theirs : ancestor;

		if (++count > 5)
			continue;
		str_add(out, count > 1 ? ", " : "");
		str_add_safe(out, entry->path, strlen(entry->path));
	}
	if (count > 5)
		str_addf(out, " and %zu more", count - 5);
	git_index_conflict_iterator_free(walk);
}

/* What a commit changed, put on top of another tree: from its parent to itself (pick), or from
 * itself back to its parent (revert). */
static int merge_change(struct gitrepo *repo, git_tree *from, git_tree *to, git_tree *on,
	git_oid *result, struct err *err)
{
	git_index *index = NULL;
	struct str files = STR_INIT;
	int ret = 0;

	if (git_merge_trees(&index, repo->git, from, on, to, NULL)) {
		ret = git_fail(err, ERR_INFRA, "merging failed");
	} else if (git_index_has_conflicts(index)) {
		add_conflicts(index, &files);
		ret = err_set(err, ERR_USAGE, "it conflicts in %s", str_text(&files));
	} else if (git_index_write_tree_to(result, index, repo->git)) {
		ret = git_fail(err, ERR_INFRA, "cannot write a tree");
	}
	str_release(&files);
	git_index_free(index);
	return ret;
}

static int step_commit(struct gitrepo *repo, const struct git_step *step, git_tree *on,
	git_oid *result, struct err *err)
{
	bool revert = step->kind == GIT_STEP_REVERT;
	git_commit *commit = NULL, *parent = NULL;
	git_tree *before = NULL, *after = NULL;
	struct gitid named;
	git_oid id;
	int ret;

	ret = gitrepo_resolve(repo, step->name, &named, NULL, err);
	if (ret)
		return ret;
	if (git_oid_fromstr(&id, named.hex) || git_commit_lookup(&commit, repo->git, &id) ||
		git_commit_tree(&after, commit))
		ret = git_fail(err, ERR_INFRA, "%s: commit %s", repo->path, named.hex);
	else if (git_commit_parentcount(commit) != 1)
		ret = err_set(err, ERR_USAGE, "it has %u parents: only a commit with one can be %s",
			git_commit_parentcount(commit), revert ? "reverted" : "picked");
	else if (git_commit_parent(&parent, commit, 0) || git_commit_tree(&before, parent))
		ret = git_fail(err, ERR_INFRA, "%s: the parent of %s", repo->path, named.hex);
	else
		ret = merge_change(
			repo, revert ? after : before, revert ? before : after, on, result, err);
	git_tree_free(before);
	git_tree_free(after);
	git_commit_free(parent);
	git_commit_free(commit);
	return ret;
}

static int say_does_not_apply(struct gitrepo *repo, const struct patch *patch, struct err *err)
{
	struct str text = STR_INIT;
	const char *how;
	git_oid id;

	str_add(&text, err ? err->text : "");
	if (patch_newest_base(repo, patch, &id, &how)) {
		str_add(&text, "; it applies to ");
		git_add_commit_name(repo, &id, &text);
		str_addf(&text, ", %s", how);
	}
	(void)err_set(err, ERR_USAGE, "%s", str_text(&text));
	str_release(&text);
	return ERR_USAGE;
}

static int step_patch(struct gitrepo *repo, const struct git_step *step, git_tree *on,
	git_oid *result, struct err *err)
{
	struct patched_tree patched = {0};
	struct arena arena = ARENA_INIT;
	struct patch patch;
	int ret;

	ret = patch_parse(&arena, step->name, step->patch, step->patch_len, &patch, err);
	if (ret == 0) {
		ret = patched_tree_apply(repo, on, &patch, &patched, err);
		if (ret)
			ret = say_does_not_apply(repo, &patch, err);
		else
			ret = patched_tree_write(repo, on, &patched, result, err);
	}
	patched_tree_release(&patched);
	arena_release(&arena);
	return ret;
}

static const struct {
	const char *verb, *does_not;
	int (*run)(struct gitrepo *repo, const struct git_step *step, git_tree *on, git_oid *result,
		struct err *err);
} kinds[] = {
	[GIT_STEP_REVERT] = {"revert", "cannot revert", step_commit},
	[GIT_STEP_PICK] = {"cherry-pick", "cannot cherry-pick", step_commit},
	[GIT_STEP_PATCH] = {"patch", "patch does not apply:", step_patch},
};

static int run_steps(struct gitrepo *repo, const struct git_step *steps, size_t count,
	git_tree **tree, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		git_tree *next = NULL;
		git_oid id;
		int ret = kinds[steps[i].kind].run(repo, &steps[i], *tree, &id, err);

		if (ret)
			return err_wrap(err, "%s %s", kinds[steps[i].kind].does_not, steps[i].name);
		if (git_tree_lookup(&next, repo->git, &id))
			return git_fail(err, ERR_INFRA, "%s: a tree just written", repo->path);
		git_tree_free(*tree);
		*tree = next;
	}
	return 0;
}

static void add_message(
	const git_oid *base, const struct git_step *steps, size_t count, struct str *out)
{
	char hex[GITREPO_ID_LEN + 1];

	git_oid_tostr(hex, sizeof(hex), base);
	str_addf(out, "kbracket: %.12s with %zu change%s\n\n", hex, count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		str_addf(out, "%s ", kinds[steps[i].kind].verb);
		str_add_safe(out, steps[i].name, strlen(steps[i].name));
		str_addf(out, "%s%s\n", *steps[i].note ? " " : "", steps[i].note);
	}
}

static int keep(struct gitrepo *repo, const git_oid *id, struct err *err)
{
	char name[64], hex[GITREPO_ID_LEN + 1];
	git_reference *ref = NULL;
	int ret = 0;

	git_oid_tostr(hex, sizeof(hex), id);
	(void)snprintf(name, sizeof(name), "refs/kbracket/%s", hex);
	if (git_reference_create(&ref, repo->git, name, id, 1, "kbracket"))
		ret = git_fail(err, ERR_INFRA, "%s: cannot write %s", repo->path, name);
	git_reference_free(ref);
	return ret;
}

int gitrepo_keep(struct gitrepo *repo, const struct gitid *id, struct err *err)
{
	git_oid oid;
	int ret = refuse_foreign(repo, err);

	if (!ret && git_oid_fromstr(&oid, id->hex))
		ret = git_fail(err, ERR_USAGE, "%s: commit %s", repo->path, id->hex);
	return ret ? ret : keep(repo, &oid, err);
}

/* Fixed author and a date from the base make the id the same everywhere. */
static int write_commit(struct gitrepo *repo, git_commit *base, git_tree *tree, const char *message,
	git_oid *id, struct err *err)
{
	git_signature *who = NULL;
	const git_commit *parents[] = {base};
	int ret = 0;

	if (git_signature_new(
		    &who, "kbracket", "kbracket@localhost", git_commit_time(base) + 1, 0) ||
		git_commit_create(id, repo->git, NULL, who, who, NULL, message, tree, 1, parents)) {
		ret = git_fail(err, ERR_INFRA, "%s: cannot write a commit", repo->path);
	} else {
		ret = keep(repo, id, err);
	}
	git_signature_free(who);
	return ret;
}

static int compose(struct gitrepo *repo, git_commit *base, git_tree **tree,
	const struct git_step *steps, size_t count, git_oid *id, struct err *err)
{
	struct str message = STR_INIT;
	int ret;

	ret = refuse_foreign(repo, err);
	if (ret == 0)
		ret = run_steps(repo, steps, count, tree, err);
	if (ret == 0) {
		add_message(git_commit_id(base), steps, count, &message);
		ret = write_commit(repo, base, *tree, str_text(&message), id, err);
	}
	str_release(&message);
	return ret;
}

static int find_tree(struct gitrepo *repo, const struct gitid *id, git_commit **commit,
	git_tree **tree, struct err *err)
{
	git_oid oid;

	if (git_oid_fromstr(&oid, id->hex) || git_commit_lookup(commit, repo->git, &oid) ||
		git_commit_tree(tree, *commit))
		return git_fail(err, ERR_USAGE, "%s: commit %s", repo->path, id->hex);
	return 0;
}

/* From here on objects that are written stay in memory. */
static int keep_in_memory(struct gitrepo *repo, struct err *err)
{
	enum { BEFORE_FILES = 999 };
	git_odb_backend *memory = NULL;
	git_odb *odb = NULL;
	int ret = 0;

	if (git_repository_odb(&odb, repo->git) || git_mempack_new(&memory) ||
		git_odb_add_backend(odb, memory, BEFORE_FILES))
		ret = git_fail(err, ERR_INFRA, "%s: no objects in memory", repo->path);
	git_odb_free(odb);
	return ret;
}

int gitrepo_try(struct gitrepo *repo, const struct gitid *base, const struct git_step *steps,
	size_t count, struct err *err)
{
	git_commit *from = NULL;
	git_tree *tree = NULL;
	int ret = count ? keep_in_memory(repo, err) : 0;

	if (ret == 0)
		ret = find_tree(repo, base, &from, &tree, err);
	if (ret == 0)
		ret = run_steps(repo, steps, count, &tree, err);
	git_tree_free(tree);
	git_commit_free(from);
	return ret;
}

int gitrepo_compose(struct gitrepo *repo, const struct gitid *base, const struct git_step *steps,
	size_t count, struct gitid *commit, struct gitid *tree, struct err *err)
{
	git_commit *from = NULL;
	git_tree *result = NULL;
	git_oid id;
	int ret = find_tree(repo, base, &from, &result, err);

	if (ret == 0)
		id = *git_commit_id(from);
	if (ret == 0 && count)
		ret = compose(repo, from, &result, steps, count, &id, err);
	if (ret == 0) {
		git_oid_tostr(commit->hex, sizeof(commit->hex), &id);
		git_oid_tostr(tree->hex, sizeof(tree->hex), git_tree_id(result));
	}
	git_tree_free(result);
	git_commit_free(from);
	return ret;
}
