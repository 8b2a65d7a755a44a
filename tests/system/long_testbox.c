/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine as it stands in a lab (tests/testbox): a Debian on a disk, known to kbracket as an ssh
 * host. A kernel that panics before it has a root leads back to the machine's own; another, with
 * modules and an initramfs made there, is started by kexec, proved and measured. A quarter of an hour
 * and more without KVM, and as much again when the machine's disk has to be made first.
 */
#include "base/base.h"

#include "real_lab.h"

static struct real_lab *lab;
static char *box;

static const char kernels[] = "variants:\n"
			      "  good: { prebuilt: { package: %s } }\n"
			      "  panics: { like: good, cmdline: rdinit=/absent root=/absent }\n";

static const char machine[] = "machine: box\n"
			      "connect: { ssh: { to: box, config: ../../box/ssh_config } }\n"
			      "power: { cycle: [%S/tests/testbox, cycle, box], wait: 2m }\n"
			      "boot_timeout: 10m\n";

static const char experiment[] = "experiment: box\n"
				 "machines: [box]\n"
				 "kernels: ../kernels/box.yaml\n"
				 "baseline: good\n"
				 "variants: [panics]\n"
				 "suites: [canary]\n"
				 "duration: 300ms\n"
				 "design: { order: [panics, good], runs: 2, warmup: 1 }\n"
				 "policies: { short: flag }\n";

static int testbox(const char *verb, const char *folder, struct err *err)
{
	const char *argv[] = {"tests/testbox", verb, folder, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 3600 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	int ret = proc_run(&spec, &result, err);

	if (ret == 0 && result.exit_code == 77)
		skip_program(str_text(&result.err_out));
	if (ret == 0 && result.exit_code != 0)
		ret = err_set(
			err, ERR_INFRA, "testbox %s: %.500s", verb, str_text(&result.err_out));
	proc_result_release(&result);
	return ret;
}

/* Of Debian's cloud kernels one that the machine has not got itself: the oldest. */
static char *other_kernel(void)
{
	static const char *const argv[] = {"sh", "-c",
		"apt-cache pkgnames linux-image-6.1.0- | grep -E "
		"'^linux-image-[0-9.]+-[0-9]+-cloud-"
		"amd64$' | sort -V | head -n 1",
		NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 60 * NS_PER_S};
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	if (proc_check(&spec, &out, &err))
		fail_msg("%s", err.text);
	if (!out.len)
		skip_program("apt knows no cloud kernel of Debian 12");
	out.text[strcspn(out.text, "\n")] = '\0';
	return str_take(&out);
}

static void a_panic_leads_back_and_the_next_kernel_is_measured(void **state KB_UNUSED)
{
	char *detail;
	int code = real_lab_call(lab, "run --allow-inconclusive configs/box.yaml");

	if (code != 0 && code != 3)
		real_lab_fail(lab, "the experiment was not measured", code);
	real_lab_assert_count(lab, 1, "SELECT count(*) FROM boot WHERE state = 'done'");
	real_lab_assert_count(lab, 1,
		"SELECT count(*) FROM attempt a JOIN boot b ON b.id = a.boot_id JOIN variant v ON"
		" v.id = b.variant_id WHERE v.name = 'good' AND a.outcome = 'proved'");
	real_lab_assert_count(lab, 2, "SELECT count(*) FROM run WHERE state = 'done' AND kind = 0");
	detail = real_lab_text(lab, "SELECT detail FROM boot WHERE reason = 'boot-failed'");
	if (!strstr(detail, "the machine came back with its own kernel"))
		fail_msg("%s", detail);
	free(detail);
}

static void a_machine_that_is_off_is_turned_on(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;

	if (testbox("off", box, &err))
		fail_msg("%s", err.text);
	real_lab_must(lab, 0, "plan --ask configs/box.yaml");
}

static int set_up(void **state KB_UNUSED)
{
	char *package = other_kernel(), *text = xasprintf(kernels, package);
	struct err err = ERR_INIT;

	lab = real_lab_new("kernels/cache");
	box = path_join(lab->folder, "box");
	real_lab_write(lab, "kernels/box.yaml", text);
	real_lab_write(lab, "configs/machines/box.yaml", machine);
	real_lab_write(lab, "configs/box.yaml", experiment);
	free(package);
	free(text);
	if (!testbox("new", box, &err) && !testbox("on", box, &err))
		return 0;
	fprintf(stderr, "%s\n", err.text);
	return -1;
}

static int tear_down(void **state KB_UNUSED)
{
	struct err err = ERR_INIT;
	int ret = testbox("off", box, &err);

	real_lab_free(lab);
	free(box);
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_panic_leads_back_and_the_next_kernel_is_measured),
		cmocka_unit_test(a_machine_that_is_off_is_turned_on),
	};

	need_program("qemu-system-x86_64");
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
