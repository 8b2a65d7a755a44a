/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies between good and bad: commits, patches, configuration symbols, scheduler features. */
#include "base/base.h"

#include "base/file.h"
#include "base/strv.h"
#include "cmd/bisect.h"
#include "cmd/bisect_config.h"
#include "model/name.h"
#include "sys/gitrepo_walk.h"

enum { LIST_MAX_BYTES = 1 << 20, STEPS_MAX = 99 }; /* on axes where every step is a variant */

static void add_step(struct bisect_steps *steps, const struct bisect_step *step)
{
	GROW(steps->items, steps->count, steps->capacity);
	steps->items[steps->count++] = *step;
}

/* Every step is a link of its own: what follows has all that comes before. */
static void chain_all(struct arena *arena, struct bisect_steps *steps)
{
	struct bisect_chain *chain = &steps->chain;

	chain->count = steps->listed + 1;
	chain->links = arena_alloc(arena, chain->count * sizeof(*chain->links));
	for (size_t i = 1; i < chain->count; i++) {
		chain->links[i].position = (int)i;
		chain->links[i].members = arena_alloc(arena, sizeof(int));
		chain->links[i].members[0] = (int)i;
		chain->links[i].count = 1;
	}
}

static const char *recipe_text(struct arena *arena, const struct variant *variant)
{
	json_t *json = kernels_json(variant, 1);
	struct str text = STR_INIT;
	const char *kept;

	opt_write_yaml(json, &text);
	kept = arena_strdup(arena, str_text(&text));
	json_decref(json);
	str_release(&text);
	return kept;
}

/* A step that is a variant of its own. */
static void add_variant_step(struct arena *arena, struct bisect_steps *steps,
	struct variant *variant, const char *name, const char *subject)
{
	variant->name = name;
	variant->like = variant->against = NULL;
	add_step(steps, &(struct bisect_step){.name = name,
				.subject = subject,
				.author = "",
				.recipe = recipe_text(arena, variant)});
}

/* One list of texts behind another, both NULL-ended. */
static const char *const *joined(
	struct arena *arena, const char *const *first, const char *const *more, size_t more_count)
{
	size_t count = argv_count(first);
	const char **list = arena_alloc(arena, (count + more_count + 1) * sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = first[i];
	for (size_t i = 0; i < more_count; i++)
		list[count + i] = more[i];
	return list;
}

static int check_count(const char *what, size_t count, struct err *err)
{
	if (!count)
		return err_set(err, ERR_USAGE, "there are no %s", what);
	if (count > STEPS_MAX)
		return err_set(err, ERR_USAGE, "there are %zu %s; at most %d can be tried", count,
			what, (int)STEPS_MAX);
	return 0;
}

/* --- commits --- */

static int add_commit_end(struct gitrepo *repo, struct arena *arena, struct bisect_steps *steps,
	const struct gitid *id, struct err *err)
{
	struct str subject = STR_INIT;
	struct gitid same;
	int ret = gitrepo_resolve(repo, id->hex, &same, &subject, err);

	if (!ret)
		add_step(steps, &(struct bisect_step){.name = arena_strdup(arena, id->hex),
					.subject = arena_strdup(arena, str_text(&subject)),
					.author = "",
					.recipe = ""});
	str_release(&subject);
	return ret;
}

static void add_listed(struct arena *arena, struct bisect_steps *steps, const struct gitwalk *walk)
{
	for (size_t i = 0; i < gitwalk_count(walk); i++) {
		const struct gitwalk_commit *commit = gitwalk_at(walk, i);

		add_step(steps, &(struct bisect_step){.name = arena_strdup(arena, commit->id.hex),
					.subject = arena_strdup(arena, commit->subject),
					.author = arena_strdup(arena, commit->author),
					.time_s = commit->time_s,
					.recipe = ""});
	}
	steps->listed = gitwalk_count(walk);
}

static int walk_between(const struct bisect_spec *spec, const struct gitid *good,
	const struct gitid *bad, struct gitrepo *repo, struct gitwalk **walk, struct err *err)
{
	struct gitwalk_spec what = {.good = *good,
		.bad = *bad,
		.paths = spec->paths,
		.not_subject = spec->not_subject,
		.merges = spec->merges,
		.first_parent = spec->first_parent};

	return gitwalk_make(repo, &what, walk, err);
}

/* The links as a chain of positions; those that are not listed become steps at the end. */
static int take_links(struct gitrepo *repo, struct arena *arena, struct bisect_steps *steps,
	const struct gitwalk_link *links, size_t count, struct err *err)
{
	int ret = 0;

	steps->chain.count = count + 1;
	steps->chain.links = arena_alloc(arena, (count + 1) * sizeof(*steps->chain.links));
	for (size_t i = 0; i < count && !ret; i++) {
		struct bisect_link *link = &steps->chain.links[i + 1];

		link->position = links[i].index + 1;
		if (links[i].index < 0) {
			link->position = (int)steps->count;
			ret = add_commit_end(repo, arena, steps, &links[i].id, err);
		}
		link->count = links[i].count;
		link->members = arena_alloc(arena, (link->count + 1) * sizeof(int));
		for (size_t k = 0; k < link->count; k++)
			link->members[k] = (int)links[i].members[k] + 1;
	}
	return ret;
}

static int list_between(struct gitrepo *repo, struct arena *arena, const struct bisect_spec *spec,
	struct bisect_steps *steps, struct err *err)
{
	struct gitwalk *walk = NULL;
	struct gitwalk_link *links;
	struct gitid good, bad;
	size_t count;
	int ret = gitrepo_resolve(repo, spec->good, &good, NULL, err);

