/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "backend/code_identity.h"
#include "support.h"

/* Objects and programs made by the compiler out of a few lines that play the kernel's parts. */
static char *top;

static int set_up(void **state KB_UNUSED)
{
	top = support_folder();
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	support_folder_free(top);
	return 0;
}

#define RELEASE "6.12.9-kb01234567"

/* A program (or an object) with a release string, one entry in __bug_table and a function. */
static char *make(const char *name, const char *release, int line, const char *called, bool object)
{
	/* the same file name for all: an object holds it */
	char *source = support_path("%s/source.c", top), *made = support_path("%s/%s", top, name);
	char *text =
		support_path("const char banner[] = \"Linux version %s x\";\n"
			     "__attribute__((section(\"__bug_table\"), used)) static struct {\n"
			     "int at, file; unsigned short line, flags; } bug = {1, 2, %d, 3};\n"
			     "int f(void), g(void);\n"
			     "int %s_twice(void) { return 2 * %s(); }\n",
			release, line, object ? "f" : "x", called);

	if (!object) {
		char *whole =
			support_path("%sint f(void) { return 1; }\nint g(void) { return 2; }\n"
				     "void _start(void) { for (;;); }\n",
				text);

		free(text);
		text = whole;
	}
	support_write(source, text);
	if (object)
		free(support_run(NULL, "gcc", "-O1", "-c", source, "-o", made, NULL));
	else
		free(support_run(NULL, "gcc", "-O1", "-fno-inline", "-fno-ipa-cp", "-nostdlib",
			"-static", "-Wl,--build-id=sha1", source, "-o", made, NULL));
	free(text);
	free(source);
	return made;
}

static void identify(const char *path, const char *release, bool bug_lines, char *hex)
{
	struct sha256 hash;
	struct err err = ERR_INIT;

	sha256_init(&hash);
	if (code_identity_add(&hash, path, release, bug_lines, &err))
		fail_msg("%s", err.text);
	sha256_hex(&hash, hex);
}

struct other {
	const char *release;
	int line;
	const char *called;
	bool bug_lines, equal;
};

static void check(bool object)
{
	static const struct other others[] = {
		{RELEASE, 10, "f", true, true}, {"6.12.9-kb89abcdef", 10, "f", true, true},
		{RELEASE, 999, "f", true, true},
		{RELEASE, 999, "f", false, false}, /* the table has another layout */
		{RELEASE, 10, "g", true, false},   /* other code */
	};
	char *first = make("first", RELEASE, 10, "f", object);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const struct other *o = &others[i];
		char a[SHA256_HEX_LEN + 1], b[SHA256_HEX_LEN + 1];
		char *second = make("second", o->release, o->line, o->called, object);

		identify(first, RELEASE, o->bug_lines, a);
		identify(second, o->release, o->bug_lines, b);
		if (o->equal != !strcmp(a, b))
			fail_msg("case %zu of %s", i, object ? "objects" : "programs");
		free(second);
	}
	free(first);
}

static void programs_are_compared(void **state KB_UNUSED)
{
	check(false);
}

static void modules_are_compared_by_relocations_too(void **state KB_UNUSED)
{
	check(true);
}

static void other_files_are_refused(void **state KB_UNUSED)
{
	char *path = support_path("%s/text", top), *cut = make("cut", RELEASE, 1, "f", true);
	struct sha256 hash;
	struct err err = ERR_INIT;
	size_t len;
	char *bytes = support_read(cut, &len);

	sha256_init(&hash);
	support_write(path, "this is not an ELF file, however long it may be, and it is not short");
	assert_int_equal(code_identity_add(&hash, path, "x", true, &err), ERR_INVALID);
	for (size_t i = 1; i < 8; i++) {
		support_write_bytes(cut, bytes, len * i / 8);
		assert_int_equal(code_identity_add(&hash, cut, "x", true, &err), ERR_INVALID);
	}
	free(bytes);
	free(cut);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_compared),
		cmocka_unit_test(modules_are_compared_by_relocations_too),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
