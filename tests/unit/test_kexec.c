/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots by kexec and by a start from outside, on a machine that notes what it is told. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/strv.h"
#include "backend/kexec_refusal.h"
#include "backend/machine_ops.h"

/* Commands as the machine got them, words joined by blanks. */
static struct strv told;
/* Commands that begin with this fail; "": none. */
static const char *failing;
/* What the machine prints to a script that it is asked with. */
static const char *answer;
static enum err_code failing_with;

static int note(struct machine *machine KB_UNUSED, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	struct str text = STR_INIT;
	bool fails;

	for (const char *const *word = spec->argv; *word; word++)
		str_addf(&text, "%s%s", word == spec->argv ? "" : " ", *word);
	strv_add(&told, str_text(&text));
	fails = failing[0] && str_starts(str_text(&text), failing);
	result->exit_code = fails ? 1 : 0;
	if (str_starts(str_text(&text), "sh -c"))
		str_add(&result->out, answer);
	if (fails)
		str_add(&result->err_out, "it does not like that");
	str_release(&text);
	return fails && failing_with == ERR_INTERRUPTED
		       ? err_set(err, ERR_INTERRUPTED, "stopped by a person")
		       : 0;
}

static int stage(struct machine *machine KB_UNUSED, const struct boot_image *image, char **kernel,
	char **initrd, struct err *err KB_UNUSED)
{
	*kernel = xstrdup("/w/kernel");
	*initrd = image->modules[0] ? xstrdup("/w/initrd") : NULL;
	return 0;
}

static char *longer(struct machine *machine KB_UNUSED, const char *cmdline)
{
	return xasprintf("%s more", cmdline);
}

static const struct machine_ops hardware = {.name = "hardware", .exec = note, .stage = stage};
static const struct machine_ops guest = {
	.name = "guest", .unchecked_kexec = true, .exec = note, .stage = stage, .cmdline = longer};
static const struct machine_ops bare = {.name = "bare", .exec = note};

static const struct boot_image plain = {"/image", "", "6.1", "quiet panic=5", "", false};
static const struct boot_image modular = {"/image", "/modules", "6.1", "quiet", "", false};

static int reset(void **state KB_UNUSED)
{
	strv_release(&told);
	failing = answer = "";
	failing_with = ERR_INFRA;
	return 0;
}

static int boot_on(const struct machine_ops *ops, const struct boot_image *image, struct err *err)
{
	struct machine machine = {.ops = ops, .boot = &boot_kexec};

	return boot_kexec.boot(&machine, image, err);
}

static void hardware_checks_its_image(void **state KB_UNUSED)
{
	assert_int_equal(boot_on(&hardware, &plain, NULL), 0);
	assert_int_equal(told.count, 3);
	assert_string_equal(told.items[1], "kexec -s -l /w/kernel --command-line=quiet panic=5");
	assert_non_null(strstr(told.items[2], "sync"));
	assert_non_null(strstr(told.items[2], "kexec -e"));
}

static void the_old_call_is_for_what_the_new_one_cannot(void **state KB_UNUSED)
{
	failing = "kexec -s";
	assert_int_equal(boot_on(&hardware, &modular, NULL), 0);
	assert_int_equal(told.count, 5);
	assert_string_equal(
		told.items[3], "kexec -c -l /w/kernel --command-line=quiet --initrd=/w/initrd");
}

static void the_old_call_tells_where_the_tables_are(void **state KB_UNUSED)
{
	failing = "kexec -s";
	answer = "acpi_rsdp=0x7ffe014\n";
	assert_int_equal(boot_on(&hardware, &plain, NULL), 0);
	assert_string_equal(told.items[3],
		"kexec -c -l /w/kernel --command-line=quiet panic=5 acpi_rsdp=0x7ffe014");
	assert_int_equal(reset(NULL), 0);
	failing = "kexec -s";
	answer = "acpi_rsdp=$(reboot)\n";
	assert_int_equal(boot_on(&hardware, &plain, NULL), 0);
	assert_string_equal(told.items[3], "kexec -c -l /w/kernel --command-line=quiet panic=5");
}

static void a_guest_needs_no_sums(void **state KB_UNUSED)
{
	assert_int_equal(boot_on(&guest, &modular, NULL), 0);
	assert_int_equal(told.count, 2);
	assert_string_equal(told.items[0],
		"kexec -c --no-checks -l /w/kernel --command-line=quiet more --initrd=/w/initrd");
	assert_int_equal(reset(NULL), 0);
	failing = "kexec -c";
	assert_int_equal(boot_on(&guest, &modular, NULL), 0);
	assert_true(str_starts(told.items[1], "kexec -s -l"));
}

