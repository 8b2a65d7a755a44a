/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real kernels, built from git: two variants of the founding experiment, the second incrementally,
 * and a third that is the first one's source again. The source tree and the output folder stay in
 * build/test-kernels, so that only the first run compiles everything; a line in the configuration
 * that is new each time makes sure that something is built.
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

static struct build make(const char *name)
{
	struct build_env env = {.cache_dir = lab};
	struct variant v = variant(name);
	struct err err = ERR_INIT;
	struct build made;
	int64_t start = clock_now_ns();

	if (builder_for(&v)->build(&env, &v, &arena, &made, &err))
		fail_msg("%s", err.text);
	printf("# %s: %s in %lld s\n", name, made.from_cache ? "found" : "built",
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

static void variants_are_built_from_git(void **state KB_UNUSED)
{
	struct build baseline = make("baseline"), proportional, revert;

	assert_false(baseline.from_cache);
	check_image(&baseline);
	proportional = make("proportional");
	assert_false(proportional.from_cache);
	check_image(&proportional);
	assert_string_not_equal(proportional.build_id, baseline.build_id);
	assert_string_not_equal(proportional.tree, baseline.tree);
	revert = make("revert");
	assert_true(revert.from_cache);
	assert_string_equal(revert.key, baseline.key);
	assert_string_not_equal(revert.commit, baseline.commit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants_are_built_from_git),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
