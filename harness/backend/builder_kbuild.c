/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "backend/build_cache.h"
#include "backend/kbuild.h"

/*
 * Kernels built from git: the variant's commit is checked out into a tree of our own, configured,
 * and built by its own makefiles in a sandbox. What belongs to the result goes into the cache.
 */

#define MIN_FREE_BYTES ((int64_t)4 << 30)

static void tell(const struct kbuild *kb, const char *text)
{
	if (kb->env->progress)
		kb->env->progress(kb->env->arg, text);
}

static int check_space(const struct kbuild *kb, struct err *err)
{
	int64_t free_bytes = file_free_bytes(kb->env->cache_dir);

	if (free_bytes < 0 || free_bytes >= MIN_FREE_BYTES)
		return 0;
	return err_set(err, ERR_INFRA,
		"%s has %.1f GiB free; a source tree and a build need 4: free some, or run "
		"kbracket "
		"prune",
		kb->env->cache_dir, (double)free_bytes / (1 << 30));
}

/* An earlier log of the same recipe is of no use any more. */
static int start_log(const struct kbuild *kb, struct err *err)
{
	char *folder = path_dir(kb->log);
	struct str text = STR_INIT;
	int ret;

	str_addf(&text, "# kbracket: variant %s, commit %s, tree %s\n# %s\n# built %s\n",
		kb->variant->name, kb->commit.hex, kb->tree.hex, kb->compiler,
		sandbox_about(&kb->box));
	if (kb->box.why)
		str_addf(&text, "# more is not possible here: %s\n", kb->box.why);
	ret = file_mkdirs(folder, 0755, err);
	if (ret == 0)
		ret = file_write_atomic(kb->log, str_text(&text), text.len, 0644, err);
	str_release(&text);
	free(folder);
	return ret;
}

static int prepare(struct kbuild *kb, struct gitrepo *repo, struct err *err)
{
	int ret;

	ret = check_space(kb, err);
	if (ret == 0) {
		char *line = arena_printf(
			kb->arena, "checking out %s (%.12s)", kb->variant->name, kb->commit.hex);

		tell(kb, line);
		ret = gitrepo_checkout(repo, &kb->tree, kb->src, NULL, err);
	}
	if (ret == 0)
		ret = sandbox_init(&kb->box, kb->src, kb->out, kb->scratch, kb->lock.fd, err);
	if (ret == 0 && kb->box.why)
		log_line(LOG_DEBUG, "kernels are built %s: %s", sandbox_about(&kb->box),
			kb->box.why);
	return ret ? ret : start_log(kb, err);
}

static int make_kernel(struct kbuild *kb, struct err *err)
{
	char *local = arena_printf(kb->arena, "LOCALVERSION=-kb%.8s", kb->key);
	char *folder = arena_printf(kb->arena, "%s/modules", kb->out);
	char *where =
		arena_printf(kb->arena, "INSTALL_MOD_PATH=%s/modules", sandbox_output(&kb->box));
	int ret;

	if (!kbuild_config_has(kb, "CONFIG_MODULES=y"))
		return kbuild_make(kb, err, local, kb->arch->target, NULL);
	ret = kbuild_make(kb, err, local, kb->arch->target, "modules", NULL);
	if (ret == 0)
		ret = file_remove_tree(folder, err);
	if (ret == 0)
		ret = kbuild_make(
			kb, err, local, where, "INSTALL_MOD_STRIP=1", "modules_install", NULL);
	return ret;
}

static int keep(struct kbuild *kb, int64_t start_ns, struct build *build, struct err *err)
{
	const char *folder;
	int ret;

	ret = build_cache_begin(kb->arena, kb->env->cache_dir, &folder, err);
	if (ret)
		return ret;
	ret = kbuild_collect(kb, folder, build, err);
	build->seconds = (clock_now_ns() - start_ns) / NS_PER_S;
	if (ret == 0)
		ret = build_cache_seal(
			kb->arena, kb->env->cache_dir, folder, kb->recipe, build, err);
	if (ret)
		(void)!file_remove_tree(folder, NULL); /* the first error is the one to tell */
	else
		(void)!file_remove_tree(kb->log, NULL); /* it is in the cache now */
	return ret;
}

