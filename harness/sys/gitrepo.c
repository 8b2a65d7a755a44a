/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "sys/gitrepo_int.h"

int git_fail(struct err *err, enum err_code code, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	struct str text = STR_INIT, safe = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	if (last && last->message)
		str_add_safe(&safe, last->message, strlen(last->message));
	(void)err_set(err, code, "%s: %s", str_text(&text),
		safe.len ? str_text(&safe) : "libgit2 gives no reason");
	str_release(&text);
	str_release(&safe);
	return code;
}

/* What libgit2 cannot read, by the name of the repository extension. */
static const struct {
	const char *extension, *what, *remedy;
} unreadable[] = {
	{"objectformat", "uses SHA-256 object ids",
		"clone it into a repository made with git init --object-format=sha1"},
	{"partialclone", "is a partial clone, which lacks objects",
		"make a full clone, or run `git fetch --refetch --no-filter` in it and remove "
		"extensions.partialClone and the remote's promisor setting"},
	{"refstorage", "keeps its refs in a format other than files",
		"run `git refs migrate --ref-format=files` in it"},
};

static int say_unreadable(const char *path, struct err *err)
{
	static const char before[] = "extensions.";
	const git_error *last = git_error_last();
	const char *name = last && last->message ? strstr(last->message, before) : NULL;

	if (!name)
		return git_fail(err, ERR_USAGE, "%s cannot be opened as a git repository", path);
	name += strlen(before);
	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++)
		if (!strncasecmp(name, unreadable[i].extension, strlen(unreadable[i].extension)))
			return err_set(err, ERR_USAGE,
				"%s %s (extensions.%s), which libgit2 cannot read: %s", path,
				unreadable[i].what, unreadable[i].extension, unreadable[i].remedy);
	return git_fail(err, ERR_USAGE,
		"%s has a repository extension that libgit2 cannot read: name a plain clone of it "
		"(git clone --no-local)",
		path);
}

/* Compared by hand: the matching of libgit2 1.5 by pattern leaks memory. */
static bool means_partial(const git_config_entry *entry)
{
	if (!entry->value || !strcmp(entry->value, "false"))
		return false;
	return !strcmp(entry->name, "extensions.partialclone") ||
	       (str_starts(entry->name, "remote.") && str_ends(entry->name, ".promisor"));
}

/* A promisor remote makes a partial clone also where the extension is not written down. */
static int refuse_partial(git_repository *git, const char *path, struct err *err)
{
	git_config_iterator *walk = NULL;
	git_config_entry *entry;
	git_config *config = NULL;
	bool found = false;

	if (git_repository_config_snapshot(&config, git) == 0 &&
		git_config_iterator_new(&walk, config) == 0)
		while (!found && git_config_next(&entry, walk) == 0)
			found = means_partial(entry);
	git_config_iterator_free(walk);
	git_config_free(config);
	if (!found)
		return 0;
	return err_set(err, ERR_USAGE, "%s %s, which libgit2 cannot read: %s", path,
		unreadable[1].what, unreadable[1].remedy);
}

static int refuse_incomplete(git_repository *git, const char *path, struct err *err)
{
	if (git_repository_is_shallow(git))
		return err_set(err, ERR_USAGE,
			"%s is a shallow clone, whose history is cut off: run `git -C %s fetch "
			"--unshallow`",
			path, path);
	return refuse_partial(git, path, err);
}

/* Who owns a repository matters to us only when we write (see gitrepo_compose); the extensions
 * named here change nothing about reading objects and refs. */
static void set_libgit2_options(void)
{
	const char *harmless[] = {"worktreeconfig", "preciousobjects"};

	(void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0); /* older: no such option */
	(void)git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, harmless, ARRAY_SIZE(harmless));
}

int gitrepo_open(const char *path, struct gitrepo **out, struct err *err)
{
	struct gitrepo *repo;
	git_repository *git = NULL;
	int ret = 0;

	(void)git_libgit2_init(); /* counts its users */
	set_libgit2_options();
	if (!file_is_folder(path))
		ret = err_set(err, ERR_USAGE, "there is no folder %s", path);
	else if (git_repository_open_ext(&git, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL))
		ret = say_unreadable(path, err);
	else
		ret = refuse_incomplete(git, path, err);
	if (ret) {
		git_repository_free(git);
		(void)git_libgit2_shutdown();
		return ret;
	}
	repo = xcalloc(1, sizeof(*repo));
	repo->git = git;
	repo->path = xstrdup(path);
	repo->common_dir = xstrdup(git_repository_commondir(git));
	*out = repo;
	return 0;
}

void gitrepo_free(struct gitrepo *repo)
{
	if (!repo)
		return;
	git_repository_free(repo->git);
	free(repo->path);
	free(repo->common_dir);
	free(repo);
	(void)git_libgit2_shutdown();
}

const char *gitrepo_path(const struct gitrepo *repo)
{
	return repo->path;
}

const char *gitrepo_common_dir(const struct gitrepo *repo)
{
	return repo->common_dir;
}

static void add_subject(const git_commit *commit, struct str *out)
{
	const char *subject = git_commit_summary((git_commit *)commit); /* caches in the commit */
	size_t len = subject ? strlen(subject) : 0;

	str_add_safe(out, subject ? subject : "", len < 160 ? len : 160);
}

int gitrepo_resolve(struct gitrepo *repo, const char *ref, struct gitid *commit,
	struct str *subject, struct err *err)
{
	git_object *object = NULL, *peeled = NULL;
	int ret = 0, found;

	found = git_revparse_single(&object, repo->git, ref);
	if (found == GIT_EAMBIGUOUS)
		ret = err_set(err, ERR_USAGE,
			"%s: \"%s\" is the start of several ids: write more "
			"digits",
			repo->path, ref);
	else if (found)
		ret = git_fail(err, ERR_USAGE, "%s has no ref or commit \"%s\"", repo->path, ref);
	else if (git_object_peel(&peeled, object, GIT_OBJECT_COMMIT))
		ret = err_set(err, ERR_USAGE, "%s: \"%s\" is not a commit", repo->path, ref);
	if (ret == 0) {
		git_oid_tostr(commit->hex, sizeof(commit->hex), git_object_id(peeled));
		if (subject) {
			str_reset(subject);
			add_subject((git_commit *)peeled, subject);
		}
	}
	git_object_free(peeled);
	git_object_free(object);
	return ret;
}

int gitrepo_tree_of(
	struct gitrepo *repo, const struct gitid *commit, struct gitid *tree, struct err *err)
{
	git_commit *found = NULL;
	git_oid id;

	if (git_oid_fromstr(&id, commit->hex) || git_commit_lookup(&found, repo->git, &id))
		return git_fail(err, ERR_USAGE, "%s: commit %s", repo->path, commit->hex);
	git_oid_tostr(tree->hex, sizeof(tree->hex), git_commit_tree_id(found));
	git_commit_free(found);
	return 0;
}

void git_add_commit_name(struct gitrepo *repo, const git_oid *id, struct str *out)
{
	git_commit *commit = NULL;
	char hex[13];
	struct tm day;
	time_t when;

	git_oid_tostr(hex, sizeof(hex), id);
	str_add(out, hex);
	if (git_commit_lookup(&commit, repo->git, id))
		return;
	str_add(out, " (\"");
	add_subject(commit, out);
	when = (time_t)git_commit_time(commit);
	if (gmtime_r(&when, &day))
		str_addf(out, "\", %04d-%02d-%02d)", day.tm_year + 1900, day.tm_mon + 1,
			day.tm_mday);
	else
		str_add(out, "\")");
	git_commit_free(commit);
}
