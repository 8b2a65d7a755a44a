/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/gitrepo_diff.h"
#include "sys/gitrepo_int.h"

struct printing {
	struct str text;
	size_t max_bytes;
	bool too_long;
};

static int add_line(const git_diff_delta *delta KB_UNUSED, const git_diff_hunk *hunk KB_UNUSED,
	const git_diff_line *line, void *arg)
{
	struct printing *printing = arg;

	printing->too_long = printing->text.len + line->content_len + 1 > printing->max_bytes;
	if (printing->too_long)
		return GIT_EUSER;
	if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
		line->origin == GIT_DIFF_LINE_DELETION)
		str_add_char(&printing->text, line->origin);
	str_add_bytes(&printing->text, line->content, line->content_len);
	return 0;
}

static int look_up(struct gitrepo *repo, const char *hex, git_tree **out, struct err *err)
{
	git_oid id;

	if (git_oid_fromstr(&id, hex) || git_tree_lookup(out, repo->git, &id))
		return git_fail(err, ERR_NOT_FOUND, "%s has no tree %.40s", repo->path, hex);
	return 0;
}

static int print(struct gitrepo *repo, git_tree *from, git_tree *to, const char *folder,
	struct printing *printing, struct err *err)
{
	git_diff_options options;
	char *paths[] = {(char *)(uintptr_t)folder};
	git_diff *diff = NULL;
	int ret = 0;

	if (git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION))
		BUG("libgit2 is another than it was built for");
	options.pathspec = (git_strarray){paths, 1};
	options.flags |= GIT_DIFF_DISABLE_PATHSPEC_MATCH;
	if (git_diff_tree_to_tree(&diff, repo->git, from, to, &options))
		return git_fail(err, ERR_INFRA, "%s: two trees cannot be compared", repo->path);
	if (git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, add_line, printing))
		ret = printing->too_long
			      ? err_set(err, ERR_USAGE, "the diff of %s is longer than %zu bytes",
					folder, printing->max_bytes)
			      : git_fail(err, ERR_INFRA, "%s: a diff cannot be made", repo->path);
	git_diff_free(diff);
	return ret;
}

int gitrepo_diff(struct gitrepo *repo, const char *from, const char *to, const char *folder,
	size_t max_bytes, struct str *out, struct err *err)
{
	struct printing printing = {STR_INIT, max_bytes, false};
	git_tree *a = NULL, *b = NULL;
	int ret = look_up(repo, from, &a, err);

	if (!ret)
		ret = look_up(repo, to, &b, err);
	if (!ret)
		ret = print(repo, a, b, folder, &printing, err);
	if (!ret)
		str_add(out, str_text(&printing.text));
	str_release(&printing.text);
	git_tree_free(a);
	git_tree_free(b);
	return ret;
}