/* The same key by another recipe: only the recipe is new. */
static bool find_by_key(struct kbuild *kb, struct build *out)
{
	const char *cache = kb->env->cache_dir;

	if (!build_cache_find(kb->arena, cache, kb->key, out))
		return false;
	if (build_cache_add_recipe(cache, kb->recipe, kb->key, NULL))
		log_line(LOG_DEBUG, "cannot note the recipe %s in %s", kb->recipe, cache);
	return true;
}

static int make_build(struct kbuild *kb, struct gitrepo *repo, struct build *out, struct err *err)
{
	int64_t start = clock_now_ns();
	struct build build = {0};
	int ret;

	ret = build_cache_lock(kb->env, kb->work_id, &kb->lock, err);
	if (ret == 0 && build_cache_find_recipe(kb->arena, kb->env->cache_dir, kb->recipe, out))
		return 0; /* made while we waited */
	if (ret == 0)
		ret = prepare(kb, repo, err);
	if (ret == 0)
		ret = kbuild_configure(kb, err);
	if (ret == 0) /* another tree may be building the same key */
		ret = build_cache_lock(kb->env, kb->key, &kb->key_lock, err);
	if (ret == 0 && find_by_key(kb, out))
		return 0;
	if (ret == 0)
		ret = make_kernel(kb, err);
	if (ret == 0)
		ret = keep(kb, start, &build, err);
	if (ret == 0)
		*out = build;
	return ret;
}

/* A build that another variant made: its commit has the same tree, but this variant's is told. */
static void tell_own_commit(struct kbuild *kb, struct build *build)
{
	build->commit = arena_strdup(kb->arena, kb->commit.hex);
}

static int kbuild_build(const struct build_env *env, const struct variant *variant,
	struct arena *arena, struct build *out, struct err *err)
{
	struct kbuild kb = {.env = env,
		.variant = variant,
		.arena = arena,
		.arch = kbuild_arch_find(variant->arch),
		.lock = FILE_LOCK_INIT,
		.key_lock = FILE_LOCK_INIT};
	struct gitrepo *repo = NULL;
	int ret;

	if (!kb.arch)
		return err_set(err, ERR_USAGE, "variant %s: kernels for %s cannot be built yet",
			variant->name, variant->arch);
	ret = kbuild_read_recipe(&kb, &repo, err);
	if (ret == 0 && !build_cache_find_recipe(arena, env->cache_dir, kb.recipe, out))
		ret = make_build(&kb, repo, out, err);
	if (ret == 0)
		tell_own_commit(&kb, out);
	file_lock_release(&kb.key_lock);
	file_lock_release(&kb.lock);
	sandbox_release(&kb.box);
	gitrepo_free(repo);
	return ret ? err_wrap(err, "variant %s", variant->name) : 0;
}

static bool is_at_hand(const struct variant *variant)
{
	for (const char *const *patch = variant->patches; *patch; patch++)
		if (str_starts(*patch, "lore:"))
			return false;
	return true;
}

/* A mistyped commit or a patch that does not apply is told before anything is started. Mails are
 * not fetched for that: their patches are seen when they are built. */
static int try_steps(struct gitrepo *repo, const struct variant *variant, const struct gitid *base,
	struct arena *arena, struct err *err)
{
	static const char *const none[] = {NULL};
	struct variant local = *variant;
	struct git_step *steps;
	size_t count;
	int ret;

	if (!is_at_hand(variant))
		local.patches = none;
	ret = kbuild_list_steps(&local, "", arena, &steps, &count, err);
	return ret ? ret : gitrepo_try(repo, base, steps, count, err);
}

static int kbuild_resolve(
	const struct variant *variant, struct arena *arena, struct resolved *out, struct err *err)
{
	struct str subject = STR_INIT;
	struct gitrepo *repo;
	struct gitid commit;
	int ret;

	ret = gitrepo_open(variant->tree, &repo, err);
	if (ret)
		return err_wrap(err, "variant %s", variant->name);
	ret = gitrepo_resolve(repo, variant->ref, &commit, &subject, err);
	if (ret == 0)
		ret = try_steps(repo, variant, &commit, arena, err);
	if (ret == 0) {
		out->commit = arena_strdup(arena, commit.hex);
		out->subject = arena_strdup(arena, str_text(&subject));
	}
	gitrepo_free(repo);
	str_release(&subject);
	return ret ? err_wrap(err, "variant %s", variant->name) : 0;
}

const struct builder builder_kbuild = {"kbuild", kbuild_resolve, kbuild_build};
