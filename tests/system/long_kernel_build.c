/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real kernels, built from git: two variants of the founding experiment, the second incrementally,
 * and a third that is the first one's source again; then another in three code layouts. The source
 * tree and the output folders stay in build/test-kernels, so that only the first run compiles
 * everything; a line in the configuration that is new each time makes sure that something is built.
 */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "sys/proc.h"
#include "backend/builder.h"
#include "backend/kernel_image.h"
#include "support.h"

static const char lab[] = "build/test-kernels", own_fragment[] = "build/test-kernels/own.config";
static struct arena arena;
static struct kernels kernels;

/* Opening a repository with libgit2 1.5 leaks what it takes from PCRE2 to match names in its
 * config. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2-8.so";
}

static int set_up(void **state KB_UNUSED)
{
	const char *argv[] = {"kernels/newidle-tree.sh", NULL};
	struct proc_spec spec = {.argv = argv};
	struct diag diag = DIAG_INIT;
	struct err err = ERR_INIT;
	char *text;

	if (proc_check(&spec, NULL, &err)) {
		printf("# %s\n", err.text);
		return -1;
	}
	assert_int_equal(file_mkdirs(lab, 0755, NULL), 0);
	text = support_path("CONFIG_DEFAULT_HOSTNAME=\"test-%lld\"\n", (long long)clock_wall_ns());
	support_write(own_fragment, text);
	free(text);
	return kernels_read(&arena, "kernels/newidle-guest.yaml", &kernels, &diag);
}

static int tear_down(void **state KB_UNUSED)
{
	arena_release(&arena);
	return 0;
}

/* The variant with our own fragment behind its own. */
static struct variant variant(const char *name)
{
	const struct variant *found = kernels_find(&kernels, name);
	const char **fragments = arena_alloc(&arena, 8 * sizeof(*fragments));
	struct variant copy;
	size_t count = 0;

	assert_non_null(found);
	copy = *found;
	for (; copy.config.fragments[count]; count++)
		fragments[count] = copy.config.fragments[count];
	fragments[count] = own_fragment;
	copy.config.fragments = fragments;
	return copy;
}

static struct build make(const struct variant *v)
{
	struct build_env env = {.cache_dir = lab};
	struct err err = ERR_INIT;
	struct build made;
	int64_t start = clock_now_ns();

	if (builder_for(v)->build(&env, v, &arena, &made, &err))
		fail_msg("%s", err.text);
	printf("# %s: %s in %lld s\n", v->name, made.from_cache ? "found" : "built",
		(long long)((clock_now_ns() - start) / NS_PER_S));
	return made;
}

/* What the image says of itself after unpacking is what was recorded from vmlinux. */
static void check_image(const struct build *build)
{
	struct kernel_image image;
	struct err err = ERR_INIT;

	if (kernel_image_read(&arena, build->image, &image, &err))
		fail_msg("%s", err.text);
	assert_string_equal(image.build_id, build->build_id);
	assert_int_equal(strlen(image.build_id), 40);
	assert_string_equal(image.release, build->release);
	assert_string_equal(image.proc_version, build->proc_version);
	assert_true(str_starts(build->release, "6.12."));
	assert_non_null(strstr(build->release, "-kb"));
	assert_memory_equal(strstr(build->release, "-kb") + 3, build->key, 8);
	assert_non_null(strstr(build->proc_version, "(kbracket@kbracket)"));
	assert_non_null(strstr(build->proc_version, "#1 SMP"));
	assert_non_null(strstr(build->proc_version, "1970"));
}

static struct build make_named(const char *name)
{
	struct variant v = variant(name);

	return make(&v);
}

/* Of the kernel that was built last in the output folder of these builds. */
static char *read_system_map(void)
{
	char *list = support_run(
		     NULL, "find", lab, "-name", "System.map", "-printf", "%T@ %p\n", NULL),
	     *newest = NULL, *rest = list, *line, *text;
	double newest_time = 0;

	while ((line = strsep(&rest, "\n"))) {
		char *path;
		double when = strtod(line, &path);

		if (when > newest_time && *path == ' ') {
			newest_time = when;
			newest = path + 1;
		}
	}
	assert_non_null(newest);
	text = support_read(newest, NULL);
	free(list);
	return text;
}

