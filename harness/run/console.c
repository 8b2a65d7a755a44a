/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "model/store_rows.h"
#include "run/console.h"
#include "run/raw.h"

enum { MAX_CONSOLE = 8 << 20 };

static char *raw_name(const struct rig *rig, const struct store_boot *boot, int attempt)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "console-%d", attempt);
	return rig_raw_path(rig, boot, name);
}

char *console_path(const struct rig *rig, const struct store_boot *boot, int attempt)
{
	char *name = raw_name(rig, boot, attempt);
	char *path = path_join(store_folder(rig->engine->store), name);

	free(name);
	return path;
}

int console_prepare(const char *path, struct err *err)
{
	char *folder = path_dir(path);
	int ret = file_mkdirs(folder, 0777, err);

	free(folder);
	return ret;
}

int console_keep(struct rig *rig, const struct store_boot *boot, int attempt, struct store_raw *out,
	size_t *count, struct err *err)
{
	char *name = raw_name(rig, boot, attempt);
	char *path = console_path(rig, boot, attempt);
	int ret = raw_keep_file(&rig->engine->arena, store_folder(rig->engine->store), name,
		"console", path, MAX_CONSOLE, out, err);

	*count = !ret;
	free(name);
	free(path);
	return ret == ERR_NOT_FOUND ? 0 : ret;
}

void console_remove(const struct rig *rig, const struct store_boot *boot, int attempt)
{
	char *path = console_path(rig, boot, attempt);

	(void)unlink(path); /* one that stays costs space only */
	free(path);
}

int console_store(struct rig *rig, const struct store_boot *boot, int64_t attempt_id, int attempt,
	struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct store_raw_row *before;
	struct store_raw raw;
	size_t stored, count = 0;
	int ret = store_load_raws(
		rig->engine->store, 0, attempt_id, 0, &arena, &before, &stored, err);

	if (!ret && !stored)
		ret = console_keep(rig, boot, attempt, &raw, &count, err);
	if (!ret && count)
		ret = store_attempt_raws(rig->engine->store, attempt_id, &raw, 1, err);
	if (!ret)
		console_remove(rig, boot, attempt);
	arena_release(&arena);
	return ret;
}