	if (!ret)
		ret = gitrepo_resolve(repo, spec->bad, &bad, NULL, err);
	if (!ret)
		ret = walk_between(spec, &good, &bad, repo, &walk, err);
	if (!ret)
		ret = add_commit_end(repo, arena, steps, &good, err);
	if (!ret) {
		add_listed(arena, steps, walk);
		ret = gitwalk_chain(walk, &good, 1, &bad, arena, &links, &count, err);
	}
	if (!ret)
		ret = take_links(repo, arena, steps, links, count, err);
	steps->good.ref = arena_strdup(arena, good.hex);
	gitwalk_free(walk);
	return ret;
}

static int list_commits(struct arena *arena, const struct bisect_spec *spec,
	const char *cache KB_UNUSED, struct bisect_steps *steps, struct err *err)
{
	struct gitrepo *repo = NULL;
	int ret;

	if (!steps->good.tree || steps->good.is_prebuilt)
		return err_set(err, ERR_USAGE,
			"variant '%s' is not built from git, so there are no commits between its "
			"kernels",
			steps->good.name);
	steps->tree = steps->good.tree;
	ret = gitrepo_open(steps->tree, &repo, err);
	if (!ret)
		ret = list_between(repo, arena, spec, steps, err);
	gitrepo_free(repo);
	return ret;
}

/* --- patches --- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_patch(const char *name)
{
	return str_ends(name, ".patch") || str_ends(name, ".diff");
}

/* The lines of a series file that name a patch, beside that file. */
static int read_series(const char *path, struct strv *out, struct err *err)
{
	struct str text = STR_INIT;
	char *folder = path_dir(path), *left, *line;
	int ret = file_read(path, LIST_MAX_BYTES, &text, err);

	left = text.text;
	while (!ret && left && (line = strsep(&left, "\n"))) {
		line[strcspn(line, " \t\r#")] = '\0';
		if (*line && line[0] == '/')
			strv_add(out, line);
		else if (*line)
			strv_addf(out, "%s/%s", folder, line);
	}
	str_release(&text);
	free(folder);
	return ret;
}

static int find_patches(const char *path, struct strv *out, struct err *err)
{
	struct strv names = STRV_INIT;
	int ret;

	if (!file_is_folder(path))
		return read_series(path, out, err);
	ret = file_list(path, &names, err);
	if (!ret && names.count)
		qsort(names.items, names.count, sizeof(*names.items), by_text);
	for (size_t i = 0; i < names.count && !ret; i++)
		if (is_patch(names.items[i]))
			strv_addf(out, "%s/%s", path, names.items[i]);
	strv_release(&names);
	return ret;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int list_patches(struct arena *arena, const struct bisect_spec *spec,
	const char *cache KB_UNUSED, struct bisect_steps *steps, struct err *err)
{
	struct strv found = STRV_INIT;
	const char **patches;
	int ret = find_patches(spec->patches, &found, err);

	if (!ret)
		ret = check_count("patches", found.count, err);
	patches = arena_alloc(arena, (found.count + 1) * sizeof(*patches));
	for (size_t i = 0; i < found.count && !ret; i++)
		patches[i] = arena_strdup(arena, found.items[i]);
	for (size_t i = 0; i <= found.count && !ret; i++) {
		struct variant variant = steps->good;

		variant.patches = joined(arena, steps->good.patches, patches, i);
		add_variant_step(arena, steps, &variant, arena_printf(arena, "patches-%zu", i),
			i ? base_name(patches[i - 1]) : "without the patches");
	}
	steps->listed = found.count;
	strv_release(&found);
	return ret;
}

/* --- configuration symbols and scheduler features --- */

static int list_configs(struct arena *arena, const struct bisect_spec *spec, const char *cache,
	struct bisect_steps *steps, struct err *err)
{
	struct config_change *changes;
	size_t count;
	int ret = config_changes(arena, spec->configs[0], spec->configs[1], &changes, &count, err);

	if (!ret)
		ret = check_count("symbols in which the configurations differ", count, err);
	for (size_t i = 0; i <= count && !ret; i++) {
		const char *more[2] = {spec->configs[0], NULL};
		struct variant variant = steps->good;

		if (i)
			ret = config_write(arena, cache, changes, i, &more[1], err);
		variant.config.fragments =
			joined(arena, steps->good.config.fragments, more, i ? 2 : 1);
		add_variant_step(arena, steps, &variant, arena_printf(arena, "symbols-%zu", i),
			i ? changes[i - 1].line : "the good configuration");
	}
	steps->listed = count;
	return ret;
}

static int list_features(struct arena *arena, const struct bisect_spec *spec,
	const char *cache KB_UNUSED, struct bisect_steps *steps, struct err *err)
{
	char *left = arena_strdup(arena, spec->features), *word;
	const char *features[STEPS_MAX + 1] = {NULL};
	size_t count = 0;
	int ret;

	while ((word = strsep(&left, ",")) && count < ARRAY_SIZE(features))
		features[count++] = word;
	ret = check_count("features", count, err);
	for (size_t i = 0; i <= count && !ret; i++) {
		struct variant variant = steps->good;

		variant.features = joined(arena, steps->good.features, features, i);
		add_variant_step(arena, steps, &variant, arena_printf(arena, "features-%zu", i),
			i ? features[i - 1] : "none of the features");
	}
	steps->listed = count;
	return ret;
}

static int (*const listers[])(struct arena *arena, const struct bisect_spec *spec,
	const char *cache, struct bisect_steps *steps, struct err *err) = {
	[AXIS_COMMITS] = list_commits,
	[AXIS_PATCHES] = list_patches,
	[AXIS_CONFIGS] = list_configs,
	[AXIS_FEATURES] = list_features,
};

/* What is not for this axis is left to its steps; a given variant keeps what it brings. */
static void take_recipe(
	struct bisect_steps *steps, const struct bisect_spec *spec, const struct variant *recipe)
{
	static const char *const none[] = {NULL};

	steps->good = *recipe;
	steps->good.like = steps->good.against = NULL;
	if (!spec->variant)
		steps->good.reverts = steps->good.picks = steps->good.patches = none;
	if (spec->good && steps->axis != AXIS_COMMITS)
		steps->good.ref = spec->good;
}

int bisect_steps_list(struct arena *arena, const struct bisect_spec *spec,
	const struct variant *recipe, const char *cache, struct bisect_steps *out, struct err *err)
{
	struct bisect_steps steps = {.tree = ""};
	int ret = bisect_spec_check(spec, &steps.axis, err);

	if (ret)
		return ret;
	take_recipe(&steps, spec, recipe);
	ret = listers[steps.axis](arena, spec, cache, &steps, err);
	if (!ret && steps.axis != AXIS_COMMITS)
		chain_all(arena, &steps);
	if (!ret)
		ret = bisect_steps_variant(arena, &steps.good, &steps.items[0], &steps.good, err);
	if (!ret) {
		*out = steps;
		out->items = arena_copy(arena, steps.items, steps.count, sizeof(*steps.items));
	}
	free(steps.items);
	return ret;
}

int bisect_steps_variant(struct arena *arena, const struct variant *good,
	const struct bisect_step *step, struct variant *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	const struct ynode *node;
	struct kernels kernels;
	struct str said = STR_INIT;
	int ret;

	if (!step->recipe[0]) {
		*out = *good;
		out->name = arena_printf(arena, "%.12s", step->name);
		out->ref = step->name;
		return 0;
	}
	ret = yaml_read_text(arena, "step", step->recipe, strlen(step->recipe), &node, &diag);
	if (!ret)
		ret = kernels_read_node(arena, node, &kernels, &diag);
	if (!ret)
		*out = kernels.variants[0];
	else {
		diag_write(&diag, &said);
		ret = err_set(err, ERR_USAGE, "step %s: %s", step->name, str_text(&said));
	}
	str_release(&said);
	diag_release(&diag);
	return ret;
}
