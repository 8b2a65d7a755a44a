/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stop.h"
#include "base/strv.h"
#include "sys/gitrepo_int.h"

enum { MAX_DEPTH = 64 };

struct checkout {
	struct gitrepo *repo;
	const char *folder;
	size_t written;
	struct err *err;
};

static bool is_name(const char *name, size_t len)
{
	return len && !(len == 1 && name[0] == '.') && !(len == 2 && !memcmp(name, "..", 2));
}

static int refuse_name(struct checkout *c, const char *name)
{
	struct str safe = STR_INIT;
	int ret;

	str_add_safe(&safe, name, strnlen(name, 200));
	ret = err_set(c->err, ERR_USAGE,
		"%s: the tree holds '%s', which is no name of a file: the repository is damaged, "
		"or "
		"made to do harm",
		c->repo->path, str_text(&safe));
	str_release(&safe);
	return ret;
}

/* git makes no trees with such names, but one can be made by hand, and would have us write outside
 * the folder. path: names joined by '/'. */
static int check_names(struct checkout *c, const char *path)
{
	for (const char *name = path;;) {
		size_t len = strcspn(name, "/");

		if (!is_name(name, len))
			return refuse_name(c, path);
		if (!name[len])
			return 0;
		name += len + 1;
	}
}

static int write_bytes(int fd, const char *path, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

/* Everyone may read: the build runs as another user. */
static int write_regular(
	const char *path, const void *bytes, size_t len, unsigned mode, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot create %s", path);
	ret = write_bytes(fd, path, bytes, len, err);
	if (ret == 0 && fchmod(fd, mode & 0100 ? 0755 : 0644) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot set the mode of %s", path);
	if (close(fd) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	return ret;
}

static int write_link(const char *path, const void *target, size_t len, struct err *err)
{
	char *text = xstrndup(target, len);
	int ret = 0;

	if (symlink(text, path) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot make the symbolic link %s", path);
	free(text);
	return ret;
}

static int write_blob(struct checkout *c, const char *path, const git_oid *id, unsigned mode)
{
	git_blob *blob = NULL;
	const void *bytes;
	size_t len;
	int ret;

	ret = file_remove_tree(path, c->err);
	if (ret)
		return ret;
	if (git_blob_lookup(&blob, c->repo->git, id))
		return git_fail(c->err, ERR_INFRA, "%s: cannot read %s", c->repo->path, path);
	bytes = git_blob_rawcontent(blob);
	len = (size_t)git_blob_rawsize(blob);
	if (mode == GIT_FILEMODE_LINK)
		ret = write_link(path, bytes, len, c->err);
	else
		ret = write_regular(path, bytes, len, mode, c->err);
	git_blob_free(blob);
	c->written++;
	return ret;
}

static bool link_is_same(const char *path, const git_oid *id)
{
	char target[4096];
	ssize_t len = readlink(path, target, sizeof(target));
	git_oid have;

	return len >= 0 && (size_t)len < sizeof(target) &&
	       git_odb_hash(&have, target, (size_t)len, GIT_OBJECT_BLOB) == 0 &&
	       git_oid_equal(&have, id);
}

/* Whether what stands at path is the entry already. */
static bool is_same(const char *path, const git_tree_entry *entry)
{
	unsigned mode = git_tree_entry_filemode(entry);
	const git_oid *id = git_tree_entry_id(entry);
	struct stat st;
	git_oid have;

	if (lstat(path, &st) != 0)
		return false;
	if (mode == GIT_FILEMODE_LINK)
		return S_ISLNK(st.st_mode) && link_is_same(path, id);
	return S_ISREG(st.st_mode) && !!(st.st_mode & 0100) == !!(mode & 0100) &&
	       git_odb_hashfile(&have, path, GIT_OBJECT_BLOB) == 0 && git_oid_equal(&have, id);
}

static int make_folder(const char *path, struct err *err)
{
	struct stat st;
	int ret;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	ret = file_remove_tree(path, err);
	if (ret)
		return ret;
	if (mkdir(path, 0755) != 0 || chmod(path, 0755) != 0)
		return err_errno(err, ERR_INFRA, errno, "cannot make the folder %s", path);
	return 0;
}

static int remove_strangers(struct checkout *c, git_tree *tree, const char *folder)
{
	struct strv names = STRV_INIT;
	int ret = file_list(folder, &names, c->err);

	for (size_t i = 0; ret == 0 && i < names.count; i++) {
		char *path;

		if (git_tree_entry_byname(tree, names.items[i]))
			continue;
		path = path_join(folder, names.items[i]);
		ret = file_remove_tree(path, c->err);
		c->written++;
		free(path);
	}
	strv_release(&names);
	return ret;
}

static int fill_folder(struct checkout *c, git_tree *tree, const char *folder, int depth);

static int fill_entry(struct checkout *c, const git_tree_entry *entry, const char *path, int depth)
{
	git_tree *tree = NULL;
	int ret;

	if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB)
		return is_same(path, entry) ? 0
					    : write_blob(c, path, git_tree_entry_id(entry),
						      git_tree_entry_filemode(entry));
	ret = make_folder(path, c->err);
	if (ret || git_tree_entry_type(entry) != GIT_OBJECT_TREE)
		return ret; /* a submodule is an empty folder */
	if (git_tree_lookup(&tree, c->repo->git, git_tree_entry_id(entry)))
		return git_fail(c->err, ERR_INFRA, "%s: cannot read %s", c->repo->path, path);
	ret = fill_folder(c, tree, path, depth + 1);
	git_tree_free(tree);
	return ret;
}

/* Compares the whole folder with the tree and mends what differs. */
static int fill_folder(struct checkout *c, git_tree *tree, const char *folder, int depth)
{
	int ret;

	if (depth > MAX_DEPTH)
		return err_set(
			c->err, ERR_USAGE, "%s: folders nested deeper than %d", folder, MAX_DEPTH);
	ret = stop_check(c->err);
	if (ret == 0)
		ret = remove_strangers(c, tree, folder);
	for (size_t i = 0; ret == 0 && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(entry);
		char *path = xasprintf("%s/%s", folder, name);

		ret = strchr(name, '/') ? refuse_name(c, name) : check_names(c, name);
		if (ret == 0)
			ret = fill_entry(c, entry, path, depth);
		free(path);
	}
	return ret;
}

/* The folders above a file inside the checkout. */
static int make_parents(struct checkout *c, char *path)
{
	size_t top = strlen(c->folder) + 1;
	int ret = 0;

	for (char *slash = strchr(path + top, '/'); ret == 0 && slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = make_folder(path, c->err);
		*slash = '/';
	}
	return ret;
}

static void remove_empty_parents(struct checkout *c, char *path)
{
	size_t top = strlen(c->folder);
	char *slash;

	while ((slash = strrchr(path, '/')) && (size_t)(slash - path) > top) {
		*slash = '\0';
		if (rmdir(path) != 0)
			break; /* something else is still in it */
	}
}

static int change_file(struct checkout *c, const git_diff_delta *delta, bool removals)
{
	bool removal = delta->status == GIT_DELTA_DELETED;
	const char *inside = removal ? delta->old_file.path : delta->new_file.path;
	char *path;
	int ret;

	if (removal != removals)
		return 0;
	ret = check_names(c, inside);
	if (ret)
		return ret;
	path = xasprintf("%s/%s", c->folder, inside);
	if (removal) {
		ret = file_remove_tree(path, c->err);
		remove_empty_parents(c, path);
		c->written++;
	} else {
		ret = make_parents(c, path);
		if (ret == 0 && delta->new_file.mode == GIT_FILEMODE_COMMIT)
			ret = make_folder(path, c->err);
		else if (ret == 0)
			ret = write_blob(c, path, &delta->new_file.id, delta->new_file.mode);
	}
	free(path);
	return ret;
}

/* Only what changed between two trees; removals first, since a folder may become a file. */
static int move_folder(struct checkout *c, git_tree *from, git_tree *to)
{
	git_diff *diff = NULL;
	int ret = 0;

	if (git_diff_tree_to_tree(&diff, c->repo->git, from, to, NULL))
		return git_fail(c->err, ERR_INFRA, "%s: cannot compare two trees", c->repo->path);
	for (int removals = 1; removals >= 0; removals--)
		for (size_t i = 0; ret == 0 && i < git_diff_num_deltas(diff); i++) {
			ret = change_file(c, git_diff_get_delta(diff, i), removals);
			if (ret == 0)
				ret = stop_check(c->err);
		}
	git_diff_free(diff);
	return ret;
}

/* The tree that the folder holds according to its state file; NULL when that is not known. */
static git_tree *known_tree(struct checkout *c, const char *state)
{
	struct str text = STR_INIT;
	git_tree *tree = NULL;
	git_oid id;

	if (file_is_folder(c->folder) && file_read_line(state, &text, NULL) == 0 &&
		text.len == GITREPO_ID_LEN && git_oid_fromstr(&id, str_text(&text)) == 0)
		(void)git_tree_lookup(&tree, c->repo->git, &id); /* gone: look at everything */
	str_release(&text);
	return tree;
}

/* Files first, then the note that they are there. */
static int seal(struct checkout *c, const char *state, const struct gitid *tree)
{
	int fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0 || (c->written && syncfs(fd) != 0))
		ret = err_errno(c->err, ERR_INFRA, errno, "cannot sync %s", c->folder);
	if (fd >= 0)
		(void)close(fd); /* nothing was written through it */
	if (ret == 0)
		ret = file_write_atomic(state, tree->hex, strlen(tree->hex), 0644, c->err);
	return ret;
}

static int bring_to(struct checkout *c, const char *state, git_tree *tree)
{
	git_tree *from = known_tree(c, state);
	int ret = 0;

	if (from && git_oid_equal(git_tree_id(from), git_tree_id(tree))) {
		git_tree_free(from);
		return 0;
	}
	ret = file_remove_tree(state, c->err);
	if (ret == 0)
		ret = file_sync_folder_of(state, c->err);
	if (ret == 0 && from)
		ret = move_folder(c, from, tree);
	else if (ret == 0)
		ret = fill_folder(c, tree, c->folder, 0);
	git_tree_free(from);
	return ret;
}

int gitrepo_checkout(struct gitrepo *repo, const struct gitid *tree, const char *folder,
	size_t *written, struct err *err)
{
	struct checkout c = {repo, folder, 0, err};
	char *state = xasprintf("%s.state", folder);
	git_tree *wanted = NULL;
	git_oid id;
	int ret;

	if (git_oid_fromstr(&id, tree->hex) || git_tree_lookup(&wanted, repo->git, &id))
		ret = git_fail(err, ERR_USAGE, "%s: tree %s", repo->path, tree->hex);
	else
		ret = file_mkdirs(folder, 0755, err);
	if (ret == 0)
		ret = bring_to(&c, state, wanted);
	if (ret == 0)
		ret = seal(&c, state, tree);
	if (ret == 0 && written)
		*written = c.written;
	git_tree_free(wanted);
	free(state);
	return ret;
}
