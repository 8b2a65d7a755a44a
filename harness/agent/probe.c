/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/mount.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"

#include "agent/probe.h"

enum { PROBE_MAX_BYTES = 4 << 20 };

static char *full_path(const char *root, const char *fmt, va_list ap)
{
	struct str path = STR_INIT;

	str_add(&path, root);
	str_vaddf(&path, fmt, ap);
	return str_take(&path);
}

bool probe_text(struct str *out, const char *root, const char *fmt, ...)
{
	va_list ap;
	char *path;
	bool ok;

	va_start(ap, fmt);
	path = full_path(root, fmt, ap);
	va_end(ap);
	ok = file_read(path, PROBE_MAX_BYTES, out, NULL) == 0;
	if (!ok)
		str_reset(out);
	str_add(out, ""); /* text is never NULL */
	free(path);
	return ok;
}

static bool read_line(struct str *out, const char *path)
{
	bool ok = file_read(path, PROBE_MAX_BYTES, out, NULL) == 0;

	if (!ok)
		str_reset(out);
	str_add(out, ""); /* text is never NULL */
	out->len = strcspn(out->text, "\r\n");
	while (out->len && strchr(" \t", out->text[out->len - 1]))
		out->len--;
	out->text[out->len] = '\0';
	return ok;
}

bool probe_line(struct str *out, const char *root, const char *fmt, ...)
{
	va_list ap;
	char *path;
	bool ok;

	va_start(ap, fmt);
	path = full_path(root, fmt, ap);
	va_end(ap);
	ok = read_line(out, path);
	free(path);
	return ok;
}

static int64_t leading_int(const char *text, int64_t fallback)
{
	size_t sign = *text == '-', len = sign + strspn(text + sign, "0123456789");
	char *digits = xstrndup(text, len);
	int64_t value = fallback;

	if (num_int(digits, INT64_MIN, INT64_MAX, &value, NULL) != 0)
		value = fallback;
	free(digits);
	return value;
}

int64_t probe_int(const char *root, int64_t fallback, const char *fmt, ...)
{
	struct str line = STR_INIT;
	int64_t value = fallback;
	va_list ap;
	char *path;

	va_start(ap, fmt);
	path = full_path(root, fmt, ap);
	va_end(ap);
	if (read_line(&line, path))
		value = leading_int(str_text(&line), fallback);
	str_release(&line);
	free(path);
	return value;
}

bool probe_exists(const char *root, const char *fmt, ...)
{
	va_list ap;
	char *path;
	bool there;

	va_start(ap, fmt);
	path = full_path(root, fmt, ap);
	va_end(ap);
	there = file_exists(path);
	free(path);
	return there;
}

void probe_list(struct strv *names, const char *root, const char *fmt, ...)
{
	va_list ap;
	char *path;

	va_start(ap, fmt);
	path = full_path(root, fmt, ap);
	va_end(ap);
	(void)!file_list(path, names, NULL); /* absent is an empty list */
	free(path);
}

/* Where the value of the first line "KEY : value" starts, NULL when there is no such line. */
static const char *find_field(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] && strchr(" \t:=", line[len]))
			return line + len + strspn(line + len, " \t:=");
	}
	return NULL;
}

bool probe_field(const char *text, const char *key, struct str *out)
{
	const char *value = find_field(text, key);

	str_reset(out);
	str_add(out, ""); /* text is never NULL */
	if (!value)
		return false;
	str_add_bytes(out, value, strcspn(value, "\r\n"));
	return true;
}

int64_t probe_field_int(const char *text, const char *key, int64_t fallback)
{
	const char *value = find_field(text, key);

	return value ? leading_int(value, fallback) : fallback;
}

int64_t probe_cpu_list(const char *text, int *cpus, size_t max_cpus)
{
	int64_t count = 0;
	size_t stored = 0;

	while (*text) {
		int64_t first = leading_int(text, -1), last = first;

		text += strspn(text, "0123456789");
		if (*text == '-') {
			last = leading_int(++text, -1);
			text += strspn(text, "0123456789");
		}
		if (first < 0 || last < first || last > 1 << 20 || (*text && *text != ','))
			return -1;
		for (int64_t cpu = first; cpus && cpu <= last && stored < max_cpus; cpu++)
			cpus[stored++] = (int)cpu;
		count += last - first + 1;
		text += *text == ',';
	}
	return count;
}

void probe_mount_debugfs(const char *root)
{
	if (*root || probe_exists("", "/sys/kernel/debug/sched") ||
		probe_exists("", "/sys/kernel/debug/sched_features"))
		return;
	/* Without rights or debugfs the readers simply find nothing. */
	(void)mount("debugfs", "/sys/kernel/debug", "debugfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		"mode=0700");
}
