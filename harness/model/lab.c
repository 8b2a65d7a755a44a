/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "model/lab.h"

static const char *const folders[] = {
	"configs", "configs/machines", "kernels", "suites", "results"};

/* What a first experiment needs; copied, so that it can be changed. */
static const char *const first_files[] = {
	"configs/quickstart.yaml", "configs/machines/guest.yaml", "kernels/quickstart.yaml"};

static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

static bool has_folder(const char *root, const char *name)
{
	char *path = path_join(root, name);
	bool there = file_is_folder(path);

	free(path);
	return there;
}

static const char *in(struct arena *arena, const char *root, const char *name)
{
	return arena_printf(arena, "%s/%s", strcmp(root, "/") == 0 ? "" : root, name);
}

int lab_find(struct arena *arena, const char *path, struct lab *out, struct err *err)
{
	char *at = absolute(path ? path : ".");

	if (!file_exists(at)) {
		free(at);
		return err_set(err, ERR_NOT_FOUND, "there is no %s", path);
	}
	while (!has_folder(at, "configs")) {
		char *up = path_dir(at);

		if (strcmp(at, up) == 0) {
			free(up);
			free(at);
			return err_set(err, ERR_NOT_FOUND,
				"no folder with configs/ in it from %s upwards; "
				"'kbracket init DIR' makes one",
				path ? path : "here");
		}
		free(at);
		at = up;
	}
	out->root = arena_strdup(arena, at);
	out->results = in(arena, out->root, "results");
	out->database = in(arena, out->root, "results/kbracket.db");
	out->cache = in(arena, out->root, "kernels/cache");
	out->share = lab_share(arena);
	free(at);
	return 0;
}

/* The folder of the running program. */
static char *program_folder(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	return path_dir(path);
}

const char *lab_share(struct arena *arena)
{
	/* beside PREFIX/bin; the source tree around build/; around build/tests/ */
	static const char *const beside[] = {"../share/kbracket", "..", "../.."};
	const char *set = getenv("KBRACKET_SHARE");
	char *folder = set ? NULL : program_folder();
	const char *found = set && has_folder(set, "suites") ? arena_strdup(arena, set) : NULL;

	for (size_t i = 0; folder && !found && i < ARRAY_SIZE(beside); i++) {
		char *joined = path_join(folder, beside[i]);
		char *real = absolute(joined);

		if (has_folder(real, "suites") && has_folder(real, "kernels"))
			found = arena_strdup(arena, real);
		free(real);
		free(joined);
	}
	free(folder);
	return found;
}

static int make_folders(const char *root, struct strv *made, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char *path = path_join(root, folders[i]);
		int ret = file_mkdirs(path, 0777, err);

		free(path);
		if (ret)
			return ret;
		strv_addf(made, "%s/", folders[i]);
	}
	return 0;
}

static int copy_files(const char *share, const char *root, struct strv *made, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(first_files); i++) {
		char *from = path_join(share, first_files[i]);
		char *to = path_join(root, first_files[i]);
		int ret = file_copy(from, to, err);

		free(to);
		free(from);
		if (ret)
			return ret;
		strv_add(made, first_files[i]);
	}
	return 0;
}

static int check_empty(const char *root, struct err *err)
{
	struct strv names = STRV_INIT;
	int ret = file_exists(root) ? file_list(root, &names, err) : 0;

	if (ret == 0 && names.count)
		ret = err_set(err, ERR_USAGE,
			"%s is not empty; a lab is made in a new or empty folder", root);
	strv_release(&names);
	return ret;
}

int lab_make(const char *root, struct strv *made, struct err *err)
{
	struct arena arena = ARENA_INIT;
	const char *share = lab_share(&arena);
	int ret = check_empty(root, err);

	if (ret == 0 && !share)
		ret = err_set(err, ERR_INFRA,
			"the files that kbracket brings cannot be found; "
			"set KBRACKET_SHARE to the folder that holds its suites/");
	if (ret == 0)
		ret = make_folders(root, made, err);
	if (ret == 0)
		ret = copy_files(share, root, made, err);
	arena_release(&arena);
	return ret;
}
