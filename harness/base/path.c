/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <sys/vfs.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

char *path_join(const char *base, const char *path)
{
	const char *home = getenv("HOME");

	if (str_starts(path, "~/") && home)
		return xasprintf("%s/%s", home, path + 2);
	if (path[0] == '/' || !base || !base[0] || strcmp(base, ".") == 0)
		return xstrdup(path);
	return xasprintf("%s%s%s", base, str_ends(base, "/") ? "" : "/", path);
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool file_on_network(const char *path, const char **kind)
{
	/* f_type values from statfs(2) */
	static const struct {
		uint32_t type;
		const char *name;
	} kinds[] = {{0x6969, "NFS"}, {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"}, {0x517b, "SMB"},
		{0x01021997, "9p"}, {0x65735546, "FUSE"}, {0x5346414f, "AFS"},
		{0x00c36400, "Ceph"}};
	char *at = xstrdup(path);
	struct statfs fs;
	bool known, found = false;

	while (!(known = statfs(at, &fs) == 0) && strcmp(at, "/") != 0 && strcmp(at, ".") != 0) {
		char *up = path_dir(at);

		free(at);
		at = up;
	}
	free(at);
	for (size_t i = 0; known && i < ARRAY_SIZE(kinds) && !found; i++) {
		found = (uint32_t)fs.f_type == kinds[i].type;
		if (found)
			*kind = kinds[i].name;
	}
	return found;
}
