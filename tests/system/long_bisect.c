/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bisect on real kernels in a real guest: sixteen commits on top of real source, one of which
 * burns time in the wake-up path, two of which do not compile, and one that is a comment. kbracket
 * builds, boots, measures, is killed half-way, goes on, names the commit and proves it. About 40
 * minutes without KVM on two idle cores.
 */
#include "base/base.h"

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
	"--duration 500ms --runs 2 --proof-boots 2 "

static struct real_lab *lab;

/* The database has so many boots that are done. */
static bool boots_are_done(struct real_lab *in, const void *count)
{
	return file_exists(in->database) &&
	       real_lab_count(in, "SELECT count(*) FROM sqlite_master WHERE name = 'boot'") &&
	       real_lab_count(in, "SELECT count(*) FROM boot WHERE state = 'done'") >=
		       *(const int *)count;
}

static void a_killed_bisect_names_the_commit(void **state KB_UNUSED)
{
	struct proc *proc = real_lab_start(lab, BISECT);
	int count = 6;
	int code;

	real_lab_wait(lab, proc, boots_are_done, &count, "six boots");
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

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new("build/test-bisect");
	make_bisect_tree(lab, "long", changes, COMMITS);
	real_lab_write(lab, "kernels/kernels.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml",
		"machine: guest\n"
		"connect: { qemu: { cpus: 2, memory: 512M } }\n"
		"cmdline: quiet nokaslr mitigations=off\n"
		"boot_timeout: 10m\n");
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
		cmocka_unit_test(a_killed_bisect_names_the_commit),
		cmocka_unit_test(the_record_is_whole),
	};

	need_program("qemu-system-x86_64");
	need_kernel_tree();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
