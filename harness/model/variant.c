/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/strv.h"
#include "model/kernels_file.h"
#include "model/name.h"

enum { VARIANTS_MAX = 200 };

/* Reading: everything that is known of one variant while `like:` is followed. */
struct draft {
	const struct ynode *name;
	const struct ynode *own;  /* as written */
	const struct ynode *full; /* with what like: and the file add */
	bool entered;
	bool broken; /* like: leads nowhere; told already */
};

struct reading {
	struct opt_ctx ctx;
	const struct ynode *shared;
	struct draft *drafts;
	size_t count;
};

void kernels_file_keep_variants(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	if (!opt_node_is(ctx, node, YNODE_MAP, row->name))
		return;
	if (node->count > VARIANTS_MAX)
		opt_node_error(ctx, node, "there are %zu variants; at most %d are allowed",
			node->count, VARIANTS_MAX);
	else
		((struct kernels_file *)base)->variants = node;
}

static struct draft *find_draft(const struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->count; i++)
		if (strcmp(reading->drafts[i].name->text, name) == 0)
			return &reading->drafts[i];
	return NULL;
}

/* The draft that a like: or against: names, or NULL after telling diag. */
static struct draft *named_draft(
	const struct reading *reading, const struct ynode *node, const char *key)
{
	struct nearest nearest;
	struct draft *found;

	if (!node || node->kind != YNODE_SCALAR)
		return NULL; /* a wrong type is told when the row is read */
	found = find_draft(reading, node->text);
	if (found)
		return found;
	nearest_init(&nearest, node->text);
	for (size_t i = 0; i < reading->count; i++)
		nearest_try(&nearest, reading->drafts[i].name->text);
	opt_node_error(&reading->ctx, node, "%s: there is no variant '%.60s' in this file%s", key,
		node->text, nearest_hint(&nearest));
	return NULL;
}

/* Makes draft->full; at most VARIANTS_MAX deep. */
static const struct ynode *complete(const struct reading *reading, struct draft *draft)
{
	const struct ynode *like = ynode_get(draft->own, "like");
	const struct ynode *base = reading->shared;
	struct draft *parent;

	if (draft->full)
		return draft->full;
	draft->entered = true;
	parent = named_draft(reading, like, "like");
	if (parent && parent->entered)
		opt_node_error(&reading->ctx, like,
			"like: goes round in a circle: '%.60s' leads back to itself", like->text);
	else if (parent)
		base = complete(reading, parent);
	draft->entered = false;
	draft->broken = like && (!parent || base == reading->shared || parent->broken);
	draft->full = opt_node_merge(reading->ctx.arena, variant_opts, base, draft->own);
	return draft->full;
}

/* Tells of a file that does not exist. */
static void check_file(const struct reading *reading, const struct ynode *node, const char *key)
{
	if (!file_exists(opt_path(&reading->ctx, node->text)))
		opt_node_error(&reading->ctx, node, "%s: there is no file %.200s", key,
			opt_file_beside(reading->ctx.arena, node->file, node->text));
}

static void check_files(const struct reading *reading, const struct ynode *list, const char *key)
{
	for (size_t i = 0; list && list->kind == YNODE_SEQ && i < list->count; i++)
		if (list->items[i]->kind == YNODE_SCALAR &&
			!str_starts(list->items[i]->text, "lore:"))
			check_file(reading, list->items[i], key);
}

static void resolve_patches(const struct reading *reading, struct variant *variant)
{
	size_t count = argv_count(variant->patches);
	const char **paths = arena_alloc(reading->ctx.arena, (count + 1) * sizeof(*paths));

	for (size_t i = 0; i < count; i++)
		paths[i] = str_starts(variant->patches[i], "lore:")
				   ? variant->patches[i]
				   : opt_path(&reading->ctx, variant->patches[i]);
	variant->patches = paths;
}

static void check_prebuilt(
	const struct reading *reading, const struct draft *draft, const struct variant *variant)
{
	static const char *const git_only[] = {
		"ref", "revert", "pick", "patches", "align_functions", "pad_scheduler"};
	const struct ynode *node = ynode_get(draft->full, "prebuilt");

	for (size_t i = 0; i < ARRAY_SIZE(git_only); i++) {
		const struct ynode *other = ynode_get(draft->full, git_only[i]);

		if (other)
			opt_node_error(&reading->ctx, other,
				"variant '%s' is prebuilt and cannot have '%s'", variant->name,
				git_only[i]);
	}
	if (!variant->prebuilt.image == !variant->prebuilt.package)
		opt_node_error(&reading->ctx, node, "prebuilt wants either image or package");
	if (variant->prebuilt.package && variant->prebuilt.modules)
		opt_node_error(&reading->ctx, node, "a package brings its own modules");
	if (variant->prebuilt.image)
		check_file(reading, ynode_get(node, "image"), "image");
}

