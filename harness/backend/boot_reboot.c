/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "backend/machine_ops.h"

/*
 * A start through the firmware, by a boot entry that the boot loader takes once. The entry is
 * written beside the others, and the default one stays what it is: whatever happens to this kernel,
 * the start after it is the machine's own. GRUB and systemd-boot are known.
 */

enum { ENTER_TIMEOUT_S = 120, NOT_THERE = 43 };

/* Both scripts end with 43 where their boot loader is not. $1: kernel, $2: initramfs or "", $3: the
 * command line, for GRUB as quoted words. */
static const char *const begin_script = "set -eu; umask 022; export LC_ALL=C\n"
					"die() { echo \"$1\" >&2; exit 1; }\n";

static const char systemd_boot[] =
	"bootctl is-installed >/dev/null 2>&1 || exit 43\n"
	"guid=4a67b082-0a4c-41cf-b6c7-440b29bb8c4f; vars=/sys/firmware/efi/efivars\n"
	"conf=$(bootctl -p)/loader/loader.conf; boot=$(bootctl -x 2>/dev/null || bootctl -p)\n"
	"default=$(sed -n 's/^default[[:blank:]]*//p' \"$conf\" | tail -n 1)\n"
	"case $default in kbracket*) die \"its default boot entry is kbracket's: name its own with "
	"bootctl set-default\" ;; esac\n"
	/* without one a new entry may become it */
	"case ${default:-*} in '*'*|@*) [ -e $vars/LoaderEntryDefault-$guid ] || die 'no default "
	"entry of systemd-boot is written down there: name its own kernel with bootctl "
	"set-default' ;; esac\n"
	"mkdir -p \"$boot/kbracket\" \"$boot/loader/entries\"\n"
	"cp -f \"$1\" \"$boot/kbracket/linux\"\n"
	"[ ! \"$2\" ] || cp -f \"$2\" \"$boot/kbracket/initrd\"\n"
	"{ echo 'title kbracket'; echo 'sort-key zz-kbracket'; echo 'linux /kbracket/linux'\n"
	"[ ! \"$2\" ] || echo 'initrd /kbracket/initrd'\n"
	"echo \"options $3\"; } >\"$boot/loader/entries/kbracket.conf\"\n"
	"bootctl set-oneshot kbracket.conf\n";

/* prepare_grub_to_access_device is what GRUB's own scripts write their entries with. */
static const char grub[] =
	"for p in grub grub2 none; do ! command -v $p-reboot >/dev/null || break; done\n"
	"[ $p != none ] || exit 43\n"
	"dir=/boot/$p; cfg=$dir/grub.cfg; lib=/usr/share/grub/grub-mkconfig_lib\n"
	"[ -r $cfg ] && [ -r $lib ] || die \"GRUB is there without $cfg or $lib\"\n"
	"grep -q next_entry $cfg || die \"$cfg knows no one-shot entries: make it anew "
	"($p-mkconfig -o $cfg)\"\n"
	"grep -q custom.cfg $cfg || die \"$cfg does not read custom.cfg: make it anew "
	"($p-mkconfig -o $cfg)\"\n"
	/* it must be able to write: else the entry is taken again and again */
	"[ ! \"$($p-probe --target=abstraction $dir)\" ] || die \"GRUB cannot forget a one-shot "
	"entry "
	"there, $dir being on LVM, RAID or an encrypted disk: write boot: kexec into its file\"\n"
	"case $($p-probe --target=fs $dir) in btrfs|zfs) die \"GRUB cannot forget a one-shot entry "
	"there, $dir being on btrfs or ZFS: write boot: kexec into its file\" ;; esac\n"
	"case $($p-editenv list | sed -n 's/^saved_entry=//p') in kbracket*) die \"its default "
	"boot "
	"entry is kbracket's: name its own with $p-set-default\" ;; esac\n"
	"set +eu; . $lib; set -e\n" /* it reads variables that nobody has set */
	"new=$dir/custom.cfg.kbracket\n"
	"{ [ ! -e $dir/custom.cfg ] || sed '/^### kbracket begin/,/^### kbracket end/d' "
	"$dir/custom.cfg\n"
	"echo '### kbracket begin'\n"
	"echo 'menuentry kbracket --id kbracket {'\n"
	"prepare_grub_to_access_device $($p-probe --target=device \"$1\")\n"
	"echo \"linux $($p-mkrelpath \"$1\") $3\"\n"
	"[ ! \"$2\" ] || echo \"initrd $($p-mkrelpath \"$2\")\"\n"
	"echo '}'; echo '### kbracket end'; } >$new\n"
	"$p-script-check $new || die 'GRUB does not understand the entry'\n"
	"mv $new $dir/custom.cfg; sync\n"
	"$p-reboot kbracket; sync\n";