static void what_cannot_be_loaded_is_not_jumped_to(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	failing = "kexec";
	assert_int_equal(boot_on(&hardware, &plain, &err), ERR_INFRA);
	assert_int_equal(told.count, 5);
	assert_non_null(strstr(err.text, "kexec cannot load 6.1"));
	assert_non_null(strstr(err.text, "it does not like that"));
}

/* The file's words, then what was recorded: kexec-tools 2.0.25, sudo 1.9.13, kernel 6.1. */
static const struct {
	const char *facts, *said, *why; /* why: NULL: it is not the machine */
} refusals[] = {
	{"program none\nsupport yes\ndisabled 0\n", "sudo: kexec: command not found",
		"install kexec-tools"},
	{"program /usr/sbin/kexec\nsupport yes\ndisabled 1\nlockdown none\n",
		"kexec_file_load failed: Operation not permitted", "kernel.kexec_load_disabled"},
	{"program /usr/sbin/kexec\nsupport yes\ndisabled 0\nlockdown integrity\nsecureboot 1\n",
		"kexec_file_load failed: Required key not available", "Secure Boot is on there"},
	{"program /usr/sbin/kexec\nsupport yes\ndisabled 0\nlockdown confidentiality\n"
	 "secureboot 0\n",
		"kexec_load failed: Operation not permitted", "take lockdown= off"},
	{"program /usr/sbin/kexec\nsupport yes\ndisabled 0\nlockdown none\n",
		"kexec_file_load failed: Key was rejected by service", "CONFIG_KEXEC_SIG_FORCE"},
	{"program /usr/sbin/kexec\nsupport no\n", "kexec_load failed: Function not implemented",
		"CONFIG_KEXEC_FILE"},
	{"program /usr/sbin/kexec\nsupport yes\ndisabled 0\nlockdown none\n",
		"Cannot determine the file type of /var/lib/kbracket/image-6.1", NULL},
	{"", "", NULL},
	{"disabled 10\nxdisabled 1\ndisabled 1x", "", NULL},
};

static void refusals_are_named(void **state KB_UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const char *why = kexec_why(refusals[i].facts, refusals[i].said);

		if (!why != !refusals[i].why || (why && !strstr(why, refusals[i].why)))
			fail_msg("%zu: %s", i, why ? why : "(nothing)");
	}
}

static void a_machine_that_refuses_is_not_asked_again(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	failing = "kexec";
	answer = "program /usr/sbin/kexec\nsupport yes\ndisabled 1\n";
	assert_int_equal(boot_on(&hardware, &plain, &err), ERR_USAGE);
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, "kernel.kexec_load_disabled"));
	assert_int_equal(told.count, 1); /* nothing was brought there */
	assert_int_equal(reset(NULL), 0);
	failing = "kexec";
	answer = "program /usr/sbin/kexec\nsupport yes\ndisabled 0\nlockdown integrity\n";
	assert_int_equal(boot_on(&hardware, &plain, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "locked down"));
	assert_non_null(strstr(err.text, "it does not like that"));
}

static void a_stop_is_no_reason_to_try_again(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	failing = "kexec";
	failing_with = ERR_INTERRUPTED;
	assert_int_equal(boot_on(&hardware, &plain, &err), ERR_INTERRUPTED);
	assert_int_equal(told.count, 2);
}

static void machines_without_a_way_are_told(void **state KB_UNUSED)
{
	struct machine machine = {.ops = &bare, .boot = &boot_direct};
	struct err err = ERR_INIT;

	assert_int_equal(boot_on(&bare, &plain, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "bare machines do not boot by kexec"));
	assert_int_equal(boot_direct.boot(&machine, &plain, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "bare machines cannot be started"));
	assert_int_equal(boot_none.boot(&machine, &plain, &err), 0);
	assert_false(boot_none.wait_after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hardware_checks_its_image, reset),
		cmocka_unit_test_setup(the_old_call_is_for_what_the_new_one_cannot, reset),
		cmocka_unit_test_setup(the_old_call_tells_where_the_tables_are, reset),
		cmocka_unit_test_setup(a_guest_needs_no_sums, reset),
		cmocka_unit_test_setup(refusals_are_named, reset),
		cmocka_unit_test_setup(a_machine_that_refuses_is_not_asked_again, reset),
		cmocka_unit_test_setup(what_cannot_be_loaded_is_not_jumped_to, reset),
		cmocka_unit_test_setup(a_stop_is_no_reason_to_try_again, reset),
		cmocka_unit_test_setup(machines_without_a_way_are_told, reset),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	strv_release(&told);
	return failed;
}
