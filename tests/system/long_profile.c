/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile of two kernels in a real guest: Debian's, once as it is and once with the allocator's
 * checks of what sockets hand around, and the function that does them is named. Three to five
 * minutes without KVM.
 */
#include "base/base.h"

#include "real_lab.h"

static const char kernels[] =
	"variants:\n"
	"  plain: { prebuilt: { package: linux-image-cloud-amd64 } }\n"
	"  checked: { like: plain, cmdline: \"slub_debug=FZP,skbuff*,kmalloc-*\" }\n";

static const char machine[] = "machine: guest\n"
			      "connect: { qemu: { cpus: 2, memory: 768M } }\n"
			      "cmdline: quiet nokaslr mitigations=off\n"
			      "boot_timeout: 10m\n";

static const char messages[] =
	"experiment: messages\n"
	"machines: [guest]\n"
	"kernels: ../kernels/kernels.yaml\n"
	"baseline: plain\n"
	"variants: [checked]\n"
	"suites: [../suites/messages.yaml, wakefan]\n"
	"saturation: [100%, 50%]\n"
	"design: { order: bracketed, boots: 2, runs: 2, warmup: 1, seed: 3 }\n";

/* hackbench.yaml with ten times its work: some thousand samples a kernel. */
static const char suite[] =
	"suite: messages\n"
	"program: hackbench\n"
	"tasks_per_worker: 2\n"
	"conditions:\n"
	"  pairs: { argv: [hackbench, -f, '1', -g, '{workers}', -l, '10000'] }\n"
	"expect: 5s\n"
	"timeout: 5m\n"
	"metrics:\n"
	"  time: { unit: s, better: lower, regex: '^Time: ([0-9.]+)$' }\n";

static struct real_lab *lab;

/* The line of a kernel function, whose name may go on behind a dot. */
static const json_t *find_function(const json_t *profile, const char *list, const char *name)
{
	json_t *item = NULL;
	size_t i, len = strlen(name);

	json_array_foreach(json_object_get(profile, list), i, item)
	{
		const char *function = json_get_text(item, "function", "");

		if (str_starts(function, name) && (!function[len] || function[len] == '.'))
			return item;
	}
	fail_msg("there is no %s in %s", name, list);
	return NULL;
}

/* What only the checked kernel calls, and what it calls it from. */
static void check_lines(const json_t *profile)
{
	const json_t *check = find_function(profile, "functions", "memchr_inv");
	const json_t *path = find_function(profile, "with_callees", "___slab_alloc");

	assert_true(json_is_true(json_object_get(check, "kernel")));
	assert_true(json_get_double(check, "against_pct", 100) < 0.05);
	assert_true(json_get_double(check, "points", 0) > 0.3);
	assert_true(json_get_double(path, "points", 0) > 2);
	assert_true(json_get_double(path, "variant_pct", 0) >
		    2 * json_get_double(path, "against_pct", 100));
}

static void the_function_that_takes_time_is_named(void **state KB_UNUSED)
{
	json_t *profile;

	real_lab_must(lab, 0, "profile checked 'messages/pairs 100%' --runs 2 --in configs/m.yaml");
	real_lab_expect(lab, "kbracket: profile of checked against plain, messages/pairs 100%");
	real_lab_expect(lab, " memchr_inv");
	profile = real_lab_json(lab, 0, "profile --again 1");
	assert_string_equal(json_get_text(profile, "unit", ""), "boots");
	assert_int_equal(json_get_int(profile, "runs_without_profile", -1), 0);
	assert_true(json_get_double(profile, "kernel_without_symbol_pct", 100) < 5);
	check_lines(profile);
	json_decref(profile);
	/* the boots are those of any experiment: proved, bracketed, nothing left behind */
	real_lab_assert_whole(lab);
	real_lab_assert_count(lab, 4, "SELECT count(*) FROM boot WHERE state = 'done'");
	real_lab_assert_count(lab, 4,
		"SELECT count(*) FROM boot b JOIN variant v ON v.id = b.variant_id"
		" WHERE v.name = CASE WHEN b.ordinal IN (1, 4) THEN 'plain' ELSE 'checked' END");
	real_lab_assert_count(lab, 8, "SELECT count(*) FROM raw WHERE kind = 'perf-data'");
	assert_processes_end(lab->folder);
}

static int set_up(void **state KB_UNUSED)
{
	lab = real_lab_new("kernels/cache");
	real_lab_write(lab, "kernels/kernels.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml", machine);
	real_lab_write(lab, "suites/messages.yaml", suite);
	real_lab_write(lab, "configs/m.yaml", messages);
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
		cmocka_unit_test(the_function_that_takes_time_is_named),
	};
	struct arena arena = ARENA_INIT;
	struct build kernel;

	need_program("qemu-system-x86_64");
	need_program("perf");
	need_program("hackbench");
	find_test_kernel(&arena, &kernel);
	arena_release(&arena);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
