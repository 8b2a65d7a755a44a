/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/kernel_log.h"
#include "sys/regex.h"

/* What a line must hold, and what it then is; the first that fits. */
static const struct {
	const char *text, *reason;
} classes[] = {
	{"mce: ", "hardware-error"},
	{"Hardware Error", "hardware-error"},
	{"EDAC ", "hardware-error"},
	{"AER: ", "hardware-error"},
	{"I/O error", "hardware-error"},
	{"BUG: ", "kernel-bug"}, /* soft lockup, KASAN, scheduling while atomic, ... */
	{"Oops", "kernel-bug"},
	{"general protection fault", "kernel-bug"},
	{"hard LOCKUP", "kernel-bug"},
	{"detected stall", "kernel-bug"}, /* RCU */
	{"self-detected stall", "kernel-bug"},
	{"blocked for more than", "kernel-bug"}, /* hung task */
	{"possible circular locking", "kernel-bug"},
	{"suspicious RCU usage", "kernel-bug"},
	{"", "kernel-warning"},
};

static const char *class_of(const char *line)
{
	size_t i = 0;

	while (!strstr(line, classes[i].text))
		i++;
	return classes[i].reason;
}

static bool is_allowed(const char *line, const char *const *allowed)
{
	for (; allowed && *allowed; allowed++) {
		struct regex *regex = NULL;
		bool matches = !regex_compile(*allowed, &regex, NULL) &&
			       regex_matches(regex, line, strlen(line));

		regex_free(regex);
		if (matches)
			return true;
	}
	return false;
}

static void count(
	struct kernel_log *out, size_t *used, const char *reason, int64_t n, const char *line)
{
	size_t i = 0;

	if (n <= 0)
		return;
	while (i < *used && strcmp(out[i].reason, reason))
		i++;
	if (i == *used)
		out[(*used)++] = (struct kernel_log){reason, 0, line};
	out[i].count += n;
}

size_t kernel_log_sort(const json_t *kmsg, const char *const *allowed, struct kernel_log *out)
{
	const json_t *lines = json_object_get(kmsg, "warning_lines");
	int64_t all = json_get_int(kmsg, "warnings", 0);
	size_t used = 0, i;
	json_t *item;

	json_array_foreach(lines, i, item)
	{
		const char *line = json_is_string(item) ? json_string_value(item) : "";

		if (!is_allowed(line, allowed))
			count(out, &used, class_of(line), 1, line);
	}
	/* the agent keeps the first lines only */
	count(out, &used, "kernel-warning", all - (int64_t)json_array_size(lines), "");
	return used;
}