/* Where a function lies, from the start of the kernel's text. */
static int64_t place_of(const char *map, const char *name)
{
	const char *kinds[] = {"t", "T"};
	int64_t from = 0;

	if (strcmp(name, "_text") != 0)
		from = place_of(map, "_text");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char *what = support_path(" %s %s\n", kinds[i], name);
		const char *at = strstr(map, what);

		free(what);
		if (!at)
			continue;
		while (at > map && at[-1] != '\n')
			at--;
		return (int64_t)strtoull(at, NULL, 16) - from;
	}
	fail_msg("System.map has no %s", name);
	return 0;
}

static const char *const before_the_scheduler[] = {"kernel_clone", "do_exit", "kthread_stop"};
static const char *const of_the_scheduler[] = {"try_to_wake_up", "set_user_nice",
	"enqueue_task_fair", "pick_next_task_fair", "sched_balance_newidle", "update_curr"};

static size_t count_aligned(const char *map)
{
	size_t aligned = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_the_scheduler); i++)
		aligned += place_of(map, of_the_scheduler[i]) % 64 == 0;
	return aligned;
}

/* The scheduler moves as a whole, what is linked before it stays; or each function is moved. */
static void code_is_laid_out_otherwise(void **state KB_UNUSED)
{
	enum { PADDING = 16 * 131 };
	/* one that is in no other test: what was built already has no System.map any more */
	struct variant plain = variant("rate-fix"), padded = plain, aligned = plain;
	struct build builds[3];
	char *maps[3];

	padded.name = "rate-fix-padded";
	padded.pad_scheduler = PADDING;
	aligned.name = "rate-fix-aligned";
	aligned.align_functions = true;
	builds[0] = make(&plain);
	maps[0] = read_system_map();
	builds[1] = make(&padded);
	maps[1] = read_system_map();
	builds[2] = make(&aligned);
	maps[2] = read_system_map();
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		check_image(&builds[i]);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(builds[i].build_id, builds[k].build_id);
			assert_string_not_equal(builds[i].code_sha256, builds[k].code_sha256);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(before_the_scheduler); i++)
		assert_int_equal(place_of(maps[1], before_the_scheduler[i]),
			place_of(maps[0], before_the_scheduler[i]));
	for (size_t i = 0; i < ARRAY_SIZE(of_the_scheduler); i++) {
		int64_t was = place_of(maps[0], of_the_scheduler[i]),
			is = place_of(maps[1], of_the_scheduler[i]);

		printf("# %s: at %#llx, padded %+lld, aligned at %#llx\n", of_the_scheduler[i],
			(long long)was, (long long)(is - was),
			(long long)place_of(maps[2], of_the_scheduler[i]));
		assert_int_equal(is - was, PADDING);
	}
	assert_true(count_aligned(maps[0]) < ARRAY_SIZE(of_the_scheduler));
	assert_int_equal(count_aligned(maps[2]), ARRAY_SIZE(of_the_scheduler));
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		free(maps[i]);
}

static void variants_are_built_from_git(void **state KB_UNUSED)
{
	struct build baseline = make_named("baseline"), proportional, revert;

	assert_false(baseline.from_cache);
	check_image(&baseline);
	proportional = make_named("proportional");
	assert_false(proportional.from_cache);
	check_image(&proportional);
	assert_string_not_equal(proportional.build_id, baseline.build_id);
	assert_string_not_equal(proportional.tree, baseline.tree);
	revert = make_named("revert");
	assert_true(revert.from_cache);
	assert_string_equal(revert.key, baseline.key);
	assert_string_not_equal(revert.commit, baseline.commit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants_are_built_from_git),
		cmocka_unit_test(code_is_laid_out_otherwise),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
