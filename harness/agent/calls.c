/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/mem.h"

#include "agent/calls.h"
#include "agent/probe.h"

/* The names of our probes begin with it; they stand in a list with those of others. */
#define PROBE_PREFIX "kbracket_"

/* Kernel files take a value in one write. */
static bool put(const struct calls *calls, const char *name, int flags, const char *text)
{
	char *path = xasprintf("%s/%s", calls->dir, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags);
	bool done = fd >= 0 && (!*text || write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	int saved = errno;

	if (fd >= 0)
		(void)close(fd); /* the write is what counts */
	free(path);
	errno = saved;
	return done;
}

static bool has(const struct calls *calls, const char *name)
{
	return probe_exists(calls->dir, "/%s", name);
}

static bool reads(const struct calls *calls, const char *name, const char *start)
{
	struct str line = STR_INIT;
	bool same = probe_line(&line, calls->dir, "/%s", name) && str_starts(line.text, start);

	str_release(&line);
	return same;
}

static char *find_tracefs(const char *root)
{
	static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	if (!*root && probe_exists("", "%s", folders[0]) &&
		!probe_exists("", "%s/trace", folders[0]))
		/* without rights it is not found below */
		(void)mount("tracefs", folders[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			"mode=0700");
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (probe_exists(root, "%s/trace", folders[i]))
			return xasprintf("%s%s", root, folders[i]);
	return NULL;
}

static void note(struct calls *calls, const char *function, const char *reason)
{
	str_addf(&calls->notes, "! %s %s\n", function, reason);
}

/* The filter must not be empty when the profiler starts: it would count every function there is. */
static bool filter(struct calls *calls)
{
	size_t found = 0;

	for (size_t i = 0; i < calls->functions->count; i++) {
		char *line = xasprintf("%s\n", calls->functions->items[i]);

		if (put(calls, "set_ftrace_filter", i ? O_APPEND : O_TRUNC, line))
			found++;
		else
			note(calls, calls->functions->items[i],
				errno == EINVAL ? "this kernel has no such function, or does not "
						  "let it be traced (inlined?)"
						: strerror(errno));
		free(line);
	}
	return found > 0;
}

static void begin_profile(struct calls *calls)
{
	if (!reads(calls, "function_profile_enabled", "0") ||
		!reads(calls, "current_tracer", "nop") ||
		!reads(calls, "set_ftrace_filter", "####")) {
		str_add(&calls->notes, "!! ftrace is used by something else on this machine\n");
		return;
	}
	calls->by = CALLS_PROFILE;
	if (filter(calls) && !put(calls, "function_profile_enabled", 0, "1"))
		str_addf(&calls->notes, "!! the function profiler cannot be switched on: %s\n",
			strerror(errno));
}

/* A name of a compiler's clone holds a dot, which a probe's may not. */
static char *probe_name(const char *function)
{
	char *name = xasprintf(PROBE_PREFIX "%s", function);

	for (char *c = name; *c; c++)
		if (*c == '.')
			*c = '_';
	return name;
}

static void begin_kprobes(struct calls *calls)
{
	for (size_t i = 0; i < calls->functions->count; i++) {
		const char *function = calls->functions->items[i];
		char *name = probe_name(function);
		char *line = xasprintf("p:kbracket/%s %s\n", name, function);
		char *enable = xasprintf("events/kbracket/%s/enable", name);

		if (!put(calls, "kprobe_events", O_APPEND, line))
			note(calls, function,
				"this kernel has no such function, or does not let "
				"it be probed (inlined?)");
		else if (!put(calls, enable, 0, "1"))
			note(calls, function, "its probe cannot be switched on");
		free(enable);
		free(line);
		free(name);
	}
	calls->by = CALLS_KPROBE;
}

void calls_begin(struct calls *calls, const char *root, const struct strv *functions)
{
	*calls = (struct calls){.root = root, .functions = functions};
	if (!functions->count)
		return;
	calls->dir = find_tracefs(root);
	if (!calls->dir)
		str_add(&calls->notes,
			"!! there is no tracefs (CONFIG_FTRACE), or no right to use it\n");
	else if (has(calls, "function_profile_enabled"))
		begin_profile(calls);
	else if (has(calls, "kprobe_events"))
		begin_kprobes(calls);
	else
		str_add(&calls->notes, "!! this kernel has neither CONFIG_FUNCTION_PROFILER nor "
				       "CONFIG_KPROBE_EVENTS\n");
}

static void add_file(const struct calls *calls, const char *name, struct str *report)
{
	struct str text = STR_INIT;

	if (probe_text(&text, calls->dir, "/%s", name)) {
		str_addf(report, "@ %s\n", name);
		str_add_bytes(report, text.text, text.len);
		if (text.len && text.text[text.len - 1] != '\n')
			str_add_char(report, '\n');
	}
	str_release(&text);
}

static void end_profile(const struct calls *calls, struct str *report)
{
	struct strv names = STRV_INIT;

	(void)put(calls, "function_profile_enabled", 0, "0"); /* off at a reboot at the latest */
	probe_list(&names, calls->dir, "/trace_stat");
	for (size_t i = 0; i < names.count; i++) {
		char *name = xasprintf("trace_stat/%s", names.items[i]);

		if (str_starts(names.items[i], "function"))
			add_file(calls, name, report);
		free(name);
	}
	(void)put(calls, "set_ftrace_filter", O_TRUNC, "");
	strv_release(&names);
}

static void end_kprobes(const struct calls *calls, struct str *report)
{
	(void)put(
		calls, "events/kbracket/enable", 0, "0"); /* not there when no probe could be set */
	add_file(calls, "kprobe_profile", report);
	for (size_t i = 0; i < calls->functions->count; i++) {
		char *name = probe_name(calls->functions->items[i]);
		char *line = xasprintf("-:kbracket/%s\n", name);

		(void)put(calls, "kprobe_events", O_APPEND, line); /* as above */
		free(line);
		free(name);
	}
}

void calls_end(struct calls *calls, struct str *report)
{
	static const char *const words[] = {
		[CALLS_NONE] = "none", [CALLS_PROFILE] = "profile", [CALLS_KPROBE] = "kprobe"};

	if (calls->functions && calls->functions->count) {
		str_addf(report, "by %s\n", words[calls->by]);
		str_add(report, str_text(&calls->notes));
		if (calls->by == CALLS_PROFILE)
			end_profile(calls, report);
		else if (calls->by == CALLS_KPROBE)
			end_kprobes(calls, report);
	}
	str_release(&calls->notes);
	free(calls->dir);
	*calls = (struct calls){0};
}
