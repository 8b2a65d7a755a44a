/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "sys/gitrepo_int.h"

void patched_tree_release(struct patched_tree *patched)
{
	for (size_t i = 0; i < patched->count; i++)
		str_release(&patched->files[i].content);
	free(patched->files);
	*patched = (struct patched_tree){0};
}

static struct patched_file *overlay(struct patched_tree *patched, const char *path)
{
	for (size_t i = 0; i < patched->count; i++)
		if (!strcmp(patched->files[i].path, path))
			return &patched->files[i];
	return NULL;
}

/* The entry for a path, made when absent. path must outlive the patched tree (the patch's arena).
 */
static struct patched_file *overlay_make(struct patched_tree *patched, const char *path)
{
	struct patched_file *file = overlay(patched, path);

	if (file)
		return file;
	GROW(patched->files, patched->count, patched->capacity);
	file = &patched->files[patched->count++];
	*file = (struct patched_file){.path = path};
	return file;
}

struct old_content {
	const char *text;
	size_t len;
	unsigned mode;
	git_blob *blob; /* owns the text when it comes from the repository */
};

static bool blob_content(
	struct gitrepo *repo, git_tree *base, const char *path, struct old_content *old)
{
	git_tree_entry *entry = NULL;
	bool found = false;

	if (git_tree_entry_bypath(&entry, base, path) == 0 &&
		git_tree_entry_type(entry) == GIT_OBJECT_BLOB &&
		git_blob_lookup(&old->blob, repo->git, git_tree_entry_id(entry)) == 0) {
		old->text = git_blob_rawcontent(old->blob);
		old->len = (size_t)git_blob_rawsize(old->blob);
		old->mode = git_tree_entry_filemode(entry);
		found = true;
	}
	git_tree_entry_free(entry);
	return found;
}

/* false when the file does not exist, with what was patched so far taken into account. */
static bool old_content(struct gitrepo *repo, git_tree *base, struct patched_tree *patched,
	const char *path, struct old_content *old)
{
	const struct patched_file *file = overlay(patched, path);

	*old = (struct old_content){0};
	if (!file)
		return blob_content(repo, base, path, old);
	if (file->deleted)
		return false;
	*old = (struct old_content){str_text(&file->content), file->content.len, file->mode, NULL};
	return true;
}

static int apply_file(struct gitrepo *repo, git_tree *base, const struct patch_file *file,
	struct patched_tree *patched, struct err *err)
{
	struct old_content old = {0}, taken = {0};
	struct str content = STR_INIT;
	struct patched_file *to;
	size_t hunk;
	int ret;

	if (file->old_path && !old_content(repo, base, patched, file->old_path, &old))
		return err_set(err, ERR_USAGE, "the file does not exist");
	if (file->new_path && (!file->old_path || strcmp(file->old_path, file->new_path)) &&
		old_content(repo, base, patched, file->new_path, &taken))
		ret = err_set(err, ERR_USAGE, "the patch creates %s, which is there already",
			file->new_path);
	else
		ret = patch_apply(file, old.text, old.len, &content, &hunk, err);
	if (ret == 0 && !file->new_path && content.len)
		ret = err_set(
			err, ERR_USAGE, "the patch deletes the file, but something is left of it");
	if (ret == 0 && file->old_path && !file->is_copy)
		overlay_make(patched, file->old_path)->deleted = true;
	if (ret == 0 && file->new_path) {
		to = overlay_make(patched, file->new_path);
		to->deleted = false;
		to->mode = file->new_mode ? file->new_mode : old.mode ? old.mode : 0100644;
		str_release(&to->content);
		to->content = content;
		content = (struct str)STR_INIT;
	}
	str_release(&content);
	git_blob_free(taken.blob);
	git_blob_free(old.blob);
	return ret;
}

int patched_tree_apply(struct gitrepo *repo, git_tree *base, const struct patch *patch,
	struct patched_tree *out, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < patch->file_count; i++) {
		const struct patch_file *file = &patch->files[i];
		struct str safe = STR_INIT;
		const char *path = file->old_path ? file->old_path : file->new_path;

		ret = apply_file(repo, base, file, out, err);
		str_add_safe(&safe, path, strlen(path));
		if (ret)
			ret = err_wrap(err, "%s", str_text(&safe));
		str_release(&safe);
	}
	return ret;
}

/* One name cannot be a file and a folder; git_index_add would drop what is there. */
static int check_place(git_index *index, const char *path, struct err *err)
{
	char *folder = xasprintf("%s/", path), *parent = xstrdup(path), *slash;
	int ret = 0;

	if (git_index_find_prefix(NULL, index, folder) == 0)
		ret = err_set(err, ERR_USAGE, "the patch creates a file where a folder is");
	while (ret == 0 && (slash = strrchr(parent, '/'))) {
		*slash = '\0';
		if (git_index_get_bypath(index, parent, 0))
			ret = err_set(err, ERR_USAGE, "the patch makes a folder where a file is");
	}
	if (ret) {
		struct str safe = STR_INIT;

		str_add_safe(&safe, path, strlen(path));
		ret = err_wrap(err, "%s", str_text(&safe));
		str_release(&safe);
	}
	free(parent);
	free(folder);
	return ret;
}

