/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "model/name.h"
#include "model/opt.h"
#include "model/pair.h"

/* A YAML mapping -> a struct. */

enum { ITEMS_MAX = 1000, PCTS_MAX = 50, MERGE_MAX = 400 };

void opt_node_error(const struct opt_ctx *ctx, const struct ynode *node, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	diag_add(ctx->diag, node->file, node->line, node->column, "%s", str_text(&text));
	str_release(&text);
}

bool opt_node_is(
	const struct opt_ctx *ctx, const struct ynode *node, enum ynode_kind kind, const char *what)
{
	static const char *const found[] = {[YNODE_SCALAR] = "a single value",
		[YNODE_SEQ] = "a list",
		[YNODE_MAP] = "a mapping"};
	static const char *const wanted[] = {[YNODE_SCALAR] = "a single value",
		[YNODE_SEQ] = "a list such as [a, b]",
		[YNODE_MAP] = "a mapping such as {key: value}"};

	if (node->kind == kind)
		return true;
	if (ynode_is_null(node))
		opt_node_error(ctx, node, "%s has no value; it wants %s", what, wanted[kind]);
	else
		opt_node_error(
			ctx, node, "%s wants %s, not %s", what, wanted[kind], found[node->kind]);
	return false;
}

const char *opt_node_text(const struct opt_ctx *ctx, const struct ynode *node, const char *what)
{
	if (!opt_node_is(ctx, node, YNODE_SCALAR, what))
		return NULL;
	if (ynode_is_null(node)) {
		opt_node_error(ctx, node, "%s has no value", what);
		return NULL;
	}
	return node->text;
}

bool opt_node_check(const struct opt_ctx *ctx, const struct ynode *node, const char *what,
	const char *text, opt_check_fn *check)
{
	struct err err = ERR_INIT;

	if (!check || check(text, &err) == 0)
		return true;
	opt_node_error(ctx, node, "%s: '%.60s' %s", what, text, err.text);
	return false;
}

static bool count_fits(const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node)
{
	bool pcts = row->type == OPT_PCTS; /* its min and max are of the numbers */
	size_t max = pcts ? PCTS_MAX : row->max > 0 ? (size_t)row->max : ITEMS_MAX;
	size_t min = pcts ? 1 : (size_t)row->min;

	if (node->count > max)
		opt_node_error(ctx, node, "%s has %zu items; at most %zu are allowed", row->name,
			node->count, max);
	else if (node->count < min)
		opt_node_error(ctx, node, "%s has %zu items; at least %zu are wanted", row->name,
			node->count, min);
	return node->count <= max && node->count >= min;
}

static void read_scalar(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct err err = ERR_INIT;
	const char *text = opt_node_text(ctx, node, row->name);

	if (text && opt_set(ctx, row, text, base, &err))
		opt_node_error(ctx, node, "%s: %s", row->name, err.text);
}

/* Builds the list at once: setting item by item would copy it each time. */
static void read_list(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	const char **list;
	size_t count = 0;

	if (!opt_node_is(ctx, node, YNODE_SEQ, row->name) || !count_fits(ctx, row, node))
		return;
	list = arena_alloc(ctx->arena, (node->count + 1) * sizeof(*list));
	for (size_t i = 0; i < node->count; i++) {
		const char *text;

		if (node->items[i]->kind == YNODE_MAP) {
			opt_node_error(ctx, node->items[i],
				"%s: a mapping stands where text is wanted; text with braces needs "
				"quotes, such as \"{workers}\"",
				row->name);
			continue;
		}
		text = opt_node_text(ctx, node->items[i], row->name);
		if (!text || !opt_node_check(ctx, node->items[i], row->name, text, row->check))
			continue;
		list[count++] = row->type == OPT_PATHS ? opt_path(ctx, text) : text;
	}
	*(const char *const **)((char *)base + row->offset) = list;
}

static void read_pcts(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct err err = ERR_INIT;

	if (!opt_node_is(ctx, node, YNODE_SEQ, row->name) || !count_fits(ctx, row, node))
		return;
	*(size_t *)((char *)base + row->count_offset) = 0; /* the default gives way */
	for (size_t i = 0; i < node->count; i++) {
		const char *text = opt_node_text(ctx, node->items[i], row->name);

		if (text && strchr(text, ','))
			opt_node_error(ctx, node->items[i],
				"%s: '%.60s' is not a percentage such as 31.25%%", row->name, text);
		else if (text && opt_set(ctx, row, text, base, &err))
			opt_node_error(ctx, node->items[i], "%s: %s", row->name, err.text);
	}
}

static void read_pairs(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct pairs *pairs = (struct pairs *)((char *)base + row->offset);

	if (!opt_node_is(ctx, node, YNODE_MAP, row->name) || !count_fits(ctx, row, node))
		return;
	pairs->count = 0;
	pairs->items = arena_alloc(ctx->arena, (node->count + 1) * sizeof(*pairs->items));
	for (size_t i = 0; i < node->count; i++) {
		const struct ynode *key = node->keys[i], *value = node->items[i];
		const char *text = opt_node_text(ctx, value, key->text);
		bool good = opt_node_check(ctx, key, row->name, key->text, row->check_key);

		if (!text || !opt_node_check(ctx, value, key->text, text, row->check) || !good)
			continue;
		pairs->items[pairs->count++] =
			(struct pair){key->text, row->path ? opt_path(ctx, text) : text};
	}
}

