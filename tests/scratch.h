/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_SCRATCH_H
#define KB_TESTS_SCRATCH_H

/* A folder for one test, and files in it. */

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

static char *scratch; /* absolute, short (sockets fit), new for every test */

KB_UNUSED static int make_scratch(void **state KB_UNUSED)
{
	scratch = xstrdup("/tmp/kb-test-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

KB_UNUSED static int remove_scratch(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;
	int ret = file_remove_tree(scratch, &err);

	free(scratch);
	scratch = NULL;
	return ret;
}

/* A path in it; good until 32 more were asked for. */
KB_UNUSED static const char *in_scratch(const char *name)
{
	static char paths[32][256];
	static unsigned next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

KB_UNUSED static const char *put_bytes(const char *name, const void *bytes, size_t len)
{
	const char *path = in_scratch(name);
	char *folder = path_dir(path);
	struct err err = ERR_INIT;

	if (file_mkdirs(folder, 0755, &err) || file_write_atomic(path, bytes, len, 0644, &err))
		fail_msg("%s", err.text);
	free(folder);
	return path;
}

KB_UNUSED static const char *put_text(const char *name, const char *text)
{
	return put_bytes(name, text, strlen(text));
}

KB_UNUSED static const char *put_script(const char *name, const char *text)
{
	const char *path = put_text(name, text);

	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* The whole file, freed by the caller. */
KB_UNUSED static char *get_text(const char *path)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	if (file_read(path, 64 << 20, &text, &err))
		fail_msg("%s", err.text);
	return str_take(&text);
}

KB_UNUSED static void assert_file(const char *name, const char *text)
{
	char *seen = get_text(in_scratch(name));

	assert_string_equal(seen, text);
	free(seen);
}

#endif
