/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/strv.h"
#include "model/experiment_file.h"
#include "model/lab.h"
#include "model/layout_null.h"
#include "model/name.h"

/* Reads an experiment and everything that it names. */

enum { BOOTS_DEFAULT = 4, MAX_BOOTS_DEFAULT = 16 };

/* Files that are found by name: NAME.yaml in one of some folders. */
struct shelf {
	const char *key;     /* of the experiment: "machines" */
	const char *thing;   /* "machine" */
	const char *dirs[2]; /* searched in order; NULL: none */
};

static bool is_path(const char *text)
{
	return strchr(text, '/') || str_ends(text, ".yaml");
}

static void tell_missing(
	const struct opt_ctx *ctx, const struct shelf *shelf, const struct ynode *node)
{
	struct nearest nearest;
	struct strv names = STRV_INIT;
	struct err ignored;

	nearest_init(&nearest, node->text);
	for (size_t d = 0; d < ARRAY_SIZE(shelf->dirs); d++) {
		struct strv found = STRV_INIT;

		if (!shelf->dirs[d] || file_list(shelf->dirs[d], &found, &ignored))
			continue; /* no such folder: nothing near in it */
		for (size_t i = 0; i < found.count; i++)
			if (str_ends(found.items[i], ".yaml"))
				strv_addf(&names, "%.*s", (int)strlen(found.items[i]) - 5,
					found.items[i]);
		strv_release(&found);
	}
	for (size_t i = 0; i < names.count; i++)
		nearest_try(&nearest, names.items[i]);
	opt_node_error(ctx, node, "%s: there is no %s '%.60s' in %s%s%s", shelf->key, shelf->thing,
		node->text, shelf->dirs[0], shelf->dirs[1] ? " or among kbracket's own" : "",
		nearest_hint(&nearest));
	strv_release(&names);
}

/* The file that a name or path means, or NULL after telling diag. */
static const char *find_file(
	const struct opt_ctx *ctx, const struct shelf *shelf, const struct ynode *node)
{
	const char *text = opt_node_text(ctx, node, shelf->key);

	if (!text || !opt_node_check(ctx, node, shelf->key, text,
			     is_path(text) ? name_check_line : name_check))
		return NULL;
	if (is_path(text)) {
		const char *path = opt_file_beside(ctx->arena, node->file, text);

		if (file_exists(path))
			return path;
		opt_node_error(ctx, node, "%s: there is no file %.200s", shelf->key, path);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shelf->dirs); i++) {
		const char *path;

		if (!shelf->dirs[i])
			continue;
		path = arena_printf(ctx->arena, "%s/%s.yaml", shelf->dirs[i], text);
		if (file_exists(path))
			return path;
	}
	tell_missing(ctx, shelf, node);
	return NULL;
}

/* The mapping that an entry means: itself, or the file that it names. */
static const struct ynode *open_entry(
	const struct opt_ctx *ctx, const struct shelf *shelf, const struct ynode *node)
{
	const struct ynode *opened;
	const char *path;

	if (node->kind == YNODE_MAP)
		return node;
	path = find_file(ctx, shelf, node);
	return path && yaml_read_file(ctx->arena, path, &opened, ctx->diag) == 0 ? opened : NULL;
}

/* A file that was found by name must bear that name. */
static void check_own_name(const struct opt_ctx *ctx, const struct shelf *shelf,
	const struct ynode *node, const char *name)
{
	if (node->kind == YNODE_SCALAR && !is_path(node->text) && strcmp(node->text, name) != 0)
		opt_node_error(ctx, node, "%s: the file of '%s' calls itself '%s'", shelf->key,
			node->text, name);
}

static void read_machines(const struct opt_ctx *ctx, struct experiment_file *file)
{
	const struct ynode *list = file->machines;
	struct experiment *e = &file->e;
	struct shelf shelf = {"machines", "machine", {NULL, NULL}};

	if (!list)
		return;
	shelf.dirs[0] = opt_file_beside(ctx->arena, list->file, "machines");
	e->machines = arena_alloc(ctx->arena, list->count * sizeof(*e->machines));
	for (size_t i = 0; i < list->count; i++) {
		struct machine_spec *machine = &e->machines[e->machine_count];
		const struct ynode *node = open_entry(ctx, &shelf, list->items[i]);

		if (!node || machine_read_node(ctx->arena, node, machine, ctx->diag))
			continue;
		check_own_name(ctx, &shelf, list->items[i], machine->name);
		for (size_t k = 0; k < e->machine_count; k++)
			if (strcmp(e->machines[k].name, machine->name) == 0)
				opt_node_error(ctx, list->items[i],
					"machines: '%s' is listed twice", machine->name);
		e->machine_count++;
	}
}

