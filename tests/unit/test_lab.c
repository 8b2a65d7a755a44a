/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "model/experiment.h"
#include "model/lab.h"
#include "model/plan.h"
#include "reading.h"

struct place_to_work {
	struct arena arena;
	char dir[64];
};

static int set_up(void **state)
{
	struct place_to_work *p = xcalloc(1, sizeof(*p));

	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/kb-lab-XXXXXX");
	*state = p;
	return mkdtemp(p->dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct place_to_work *p = *state;
	struct err err;
	int ret = file_remove_tree(p->dir, &err);

	arena_release(&p->arena);
	free(p);
	return ret;
}

static void a_lab_is_made_and_its_experiment_is_read(void **state)
{
	struct place_to_work *p = *state;
	const char *root = arena_printf(&p->arena, "%s/lab", p->dir);
	struct strv made = STRV_INIT;
	struct experiment e;
	struct diag diag = DIAG_INIT;
	struct err err = ERR_INIT;

	if (lab_make(root, &made, &err))
		fail_msg("%s", err.text);
	assert_true(strv_has(&made, "configs/"));
	assert_true(strv_has(&made, "results/"));
	assert_true(strv_has(&made, "configs/quickstart.yaml"));
	if (experiment_read(&p->arena, arena_printf(&p->arena, "%s/configs/quickstart.yaml", root),
		    &e, &diag))
		fail_msg("%s", messages(&p->arena, &diag));
	assert_int_equal(lab_make(root, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "is not empty"));
	strv_release(&made);
}

static void a_lab_is_found_from_within(void **state)
{
	static const char *const from[] = {
		"", "/configs", "/configs/machines", "/configs/quickstart.yaml"};
	struct place_to_work *p = *state;
	struct strv made = STRV_INIT;
	struct lab lab;
	struct err err = ERR_INIT;

	assert_int_equal(lab_make(p->dir, &made, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		assert_int_equal(
			lab_find(&p->arena, arena_printf(&p->arena, "%s%s", p->dir, from[i]), &lab,
				&err),
			0);
		assert_string_equal(lab.root, p->dir);
		assert_string_equal(
			lab.database, arena_printf(&p->arena, "%s/results/kbracket.db", p->dir));
		assert_string_equal(lab.cache, arena_printf(&p->arena, "%s/kernels/cache", p->dir));
		assert_non_null(lab.share);
	}
	strv_release(&made);
}

static void where_there_is_no_lab_the_way_to_one_is_told(void **state)
{
	struct place_to_work *p = *state;
	struct lab lab;
	struct err err = ERR_INIT;

	assert_int_equal(lab_find(&p->arena, p->dir, &lab, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "kbracket init"));
	assert_int_equal(lab_find(&p->arena, "/nonexistent/x.yaml", &lab, &err), ERR_NOT_FOUND);
}

static void a_suite_of_the_lab_comes_before_ours(void **state)
{
	static const char own[] = "suite: canary\nprogram: mine\n"
				  "conditions: {c: {argv: [mine]}}\n"
				  "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n";
	struct place_to_work *p = *state;
	struct strv made = STRV_INIT;
	struct experiment e;
	struct diag diag = DIAG_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(lab_make(p->dir, &made, &err), 0);
	assert_int_equal(file_write_atomic(arena_printf(&p->arena, "%s/suites/canary.yaml", p->dir),
				 own, strlen(own), 0600, &err),
		0);
	if (experiment_read(&p->arena,
		    arena_printf(&p->arena, "%s/configs/quickstart.yaml", p->dir), &e, &diag))
		fail_msg("%s", messages(&p->arena, &diag));
	for (size_t i = 0; i < e.suite_count; i++)
		if (strcmp(e.suites[i].name, "canary") == 0)
			assert_string_equal(e.suites[i].program, "mine");
	strv_release(&made);
}

/* What is in the tree must be read, dumped, read again and planned. */
static void every_experiment_that_we_bring_is_read(void **state)
{
	static const int64_t cpus[] = {1, 3, 8, 48};
	struct place_to_work *p = *state;
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	int read = 0;

	assert_int_equal(file_list("configs", &names, &err), 0);
	for (size_t i = 0; i < names.count; i++) {
		struct experiment e, again;
		struct diag diag = DIAG_INIT;
		struct plan plan;
		char *dump;

		if (!str_ends(names.items[i], ".yaml"))
			continue;
		if (experiment_read(&p->arena,
			    arena_printf(&p->arena, "configs/%s", names.items[i]), &e, &diag))
			fail_msg("%s", messages(&p->arena, &diag));
		dump = experiment_dump(&e);
		if (experiment_read_text(&p->arena, "dump", dump, strlen(dump), &again, &diag))
			fail_msg("%s", messages(&p->arena, &diag));
		free(dump);
		for (size_t k = 0; k < ARRAY_SIZE(cpus); k++)
			assert_int_equal(plan_make(&p->arena, &again, &again.machines[0], cpus[k],
						 &plan, &err),
				0);
		read++;
	}
	assert_true(read >= 3);
	strv_release(&names);
}

static void every_suite_that_we_bring_is_read(void **state)
{
	struct place_to_work *p = *state;
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	int read = 0;

	assert_int_equal(file_list("suites", &names, &err), 0);
	for (size_t i = 0; i < names.count; i++) {
		struct suite suite;
		struct diag diag = DIAG_INIT;

		if (!str_ends(names.items[i], ".yaml"))
			continue;
		if (suite_read(&p->arena, arena_printf(&p->arena, "suites/%s", names.items[i]),
			    &suite, &diag))
			fail_msg("%s", messages(&p->arena, &diag));
		assert_int_equal(
			strncmp(suite.name, names.items[i], strlen(names.items[i]) - 5), 0);
		read++;
	}
	assert_true(read >= 6);
	strv_release(&names);
}

static void the_quickstart_is_what_the_readme_says(void **state)
{
	static const char *const order[] = {"random", "no-random", "no-random", "random"};
	struct place_to_work *p = *state;
	struct experiment e;
	struct diag diag = DIAG_INIT;
	struct plan plan;
	struct err err = ERR_INIT;

	assert_int_equal(experiment_read(&p->arena, "configs/quickstart.yaml", &e, &diag), 0);
	assert_int_equal(
		plan_make(&p->arena, &e, &e.machines[0], e.machines[0].cpus, &plan, &err), 0);
	assert_int_equal(plan.cpus, 8);
	assert_int_equal(e.machines[0].qemu.llcs, 4);
	assert_int_equal(plan.boot_count, 8);
	for (size_t i = 0; i < plan.boot_count; i++)
		assert_string_equal(
			e.variants[plan.boots[i].variant]->name, order[i % ARRAY_SIZE(order)]);
	assert_true(variant_same_recipe(e.variants[0], e.variants[1]));
	assert_int_equal(plan.condition_count, 16);
	assert_int_equal(plan.boots[0].run_count, 4 + 2 * 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_lab_is_made_and_its_experiment_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lab_is_found_from_within, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			where_there_is_no_lab_the_way_to_one_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_suite_of_the_lab_comes_before_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			every_experiment_that_we_bring_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			every_suite_that_we_bring_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_quickstart_is_what_the_readme_says, set_up, tear_down),
	};

	/* the test program's own folder need not lie in the source tree */
	setenv("KBRACKET_SHARE", ".", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
