/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_BUILD_CACHE_H
#define KB_BACKEND_BUILD_CACHE_H

#include "base/base.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "backend/builder.h"

/*
 * Finished builds, by content: cache_dir/KEY/ holds the files and build.json, complete or not there
 * at all. cache_dir/recipes/RECIPE holds the KEY that a recipe led to, so that a build that is
 * there is found without a source tree. Used by all builders.
 */

/* Takes a lock below cache_dir (name: "KEY", "work/ID"), waiting as long as another process holds
 * it; the progress says so. ERR_INTERRUPTED when a stop is asked for meanwhile. */
KB_MUST_CHECK int build_cache_lock(
	const struct build_env *env, const char *name, struct file_lock *lock, struct err *err);

/* Fills *out from a finished build; false when there is none. from_cache is set. */
bool build_cache_find(
	struct arena *arena, const char *cache_dir, const char *key, struct build *out);
/* The same by recipe (64 hex digits). */
bool build_cache_find_recipe(
	struct arena *arena, const char *cache_dir, const char *recipe, struct build *out);

/* A new empty folder in cache_dir for the files of a build; the arena's. */
KB_MUST_CHECK int build_cache_begin(
	struct arena *arena, const char *cache_dir, const char **folder, struct err *err);

/* Makes the folder the finished build build->key: writes build.json, syncs, renames. Paths in
 * *build that lie in the folder are changed to the final ones. When another process was faster, its
 * build is used and the folder removed. recipe may be NULL. */
KB_MUST_CHECK int build_cache_seal(struct arena *arena, const char *cache_dir, const char *folder,
	const char *recipe, struct build *build, struct err *err);

/* Notes that a recipe leads to a finished build. */
KB_MUST_CHECK int build_cache_add_recipe(
	const char *cache_dir, const char *recipe, const char *key, struct err *err);

#endif
