/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/validity.h"

const struct validity_reason validity_reasons[] = {
	{"short", FLAG_DROP, "ended earlier or later than its asked duration allows"},
	{"kernel-warning", FLAG_KEEP, "the kernel wrote a warning while it ran"},
	{"kernel-bug", FLAG_DROP, "the kernel reported a bug, a stall or a hung task while it ran"},
	{"hardware-error", FLAG_DROP, "the kernel reported an error of hardware while it ran"},
	{"taint", FLAG_KEEP, "the kernel became tainted while it ran"},
	{"throttled", FLAG_KEEP, "a CPU was thermally throttled while it ran"},
	{"temperature", FLAG_KEEP, "it began too far from the temperature of the first boot"},
	{"steal", FLAG_KEEP, "the hypervisor took CPU time away"},
	{"busy-before", FLAG_KEEP, "something else used CPU time before the start"},
	{"busy", FLAG_KEEP, "something else used CPU time while it ran"},
	{"clock-step", FLAG_DROP, "the wall clock was set while it ran"},
	{"clock-rate", FLAG_DROP, "the machine's clock runs at another speed than ours"},
	{"swapping", FLAG_KEEP, "pages went to or came from swap"},
	{"out-of-memory", FLAG_DROP, "processes were killed for want of memory while it ran"},
	{"disk-full", FLAG_DROP, "the file system of the program's folder was full after it"},
	{"scheduler", FLAG_DROP, "the sched_ext scheduler was not the same all along"},
	{"governor", FLAG_DROP, "the CPU frequency governor changed"},
	{"cpus-changed", FLAG_DROP, "the number of online CPUs changed"},
	{"hook", FLAG_KEEP, "a program that was to be called around it failed"},
	{"no-environment", FLAG_KEEP, "what the machine did around the run is not known"},
};
const size_t validity_reason_count = ARRAY_SIZE(validity_reasons);

const struct validity_reason *validity_find(const char *name)
{
	for (size_t i = 0; i < validity_reason_count; i++)
		if (!strcmp(validity_reasons[i].name, name))
			return &validity_reasons[i];
	return NULL;
}

static const char *const policy_names[] = {
	[FLAG_IGNORE] = "ignore",
	[FLAG_KEEP] = "flag",
	[FLAG_DROP] = "drop",
};

const char *flag_policy_name(enum flag_policy policy)
{
	return policy_names[policy];
}

bool flag_policy_parse(const char *text, enum flag_policy *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(policy_names); i++) {
		if (strcmp(policy_names[i], text))
			continue;
		*out = (enum flag_policy)i;
		return true;
	}
	return false;
}
