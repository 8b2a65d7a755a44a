/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"

#include "agent/js.h"
#include "agent/knobs.h"
#include "agent/probe.h"

static const char *const feature_files[] = {
	"/sys/kernel/debug/sched/features", "/sys/kernel/debug/sched_features"};

bool knobs_features(const char *root, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(feature_files); i++)
		if (probe_line(out, root, "%s", feature_files[i]))
			return true;
	return false;
}

/* Kernel files take a value in one write. */
static int write_value(const char *path, const char *value, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t len = strlen(value);
	ssize_t put;
	int saved;

	if (fd < 0)
		return err_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, errno,
			"cannot open %s", path);
	put = write(fd, value, len);
	saved = errno;
	(void)close(fd); /* the write is what counts, and it is read back */
	if (put != (ssize_t)len)
		return err_errno(err, ERR_INFRA, put < 0 ? saved : EIO, "cannot write \"%s\" to %s",
			value, path);
	return 0;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

int knobs_set_feature(const char *root, const char *name, struct err *err)
{
	const char *plain = str_starts(name, "NO_") ? name + 3 : name;
	char *opposite = plain == name ? xasprintf("NO_%s", name) : xstrdup(plain);
	struct str words = STR_INIT;
	int which, ret;
	char *path;

	probe_mount_debugfs(root);
	which = probe_exists(root, "%s", feature_files[0]) ? 0 : 1;
	path = xasprintf("%s%s", root, feature_files[which]);
	if (!knobs_features(root, &words))
		ret = err_set(err, ERR_NOT_FOUND,
			"%s cannot be read: this kernel has no debugfs scheduler features", path);
	else if (!has_word(str_text(&words), name) && !has_word(str_text(&words), opposite))
		ret = err_set(err, ERR_NOT_FOUND,
			"this kernel has no scheduler feature %s; it has: %s", plain,
			str_text(&words));
	else
		ret = write_value(path, name, err);
	if (ret == 0 && (!knobs_features(root, &words) || !has_word(str_text(&words), name)))
		ret = err_set(err, ERR_INFRA, "%s was written but reads back as: %s", name,
			str_text(&words));
	str_release(&words);
	free(opposite);
	free(path);
	return ret;
}

/* The file of a key; NULL for a key that names anything else. */
static char *knob_path(const char *key)
{
	char *path;

	if (!*key || strstr(key, ".."))
		return NULL;
	if (key[0] == '/')
		return str_starts(key, "/proc/sys/") || str_starts(key, "/sys/") ? xstrdup(key)
										 : NULL;
	if (strchr(key, '/'))
		return xasprintf(
			"/proc/sys/%s", key); /* sysctl's other spelling, for names with dots */
	path = xasprintf("/proc/sys/%s", key);
	for (char *c = path + strlen("/proc/sys/"); *c; c++)
		if (*c == '.')
			*c = '/';
	return path;
}

/* Same words, whatever blanks are between them: the kernel prints tabs. */
static bool same_words(const char *a, const char *b)
{
	static const char blanks[] = " \t";

	for (;;) {
		size_t len;

		a += strspn(a, blanks);
		b += strspn(b, blanks);
		len = strcspn(a, blanks);
		if (len != strcspn(b, blanks) || memcmp(a, b, len) != 0)
			return false;
		if (!len)
			return true;
		a += len;
		b += len;
	}
}

/* A file that lists choices shows the current one in brackets: "always [madvise] never". */
static bool reads_as(const char *text, const char *value)
{
	char *chosen = xasprintf("[%s]", value);
	bool same = same_words(text, value) || has_word(text, chosen);

	free(chosen);
	return same;
}

static int set_file(const char *root, const char *key, const char *path, const char *value,
	json_t *report, struct err *err)
{
	struct str before = STR_INIT, after = STR_INIT;
	char *full = xasprintf("%s%s", root, path);
	json_t *o = json_object();
	int ret = 0;

	if (!probe_line(&before, root, "%s", path))
		ret = err_set(err, ERR_NOT_FOUND, "%s: cannot read %s", key, full);
	else
		ret = write_value(full, value, err);
	if (ret == 0 &&
		(!probe_line(&after, root, "%s", path) || !reads_as(str_text(&after), value)))
		ret = err_set(err, ERR_INFRA, "%s: \"%s\" was written to %s but it reads \"%s\"",
			key, value, full, str_text(&after));
	js_text(o, "key", key);
	js_text(o, "before", str_text(&before));
	js_text(o, "after", str_text(&after));
	if (ret == 0)
		(void)json_array_append(report, o);
	json_decref(o);
	str_release(&before);
	str_release(&after);
	free(full);
	return ret;
}

int knobs_set_value(const char *root, const char *assignment, json_t *report, struct err *err)
{
	const char *equals = strchr(assignment, '=');
	char *key, *path;
	int ret;

	if (!equals)
		return err_set(err, ERR_USAGE, "\"%s\" is not KEY=VALUE", assignment);
	key = xstrndup(assignment, (size_t)(equals - assignment));
	path = knob_path(key);
	if (!path)
		ret = err_set(err, ERR_USAGE,
			"\"%s\" is no sysctl and no path below /proc/sys or /sys", key);
	else
		ret = set_file(root, key, path, equals + 1, report, err);
	free(key);
	free(path);
	return ret;
}
