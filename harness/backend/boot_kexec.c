/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"
#include "backend/kexec_refusal.h"
#include "backend/machine_ops.h"

enum { LOAD_TIMEOUT_S = 120 };

/* kexec_file_load first: it is the only one that a locked-down kernel allows. The old call is for
 * kernels and images that it cannot do. The sums that kexec_file_load has computed and the jump
 * checks again take 15 s under emulation, so a machine whose images come from here over a path that
 * cannot damage them does without. */
static const char *const by_file[] = {"-s", NULL};
static const char *const by_parts[] = {"-c", NULL};
static const char *const unchecked[] = {"-c", "--no-checks", NULL};

/* Where the ACPI tables are. A kernel that is started by the old call may find no EFI to ask; one
 * that was started so itself has it on its command line. */
static const char rsdp_script[] =
	"word=$(sed -n 's/.*\\(acpi_rsdp=0x[0-9a-fA-F]*\\).*/\\1/p' /proc/cmdline)\n"
	"for key in ACPI20 ACPI; do\n"
	"	[ ! \"$word\" ] && [ -r /sys/firmware/efi/systab ] || continue\n"
	"	word=$(sed -n \"s/^$key=\\(0x[0-9a-fA-F]*\\)$/acpi_rsdp=\\1/p\" "
	"/sys/firmware/efi/systab)\n"
	"done\n"
	"echo \"$word\"\n";

/* " acpi_rsdp=0x..." or ""; the caller frees it. */
static char *rsdp_word(struct machine *machine, const char *cmdline)
{
	static const char *const argv[] = {"sh", "-c", rsdp_script, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct str text = STR_INIT;
	struct err ignored = ERR_INIT;
	unsigned long long address = 0;

	if (!strstr(cmdline, "acpi_rsdp=") && !machine_ask(machine, &spec, &text, &ignored))
		(void)!sscanf(str_text(&text), "acpi_rsdp=%llx", &address);
	str_release(&text);
	return address ? xasprintf(" acpi_rsdp=0x%llx", address) : xstrdup("");
}

static int load_by(struct machine *machine, const char *const *form, const char *kernel,
	const char *cmdline, const char *initrd, struct err *err)
{
	char *rsdp = form == by_parts ? rsdp_word(machine, cmdline) : xstrdup("");
	struct strv argv = STRV_INIT;
	int ret;

	strv_add(&argv, "kexec");
	strv_add_all(&argv, form);
	strv_add_many(&argv, "-l", kernel, NULL);
	strv_addf(&argv, "--command-line=%s%s", cmdline, rsdp);
	if (initrd)
		strv_addf(&argv, "--initrd=%s", initrd);
	ret = machine_command(machine, strv_argv(&argv), LOAD_TIMEOUT_S * NS_PER_S, err);
	strv_release(&argv);
	free(rsdp);
	return ret;
}

static int load(struct machine *machine, const struct boot_image *image, const char *kernel,
	const char *initrd, struct err *err)
{
	bool unsafe = machine->ops->unchecked_kexec;
	char *cmdline = machine->ops->cmdline ? machine->ops->cmdline(machine, image->cmdline)
					      : xstrdup(image->cmdline);
	struct err first = ERR_INIT, second = ERR_INIT;
	int ret = load_by(machine, unsafe ? unchecked : by_file, kernel, cmdline, initrd, &first);

	if (ret && ret != ERR_INTERRUPTED) {
		ret = load_by(
			machine, unsafe ? by_file : by_parts, kernel, cmdline, initrd, &second);
		if (ret && ret != ERR_INTERRUPTED) {
			(void)err_wrap(&second, "%.800s; then", first.text);
			ret = kexec_refused(machine, &second);
		}
		first = second;
	}
	free(cmdline);
	return ret == 0 ? 0
			: err_set(err, (enum err_code)ret, "kexec cannot load %s: %s",
				  image->release, first.text);
}

static int kexec_boot(struct machine *machine, const struct boot_image *image, struct err *err)
{
	/* The jump comes after the session has ended: it takes the network away. systemd stops the
	 * services and unmounts first. */
	static const char *const jump[] = {"sh", "-c",
		"sync; (sleep 0.2; [ -d /run/systemd/system ] && systemctl kexec || exec kexec -e) "
		">/dev/null 2>&1 </dev/null &",
		NULL};
	char *kernel = NULL, *initrd = NULL;
	int ret;

	if (!machine->ops->stage)
		return err_set(
			err, ERR_USAGE, "%s machines do not boot by kexec", machine->ops->name);
	/* a guest has what its image was made with */
	ret = machine->ops->unchecked_kexec ? 0 : kexec_check(machine, err);
	if (ret == 0)
		ret = machine->ops->stage(machine, image, &kernel, &initrd, err);
	if (ret == 0)
		ret = load(machine, image, kernel, initrd, err);
	if (ret == 0)
		ret = machine_command(machine, jump, 30 * NS_PER_S, err);
	free(kernel);
	free(initrd);
	return ret;
}

const struct boot_ops boot_kexec = {.name = "kexec", .boot = kexec_boot, .wait_after = true};