static void check_built(
	const struct reading *reading, const struct draft *draft, const struct variant *variant)
{
	static const char *const on_ref[] = {
		"revert", "pick", "patches", "align_functions", "pad_scheduler"};
	const struct ynode *config = ynode_get(draft->full, "config");

	if (!ynode_get(draft->full, "ref") && draft->broken)
		return;
	for (size_t i = 0; !ynode_get(draft->full, "ref") && i < ARRAY_SIZE(on_ref); i++)
		if (ynode_get(draft->full, on_ref[i]))
			opt_node_error(&reading->ctx, draft->own,
				"variant '%s' has '%s' and no ref that it is for", variant->name,
				on_ref[i]);
	if (ynode_get(draft->full, "ref") && !variant->tree)
		opt_node_error(&reading->ctx, draft->own,
			"variant '%s' has a ref, but there is no tree in it or at the top of the "
			"file",
			variant->name);
	check_files(reading, ynode_get(draft->full, "patches"), "patches");
	check_files(reading, ynode_get(config, "fragments"), "fragments");
	if (strchr(variant->config.base, '/'))
		check_file(reading, ynode_get(config, "base"), "base");
}

static void read_variant(
	const struct reading *reading, struct draft *draft, struct variant *variant)
{
	const struct opt_ctx *ctx = &reading->ctx;
	const struct draft *against;

	(void)opt_node_check(ctx, draft->name, "variant", draft->name->text, name_check);
	if (!opt_node_is(ctx, draft->own, YNODE_MAP, draft->name->text))
		return;
	opt_check_keys(ctx, variant_opts, draft->own, "a variant");
	/* what is wrong is in diag, which kernels_read_node looks at */
	(void)!opt_read_map(ctx, variant_opts, complete(reading, draft), variant, "a variant");
	variant->name = draft->name->text;
	variant->place = (struct place){draft->name->file, draft->name->line, draft->name->column};
	if (!ynode_get(draft->own, "about"))
		variant->about = "";
	if (!ynode_get(draft->own, "like"))
		variant->like = NULL;
	if (!ynode_get(draft->own, "control"))
		variant->control = false;
	if (variant->control && !ynode_get(draft->own, "against"))
		variant->against = variant->like;
	variant->is_prebuilt = ynode_get(draft->full, "prebuilt") != NULL;
	if (variant->is_prebuilt)
		check_prebuilt(reading, draft, variant);
	else
		check_built(reading, draft, variant);
	resolve_patches(reading, variant);
	if (strchr(variant->config.base, '/'))
		variant->config.base = opt_path(ctx, variant->config.base);
	against = named_draft(reading, ynode_get(draft->full, "against"), "against");
	if (against == draft)
		opt_node_error(ctx, ynode_get(draft->full, "against"),
			"against: variant '%s' cannot be its own baseline", variant->name);
}

static void check_control(
	const struct reading *reading, const struct kernels *kernels, const struct variant *variant)
{
	const struct variant *against;

	if (!variant->control)
		return;
	against = variant->against ? kernels_find(kernels, variant->against) : NULL;
	if (!variant->against)
		diag_add(reading->ctx.diag, variant->place.file, variant->place.line,
			variant->place.column,
			"variant '%s' is a control and does not say of what: like names the "
			"variant that it is another label of",
			variant->name);
	else if (against && (against->control || !variant_same_kernel(variant, against)))
		diag_add(reading->ctx.diag, variant->place.file, variant->place.line,
			variant->place.column,
			"variant '%s' is a control, and so the same kernel as '%s' under another "
			"label; %s",
			variant->name, against->name,
			against->control ? "that is a control itself"
					 : "the two differ in more than the label");
}

static void read_all(struct reading *reading, const struct ynode *variants, struct kernels *out)
{
	reading->count = variants->count;
	reading->drafts =
		arena_alloc(reading->ctx.arena, (variants->count + 1) * sizeof(*reading->drafts));
	out->count = variants->count;
	out->variants =
		arena_alloc(reading->ctx.arena, (variants->count + 1) * sizeof(*out->variants));
	for (size_t i = 0; i < variants->count; i++) {
		reading->drafts[i].name = variants->keys[i];
		reading->drafts[i].own = variants->items[i];
	}
	for (size_t i = 0; i < variants->count; i++)
		read_variant(reading, &reading->drafts[i], &out->variants[i]);
	for (size_t i = 0; i < variants->count; i++)
		check_control(reading, out, &out->variants[i]);
	if (!variants->count)
		opt_node_error(&reading->ctx, variants, "there are no variants");
}

int kernels_read_node(
	struct arena *arena, const struct ynode *node, struct kernels *out, struct diag *diag)
{
	struct reading reading = {{arena, opt_dir_of(arena, node->file), diag}, node, NULL, 0};
	struct kernels_file file = {0};
	struct kernels kernels = {.file = node->file};
	size_t before = diag->count;

	/* what is wrong is in diag */
	(void)!opt_read_map(&reading.ctx, kernels_opts, node, &file, "a kernels file");
	if (file.variants)
		read_all(&reading, file.variants, &kernels);
	if (diag->count != before)
		return ERR_USAGE;
	*out = kernels;
	return 0;
}

int kernels_read(struct arena *arena, const char *path, struct kernels *out, struct diag *diag)
{
	const struct ynode *node;

	if (yaml_read_file(arena, path, &node, diag))
		return ERR_USAGE;
	return kernels_read_node(arena, node, out, diag);
}
