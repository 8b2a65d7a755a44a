/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-shot boot entries, on this host with a made-up boot loader. GRUB is met by long_testbox. */
#include "base/base.h"

#include "scratch.h"

#include "base/strv.h"
#include "backend/machine_ops.h"

static char *old_path;
static struct err err;

/* What is run there is run here, but for the restart. */
static int here(struct machine *machine KB_UNUSED, const struct proc_spec *spec,
	struct proc_result *result, struct err *error)
{
	if (spec->argv[2] && strstr(spec->argv[2], "systemctl reboot"))
		return put_text("restarted", "") ? 0 : -1;
	return proc_run(spec, result, error);
}

static int stage(struct machine *machine KB_UNUSED, const struct boot_image *image, char **kernel,
	char **initrd, struct err *error KB_UNUSED)
{
	*kernel = xstrdup(image->image);
	*initrd = image->modules[0] ? xstrdup(image->modules) : NULL;
	return 0;
}

static const struct machine_ops box = {.name = "box", .exec = here, .stage = stage};

static int boot(const char *cmdline, const char *initrd)
{
	struct machine machine = {.ops = &box, .boot = &boot_reboot};
	struct boot_image image = {.image = in_scratch("image"),
		.modules = initrd,
		.release = "6.1",
		.cmdline = cmdline,
		.config = ""};

	return boot_reboot.boot(&machine, &image, &err);
}

/* A PATH without the boot loaders of this host. */
static int set_up(void **state)
{
	static const char *const tools[] = {"sh", "sed", "tail", "grep", "cp", "mkdir", "cat"};
	char *path;

	if (make_scratch(state))
		return -1;
	put_text("image", "kernel");
	put_text("initrd", "initramfs");
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		char *real = proc_find_program(tools[i]);
		char *link = xasprintf("bin/%s", tools[i]);

		put_text(link, "");
		assert_int_equal(unlink(in_scratch(link)), 0);
		assert_int_equal(symlink(real, in_scratch(link)), 0);
		free(real);
		free(link);
	}
	old_path = xstrdup(getenv("PATH"));
	path = xstrdup(in_scratch("bin"));
	(void)setenv("PATH", path, 1);
	(void)setenv("ESP", in_scratch("esp"), 1);
	free(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)setenv("PATH", old_path, 1);
	free(old_path);
	return remove_scratch(state);
}

static void have_systemd_boot(const char *loader_conf)
{
	put_script("bin/bootctl", "#!/bin/sh\ncase $1 in\n"
				  "-p|-x) echo \"$ESP\" ;;\n"
				  "set-oneshot) echo \"$2\" >\"$ESP/once\" ;;\n"
				  "esac\n");
	put_text("esp/loader/loader.conf", loader_conf);
}

static void systemd_boot_gets_an_entry_once(void **state KB_UNUSED)
{
	have_systemd_boot("timeout 0\ndefault debian.conf\n");
	if (boot("root=/dev/sda1 panic=5", in_scratch("initrd")))
		fail_msg("%s", err.text);
	assert_file("esp/once", "kbracket.conf\n");
	assert_file("esp/kbracket/linux", "kernel");
	assert_file("esp/kbracket/initrd", "initramfs");
	assert_file("esp/loader/entries/kbracket.conf",
		"title kbracket\nsort-key zz-kbracket\nlinux /kbracket/linux\n"
		"initrd /kbracket/initrd\noptions root=/dev/sda1 panic=5\n");
	assert_file("esp/loader/loader.conf", "timeout 0\ndefault debian.conf\n");
	assert_true(file_exists(in_scratch("restarted")));
	/* a kernel without an initramfs does not get the one of before */
	if (boot("panic=5", ""))
		fail_msg("%s", err.text);
	assert_file("esp/loader/entries/kbracket.conf",
		"title kbracket\nsort-key zz-kbracket\nlinux /kbracket/linux\noptions panic=5\n");
}

static void assert_refused(const char *part)
{
	assert_int_equal(boot("panic=5", ""), ERR_USAGE);
	if (!strstr(err.text, part))
		fail_msg("%s", err.text);
	assert_false(file_exists(in_scratch("restarted")));
	assert_false(file_exists(in_scratch("esp/once")));
}

static void a_default_that_could_become_ours_is_refused(void **state KB_UNUSED)
{
	have_systemd_boot("timeout 0\n");
	assert_refused("no default entry of systemd-boot is written down");
	have_systemd_boot("default *\n");
	assert_refused("no default entry of systemd-boot is written down");
	have_systemd_boot("default debian.conf\ndefault kbracket.conf\n");
	assert_refused("its default boot entry is kbracket's");
}

static void a_machine_without_a_boot_loader_is_told(void **state KB_UNUSED)
{
	assert_refused("neither GRUB's grub-reboot nor systemd-boot's bootctl is there");
}

static void what_grub_cannot_quote_is_told(void **state KB_UNUSED)
{
	assert_int_equal(boot("dyndbg=\"file x +p\"", ""), ERR_USAGE);
	assert_non_null(strstr(err.text, "do not pass GRUB"));
	have_systemd_boot("default debian.conf\n");
	assert_int_equal(boot("dyndbg=\"file x +p\"", ""), 0);
}

static void what_is_not_forgotten_is_taken_back(void **state KB_UNUSED)
{
	struct machine machine = {.ops = &box, .boot = &boot_reboot};

	put_script("bin/grub-editenv",
		"#!/bin/sh\n"
		"case $1 in list) echo saved_entry=0; echo next_entry=$NEXT ;;\n"
		"*) echo \"$@\" >\"$ESP.env\" ;; esac\n");
	(void)setenv("NEXT", "", 1);
	assert_int_equal(boot_reboot.check(&machine, &err), 0);
	(void)setenv("NEXT", "memtest", 1);
	assert_int_equal(boot_reboot.check(&machine, &err), 0);
	assert_false(file_exists(in_scratch("esp.env")));
	(void)setenv("NEXT", "kbracket", 1);
	assert_int_equal(boot_reboot.check(&machine, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "has not forgotten"));
	assert_file("esp.env", "- unset next_entry\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(systemd_boot_gets_an_entry_once),
		TEST(a_default_that_could_become_ours_is_refused),
		TEST(a_machine_without_a_boot_loader_is_told),
		TEST(what_grub_cannot_quote_is_told),
		TEST(what_is_not_forgotten_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
