/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "git_repo.h"
#include "sys/gitrepo.h"
#include "sys/gitrepo_diff.h"

/*
 * Real repositories made by git itself. `top` is the folder of one test; `repo` in it is a
 * repository with the commits one, two and three, each a tag.
 */
static char top[64];

static char *at(const char *name)
{
	static char paths[32][256];
	static unsigned next;
	char *path = paths[next++ % 32];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void put(const char *path, const char *text)
{
	char *folder = path_dir(path);

	assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
	free(folder);
}

static void check_text(const char *path, const char *text)
{
	struct str have = STR_INIT;

	assert_int_equal(file_read(path, 1 << 20, &have, NULL), 0);
	assert_string_equal(str_text(&have), text);
	str_release(&have);
}

static const char one[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", two[] = "1\n2\nthree\n4\n5\n6\n7\n8\n9\n",
		  three[] = "1\n2\nthree\n4\n5\n6\n7\n8\nnine\n";

static void commit(const char *repo, const char *tag)
{
	(void)git(repo, "add", "-A", NULL);
	(void)git(repo, "commit", "-q", "-m", tag, NULL);
	(void)git(repo, "tag", tag, NULL);
}

static int set_up(void **state KB_UNUSED)
{
	const char *repo;

	strncpy(top, "/tmp/kb-gitrepo-XXXXXX", sizeof(top));
	assert_non_null(mkdtemp(top));
	repo = at("repo");
	assert_int_equal(mkdir(repo, 0755), 0);
	(void)git(repo, "init", "-q", NULL);
	put(at("repo/kernel/a.c"), one);
	put(at("repo/run.sh"), "#!/bin/sh\n");
	assert_int_equal(chmod(at("repo/run.sh"), 0755), 0);
	assert_int_equal(symlink("run.sh", at("repo/link")), 0);
	put(at("repo/gone/deep/x"), "x\n");
	commit(repo, "one");
	put(at("repo/kernel/a.c"), two);
	commit(repo, "two");
	put(at("repo/kernel/a.c"), three);
	assert_int_equal(file_remove_tree(at("repo/gone"), NULL), 0);
	put(at("repo/added/y"), "y\n");
	commit(repo, "three");
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	return file_remove_tree(top, NULL);
}

static struct gitrepo *open_ok(const char *path)
{
	struct gitrepo *repo = NULL;
	struct err err = ERR_INIT;

	if (gitrepo_open(path, &repo, &err))
		fail_msg("%s", err.text);
	return repo;
}

static void check_refused(const char *path, const char *says)
{
	struct gitrepo *repo = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(gitrepo_open(path, &repo, &err), ERR_USAGE);
	assert_null(repo);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void refs_are_resolved(void **state KB_UNUSED)
{
	struct gitrepo *repo = open_ok(at("repo"));
	struct gitid id, other;
	struct str subject = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(gitrepo_resolve(repo, "two", &id, &subject, &err), 0);
	assert_string_equal(id.hex, git(at("repo"), "rev-parse", "two", NULL));
	assert_string_equal(str_text(&subject), "two");
	id.hex[12] = '\0';
	assert_int_equal(gitrepo_resolve(repo, id.hex, &other, NULL, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "three^", &other, NULL, &err), 0);
	assert_int_equal(strncmp(id.hex, other.hex, 12), 0);
	assert_int_equal(gitrepo_resolve(repo, "HEAD", &other, NULL, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "refs/heads/main", &other, NULL, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "none", &id, NULL, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "no ref or commit \"none\""));
	assert_int_equal(gitrepo_resolve(repo, "two:run.sh", &id, NULL, &err), ERR_USAGE);
	str_release(&subject);
	gitrepo_free(repo);
}

static void unreadable_repositories_are_refused(void **state KB_UNUSED)
{
	char *url = xasprintf("file://%s", at("repo"));

	check_refused(at("nothing"), "there is no folder");
	put(at("folder/x"), "x");
	check_refused(at("folder"), "cannot be opened as a git repository");
	(void)git(top, "init", "-q", "--object-format=sha256", "sha", NULL);
	check_refused(at("sha"), "uses SHA-256 object ids");
	check_refused(at("sha"), "--object-format=sha1");
	(void)git(top, "clone", "-q", "--depth=1", url, "shallow", NULL);
	check_refused(at("shallow"), "--unshallow");
	(void)git(at("repo"), "config", "uploadpack.allowFilter", "true", NULL);
	(void)git(top, "clone", "-q", "--filter=blob:none", url, "partial", NULL);
	check_refused(at("partial"), "partial clone");
	(void)git(top, "clone", "-q", url, "odd", NULL);
	(void)git(at("odd"), "config", "core.repositoryformatversion", "1", NULL);
	(void)git(at("odd"), "config", "extensions.worktreeConfig", "true", NULL);
	gitrepo_free(open_ok(at("odd")));
	(void)git(at("odd"), "config", "extensions.fromTheFuture", "true", NULL);
	check_refused(at("odd"), "fromthefuture");
	free(url);
}

/* Composes and compares the text of kernel/a.c in the result with what is expected. */
static void check_compose(const char *path, const char *base, const struct git_step *steps,
	size_t count, const char *expected, struct gitid *commit_out)
{
	struct gitrepo *repo = open_ok(path);
	struct gitid from, made, tree;
	struct err err = ERR_INIT;
	char spec[64], *text;

	assert_int_equal(gitrepo_resolve(repo, base, &from, NULL, &err), 0);
	if (gitrepo_compose(repo, &from, steps, count, &made, &tree, &err))
		fail_msg("%s", err.text);
	(void)snprintf(spec, sizeof(spec), "%s:kernel/a.c", made.hex);
	text = xasprintf("%s\n", git(path, "show", spec, NULL));
	assert_string_equal(text, expected);
	free(text);
	(void)snprintf(spec, sizeof(spec), "%s^{tree}", made.hex);
	assert_string_equal(git(path, "rev-parse", spec, NULL), tree.hex);
	if (count) {
		(void)snprintf(spec, sizeof(spec), "refs/kbracket/%s", made.hex);
		assert_string_equal(git(path, "rev-parse", spec, NULL), made.hex);
		(void)snprintf(spec, sizeof(spec), "%s^", made.hex);
		assert_string_equal(git(path, "rev-parse", spec, NULL), from.hex);
	} else {
		assert_string_equal(made.hex, from.hex);
	}
	if (commit_out)
		*commit_out = made;
	gitrepo_free(repo);
}

static const char change_five[] =
	"diff --git a/kernel/a.c b/kernel/a.c\n--- a/kernel/a.c\n+++ b/kernel/a.c\n"
	"@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n";

static void commits_are_composed(void **state KB_UNUSED)
{
	const struct git_step revert = {GIT_STEP_REVERT, "two", "", NULL, 0},
			      pick = {GIT_STEP_PICK, "three", "", NULL, 0},
			      patch = {GIT_STEP_PATCH, "five.patch", "sha256:0", change_five,
				      sizeof(change_five) - 1};
	const struct git_step all[] = {revert, patch};
	struct gitid first, second;

	check_compose(at("repo"), "three", NULL, 0, three, NULL);
	check_compose(at("repo"), "three", &revert, 1, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", NULL);
	check_compose(at("repo"), "one", &pick, 1, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", NULL);
	check_compose(at("repo"), "three", all, 2, "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n", &first);
	/* the same steps give the same commit, also in another clone */
	(void)git(top, "clone", "-q", "--bare", "repo", "bare", NULL);
	check_compose(at("bare"), "three", all, 2, "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n", &second);
	assert_string_equal(first.hex, second.hex);
	assert_non_null(strstr(git(at("repo"), "show", "-s", "--format=%B", first.hex, NULL),
		"patch five.patch sha256:0"));
	(void)git(at("repo"), "fsck", "--strict", NULL);
}

static void reverted_tree_equals_the_one_before(void **state KB_UNUSED)
{
	const struct git_step revert = {GIT_STEP_REVERT, "three", "", NULL, 0};
	struct gitrepo *repo = open_ok(at("repo"));
	struct gitid from, made, tree, two_id, two_tree;
	struct err err = ERR_INIT;

	assert_int_equal(gitrepo_resolve(repo, "three", &from, NULL, &err), 0);
	assert_int_equal(gitrepo_compose(repo, &from, &revert, 1, &made, &tree, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "two", &two_id, NULL, &err), 0);
	assert_int_equal(gitrepo_tree_of(repo, &two_id, &two_tree, &err), 0);
	assert_string_equal(tree.hex, two_tree.hex);
	gitrepo_free(repo);
}

static void the_users_things_stay_untouched(void **state KB_UNUSED)
{
	const struct git_step revert = {GIT_STEP_REVERT, "two", "", NULL, 0};
	char *before, *refs, *index_before;
	struct str index = STR_INIT;

	/* a branch checked out, something staged, something changed, something unknown to git */
	(void)git(at("repo"), "checkout", "-q", "-b", "topic", NULL);
	put(at("repo/run.sh"), "staged\n");
	(void)git(at("repo"), "add", "run.sh", NULL);
	put(at("repo/kernel/a.c"), "dirty\n");
	put(at("repo/untracked"), "u\n");
	(void)git(at("repo"), "worktree", "add", "-q", "../linked", "one", NULL);
	before = xstrdup(git(at("repo"), "status", "--porcelain=v2", "--branch", NULL));
	refs = xstrdup(git(at("repo"), "for-each-ref", "refs/heads", "refs/tags", NULL));
	assert_int_equal(file_read(at("repo/.git/index"), 1 << 20, &index, NULL), 0);
	index_before = xstrdup(git(at("repo"), "ls-files", "-s", NULL));

	check_compose(at("repo"), "three", &revert, 1, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", NULL);
	check_compose(at("linked"), "three", &revert, 1, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", NULL);

	assert_string_equal(before, git(at("repo"), "status", "--porcelain=v2", "--branch", NULL));
	assert_string_equal(refs, git(at("repo"), "for-each-ref", "refs/heads", "refs/tags", NULL));
	assert_string_equal(index_before, git(at("repo"), "ls-files", "-s", NULL));
	check_text(at("repo/kernel/a.c"), "dirty\n");
	assert_string_equal(git(at("linked"), "status", "--porcelain", NULL), "");
	free(before);
	free(refs);
	free(index_before);
	str_release(&index);
}

static void check_compose_fails(
	const char *base, const struct git_step *step, const char *const *says)
{
	struct gitrepo *repo = open_ok(at("repo"));
	struct gitid from, made = {"x"}, tree;
	struct err err = ERR_INIT;
	char *refs = xstrdup(git(at("repo"), "for-each-ref", NULL));

	assert_int_equal(gitrepo_resolve(repo, base, &from, NULL, &err), 0);
	assert_int_equal(gitrepo_compose(repo, &from, step, 1, &made, &tree, &err), ERR_USAGE);
	for (; *says; says++)
		if (!strstr(err.text, *says))
			fail_msg("\"%s\" does not say \"%s\"", err.text, *says);
	assert_string_equal(made.hex, "x");
	assert_string_equal(refs, git(at("repo"), "for-each-ref", NULL));
	free(refs);
	gitrepo_free(repo);
}

/* What would come of it is known without a trace. */
static void steps_are_tried_in_memory(void **state KB_UNUSED)
{
	const struct git_step revert = {GIT_STEP_REVERT, "two", "", NULL, 0},
			      patch = {GIT_STEP_PATCH, "five.patch", "", change_five,
				      sizeof(change_five) - 1};
	const struct git_step both[] = {revert, patch}, twice[] = {patch, patch};
	char *before = xstrdup(git(at("repo"), "count-objects", "-v", NULL));
	char *refs = xstrdup(git(at("repo"), "for-each-ref", NULL));
	struct gitid three_id;
	struct err err = ERR_INIT;

	for (int bad = 0; bad <= 1; bad++) {
		struct gitrepo *repo = open_ok(at("repo"));

		assert_int_equal(gitrepo_resolve(repo, "three", &three_id, NULL, &err), 0);
		assert_int_equal(gitrepo_try(repo, &three_id, bad ? twice : both, 2, &err),
			bad ? ERR_USAGE : 0);
		gitrepo_free(repo);
	}
	assert_non_null(strstr(err.text, "patch does not apply: five.patch"));
	assert_string_equal(before, git(at("repo"), "count-objects", "-v", NULL));
	assert_string_equal(refs, git(at("repo"), "for-each-ref", NULL));
	free(before);
	free(refs);
}

static void failures_say_what_to_do(void **state KB_UNUSED)
{
	static const char no_such[] = "--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n";
	static const char in_a_file[] = "--- /dev/null\n+++ b/kernel/a.c/x\n@@ -0,0 +1 @@\n+b\n";
	static const char on_a_folder[] = "--- /dev/null\n+++ b/kernel\n@@ -0,0 +1 @@\n+b\n";
	char *patch = xasprintf("%s\n", git(at("repo"), "diff", "one", "two", NULL));
	struct git_step step = {GIT_STEP_PATCH, "p.patch", "", patch, strlen(patch)};

	/* made for one, tried on two */
	check_compose_fails("two", &step,
		(const char *const[]){"patch does not apply: p.patch", "kernel/a.c", "hunk 1 of 1",
			"\"3\"", "\"three\"", "it applies to", "(\"one\", 2023-11-14)", NULL});
	free(patch);
	patch = xasprintf("%s\nbase-commit: %s\n",
		"--- a/kernel/a.c\n+++ b/kernel/a.c\n@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4",
		git(at("repo"), "rev-parse", "one", NULL));
	step.patch = patch;
	step.patch_len = strlen(patch);
	check_compose_fails(
		"three", &step, (const char *const[]){"(\"one\"", "its base-commit", NULL});
	free(patch);
	step = (struct git_step){GIT_STEP_PATCH, "q", "", no_such, sizeof(no_such) - 1};
	check_compose_fails(
		"one", &step, (const char *const[]){"no: the file does not exist", NULL});
	step = (struct git_step){GIT_STEP_PATCH, "in-a-file", "", in_a_file, sizeof(in_a_file) - 1};
	check_compose_fails("one", &step,
		(const char *const[]){
			"kernel/a.c/x: the patch makes a folder where a file is", NULL});
	step = (struct git_step){
		GIT_STEP_PATCH, "on-a-folder", "", on_a_folder, sizeof(on_a_folder) - 1};
	check_compose_fails("one", &step,
		(const char *const[]){"kernel: the patch creates a file where a folder is", NULL});
	step = (struct git_step){GIT_STEP_REVERT, "one", "", NULL, 0};
	check_compose_fails(
		"three", &step, (const char *const[]){"cannot revert one", "0 parents", NULL});
	put(at("repo/kernel/a.c"), "1\n2\n3!\n4\n5\n6\n7\n8\nnine\n");
	commit(at("repo"), "four");
	step = (struct git_step){GIT_STEP_REVERT, "two", "", NULL, 0};
	check_compose_fails("four", &step,
		(const char *const[]){"cannot revert two", "conflicts in kernel/a.c", NULL});
}

static void other_peoples_repositories_are_not_written(void **state KB_UNUSED)
{
	const struct git_step revert = {GIT_STEP_REVERT, "two", "", NULL, 0};

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(at("repo/.git"), 12345, 12345), 0);
	check_compose(at("repo"), "three", NULL, 0, three, NULL); /* reading is fine */
	check_compose_fails("three", &revert,
		(const char *const[]){"belongs to user 12345", "git clone", NULL});
	assert_int_equal(chown(at("repo/.git"), 0, 0), 0);
}

static int64_t mtime(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static size_t check_out(const char *ref)
{
	struct gitrepo *repo = open_ok(at("repo"));
	struct gitid id, tree;
	struct err err = ERR_INIT;
	size_t written = 0;

	assert_int_equal(gitrepo_resolve(repo, ref, &id, NULL, &err), 0);
	assert_int_equal(gitrepo_tree_of(repo, &id, &tree, &err), 0);
	if (gitrepo_checkout(repo, &tree, at("src"), &written, &err))
		fail_msg("%s", err.text);
	gitrepo_free(repo);
	return written;
}

/* The checkout is exactly what git itself would check out. */
static void check_same_as_git(const char *ref)
{
	char *other = xstrdup(at("by-git"));
	const char *argv[] = {"diff", "-r", "--no-dereference", other, at("src"), NULL};
	struct proc_spec spec = {.argv = argv};
	struct err err = ERR_INIT;

	(void)git(at("repo"), "worktree", "add", "-q", "-f", other, ref, NULL);
	assert_int_equal(file_remove_tree(at("by-git/.git"), NULL), 0);
	if (proc_check(&spec, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(file_remove_tree(other, NULL), 0);
	(void)git(at("repo"), "worktree", "prune", NULL);
	free(other);
}

static void checkouts_write_only_what_differs(void **state KB_UNUSED)
{
	int64_t before;
	struct stat st;

	assert_int_equal(check_out("one"), 4);
	check_same_as_git("one");
	assert_int_equal(stat(at("src/run.sh"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	before = mtime(at("src/run.sh"));
	assert_int_equal(check_out("one"), 0);
	assert_int_equal(check_out("three"), 3);
	check_same_as_git("three");
	assert_int_equal(mtime(at("src/run.sh")), before);
	assert_false(file_exists(at("src/gone")));
	assert_int_equal(check_out("one"), 3);
	check_same_as_git("one");
	assert_int_equal(mtime(at("src/run.sh")), before);
}

static void interrupted_checkouts_are_mended(void **state KB_UNUSED)
{
	int64_t before;

	(void)check_out("one");
	before = mtime(at("src/link"));
	/* as if it had been stopped half-way: no state, files missing, strange and wrong */
	assert_int_equal(unlink(at("src.state")), 0);
	assert_int_equal(unlink(at("src/run.sh")), 0);
	put(at("src/kernel/a.c"), "half");
	put(at("src/strange/file"), "s");
	assert_int_equal(file_remove_tree(at("src/gone"), NULL), 0);
	put(at("src/gone"), "a file where a folder belongs");
	assert_int_equal(check_out("one"), 4);
	check_same_as_git("one");
	assert_int_equal(mtime(at("src/link")), before);
}

static void folders_and_files_change_places(void **state KB_UNUSED)
{
	assert_int_equal(file_remove_tree(at("repo/added"), NULL), 0);
	put(at("repo/added"), "now a file\n");
	assert_int_equal(unlink(at("repo/link")), 0);
	put(at("repo/link/x"), "now a folder\n");
	assert_int_equal(chmod(at("repo/run.sh"), 0644), 0);
	commit(at("repo"), "swapped");
	(void)check_out("three");
	(void)check_out("swapped");
	check_same_as_git("swapped");
	(void)check_out("three");
	check_same_as_git("three");
}

/* A tree with one file of any name, as only a damaged or hostile repository has it. */
static void write_tree(const char *name, struct gitid *tree)
{
	const char *argv[] = {
		"git", "hash-object", "-t", "tree", "--literally", "-w", "--stdin", NULL};
	const char *blob = git(at("repo"), "rev-parse", "one:kernel/a.c", NULL);
	struct str bytes = STR_INIT, out = STR_INIT;
	struct proc_spec spec = {.argv = argv, .cwd = at("repo")};
	struct err err = ERR_INIT;

	str_addf(&bytes, "100644 %s", name);
	str_add_char(&bytes, '\0');
	for (int i = 0; i < 40; i += 2) {
		char digits[3] = {blob[i], blob[i + 1], '\0'};

		str_add_char(&bytes, (char)strtol(digits, NULL, 16));
	}
	spec.input = bytes.text;
	spec.input_len = bytes.len;
	if (proc_check(&spec, &out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out.len, 41);
	memcpy(tree->hex, out.text, 40);
	tree->hex[40] = '\0';
	str_release(&bytes);
	str_release(&out);
}

static void names_do_not_lead_outside(void **state KB_UNUSED)
{
	static const char *const names[] = {
		"..", ".", "../outside", "kernel/../../outside", "/tmp/kb-gitrepo-outside"};
	struct gitrepo *repo;
	struct err err = ERR_INIT;

	assert_int_equal(gitrepo_open(at("repo"), &repo, &err), 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		struct gitid tree;

		/* into an empty folder, and as a change to what is there */
		assert_int_equal(file_remove_tree(at("src"), NULL), 0);
		assert_int_equal(file_remove_tree(at("src.state"), NULL), 0);
		if (i >= ARRAY_SIZE(names))
			(void)check_out("one");
		write_tree(names[i % ARRAY_SIZE(names)], &tree);
		assert_int_equal(gitrepo_checkout(repo, &tree, at("src"), NULL, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, "which is no name of a file"));
		assert_false(file_exists(at("outside")));
		assert_false(file_exists("/tmp/kb-gitrepo-outside"));
	}
	gitrepo_free(repo);
}

static void trees_are_compared_below_a_folder(void **state KB_UNUSED)
{
	static const char hunk[] = "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n";
	struct gitrepo *repo;
	struct gitid commit, first, second;
	struct str diff = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(gitrepo_open(at("repo"), &repo, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "one", &commit, NULL, &err), 0);
	assert_int_equal(gitrepo_tree_of(repo, &commit, &first, &err), 0);
	assert_int_equal(gitrepo_resolve(repo, "two", &commit, NULL, &err), 0);
	assert_int_equal(gitrepo_tree_of(repo, &commit, &second, &err), 0);
	assert_int_equal(
		gitrepo_diff(repo, first.hex, second.hex, "kernel", 1000, &diff, &err), 0);
	assert_non_null(strstr(str_text(&diff), hunk));
	/* outside the folder, and between equal trees, there is nothing */
	str_reset(&diff);
	assert_int_equal(gitrepo_diff(repo, first.hex, second.hex, "gone", 1000, &diff, &err), 0);
	assert_int_equal(gitrepo_diff(repo, first.hex, first.hex, "kernel", 1000, &diff, &err), 0);
	/* a folder is named, not a pattern */
	assert_int_equal(gitrepo_diff(repo, first.hex, second.hex, "k*", 1000, &diff, &err), 0);
	assert_int_equal(gitrepo_diff(repo, first.hex, second.hex, "kernel", 60, &diff, &err),
		ERR_USAGE);
	assert_non_null(strstr(err.text, "longer than 60 bytes"));
	err = (struct err)ERR_INIT;
	assert_int_equal(
		gitrepo_diff(repo, first.hex, commit.hex, "kernel", 1000, &diff, &err),
		ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "has no tree"));
	assert_int_equal(diff.len, 0);
	str_release(&diff);
	gitrepo_free(repo);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refs_are_resolved),
		TEST(unreadable_repositories_are_refused),
		TEST(commits_are_composed),
		TEST(reverted_tree_equals_the_one_before),
		TEST(the_users_things_stay_untouched),
		TEST(steps_are_tried_in_memory),
		TEST(failures_say_what_to_do),
		TEST(other_peoples_repositories_are_not_written),
		TEST(checkouts_write_only_what_differs),
		TEST(interrupted_checkouts_are_mended),
		TEST(folders_and_files_change_places),
		TEST(names_do_not_lead_outside),
		TEST(trees_are_compared_below_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