static int add_to_index(
	struct gitrepo *repo, git_index *index, const struct patched_file *file, struct err *err)
{
	git_index_entry entry = {.mode = file->mode, .path = file->path};
	int ret;

	if (file->deleted) {
		if (git_index_remove(index, file->path, 0))
			return git_fail(err, ERR_INFRA, "cannot remove %s", file->path);
		return 0;
	}
	ret = check_place(index, file->path, err);
	if (ret)
		return ret;
	if (git_blob_create_from_buffer(
		    &entry.id, repo->git, str_text(&file->content), file->content.len) ||
		git_index_add(index, &entry))
		return git_fail(err, ERR_INFRA, "cannot add %s", file->path);
	return 0;
}

int patched_tree_write(struct gitrepo *repo, git_tree *base, const struct patched_tree *patched,
	git_oid *tree, struct err *err)
{
	git_index *index = NULL;
	int ret = 0;

	if (git_index_new(&index) || git_index_read_tree(index, base))
		ret = git_fail(err, ERR_INFRA, "%s: cannot read a tree", repo->path);
	/* deletions first: a folder may take the place of a file */
	for (int deletions = 1; deletions >= 0; deletions--)
		for (size_t i = 0; ret == 0 && i < patched->count; i++)
			if (patched->files[i].deleted == deletions)
				ret = add_to_index(repo, index, &patched->files[i], err);
	if (ret == 0 && git_index_write_tree_to(tree, index, repo->git))
		ret = git_fail(err, ERR_INFRA, "%s: cannot write a tree", repo->path);
	git_index_free(index);
	return ret;
}

/* True when every file that the patch changes is in the tree with the blob id the patch names. */
static bool tree_has_blobs(git_tree *tree, const struct patch *patch)
{
	bool all = true, any = false;

	for (size_t i = 0; all && i < patch->file_count; i++) {
		const struct patch_file *file = &patch->files[i];
		git_tree_entry *entry = NULL;
		char hex[GITREPO_ID_LEN + 1];

		if (!file->old_path)
			continue;
		all = *file->old_id && git_tree_entry_bypath(&entry, tree, file->old_path) == 0;
		if (all) {
			git_oid_tostr(hex, sizeof(hex), git_tree_entry_id(entry));
			all = str_starts(hex, file->old_id);
			any = true;
		}
		git_tree_entry_free(entry);
	}
	return all && any;
}

static bool commit_has_blobs(struct gitrepo *repo, const git_oid *id, const struct patch *patch)
{
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	bool has;

	has = git_commit_lookup(&commit, repo->git, id) == 0 &&
	      git_commit_tree(&tree, commit) == 0 && tree_has_blobs(tree, patch);
	git_tree_free(tree);
	git_commit_free(commit);
	return has;
}

static bool walk_for_blobs(struct gitrepo *repo, const struct patch *patch, git_oid *commit)
{
	int64_t deadline = clock_now_ns() + 5 * NS_PER_S;
	git_revwalk *walk = NULL;
	bool found = false;
	git_oid id;

	if (git_revwalk_new(&walk, repo->git) == 0) {
		(void)git_revwalk_sorting(walk, GIT_SORT_TIME);
		(void)git_revwalk_push_glob(walk, "refs/heads/*"); /* none of a kind is fine */
		(void)git_revwalk_push_glob(walk, "refs/tags/*");
		(void)git_revwalk_push_glob(walk, "refs/remotes/*");
		while (!found && clock_now_ns() < deadline && git_revwalk_next(&id, walk) == 0)
			if (commit_has_blobs(repo, &id, patch)) {
				*commit = id;
				found = true;
			}
	}
	git_revwalk_free(walk);
	return found;
}

static bool applies_to(struct gitrepo *repo, const git_oid *id, const struct patch *patch)
{
	struct patched_tree patched = {0};
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	bool applies;

	applies = git_commit_lookup(&commit, repo->git, id) == 0 &&
		  git_commit_tree(&tree, commit) == 0 &&
		  patched_tree_apply(repo, tree, patch, &patched, NULL) == 0;
	patched_tree_release(&patched);
	git_tree_free(tree);
	git_commit_free(commit);
	return applies;
}

bool patch_newest_base(
	struct gitrepo *repo, const struct patch *patch, git_oid *commit, const char **how)
{
	git_oid id;

	*how = "by the blob ids it names";
	if (walk_for_blobs(repo, patch, commit))
		return true;
	*how = "its base-commit";
	if (!*patch->base_commit || git_oid_fromstr(&id, patch->base_commit) ||
		!applies_to(repo, &id, patch))
		return false;
	*commit = id;
	return true;
}
