/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a lab machine without talking to it: command lines, sums of modules. */
#include "base/base.h"

#include "scratch.h"

#include "backend/lab.h"

static void assert_own(const char *expected, const char *running)
{
	char *own = lab_own_words(running);

	assert_string_equal(own, expected);
	free(own);
}

static void own_words_are_those_of_no_boot_loader(void **state KB_UNUSED)
{
	assert_own("root=UUID=1 ro quiet", "BOOT_IMAGE=/boot/vmlinuz-6.1 root=UUID=1 ro quiet\n");
	assert_own("root=/dev/sda1", "initrd=\\initrd.img-6.1 root=/dev/sda1");
	assert_own("", "BOOT_IMAGE=x\n");
	assert_own("", "");
}

static void assert_cmdline(
	const char *expected, const char *machine, const char *own, const char *cmdline)
{
	struct machine_spec spec = {.cmdline = machine};
	char *whole = lab_cmdline(&spec, own, cmdline);

	assert_string_equal(whole, expected);
	free(whole);
}

static void a_kernel_of_ours_is_marked_and_finds_the_root(void **state KB_UNUSED)
{
	assert_cmdline("root=UUID=1 ro kbracket.boot=1 panic=5", "", "root=UUID=1 ro", "panic=5");
	assert_cmdline("root=UUID=1 kbracket.boot=1 quiet", "quiet", "root=UUID=1", "quiet");
	/* who says where the root is says it all */
	assert_cmdline("kbracket.boot=1 root=/dev/sda1 ro", "root=/dev/sda1 ro", "root=UUID=1 ro",
		"root=/dev/sda1 ro");
	assert_cmdline("kbracket.boot=1 quiet", "noroot=1", "", "quiet");
}

static void modules_are_summed_as_the_machine_does(void **state KB_UNUSED)
{
	char *folder = xstrdup(in_scratch("modules"));
	char hex[SHA256_HEX_LEN + 1], *script, *got;
	const char *argv[] = {"sh", "-c", NULL, NULL};
	struct proc_spec spec = {.argv = argv};
	struct str out = STR_INIT;
	struct err err = ERR_INIT;
	int64_t bytes = 5;

	put_text("modules/kernel/fs/b.ko", "b");
	put_text("modules/kernel/fs-x/a.ko.xz", "aaa");
	put_text("modules/kernel/z.ko", "");
	put_text("modules/modules.order", "1234");
	assert_int_equal(lab_modules_sum(folder, hex, &bytes, &err), 0);
	assert_int_equal(bytes, 5 + 1 + 3 + 4);
	argv[2] = script =
		xasprintf("cd '%s'; export LC_ALL=C; find . -name '*.ko*' -type f | sort "
			  "| xargs sha256sum | sha256sum",
			folder);
	assert_int_equal(proc_check(&spec, &out, &err), 0);
	got = xasprintf("%s  -\n", hex);
	assert_string_equal(str_text(&out), got);
	assert_int_equal(lab_modules_sum(in_scratch("absent"), hex, &bytes, &err), ERR_INFRA);
	str_release(&out);
	free(folder);
	free(script);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_words_are_those_of_no_boot_loader),
		cmocka_unit_test(a_kernel_of_ours_is_marked_and_finds_the_root),
		cmocka_unit_test_setup_teardown(
			modules_are_summed_as_the_machine_does, make_scratch, remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
