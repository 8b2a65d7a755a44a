/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/places.h"
#include "cmd/study.h"
#include "model/lab.h"

/* A file beside this program; its bare name when that cannot be found out. */
static const char *beside(struct arena *arena, const char *name)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *folder;
	const char *found;

	if (len < 0)
		return name;
	path[len] = '\0';
	folder = path_dir(path);
	found = arena_printf(arena, "%s/%s", folder, name);
	free(folder);
	return found;
}

const char *places_agent(struct arena *arena)
{
	return beside(arena, "kbracket-agent");
}

const char *places_native(struct arena *arena)
{
	return beside(arena, "suites");
}

const char *places_cache(struct arena *arena)
{
	struct err err = ERR_INIT;
	struct lab lab;

	return lab_find(arena, NULL, &lab, &err) ? "kernels/cache" : lab.cache;
}

const char *places_results(struct arena *arena)
{
	struct err err = ERR_INIT;
	struct lab lab;

	return lab_find(arena, NULL, &lab, &err) ? "results" : lab.results;
}

int places_machine(struct arena *arena, const char *name, struct machine_spec *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	struct lab lab;
	const char *path = name;
	int ret;

	if (!strchr(name, '/') && !str_ends(name, ".yaml")) {
		ret = lab_find(arena, NULL, &lab, err);
		if (ret)
			return ret;
		path = arena_printf(arena, "%s/configs/machines/%s.yaml", lab.root, name);
	}
	if (!file_exists(path))
		return err_set(err, ERR_NOT_FOUND, "there is no machine '%s' (%s)", name, path);
	if (machine_read(arena, path, out, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	return 0;
}
