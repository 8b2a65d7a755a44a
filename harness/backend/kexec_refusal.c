/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/str.h"
#include "backend/kexec_refusal.h"

/* A word that the machine does not know is left out. */
static const char facts_script[] =
	"echo \"program $(command -v kexec || echo none)\"\n"
	"[ -e /sys/kernel/kexec_loaded ] && echo 'support yes' || echo 'support no'\n"
	"f=/proc/sys/kernel/kexec_load_disabled; [ ! -r $f ] || echo \"disabled $(cat $f)\"\n"
	"f=/sys/kernel/security/lockdown\n"
	"[ ! -r $f ] || sed -n 's/.*\\[\\(.*\\)\\].*/lockdown \\1/p' $f\n"
	"f=/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c\n"
	"[ ! -r $f ] || echo \"secureboot $(od -An -tu1 -j4 -N1 $f | tr -d ' ')\"\n";

/* Whether a line of the facts is "word value". */
static bool says(const char *facts, const char *word, const char *value)
{
	size_t word_len = strlen(word), value_len = strlen(value);

	while (*facts) {
		size_t len = strcspn(facts, "\n");

		if (len == word_len + 1 + value_len && !strncmp(facts, word, word_len) &&
			facts[word_len] == ' ' && !strncmp(facts + word_len + 1, value, value_len))
			return true;
		facts += len + (facts[len] == '\n');
	}
	return false;
}

/* ENOKEY, EKEYREJECTED and what older kernels give for a signature that is not there. */
static bool wants_signature(const char *said)
{
	return strstr(said, "Required key not available") || strstr(said, "Key was rejected") ||
	       strstr(said, "No data available");
}

static const char *locked_down(const char *facts)
{
	if (says(facts, "secureboot", "1"))
		return "Secure Boot is on there and its kernel is locked down, so that kexec takes "
		       "signed images only: turn Secure Boot off in its firmware";
	return "the kernel that runs there is locked down, so that kexec takes signed images only: "
	       "take lockdown= off its command line and restart it";
}

const char *kexec_why(const char *facts, const char *said)
{
	if (says(facts, "program", "none"))
		return "kexec is not installed there: install kexec-tools (apt-get install "
		       "kexec-tools, dnf install kexec-tools)";
	if (says(facts, "disabled", "1"))
		return "kexec is turned off there by kernel.kexec_load_disabled = 1, which only a "
		       "restart turns back: take it out of /etc/sysctl.conf and /etc/sysctl.d and "
		       "restart it, or write boot: reboot into its file";
	if (says(facts, "support", "no"))
		return "the kernel that runs there knows no kexec (CONFIG_KEXEC, "
		       "CONFIG_KEXEC_FILE): start it with another one, or write boot: reboot into "
		       "its file";
	if (says(facts, "lockdown", "integrity") || says(facts, "lockdown", "confidentiality"))
		return locked_down(facts);
	if (wants_signature(said))
		return "the kernel that runs there takes signed images only "
		       "(CONFIG_KEXEC_SIG_FORCE) and this one is not signed: start it with another "
		       "one, or write boot: reboot into its file";
	return NULL;
}

static int ask(struct machine *machine, struct str *facts, struct err *err)
{
	const char *argv[] = {"sh", "-c", facts_script, NULL};
	struct proc_spec spec = {
		.argv = argv, .timeout_ns = 30 * NS_PER_S, .max_output_bytes = 4096};

	return machine_ask(machine, &spec, facts, err);
}

int kexec_check(struct machine *machine, struct err *err)
{
	struct str facts = STR_INIT;
	const char *why = NULL;
	int ret = ask(machine, &facts, err);

	/* a locked-down kernel may still take this image: what is said then is known only then */
	if (ret == 0 && !strstr(str_text(&facts), "lockdown integrity") &&
		!strstr(str_text(&facts), "lockdown confidentiality"))
		why = kexec_why(str_text(&facts), "");
	if (why)
		ret = err_set(err, ERR_USAGE, "%s", why);
	str_release(&facts);
	return ret;
}

int kexec_refused(struct machine *machine, struct err *err)
{
	struct err said = *err, ignored = ERR_INIT;
	struct str facts = STR_INIT;
	const char *why = NULL;
	int ret = ask(machine, &facts, &ignored);

	if (ret == 0)
		why = kexec_why(str_text(&facts), said.text);
	if (why)
		(void)err_set(err, ERR_USAGE, "%s (%.800s)", why, said.text);
	str_release(&facts);
	return err->code;
}
