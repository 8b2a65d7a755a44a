/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"

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

const char *knobs_feature_file(const char *root)
{
	probe_mount_debugfs(root);
	return feature_files[!probe_exists(root, "%s", feature_files[0]) &&
			     probe_exists(root, "%s", feature_files[1])];
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

int knobs_feature(const char *root, const char *name, bool *on, struct err *err)
{
	const char *path = knobs_feature_file(root);
	char *off = xasprintf("NO_%s", name);
	struct str words = STR_INIT;
	int ret = 0;

	if (!knobs_features(root, &words))
		ret = err_set(err, ERR_NOT_FOUND,
			"%s%s cannot be read: this kernel has no debugfs scheduler features", root,
			path);
	else if (!has_word(str_text(&words), name) && !has_word(str_text(&words), off))
		ret = err_set(err, ERR_NOT_FOUND,
			"this kernel has no scheduler feature %s; it has: %s", name,
			str_text(&words));
	else
		*on = !has_word(str_text(&words), off);
	str_release(&words);
	free(off);
	return ret;
}

char *knobs_path(const char *key)
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