/* Prints what is still to be started once, if it is ours; it is taken back then. */
static const char forgotten_script[] =
	"for p in grub grub2; do\n"
	"	command -v $p-editenv >/dev/null || continue\n"
	"	$p-editenv list | grep -x next_entry=kbracket || continue\n"
	"	$p-editenv - unset next_entry\n"
	"done\n"
	"f=/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f\n"
	"[ ! -e $f ] || { echo kbracket.conf; bootctl set-oneshot '' 2>/dev/null || true; }\n";

/* Each word in quotes of GRUB's; NULL when there is no way to quote it. */
static char *grub_words(const char *cmdline)
{
	struct str out = STR_INIT;

	if (strpbrk(cmdline, "'\"\\\n"))
		return NULL;
	for (const char *at = cmdline + strspn(cmdline, " "); *at;) {
		size_t len = strcspn(at, " ");

		str_addf(&out, "%s'%.*s'", out.len ? " " : "", (int)len, at);
		at += len;
		at += strspn(at, " ");
	}
	return str_take(&out);
}

static int run_script(struct machine *machine, const char *text, const char *const *arguments,
	bool *there, struct err *err)
{
	char *script = xasprintf("%s%s", begin_script, text);
	const char *argv[] = {
		"sh", "-c", script, "sh", arguments[0], arguments[1], arguments[2], NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = ENTER_TIMEOUT_S * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	int ret = machine_exec(machine, &spec, &result, err);

	*there = ret || result.exit_code != NOT_THERE;
	if (ret == 0 && result.exit_code != 0 && *there) {
		struct str said = STR_INIT;
		size_t len = result.err_out.len > 800 ? 800 : result.err_out.len;

		while (len && result.err_out.text[len - 1] == '\n')
			len--;
		str_add_safe(&said, str_text(&result.err_out), len);
		/* another kernel would fare no better */
		ret = err_set(err, ERR_USAGE, "no one-shot boot entry: %s", str_text(&said));
		str_release(&said);
	}
	proc_result_release(&result);
	free(script);
	return ret;
}

static int enter(struct machine *machine, const char *kernel, const char *initrd,
	const char *cmdline, struct err *err)
{
	char *words = grub_words(cmdline);
	const char *plain[] = {kernel, initrd ? initrd : "", cmdline};
	const char *quoted[] = {kernel, initrd ? initrd : "", words};
	bool there = true;
	int ret = run_script(machine, systemd_boot, plain, &there, err);

	if (!there && !words)
		return err_set(err, ERR_USAGE,
			"no one-shot boot entry: quotes and backslashes on a command line do not "
			"pass GRUB: %s",
			cmdline);
	if (!there)
		ret = run_script(machine, grub, quoted, &there, err);
	if (!there)
		ret = err_set(err, ERR_USAGE,
			"no one-shot boot entry: neither GRUB's grub-reboot nor systemd-boot's "
			"bootctl is there: write boot: kexec into its file");
	free(words);
	return ret;
}

static int reboot_boot(struct machine *machine, const struct boot_image *image, struct err *err)
{
	char *kernel = NULL, *initrd = NULL, *cmdline;
	int ret;

	if (!machine->ops->stage)
		return err_set(err, ERR_USAGE, "%s machines do not boot by a boot entry",
			machine->ops->name);
	ret = machine->ops->stage(machine, image, &kernel, &initrd, err);
	if (ret)
		return ret;
	cmdline = machine->ops->cmdline ? machine->ops->cmdline(machine, image->cmdline)
					: xstrdup(image->cmdline);
	ret = enter(machine, kernel, initrd, cmdline, err);
	if (ret == 0)
		ret = machine_command(machine, machine_reboot_argv, 30 * NS_PER_S, err);
	free(kernel);
	free(initrd);
	free(cmdline);
	return ret;
}

/* Otherwise the machine would never come back to its own kernel. */
static int reboot_check(struct machine *machine, struct err *err)
{
	static const char *const argv[] = {"sh", "-c", forgotten_script, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct str left = STR_INIT;
	int ret = machine_ask(machine, &spec, &left, err);

	if (ret == 0 && left.len)
		ret = err_set(err, ERR_USAGE,
			"its boot loader has not forgotten the one-shot entry, and would have "
			"started it again and again; it was taken back: write boot: kexec into its "
			"file");
	str_release(&left);
	return ret;
}

const struct boot_ops boot_reboot = {
	.name = "reboot", .boot = reboot_boot, .wait_after = true, .check = reboot_check};