static void read_map(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	/* what is wrong is in ctx->diag, which the outermost caller looks at */
	(void)!opt_read_map(ctx, row->rows, node, (char *)base + row->offset, row->name);
}

static void read_custom(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	row->read(ctx, row, node, base);
}

void opt_read_value(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	static opt_read_fn *const readers[] = {[OPT_LIST] = read_list,
		[OPT_PATHS] = read_list,
		[OPT_PCTS] = read_pcts,
		[OPT_PAIRS] = read_pairs,
		[OPT_MAP] = read_map,
		[OPT_CUSTOM] = read_custom};

	if (readers[row->type])
		readers[row->type](ctx, row, node, base);
	else
		read_scalar(ctx, row, node, base);
}

static void tell_unknown(const struct opt_ctx *ctx, const struct opt *rows, const struct ynode *key,
	const char *what)
{
	struct nearest nearest;
	struct str known = STR_INIT;

	nearest_init(&nearest, key->text);
	for (const struct opt *row = rows; row->name; row++) {
		nearest_try(&nearest, row->name);
		str_addf(&known, "%s%s", row == rows ? "" : ", ", row->name);
	}
	if (nearest.found)
		opt_node_error(ctx, key, "unknown key '%.60s' in %s%s", key->text, what,
			nearest_hint(&nearest));
	else
		opt_node_error(ctx, key, "unknown key '%.60s' in %s; known are: %s", key->text,
			what, str_text(&known));
	str_release(&known);
}

static const struct opt *find_row(const struct opt *rows, const char *name)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

void opt_check_keys(const struct opt_ctx *ctx, const struct opt *rows, const struct ynode *map,
	const char *what)
{
	for (size_t i = 0; i < map->count; i++)
		if (!find_row(rows, map->keys[i]->text))
			tell_unknown(ctx, rows, map->keys[i], what);
}

int opt_read_map(const struct opt_ctx *ctx, const struct opt *rows, const struct ynode *map,
	void *base, const char *what)
{
	size_t before = ctx->diag->count;

	opt_defaults(rows, base, ctx->arena);
	if (!opt_node_is(ctx, map, YNODE_MAP, what))
		return ERR_USAGE;
	for (size_t i = 0; i < map->count; i++) {
		const struct opt *row = find_row(rows, map->keys[i]->text);

		if (row)
			opt_read_value(ctx, row, map->items[i], base);
	}
	opt_check_keys(ctx, rows, map, what);
	for (const struct opt *row = rows; row->name; row++)
		if (row->required && !ynode_get(map, row->name))
			opt_node_error(
				ctx, map, "%s lacks the key '%s' (%s)", what, row->name, row->help);
	return ctx->diag->count == before ? 0 : ERR_USAGE;
}

static struct ynode *map_with_room(struct arena *arena, const struct ynode *like, size_t pairs)
{
	struct ynode *map = arena_copy(arena, like, 1, sizeof(*like));

	map->count = 0;
	map->keys = arena_alloc(arena, (pairs + 1) * sizeof(*map->keys));
	map->items = arena_alloc(arena, (pairs + 1) * sizeof(*map->items));
	return map;
}

static void put(struct ynode *map, struct ynode *key, struct ynode *value)
{
	for (size_t i = 0; i < map->count; i++) {
		if (strcmp(map->keys[i]->text, key->text) == 0) {
			map->keys[i] = key;
			map->items[i] = value;
			return;
		}
	}
	map->keys[map->count] = key;
	map->items[map->count++] = value;
}

/* One value over another: mappings are merged, anything else replaces. Mappings too large to be
 * merged are refused by their row's max when they are read. */
static struct ynode *overlay(struct arena *arena, const struct ynode *old, struct ynode *new)
{
	struct ynode *merged;

	if (!old || old->kind != YNODE_MAP || new->kind != YNODE_MAP ||
		old->count + new->count > MERGE_MAX)
		return new;
	merged = map_with_room(arena, new, old->count + new->count);
	for (size_t i = 0; i < old->count; i++)
		put(merged, old->keys[i], old->items[i]);
	for (size_t i = 0; i < new->count; i++)
		put(merged, new->keys[i], new->items[i]);
	return merged;
}

static void put_known(
	struct arena *arena, const struct opt *rows, struct ynode *to, const struct ynode *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct ynode *key = from->keys[i];

		if (find_row(rows, key->text))
			put(to, key, overlay(arena, ynode_get(to, key->text), from->items[i]));
	}
}

const struct ynode *opt_node_merge(struct arena *arena, const struct opt *rows,
	const struct ynode *base, const struct ynode *over)
{
	size_t known = 0;
	struct ynode *merged;

	if (!over || over->kind != YNODE_MAP)
		return over ? over : base;
	while (rows[known].name)
		known++;
	merged = map_with_room(arena, over, known);
	if (base && base->kind == YNODE_MAP)
		put_known(arena, rows, merged, base);
	put_known(arena, rows, merged, over);
	return merged;
}