static void read_suites(const struct opt_ctx *ctx, struct experiment_file *file)
{
	const struct ynode *list = file->suites;
	struct experiment *e = &file->e;
	const char *share = lab_share(ctx->arena);
	struct shelf shelf = {"suites", "suite", {NULL, NULL}};

	if (!list)
		return;
	shelf.dirs[0] = opt_file_beside(ctx->arena, list->file, "../suites");
	shelf.dirs[1] = share ? arena_printf(ctx->arena, "%s/suites", share) : NULL;
	e->suites = arena_alloc(ctx->arena, list->count * sizeof(*e->suites));
	for (size_t i = 0; i < list->count; i++) {
		struct suite *suite = &e->suites[e->suite_count];
		const struct ynode *node = open_entry(ctx, &shelf, list->items[i]);

		if (!node || suite_read_node(ctx->arena, node, suite, ctx->diag))
			continue;
		check_own_name(ctx, &shelf, list->items[i], suite->name);
		for (size_t k = 0; k < e->suite_count; k++)
			if (strcmp(e->suites[k].name, suite->name) == 0)
				opt_node_error(ctx, list->items[i], "suites: '%s' is listed twice",
					suite->name);
		if (e->duration_ns)
			suite_set_duration(ctx->arena, suite, e->duration_ns);
		e->suite_count++;
	}
}

static void read_kernels(const struct opt_ctx *ctx, struct experiment_file *file)
{
	const struct ynode *node = file->kernels;
	const char *text, *path;

	if (!node)
		return;
	if (node->kind != YNODE_MAP) {
		text = opt_node_text(ctx, node, "kernels");
		path = text ? opt_file_beside(ctx->arena, node->file, text) : NULL;
		if (path && !file_exists(path))
			opt_node_error(ctx, node, "kernels: there is no file %.200s", path);
		if (!path || !file_exists(path) ||
			yaml_read_file(ctx->arena, path, &node, ctx->diag))
			return;
	}
	/* what is wrong is in diag; without variants nothing that names them is looked at */
	(void)!kernels_read_node(ctx->arena, node, &file->e.kernels, ctx->diag);
}

/* Adds the variant of that name; the node is where it was named. */
static void add_variant(const struct opt_ctx *ctx, struct experiment *e, const char *key,
	const char *name, const struct ynode *node)
{
	const struct variant *variant = kernels_find(&e->kernels, name);
	struct nearest nearest;

	if (variant) {
		e->variants[e->variant_count++] = variant;
		return;
	}
	nearest_init(&nearest, name);
	for (size_t i = 0; i < e->kernels.count; i++)
		nearest_try(&nearest, e->kernels.variants[i].name);
	opt_node_error(ctx, node, "%s: there is no variant '%.60s' in %s%s", key, name,
		e->kernels.file, nearest_hint(&nearest));
}

static void add_listed(
	const struct opt_ctx *ctx, struct experiment_file *file, const struct ynode *list)
{
	struct experiment *e = &file->e;

	for (size_t i = 0; list && list->kind == YNODE_SEQ && i < list->count; i++) {
		const struct ynode *item = list->items[i];

		if (item->kind != YNODE_SCALAR || !file->variants[0])
			continue; /* told already */
		if (strcmp(item->text, file->baseline) == 0)
			opt_node_error(ctx, item,
				"variants: '%.60s' is the baseline, which is measured anyway",
				item->text);
		else if (experiment_variant_index(e, item->text) >= 0)
			opt_node_error(ctx, item, "variants: '%.60s' is listed twice", item->text);
		else
			add_variant(ctx, e, "variants", item->text, item);
	}
}

/* Baselines that against: names and nobody listed; theirs too. */
static void add_against(struct experiment *e)
{
	for (size_t i = 0; i < e->variant_count; i++) {
		const char *against = e->variants[i]->against;

		if (against && experiment_variant_index(e, against) < 0)
			e->variants[e->variant_count++] = kernels_find(&e->kernels, against);
	}
}

/* False when some could not be found. */
static bool choose_variants(
	const struct opt_ctx *ctx, struct experiment_file *file, const struct ynode *node)
{
	struct experiment *e = &file->e;
	const struct ynode *baseline = ynode_get(node, "baseline");
	size_t before = ctx->diag->count;

	if (!e->kernels.count || !file->baseline)
		return false;
	e->variants = arena_alloc(ctx->arena, (6 * e->kernels.count + 2) * sizeof(*e->variants));
	add_variant(ctx, e, "baseline", file->baseline, baseline);
	add_listed(ctx, file, ynode_get(node, "variants"));
	e->listed_count = e->variant_count;
	add_against(e);
	if (e->variant_count && e->variants[0]->against &&
		strcmp(e->variants[0]->name, file->baseline) == 0)
		opt_node_error(ctx, baseline,
			"baseline: '%s' has a baseline of its own (against: %s)", file->baseline,
			e->variants[0]->against);
	return ctx->diag->count == before;
}

