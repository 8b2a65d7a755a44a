/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bisect on real kernels in a real guest: sixteen commits on top of real source, one of which
 * burns time in the wake-up path, two of which do not compile, and one that is a comment. kbracket
 * builds, boots, measures, loses its machine, is killed, goes on, names the commit and proves it.
 * About 15 minutes without KVM on two idle cores, and the first time a clean build.
 */
#include "base/base.h"

#include <sys/stat.h>

#include "bisect_tree.h"

static const enum tree_change changes[] = {CHANGE_CODE, CHANGE_CODE, CHANGE_COMMENT, CHANGE_CODE,
	CHANGE_CODE,							  /* 1 to 5 */
	CHANGE_BREAK, CHANGE_CODE, CHANGE_MEND, CHANGE_CODE, CHANGE_CODE, /* 6 to 10 */
	CHANGE_SLOW, CHANGE_CODE, CHANGE_CODE, CHANGE_CODE, CHANGE_CODE, CHANGE_CODE};
enum { COMMITS = ARRAY_SIZE(changes), CULPRIT = 11 };

static const char kernels[] = "tree: %S/build/test-bisect/long\n"
			      "config:\n"
			      "  base: allnoconfig\n"
			      "  fragments: [%S/kernels/fragments/guest.config]\n"
			      "variants:\n"
			      "  good: { ref: newidle-proportional }\n";

#define BISECT                                                                                   \
	"bisect --good newidle-proportional --bad main --machine guest --condition wakefan/fan " \
	"--duration 1500ms --runs 2 --proof-boots 2 "

static struct real_lab *lab;

/* The database has so many boots that are done. */
static bool boots_are_done(struct real_lab *in, const void *count)
{
	return file_exists(in->database) &&
	       real_lab_count(in, "SELECT count(*) FROM sqlite_master WHERE name = 'boot'") &&
	       real_lab_count(in, "SELECT count(*) FROM boot WHERE state = 'done'") >=
		       *(const int *)count;
}

/* The guest's program fails while this file is there. */
static void set_lost(bool lost)
{
	char *path = path_join(lab->folder, "lost");

	if (lost)
		real_lab_write(lab, "lost", "");
	else
		assert_int_equal(unlink(path), 0);
	free(path);
}

/* Nothing is said against a commit when its machine goes. */
static void a_lost_machine_blames_nobody(void **state KB_UNUSED)
{
	struct proc *proc = real_lab_start(lab, BISECT);
	struct proc_result result = PROC_RESULT_INIT;
	int count = 3;

	real_lab_wait(lab, proc, boots_are_done, &count, "three boots");
	set_lost(true);
	while (proc_alive(proc, &result))
		clock_sleep_ns(100 * NS_PER_MS);
	proc_free(proc);
	set_lost(false);
	assert_int_equal(result.exit_code, 3);
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM bisect_event WHERE kind = 'skip' AND text NOT LIKE "
		"'%build%'");
	real_lab_must(lab, 4, "report 1");
	real_lab_expect(lab, "Not ended: ");
}

static void a_killed_bisect_names_the_commit(void **state KB_UNUSED)
{
	struct proc *proc = real_lab_start(lab, "resume 1");
	int count = 5;
	int code;

	real_lab_wait(lab, proc, boots_are_done, &count, "five boots");
	real_lab_kill(proc);
	code = real_lab_call(lab, "resume 1");
	if (code != 1)
		real_lab_fail(lab, "no culprit was found", code);
	real_lab_expect(lab, "The change is ");
	real_lab_expect(lab, "sched/core: wait a little in try_to_wake_up()");
	real_lab_expect(lab, "Cc: Author 11 <author11@example.org>");
}

static void the_record_is_whole(void **state KB_UNUSED)
{
	json_t *answer = real_lab_json(lab, 1, "report 1"), *proof;
	json_t *finding = json_object_get(answer, "finding"), *suspects, *step;
	size_t i;

	assert_string_equal(json_get_text(finding, "verdict", ""), "culprit");
	suspects = json_object_get(finding, "suspects");
	assert_int_equal(json_array_size(suspects), 1);
	assert_int_equal(json_integer_value(json_array_get(suspects, 0)), CULPRIT);
	assert_int_equal(json_array_size(json_object_get(answer, "steps")), COMMITS + 1);
	assert_string_equal(json_get_text(answer, "proved", ""), "yes");
	assert_int_equal(json_array_size(json_object_get(answer, "proofs")), 2);
	json_array_foreach(json_object_get(answer, "proofs"), i, proof) assert_string_equal(
		json_get_text(proof, "verdict", ""), i ? "improved" : "regressed");
	json_array_foreach(json_object_get(answer, "steps"), i, step)
	{
		const char *skipped = json_get_text(step, "skipped", "");

		/* only what does not compile is passed over */
		assert_true(!*skipped || ((i == 6 || i == 7) && strstr(skipped, "does not build")));
		/* a comment is not booted when what is before it was built */
	}
	json_decref(answer);
}

/* The lab's folder becomes a repository that has the commits, at one of them. */
static void check_out(int number)
{
	char *objects = xasprintf("%s/build/test-bisect/long/objects\n", lab->source);
	char *tree = xasprintf("%s/build/test-bisect/long", lab->source);
	char *ref = xasprintf("main~%d", COMMITS - number);
	char *id = xstrdup(git(tree, "rev-parse", ref, NULL));

	(void)git(lab->folder, "init", "-q", NULL);
	real_lab_write(lab, ".git/objects/info/alternates", objects);
	(void)git(lab->folder, "update-ref", "--no-deref", "HEAD", id, NULL);
	free(objects);
	free(tree);
	free(ref);
	free(id);
}

/* What `git bisect run` would be told. */
static void single_commits_are_told(void **state KB_UNUSED)
{
	check_out(CULPRIT + 1);
	real_lab_must(lab, 1, "bisect --step --of 1");
	check_out(CULPRIT - 1);
	real_lab_must(lab, 0, "bisect --step --of 1");
	check_out(6);
	real_lab_must(lab, 125, "bisect --step --of 1");
	/* what was found stays */
	real_lab_must(lab, 1, "report 1");
	real_lab_expect(lab, "The change is ");
}

/* The emulator, which can be made to fail. */
static void write_machine(void)
{
	char *qemu = proc_find_program("qemu-system-x86_64");
	char *script = xasprintf(
		"#!/bin/sh\n[ -e %s/lost ] && exit 1\nexec %s \"$@\"\n", lab->folder, qemu);
	char *machine = xasprintf("machine: guest\n"
				  "connect: { qemu: { cpus: 2, memory: 512M, program: %s/qemu } }\n"
				  "cmdline: quiet nokaslr mitigations=off\n"
				  "boot_timeout: 10m\n",
		lab->folder);
	char *path = path_join(lab->folder, "qemu");

	real_lab_write(lab, "qemu", script);
	assert_int_equal(chmod(path, 0755), 0);
	real_lab_write(lab, "configs/machines/guest.yaml", machine);
	free(path);
	free(machine);
	free(script);
	free(qemu);
}

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new("build/test-bisect");
	make_bisect_tree(lab, "long", changes, COMMITS);
	real_lab_write(lab, "kernels/kernels.yaml", kernels);
	write_machine();
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	/* each goes on where the one before has ended */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_machine_blames_nobody),
		cmocka_unit_test(a_killed_bisect_names_the_commit),
		cmocka_unit_test(the_record_is_whole),
		cmocka_unit_test(single_commits_are_told),
	};

	need_program("qemu-system-x86_64");
	need_kernel_tree();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
