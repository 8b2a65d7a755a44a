/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/name.h"
#include "model/tune.h"

static int one_of(const char *text, const char *const *words, struct err *err)
{
	struct str list = STR_INIT;

	for (size_t i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return 0;
	for (size_t i = 0; words[i]; i++)
		str_addf(&list, "%s%s", i ? ", " : "", words[i]);
	(void)err_set(err, ERR_USAGE, "is not one of: %s", str_text(&list));
	str_release(&list);
	return ERR_USAGE;
}

#define WORDS(function, ...)                                                        \
	static int function(const char *text, struct err *err)                      \
	{                                                                           \
		return one_of(text, (const char *const[]){__VA_ARGS__, NULL}, err); \
	}

WORDS(check_switch, "keep", "on", "off")
WORDS(check_off, "keep", "off")
WORDS(check_stop, "keep", "stop")
WORDS(check_thp, "keep", "always", "madvise", "never")
WORDS(check_aslr, "keep", "on", "off", "conservative")

/* clang-format off */

#define TUNE(member) offsetof(struct tune, member)
const struct opt tune_opts[] = {
	{"governor", OPT_TEXT, TUNE(governor), .check = name_check,
		.help = "cpufreq governor, such as performance, or keep"},
	{"epp", OPT_TEXT, TUNE(epp), .check = name_check,
		.help = "energy performance preference, such as performance, or keep"},
	{"turbo", OPT_TEXT, TUNE(turbo), .check = check_switch,
		.help = "turbo or boost frequencies: on, off or keep"},
	{"thp", OPT_TEXT, TUNE(thp), .check = check_thp,
		.help = "transparent huge pages: always, madvise, never or keep"},
	{"irqbalance", OPT_TEXT, TUNE(irqbalance), .check = check_stop,
		.help = "the service of that name: stop or keep"},
	{"stop", OPT_LIST, TUNE(stop), .max = 100, .check = name_check_ref,
		.help = "services and timers of systemd that are stopped, such as cron"},
	{"nmi_watchdog", OPT_TEXT, TUNE(nmi_watchdog), .check = check_switch,
		.help = "on, off or keep; it takes a hardware counter"},
	{"aslr", OPT_TEXT, TUNE(aslr), .check = check_aslr,
		.help = "address space randomization: on, off, conservative or keep"},
	{"swap", OPT_TEXT, TUNE(swap), .check = check_off,
		.help = "off: no swap device is used; or keep"},
	{"sched_schedstats", OPT_TEXT, TUNE(sched_schedstats), .check = check_switch,
		.help = "scheduler statistics: on, off or keep"},
	{"numa_balancing", OPT_TEXT, TUNE(numa_balancing), .check = check_switch,
		.help = "on, off or keep"},
	{"autogroup", OPT_TEXT, TUNE(autogroup), .check = check_switch,
		.help = "scheduler groups by session: on, off or keep"},
	{"sysctls", OPT_PAIRS, TUNE(sysctls), .max = 100, .check = name_check_line,
		.check_key = name_check_sysctl, .help = "any other sysctls; a variant's own win"},
	{"smt", OPT_TEXT, TUNE(smt), .check = check_switch,
		.help = "simultaneous multithreading: on, off or keep; off leaves fewer CPUs"},
	OPT_END};

/* clang-format on */

static void add_word(const struct opt *row, const struct tune *tune, struct strv *out)
{
	const char *word = *(const char *const *)((const char *)tune + row->offset);

	if (!word || strcmp(word, "keep") == 0)
		return;
	if (row->offset == TUNE(irqbalance))
		strv_addf(out, "service.%s=%s", row->name, word);
	else
		strv_addf(out, "%s=%s", row->name, word);
}

void tune_settings(const struct tune *tune, struct strv *out)
{
	for (const struct opt *row = tune_opts; row->name; row++) {
		if (row->type == OPT_TEXT)
			add_word(row, tune, out);
		for (size_t i = 0; row->type == OPT_LIST && i < argv_count(tune->stop); i++)
			strv_addf(out, "service.%s=stop", tune->stop[i]);
		for (size_t i = 0; row->type == OPT_PAIRS && i < tune->sysctls.count; i++)
			strv_addf(out, "%s=%s", tune->sysctls.items[i].key,
				tune->sysctls.items[i].value);
	}
}
