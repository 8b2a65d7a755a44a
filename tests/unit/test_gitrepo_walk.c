/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of commits on real histories, compared with what git itself lists. */
#include "base/base.h"

#include "git_repo.h"
#include "scratch.h"
#include "sys/gitrepo_walk.h"

/* A commit of a history in the making: mark, parents ("1 2"; "" none), file that it changes. */
struct made {
	int mark;
	const char *parents, *file;
};

static void add_made(struct str *stream, const struct made *made)
{
	char *parents = xstrdup(made->parents), *left = parents, *word;
	const char *verb = "from";

	str_addf(stream, "commit refs/heads/c%d\nmark :%d\n", made->mark, made->mark);
	str_addf(stream, "author A %d <a%d@example.org> %d +0000\n", made->mark, made->mark,
		1700000000 + made->mark);
	str_addf(stream, "committer a <a@b> %d +0000\n", 1700000000 + made->mark);
	str_addf(stream, "data <<END\n%s: change %d\nEND\n", made->file, made->mark);
	while ((word = strsep(&left, " ")))
		if (*word) {
			str_addf(stream, "%s :%s\n", verb, word);
			verb = "merge";
		}
	str_addf(stream, "M 644 inline %s\ndata <<END\n%d\nEND\n\n", made->file, made->mark);
	free(parents);
}

/* Makes the history in the folder "repo" of scratch; each commit is the branch c<mark>. */
static void make_history(const struct made *mades, size_t count)
{
	struct str stream = STR_INIT;
	const char *repo = in_scratch("repo");

	for (size_t i = 0; i < count; i++)
		add_made(&stream, &mades[i]);
	put_text("stream", str_text(&stream));
	assert_int_equal(mkdir(repo, 0755), 0);
	(void)git(repo, "init", "-q", NULL);
	(void)git(repo, "config", "alias.load", "!git fast-import --quiet <../stream", NULL);
	(void)git(repo, "load", NULL);
	str_release(&stream);
}

static struct gitrepo *open_repo(void)
{
	struct gitrepo *repo = NULL;
	struct err err = ERR_INIT;

	if (gitrepo_open(in_scratch("repo"), &repo, &err))
		fail_msg("%s", err.text);
	return repo;
}

static struct gitid id_of(struct gitrepo *repo, const char *ref)
{
	struct err err = ERR_INIT;
	struct gitid id;

	if (gitrepo_resolve(repo, ref, &id, NULL, &err))
		fail_msg("%s", err.text);
	return id;
}

static struct gitid commit_id(struct gitrepo *repo, int mark)
{
	char ref[16];

	(void)snprintf(ref, sizeof(ref), "c%d", mark);
	return id_of(repo, ref);
}

static struct gitwalk *walk_ok(struct gitrepo *repo, struct gitwalk_spec spec)
{
	struct gitwalk *walk = NULL;
	struct err err = ERR_INIT;

	if (gitwalk_make(repo, &spec, &walk, &err))
		fail_msg("%s", err.text);
	return walk;
}