static void check_explicit(
	const struct opt_ctx *ctx, const struct experiment *e, const struct ynode *order)
{
	for (size_t i = 0; i < order->count; i++) {
		const struct ynode *item = order->items[i];
		struct nearest nearest;

		if (item->kind != YNODE_SCALAR || experiment_variant_index(e, item->text) >= 0)
			continue;
		nearest_init(&nearest, item->text);
		for (size_t k = 0; k < e->variant_count; k++)
			nearest_try(&nearest, e->variants[k]->name);
		opt_node_error(ctx, item, "order: '%.60s' is no variant of this experiment%s",
			item->text, nearest_hint(&nearest));
	}
	for (size_t k = 0; k < e->variant_count; k++) {
		const char *const *name = e->design.explicit_order;

		while (*name && strcmp(*name, e->variants[k]->name) != 0)
			name++;
		if (!*name)
			opt_node_error(ctx, order, "order: %s '%s' does not occur",
				k ? "variant" : "the baseline", e->variants[k]->name);
	}
}

/* Looks are taken after whole brackets. */
static void check_looks(const struct opt_ctx *ctx, struct design *design, const struct ynode *node)
{
	const struct ynode *until = ynode_get(node, "until"), *max = ynode_get(node, "max");
	const struct ynode *boots = ynode_get(node, "boots");

	if (!until) {
		if (max)
			opt_node_error(ctx, max, "max: goes with until, which is not given");
		design->max_boots = 0;
		return;
	}
	if (design->order != ORDER_BRACKETED)
		opt_node_error(
			ctx, until, "until: whole brackets are added, so order is bracketed");
	if (boots)
		opt_node_error(
			ctx, boots, "boots: until says when it is enough, and max bounds it");
	if (!max)
		design->max_boots = MAX_BOOTS_DEFAULT;
	else if (design->max_boots % 2)
		opt_node_error(ctx, max,
			"max: %lld is odd; a bracket holds each variant twice, so an even "
			"number is wanted",
			(long long)design->max_boots);
	design->boots = 0;
}

/* Parts of one boot differ by what can be switched at run time, and have one baseline. */
static void check_toggle(
	const struct opt_ctx *ctx, const struct experiment *e, const struct ynode *order)
{
	if (e->variant_count < 2)
		opt_node_error(ctx, order, "order: toggle wants a variant beside the baseline");
	for (size_t i = 1; i < e->variant_count; i++) {
		const struct variant *variant = e->variants[i];

		if (!variant_same_recipe(variant, e->variants[0]) ||
			strcmp(variant->cmdline, e->variants[0]->cmdline) != 0)
			opt_node_error(ctx, order,
				"order: toggle switches inside one boot, and '%s' needs another "
				"kernel or command line than the baseline",
				variant->name);
		if (experiment_baseline_of(e, i) != 0)
			opt_node_error(ctx, order,
				"order: with toggle all are compared with the baseline, and '%s' "
				"has another one (against)",
				variant->name);
	}
}

static void check_design(
	const struct opt_ctx *ctx, struct experiment *e, const struct ynode *node, bool chosen)
{
	struct design *design = &e->design;
	const struct ynode *boots = ynode_get(node, "boots");
	const struct ynode *order = ynode_get(node, "order");

	check_looks(ctx, design, node);
	if (design->until != UNTIL_BOOTS)
		return;
	if (design->order == ORDER_EXPLICIT) {
		if (boots)
			opt_node_error(ctx, boots, "boots: the list in order says how many");
		if (chosen && design->explicit_order)
			check_explicit(ctx, e, order);
		design->boots = 0;
		return;
	}
	if (design->order == ORDER_ADAPTIVE) {
		if (boots)
			opt_node_error(ctx, boots, "boots: an adaptive order begins with none");
		design->boots = 0;
		return;
	}
	if (!boots)
		design->boots = design->order == ORDER_TOGGLE ? 1 : BOOTS_DEFAULT;
	if (design->order == ORDER_TOGGLE && chosen)
		check_toggle(ctx, e, order);
	else if (design->boots == 1)
		opt_node_error(
			ctx, boots, "boots: 1 boot of each variant shows nothing; 2 at least");
	if (design->order == ORDER_BRACKETED && design->boots % 2)
		opt_node_error(ctx, boots,
			"boots: %lld is odd; a bracket holds each variant twice, so an even "
			"number is wanted",
			(long long)design->boots);
}

