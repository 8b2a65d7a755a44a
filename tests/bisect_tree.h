/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_BISECT_TREE_H
#define KB_TESTS_BISECT_TREE_H

#include "base/base.h"

#include "git_repo.h"
#include "real_lab.h"

/*
 * A git repository of real kernel source with commits on top of it, for bisects: the founding
 * experiment's source, which is borrowed and not copied, and a line of commits that each change a
 * file that is compiled. The same commits have the same ids each time.
 */
enum tree_change {
	CHANGE_CODE,	/* a function more */
	CHANGE_COMMENT, /* nothing that is compiled */
	CHANGE_BREAK,	/* does not compile from here on */
	CHANGE_MEND,	/* compiles again */
	CHANGE_SLOW,	/* burns time in every wake-up */
};

static const char tree_base[] = "newidle-proportional";

/* A file of the source that is borrowed. */
KB_UNUSED static char *tree_file(struct real_lab *lab, const char *name)
{
	char *repo = path_join(lab->source, "kernels/trees/newidle");
	char *spec = xasprintf("%s:%s", tree_base, name);
	const char *const argv[] = {"git", "-C", repo, "show", spec, NULL};
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	if (proc_check(&(struct proc_spec){.argv = argv, .max_output_bytes = 4 << 20}, &out, &err))
		fail_msg("%s", err.text);
	free(repo);
	free(spec);
	return str_take(&out);
}

/* The scheduler's core with a wait in try_to_wake_up(). */
static char *tree_slow_core(struct real_lab *lab)
{
	static const char at[] = "\tguard(preempt)();\n\tint cpu, success = 0;\n";
	static const char more[] = "\n\tif (p->mm)\n\t\tudelay(500);\n";
	char *core = tree_file(lab, "kernel/sched/core.c"), *place = strstr(core, at);
	struct str out = STR_INIT;

	assert_non_null(place);
	str_add(&out, "#include <linux/delay.h>\n");
	str_add_bytes(&out, core, (size_t)(place - core) + strlen(at));
	str_add(&out, more);
	str_add(&out, place + strlen(at));
	free(core);
	return str_take(&out);
}

static void tree_add_file(struct str *stream, const char *name, const char *text)
{
	str_addf(stream, "M 100644 inline %s\ndata %zu\n%s\n", name, strlen(text), text);
}

/* One commit; params is the text of kernel/params.c so far, and grows. */
static void tree_add_commit(struct real_lab *lab, struct str *stream, int number,
	enum tree_change change, struct str *params, bool *broken)
{
	static const char *const subjects[] = {[CHANGE_CODE] = "params: one function more",
		[CHANGE_COMMENT] = "params: a comment",
		[CHANGE_BREAK] = "params: half of a change",
		[CHANGE_MEND] = "params: the other half",
		[CHANGE_SLOW] = "sched/core: wait a little in try_to_wake_up()"};
	struct str text = STR_INIT;

	str_addf(stream, "commit refs/heads/main\nmark :%d\n", number);
	str_addf(stream, "author Author %d <author%d@example.org> %d +0000\n", number, number,
		1700000000 + number);
	str_addf(stream, "committer C <c@example.org> %d +0000\n", 1700000000 + number);
	str_addf(stream, "data <<END\n%s\nEND\n", subjects[change]);
	if (number == 1)
		str_addf(stream, "from refs/tags/%s^0\n", tree_base);
	if (change == CHANGE_BREAK || change == CHANGE_MEND)
		*broken = change == CHANGE_BREAK;
	if (change == CHANGE_COMMENT)
		str_addf(params, "/* change %d */\n", number);
	else if (change != CHANGE_SLOW)
		str_addf(params,
			"\nint kb_test_%d(int x);\nint kb_test_%d(int x)\n{\n\treturn x + "
			"%d;\n}\n",
			number, number, number);
	str_addf(&text, "%s%s", str_text(params), *broken ? "#error \"half of a change\"\n" : "");
	tree_add_file(stream, "kernel/params.c", str_text(&text));
	if (change == CHANGE_SLOW) {
		char *core = tree_slow_core(lab);

		tree_add_file(stream, "kernel/sched/core.c", core);
		free(core);
	}
	str_add_char(stream, '\n');
	str_release(&text);
}

/* Makes the repository build/test-bisect/NAME anew, always in the same place, so that builds go on
 * where those of an earlier test have ended. main is the last commit. */
KB_UNUSED static void make_bisect_tree(
	struct real_lab *lab, const char *name, const enum tree_change *changes, int count)
{
	char *from = path_join(lab->source, "kernels/trees/newidle");
	char *folder = path_join(lab->source, "build/test-bisect");
	char *repo = path_join(folder, name), *params = tree_file(lab, "kernel/params.c");
	struct str stream = STR_INIT, text = STR_INIT;
	bool broken = false;
	char *load;

	str_add(&text, params);
	for (int i = 0; i < count; i++)
		tree_add_commit(lab, &stream, i + 1, changes[i], &text, &broken);
	assert_int_equal(file_remove_tree(repo, NULL), 0);
	(void)git(folder, "clone", "-q", "--bare", "--shared", from, name, NULL);
	real_lab_write(lab, "stream", str_text(&stream));
	load = xasprintf("!git fast-import --quiet --force <%s/stream", lab->folder);
	(void)git(repo, "config", "alias.load", load, NULL);
	(void)git(repo, "load", NULL);
	free(load);
	free(folder);
	str_release(&stream);
	str_release(&text);
	free(params);
	free(repo);
	free(from);
}

#endif
