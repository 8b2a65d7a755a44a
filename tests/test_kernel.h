/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_TEST_KERNEL_H
#define KB_TESTS_TEST_KERNEL_H

/* A real kernel for guests: Debian's cloud kernel, downloaded once. */

#include "base/base.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "backend/builder.h"
#include "sys/proc.h"

/* Ends the test program as skipped; the reason's last line is shown. */
KB_NORETURN KB_UNUSED static void skip_program(const char *reason)
{
	printf("%.*s\n", (int)(strlen(reason) - str_ends(reason, "\n")), reason);
	(void)fflush(stdout);
	_exit(77);
}

/* Ends the test program as failed. */
KB_NORETURN KB_UNUSED static void fail_program(const char *reason)
{
	printf("%s\n", reason);
	(void)fflush(stdout);
	_exit(1);
}

/* Skips the program where there are no Debian packages. The texts are the arena's. */
KB_UNUSED static void find_test_kernel(struct arena *arena, struct build *build)
{
	/* where `make quickstart` keeps it: tests run in the top folder */
	const struct build_env env = {.cache_dir = "kernels/cache"};
	const struct variant variant = {
		.is_prebuilt = true, .prebuilt = {.package = "linux-image-cloud-amd64"}};
	char *apt = proc_find_program("apt-get");
	struct err err = ERR_INIT;

	if (!apt)
		skip_program("there is no apt-get here, so no kernel of Debian's");
	if (file_mkdirs(env.cache_dir, 0777, &err) ||
		builder_prebuilt.build(&env, &variant, arena, build, &err))
		fail_program(err.text);
	free(apt);
}

#endif