static void check_fails(struct gitrepo *repo, struct gitwalk_spec spec, const char *says)
{
	struct gitwalk *walk = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(gitwalk_make(repo, &spec, &walk, &err), ERR_USAGE);
	assert_null(walk);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

/* The numbers of the listed commits, as "1 2 3". */
static void check_list(const struct gitwalk *walk, const char *marks)
{
	struct str seen = STR_INIT;

	for (size_t i = 0; i < gitwalk_count(walk); i++)
		str_addf(&seen, "%s%s", i ? " " : "",
			strstr(gitwalk_at(walk, i)->subject, "change ") + strlen("change "));
	assert_string_equal(str_text(&seen), marks);
	str_release(&seen);
}

/* Two branches from 2: 3 4 5 and 6 7, joined by 8; then 9. 10 is a branch from before 2. */
static const struct made branched[] = {
	{1, "", "kernel/a.c"},
	{2, "1", "kernel/a.c"},
	{3, "2", "kernel/a.c"},
	{4, "3", "mm/b.c"},
	{5, "4", "kernel/a.c"},
	{6, "2", "kernel/c.c"},
	{7, "6", "kernel/c.c"},
	{10, "1", "kernel/d.c"},
	{11, "5 10", "kernel/e.c"},
	{8, "11 7", "kernel/f.c"},
	{9, "8", "mm/b.c"},
};

static void a_list_is_what_was_asked_for(void **state KB_UNUSED)
{
	static const char *const kernel[] = {"kernel/", NULL};
	struct gitrepo *repo;
	struct gitwalk_spec spec;
	struct gitwalk *walk;

	make_history(branched, ARRAY_SIZE(branched));
	repo = open_repo();
	spec = (struct gitwalk_spec){.good = commit_id(repo, 2), .bad = commit_id(repo, 9)};
	walk = walk_ok(repo, spec);
	check_list(walk, "3 4 5 6 7 9");
	assert_string_equal(gitwalk_at(walk, 0)->author, "A 3 <a3@example.org>");
	assert_int_equal(gitwalk_at(walk, 0)->time_s, 1700000003);
	assert_int_equal(gitwalk_find(walk, commit_id(repo, 5).hex), 2);
	assert_int_equal(gitwalk_find(walk, commit_id(repo, 8).hex), -1);
	gitwalk_free(walk);
	spec.merges = true;
	walk = walk_ok(repo, spec);
	check_list(walk, "3 4 5 11 6 7 8 9");
	gitwalk_free(walk);
	spec.merges = false;
	spec.paths = kernel;
	walk = walk_ok(repo, spec);
	check_list(walk, "3 5 6 7");
	gitwalk_free(walk);
	spec.not_subject = "^kernel/c";
	walk = walk_ok(repo, spec);
	check_list(walk, "3 5");
	gitwalk_free(walk);
	spec.not_subject = NULL;
	spec.first_parent = true;
	walk = walk_ok(repo, spec);
	check_list(walk, "3 5 11 8");
	gitwalk_free(walk);
	gitrepo_free(repo);
}

static void wrong_ends_are_told(void **state KB_UNUSED)
{
	static const char *const nowhere[] = {"nowhere", NULL};
	static const char *const mm[] = {"mm", NULL};
	struct gitrepo *repo;
	struct gitid one, two, nine;

	make_history(branched, ARRAY_SIZE(branched));
	repo = open_repo();
	one = commit_id(repo, 1);
	two = commit_id(repo, 2);
	nine = commit_id(repo, 9);
	check_fails(repo, (struct gitwalk_spec){.good = nine, .bad = two}, "are swapped");
	check_fails(repo, (struct gitwalk_spec){.good = nine, .bad = nine}, "the same commit");
	check_fails(repo,
		(struct gitwalk_spec){.good = commit_id(repo, 7), .bad = commit_id(repo, 5)},
		"two branches that part at");
	check_fails(repo,
		(struct gitwalk_spec){
			.good = commit_id(repo, 7), .bad = nine, .first_parent = true},
		"came into the bad one by a merge");
	check_fails(repo, (struct gitwalk_spec){.good = two, .bad = nine, .paths = nowhere},
		"there is no nowhere in any commit");
	check_fails(repo,
		(struct gitwalk_spec){.good = two, .bad = nine, .paths = mm, .not_subject = "^mm"},
		"exclude all of them");
	check_fails(repo, (struct gitwalk_spec){.good = one, .bad = nine, .not_subject = "("},
		"--not-subject");
	check_fails(repo,
		(struct gitwalk_spec){.good = commit_id(repo, 5), .bad = commit_id(repo, 11)},
		"they are all merges");
	gitrepo_free(repo);
}

/* Links as "8:6,7 9:9": the kernel to be tested and what a change in it may be. */
static void check_chain(struct gitwalk *walk, struct gitrepo *repo, const int *good,
	size_t good_count, int bad, const char *links)
{
	struct arena arena = ARENA_INIT;
	struct gitid goods[8], end = commit_id(repo, bad);
	struct gitwalk_link *chain;
	struct str seen = STR_INIT;
	struct err err = ERR_INIT;
	size_t count;

	for (size_t i = 0; i < good_count; i++)
		goods[i] = commit_id(repo, good[i]);
	if (gitwalk_chain(walk, goods, good_count, &end, &arena, &chain, &count, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < count; i++) {
		const char *subject =
			git(in_scratch("repo"), "log", "-1", "--format=%s", chain[i].id.hex, NULL);

		str_addf(&seen, "%s%s:", i ? " " : "", strstr(subject, "change ") + 7);
		for (size_t k = 0; k < chain[i].count; k++)
			str_addf(&seen, "%s%s", k ? "," : "",
				strstr(gitwalk_at(walk, chain[i].members[k])->subject, "change ") +
					7);
	}
	assert_string_equal(str_text(&seen), links);
	str_release(&seen);
	arena_release(&arena);
}

static void chains_cover_branches(void **state KB_UNUSED)
{
	static const int two[] = {2}, inner[] = {2, 11}, further[] = {2, 11, 6};
	struct gitrepo *repo;
	struct gitwalk *walk;

	make_history(branched, ARRAY_SIZE(branched));
	repo = open_repo();
	walk = walk_ok(
		repo, (struct gitwalk_spec){.good = commit_id(repo, 2), .bad = commit_id(repo, 9)});
	/* 11 brings nothing that is listed; 8 brings the other branch */
	check_chain(walk, repo, two, 1, 9, "3:3 4:4 5:5 8:6,7 9:9");
	check_chain(walk, repo, inner, 2, 8, "6:6 8:7");
	check_chain(walk, repo, further, 3, 8, "8:7");
	gitwalk_free(walk);
	gitrepo_free(repo);
}

/* Members lie between a link and the links before it, on the real graph, by git's own word. */
static void check_links(const struct gitwalk *walk, const struct gitwalk_link *links, size_t count)
{
	const char *repo = in_scratch("repo");
	size_t covered = 0;

	for (size_t i = 0; i < count; i++) {
		covered += links[i].count;
		for (size_t k = 0; k < links[i].count; k++) {
			const char *id = gitwalk_at(walk, links[i].members[k])->id.hex;

			(void)git(repo, "merge-base", "--is-ancestor", id, links[i].id.hex, NULL);
			if (i)
				assert_string_equal(git(repo, "rev-list", "-1", id, "--not",
							    links[i - 1].id.hex, NULL),
					id);
		}
	}
	assert_int_equal(covered, gitwalk_count(walk));
}

/* False when the one is no ancestor of the other, so that there is no list. */
static bool compare_with_git(struct gitrepo *repo, int good_mark, int bad_mark)
{
	static const char *const a[] = {"a", NULL};
	struct gitid good = commit_id(repo, good_mark), bad = commit_id(repo, bad_mark);
	struct arena arena = ARENA_INIT;
	struct gitwalk *walk = NULL;
	struct gitwalk_link *links;
	struct err err = ERR_INIT;
	const char *listed;
	char range[100];
	size_t count;

	(void)snprintf(range, sizeof(range), "%s..%s", good.hex, bad.hex);
	if (*git(in_scratch("repo"), "rev-list", "-1", good.hex, "--not", bad.hex, NULL)) {
		check_fails(repo, (struct gitwalk_spec){.good = good, .bad = bad}, "ancestor");
		return false;
	}
	listed = git(in_scratch("repo"), "log", "--format=%H", "--ancestry-path", "--full-history",
		"--no-merges", range, "--", "a", NULL);
	if (!*listed) {
		check_fails(repo, (struct gitwalk_spec){.good = good, .bad = bad, .paths = a},
			"no commit between good and bad");
		return false;
	}
	walk = walk_ok(repo, (struct gitwalk_spec){.good = good, .bad = bad, .paths = a});
	assert_int_equal(strlen(listed), gitwalk_count(walk) * (GITREPO_ID_LEN + 1) - 1);
	for (size_t i = 0; i < gitwalk_count(walk); i++)
		assert_non_null(strstr(listed, gitwalk_at(walk, i)->id.hex));
	if (gitwalk_chain(walk, &good, 1, &bad, &arena, &links, &count, &err))
		fail_msg("%s", err.text);
	assert_string_equal(links[count - 1].id.hex, bad.hex);
	if (bad_mark == 40)
		check_links(walk, links, count);
	arena_release(&arena);
	gitwalk_free(walk);
	return true;
}

/* Random histories with merges and clocks that go wrong; seeded, so that a failure comes again. */
static void lists_are_those_of_git(void **state KB_UNUSED)
{
	enum { COMMITS = 40 };
	struct made mades[COMMITS];
	char parents[COMMITS][24];
	unsigned seed = 20;
	struct gitrepo *repo;
	int compared = 0;

	for (int i = 0; i < COMMITS; i++) {
		int first = i ? i - 1 - rand_r(&seed) % (i < 4 ? i : 4) : 0;
		int second = i ? rand_r(&seed) % i : 0;

		mades[i] = (struct made){i + 1, parents[i], rand_r(&seed) % 3 ? "a" : "b"};
		(void)snprintf(parents[i], sizeof(parents[i]), "%d", first + 1);
		if (!i)
			parents[i][0] = '\0';
		else if (second != first && rand_r(&seed) % 2)
			(void)snprintf(
				parents[i], sizeof(parents[i]), "%d %d", first + 1, second + 1);
	}
	make_history(mades, COMMITS);
	repo = open_repo();
	for (int good = 1; good <= 13; good += 4)
		for (int bad = 38; bad <= COMMITS; bad++)
			compared += compare_with_git(repo, good, bad);
	assert_true(compared >= 6);
	gitrepo_free(repo);
}

static void bare_repositories_are_listed(void **state KB_UNUSED)
{
	struct gitrepo *repo = NULL;
	struct gitid parent, first;
	struct err err = ERR_INIT;
	struct gitwalk *walk;

	make_history(branched, ARRAY_SIZE(branched));
	(void)git(scratch, "clone", "-q", "--bare", "repo", "bare", NULL);
	if (gitrepo_open(in_scratch("bare"), &repo, &err))
		fail_msg("%s", err.text);
	walk = walk_ok(
		repo, (struct gitwalk_spec){.good = commit_id(repo, 2), .bad = commit_id(repo, 9)});
	assert_int_equal(gitwalk_count(walk), 6);
	gitwalk_free(walk);
	first = commit_id(repo, 9);
	assert_int_equal(gitwalk_parent(repo, &first, &parent, &err), 0);
	assert_string_equal(parent.hex, commit_id(repo, 8).hex);
	first = commit_id(repo, 1);
	assert_int_equal(gitwalk_parent(repo, &first, &parent, &err), ERR_USAGE);
	gitrepo_free(repo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_list_is_what_was_asked_for, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(wrong_ends_are_told, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(
			chains_cover_branches, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(
			lists_are_those_of_git, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(
			bare_repositories_are_listed, make_scratch, remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
