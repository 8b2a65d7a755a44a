/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "sys/proc.h"
#include "backend/kbuild.h"
#include "backend/patch_source.h"

const struct kbuild_arch *kbuild_arch_find(const char *name)
{
	static const struct kbuild_arch archs[] = {
		{"x86_64", "x86_64", "bzImage", "arch/x86/boot/bzImage"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (!strcmp(archs[i].name, name))
			return &archs[i];
	return NULL;
}

static void add_commits(
	struct git_step *steps, size_t *count, enum git_step_kind kind, const char *const *refs)
{
	for (; *refs; refs++)
		steps[(*count)++] = (struct git_step){kind, *refs, "", NULL, 0};
}

int kbuild_list_steps(const struct variant *v, const char *cache_dir, struct arena *arena,
	struct git_step **steps, size_t *count, struct err *err)
{
	struct patch_series series = {NULL, 0};
	int ret = patch_series_read(arena, v->patches, v->lore_url, cache_dir, &series, err);

	if (ret)
		return ret;
	*steps = arena_alloc(
		arena, (argv_count(v->reverts) + argv_count(v->picks) + series.count + 2) *
			       sizeof(**steps));
	*count = 0;
	add_commits(*steps, count, GIT_STEP_REVERT, v->reverts);
	add_commits(*steps, count, GIT_STEP_PICK, v->picks);
	for (size_t i = 0; i < series.count; i++)
		(*steps)[(*count)++] = (struct git_step){GIT_STEP_PATCH, series.items[i].name,
			arena_printf(arena, "sha256:%s", series.items[i].sha256),
			series.items[i].text, series.items[i].len};
	if (v->pad_scheduler)
		kbuild_layout_patch(v, arena, &(*steps)[(*count)++]);
	return 0;
}

static int compose(struct kbuild *kb, struct gitrepo *repo, struct err *err)
{
	struct git_step *steps;
	struct gitid base;
	size_t count;
	int ret;

	ret = gitrepo_resolve(repo, kb->variant->ref, &base, NULL, err);
	if (ret == 0)
		ret = kbuild_list_steps(
			kb->variant, kb->env->cache_dir, kb->arena, &steps, &count, err);
	if (ret == 0)
		ret = gitrepo_compose(repo, &base, steps, count, &kb->commit, &kb->tree, err);
	return ret;
}

/* The first line that a program prints about its version. */
static int version_line(struct kbuild *kb, const char *program, const char **line, struct err *err)
{
	const char *argv[] = {program, "--version", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 20 * NS_PER_S};
	struct str out = STR_INIT, safe = STR_INIT;
	int ret = proc_check(&spec, &out, err);

	if (ret == ERR_NOT_FOUND)
		ret = err_set(err, ERR_INFRA,
			"building kernels needs %s: install the packages build-essential, bc, "
			"bison, flex, libelf-dev and libssl-dev (make deps does it)",
			program);
	if (ret == 0) {
		str_add_safe(&safe, str_text(&out), strcspn(str_text(&out), "\n"));
		*line = arena_strdup(kb->arena, str_text(&safe));
	}
	str_release(&safe);
	str_release(&out);
	return ret;
}

static int identify_compiler(struct kbuild *kb, struct err *err)
{
	char *ccache = proc_find_program("ccache");
	const char *cc, *ld;
	int ret;

	kb->cc = ccache ? "ccache gcc" : "gcc";
	free(ccache);
	ret = version_line(kb, "gcc", &cc, err);
	if (ret == 0)
		ret = version_line(kb, "ld", &ld, err);
	if (ret == 0)
		kb->compiler = arena_printf(kb->arena, "%s; %s", cc, ld);
	return ret;
}

static int add_file_hash(struct sha256 *hash, const char *path, struct err *err)
{
	char hex[SHA256_HEX_LEN + 1];
	int ret = sha256_of_file(path, hex, err);

	if (ret == 0)
		sha256_add_field(hash, hex);
	if (ret == ERR_NOT_FOUND)
		ret = err_set(err, ERR_USAGE, "there is no kernel configuration %s", path);
	return ret;
}

/* base is a make target, or a path when it has a slash. */
static int add_config_sources(struct kbuild *kb, struct sha256 *hash, struct err *err)
{
	const struct kconfig_spec *config = &kb->variant->config;
	int ret = 0;

	if (strchr(config->base, '/'))
		ret = add_file_hash(hash, config->base, err);
	else
		sha256_add_field(hash, config->base);
	for (const char *const *path = config->fragments; ret == 0 && *path; path++)
		ret = add_file_hash(hash, *path, err);
	if (ret == 0 && *kbuild_layout_config(kb->variant))
		sha256_add_field(hash, kbuild_layout_config(kb->variant));
	return ret;
}

static int make_recipe_key(struct kbuild *kb, struct err *err)
{
	struct sha256 hash;
	int ret;

	sha256_init(&hash);
	sha256_add_field(&hash, "kbracket recipe 1");
	sha256_add_field(&hash, kb->tree.hex);
	sha256_add_field(&hash, kb->arch->name);
	sha256_add_field(&hash, kb->compiler);
	ret = add_config_sources(kb, &hash, err);
	sha256_hex(&hash, kb->recipe);
	return ret;
}

/* The first digits of the hash of some fields. */
static const char *short_hash(struct kbuild *kb, const char *const *fields)
{
	char hex[SHA256_HEX_LEN + 1];
	struct sha256 hash;

	sha256_init(&hash);
	for (; *fields; fields++)
		sha256_add_field(&hash, *fields);
	sha256_hex(&hash, hex);
	return arena_strndup(kb->arena, hex, 12);
}

/* A file by whichever path it was named; anything else as it is. */
static void add_place(struct strv *out, const char *name)
{
	char *real = strchr(name, '/') ? realpath(name, NULL) : NULL;

	strv_add(out, real ? real : name);
	free(real);
}

/* By names, not contents, of the fragments: editing one is an incremental build, too. */
static void name_paths(struct kbuild *kb, const struct gitrepo *repo)
{
	const char *tree_id[] = {gitrepo_common_dir(repo), kb->arch->name, NULL};
	struct strv config_id = STRV_INIT;
	const char *cache = kb->env->cache_dir;

	add_place(&config_id, kb->variant->config.base);
	for (size_t i = 0; i < argv_count(kb->variant->config.fragments); i++)
		add_place(&config_id, kb->variant->config.fragments[i]);
	if (*kbuild_layout_config(kb->variant))
		strv_add(&config_id, kbuild_layout_config(kb->variant));
	kb->work_id = short_hash(kb, tree_id);
	kb->src = arena_printf(kb->arena, "%s/work/%s/src", cache, kb->work_id);
	kb->out = arena_printf(kb->arena, "%s/work/%s/out-%s", cache, kb->work_id,
		short_hash(kb, strv_argv(&config_id)));
	kb->scratch = arena_printf(kb->arena, "%s/ccache", cache);
	kb->log = arena_printf(
		kb->arena, "%s/logs/%s-%.12s.log", cache, kb->variant->name, kb->recipe);
	strv_release(&config_id);
}

int kbuild_read_recipe(struct kbuild *kb, struct gitrepo **out, struct err *err)
{
	struct gitrepo *repo;
	int ret;

	ret = gitrepo_open(kb->variant->tree, &repo, err);
	if (ret)
		return ret;
	ret = compose(kb, repo, err);
	if (ret == 0)
		ret = identify_compiler(kb, err);
	if (ret == 0)
		ret = make_recipe_key(kb, err);
	if (ret) {
		gitrepo_free(repo);
		return ret;
	}
	name_paths(kb, repo);
	*out = repo;
	return 0;
}
