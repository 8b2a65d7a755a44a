/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "backend/lab.h"

int lab_script(struct machine *machine, int64_t timeout_ns, struct str *out, struct err *err,
	const char *script, const char *const *arguments)
{
	struct proc_spec spec = {.timeout_ns = timeout_ns};
	struct strv argv = STRV_INIT;
	int ret;

	strv_add_many(&argv, "sh", "-c", script, "sh", NULL);
	strv_add_all(&argv, arguments);
	spec.argv = strv_argv(&argv);
	ret = machine_ask(machine, &spec, out, err);
	strv_release(&argv);
	return ret;
}

/* The first word at or after *at, which is moved behind it; NULL when there is none. */
static const char *next_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, " \t\n");

	*len = strcspn(word, " \t\n");
	*at = word + *len;
	return *len ? word : NULL;
}

static bool word_is(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !strncmp(word, text, len);
}

static bool has_word(const char *text, const char *wanted)
{
	const char *word;
	size_t len;

	while ((word = next_word(&text, &len)))
		if (word_is(word, len, wanted))
			return true;
	return false;
}

/* What boot loaders add for themselves names files of that one kernel. */
static bool is_loaders(const char *word)
{
	return str_starts(word, "BOOT_IMAGE=") || str_starts(word, "initrd=");
}

char *lab_own_words(const char *running)
{
	struct str text = STR_INIT;
	const char *word;
	size_t len;

	while ((word = next_word(&running, &len)))
		if (!is_loaders(word))
			str_addf(&text, "%s%.*s", text.len ? " " : "", (int)len, word);
	return str_take(&text);
}

static bool says_root(const char *cmdline)
{
	const char *word;
	size_t len;

	while ((word = next_word(&cmdline, &len)))
		if (str_starts(word, "root="))
			return true;
	return false;
}

char *lab_cmdline(const struct machine_spec *spec, const char *own, const char *cmdline)
{
	bool add = own && own[0] && !says_root(spec->cmdline);

	return xasprintf("%s%s%s%s%s", add ? own : "", add ? " " : "", LAB_MARK,
		cmdline[0] ? " " : "", cmdline);
}

int lab_running(struct machine *machine, bool *is_ours, struct str *release, struct err *err)
{
	static const char *const argv[] = {
		"cat", "/proc/sys/kernel/osrelease", "/proc/cmdline", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	int ret = machine_exec(machine, &spec, &result, err);
	const char *text = str_text(&result.out), *line = strchr(text, '\n');

	if (ret == 0 && (result.exit_code != 0 || !line))
		ret = err_set(err, ERR_INFRA, "it does not tell which kernel it runs");
	if (ret == 0) {
		*is_ours = has_word(line, LAB_MARK);
		str_reset(release);
		str_add_safe(release, text, (size_t)(line - text));
	}
	proc_result_release(&result);
	return ret;
}

/* Prints the command line of the machine's own kernel: the running one's, which is then kept, or
 * what was kept by an earlier session when the running kernel is one of ours. */
static const char learn_script[] = "set -eu; kept=\"$1/own-cmdline\"\n"
				   "if grep -qwF -- \"$2\" /proc/cmdline; then\n"
				   "	[ ! -e \"$kept\" ] || cat \"$kept\"\n"
				   "else\n"
				   "	umask 077; cat /proc/cmdline >\"$kept.new\"; mv "
				   "\"$kept.new\" \"$kept\"; cat \"$kept\"\n"
				   "fi\n";

int lab_learn(struct machine *machine, struct err *err)
{
	struct lab *lab = lab_of(machine);
	const char *arguments[] = {machine->workdir, LAB_MARK, NULL};
	struct str text = STR_INIT;
	int ret = 0;

	if (!lab->own_cmdline) {
		ret = lab_script(machine, 30 * NS_PER_S, &text, err, learn_script, arguments);
		if (ret == 0 && !text.len && !says_root(machine->spec->cmdline))
			ret = err_set(err, ERR_INFRA,
				"it runs a kernel of kbracket's and nobody knows what its own has "
				"on "
				"the command line: restart it, or write cmdline: root=... into its "
				"file");
		if (ret == 0)
			lab->own_cmdline = lab_own_words(str_text(&text));
	}
	str_release(&text);
	return ret;
}
