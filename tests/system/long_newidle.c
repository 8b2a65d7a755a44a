/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The founding experiment as it is shipped, from git to its report: five kernels, twenty boots. Its
 * structure is checked, not its numbers. About 45 minutes without KVM on two idle cores.
 */
#include "base/base.h"

#include "real_lab.h"

enum { VARIANTS = 5, BOOTS = 4 * VARIANTS };

static const struct {
	const char *name;
	bool random, rate; /* which scheduler features its kernel has */
} variants[VARIANTS] = {
	{"baseline", false, false},
	{"proportional", true, false},
	{"revert", false, false},
	{"rate-fix", true, true},
	{"bresenham", true, true},
};

static struct real_lab *lab;

static void the_experiment_is_measured(void **state KB_UNUSED)
{
	int code = real_lab_call(lab, "run configs/newidle-guest.yaml");

	if (code != 0 && code != 1 && code != 4)
		real_lab_fail(lab, "the experiment was not measured", code);
	for (int i = 0; i < VARIANTS; i++)
		real_lab_expect(lab, variants[i].name);
	real_lab_expect(lab, "revert is the same kernel as baseline");
	real_lab_assert_whole(lab);
	real_lab_assert_count(lab, BOOTS, "SELECT count(*) FROM boot WHERE state = 'done'");
	real_lab_assert_count(lab, BOOTS, "SELECT count(*) FROM boot");
	real_lab_assert_count(
		lab, 0, "SELECT count(*) FROM run WHERE state NOT IN ('done', 'interrupted')");
	assert_processes_end(lab->folder);
}

/* Five recipes are four kernels: what is reverted is the source without it. */
static void equal_sources_are_one_build(void **state KB_UNUSED)
{
	real_lab_assert_count(lab, VARIANTS - 1, "SELECT count(*) FROM build");
	real_lab_assert_count(lab, VARIANTS - 1, "SELECT count(DISTINCT tree_hex) FROM build");
	real_lab_assert_count(lab, 1,
		"SELECT count(DISTINCT build_id) FROM variant WHERE name IN ('baseline', "
		"'revert')");
	real_lab_assert_count(lab, 1, "SELECT count(DISTINCT config_sha256) FROM build");
	real_lab_assert_count(lab, VARIANTS - 1, "SELECT count(DISTINCT build_id) FROM build");
}

static bool has_feature(json_t *seen, const char *name)
{
	const char *features = json_get_text(seen, "features", "");
	char *on = xasprintf(" %s ", name), *off = xasprintf(" NO_%s ", name);
	char *padded = xasprintf(" %s ", features);
	bool has = strstr(padded, on) || strstr(padded, off);

	free(padded);
	free(off);
	free(on);
	return has;
}

static void check_boot(int boot)
{
	char *words = xasprintf("show boot %d", boot);
	json_t *shown = real_lab_json(lab, 0, words);
	json_t *attempts = json_object_get(shown, "attempts");
	json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
	json_t *seen = json_object_get(json_object_get(last, "proof"), "seen");
	const char *name = json_get_text(shown, "variant", "");
	int i = 0;

	while (i < VARIANTS - 1 && strcmp(variants[i].name, name))
		i++;
	assert_string_equal(variants[i].name, name);
	assert_int_equal(has_feature(seen, "NI_RANDOM"), variants[i].random);
	assert_int_equal(has_feature(seen, "NI_RATE"), variants[i].rate);
	assert_false(json_get_bool(last, "weak_proof", true));
	json_decref(shown);
	free(words);
}

static void every_boot_ran_its_own_kernel(void **state KB_UNUSED)
{
	for (int boot = 1; boot <= BOOTS; boot++)
		check_boot(boot);
}

/* The second time every build is there already. */
static void nothing_is_built_twice(void **state KB_UNUSED)
{
	real_lab_must(lab, 0, "build configs/newidle-guest.yaml");
	for (int i = 0; i < VARIANTS; i++) {
		char *line = xasprintf("%s is built: built before", variants[i].name);
		char *twin = xasprintf("%s is built: the same build as", variants[i].name);

		if (!strstr(str_text(&lab->chatter), line) &&
			!strstr(str_text(&lab->chatter), twin))
			fail_msg("%s was built again:\n%s", variants[i].name,
				str_text(&lab->chatter));
		free(twin);
		free(line);
	}
}

static void copy(const char *name)
{
	char *from = path_join(lab->source, name), *to = path_join(lab->folder, name);
	char *folder = path_dir(to);
	struct err err = ERR_INIT;

	if (file_mkdirs(folder, 0755, &err) || file_copy(from, to, &err))
		fail_msg("%s", err.text);
	free(folder);
	free(from);
	free(to);
}

static void borrow(const char *name)
{
	char *from = path_join(lab->source, name), *to = path_join(lab->folder, name);

	assert_int_equal(symlink(from, to), 0);
	free(from);
	free(to);
}

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new(NULL);
	copy("configs/newidle-guest.yaml");
	copy("configs/machines/guest.yaml");
	copy("kernels/newidle-guest.yaml");
	borrow("kernels/trees");
	borrow("kernels/fragments");
	borrow("kernels/patches");
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_experiment_is_measured),
		cmocka_unit_test(equal_sources_are_one_build),
		cmocka_unit_test(every_boot_ran_its_own_kernel),
		cmocka_unit_test(nothing_is_built_twice),
	};

	need_program("qemu-system-x86_64");
	need_program("hackbench");
	need_program("stress-ng");
	need_kernel_tree();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