static void check_saturations(
	const struct opt_ctx *ctx, const struct experiment *e, const struct ynode *list)
{
	for (size_t i = 0; list && i < e->saturation_count; i++)
		for (size_t k = 0; k < i; k++)
			if (e->saturations_pct[i] == e->saturations_pct[k])
				opt_node_error(ctx, list, "saturation: %g%% is listed twice",
					e->saturations_pct[i]);
}

/* True when an entry of decide: names the suite or one of its conditions. */
static bool names_condition(const struct suite *suite, const char *entry)
{
	size_t len = strlen(suite->name);

	if (strncmp(entry, suite->name, len) != 0)
		return false;
	if (!entry[len])
		return true;
	for (size_t i = 0; entry[len] == '/' && i < suite->condition_count; i++)
		if (strcmp(entry + len + 1, suite->conditions[i].name) == 0)
			return true;
	return false;
}

static void check_decide(
	const struct opt_ctx *ctx, const struct experiment *e, const struct ynode *list)
{
	for (size_t i = 0; list && list->kind == YNODE_SEQ && i < list->count; i++) {
		bool known = list->items[i]->kind != YNODE_SCALAR;

		for (size_t k = 0; k < e->suite_count && !known; k++)
			known = names_condition(&e->suites[k], list->items[i]->text);
		if (!known)
			opt_node_error(ctx, list->items[i],
				"decide: '%.60s' is neither a suite of this experiment nor "
				"SUITE/CONDITION",
				list->items[i]->text);
	}
}

/* What is measured on a machine that is never booted is the kernel that runs there, whatever a
 * variant says. */
static void check_kernels(const struct opt_ctx *ctx, const struct experiment *e)
{
	for (size_t m = 0; m < e->machine_count; m++)
		for (size_t v = 0; v < e->variant_count; v++) {
			const struct variant *variant = e->variants[v];
			const struct place *at = &variant->place;
			bool booted = e->machines[m].boot != BOOT_NONE;

			if (booted && !variant_has_kernel(variant))
				diag_add(ctx->diag, at->file, at->line, at->column,
					"variant '%s' has neither ref nor prebuilt, and machine "
					"'%s' "
					"boots kernels",
					variant->name, e->machines[m].name);
			if (!booted && variant_has_kernel(variant))
				diag_add(ctx->diag, at->file, at->line, at->column,
					"variant '%s' names a kernel, and machine '%s' is never "
					"booted: what runs there would be measured. A variant for "
					"it "
					"has features or sysctls only, or nothing",
					variant->name, e->machines[m].name);
		}
}

static int read_node(
	struct arena *arena, const struct ynode *node, struct experiment *out, struct diag *diag)
{
	const struct opt_ctx ctx = {arena, opt_dir_of(arena, node->file), diag};
	struct experiment_file file = {0};
	size_t before = diag->count;
	bool chosen;

	/* what is wrong is in diag; the files that are named are read all the same */
	(void)!opt_read_map(&ctx, experiment_opts, node, &file, "an experiment");
	file.e.place = (struct place){node->file, node->line, node->column};
	read_machines(&ctx, &file);
	read_kernels(&ctx, &file);
	read_suites(&ctx, &file);
	chosen = choose_variants(&ctx, &file, node);
	check_kernels(&ctx, &file.e);
	if (chosen && file.e.layout_null)
		layout_null_add(&ctx, &file.e, ynode_get(node, "layout_null"));
	check_design(&ctx, &file.e, ynode_get(node, "design"), chosen);
	check_saturations(&ctx, &file.e, ynode_get(node, "saturation"));
	if (file.suites && file.e.suite_count == file.suites->count)
		check_decide(&ctx, &file.e, ynode_get(node, "decide"));
	if (diag->count != before)
		return ERR_USAGE;
	*out = file.e;
	return 0;
}

int experiment_read(
	struct arena *arena, const char *path, struct experiment *out, struct diag *diag)
{
	const struct ynode *node;

	if (yaml_read_file(arena, path, &node, diag))
		return ERR_USAGE;
	return read_node(arena, node, out, diag);
}

int experiment_read_text(struct arena *arena, const char *name, const char *text, size_t len,
	struct experiment *out, struct diag *diag)
{
	const struct ynode *node;

	if (yaml_read_text(arena, name, text, len, &node, diag))
		return ERR_USAGE;
	return read_node(arena, node, out, diag);
}
