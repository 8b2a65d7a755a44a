/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "model/name.h"
#include "model/suite_file.h"

enum { CONDITIONS_MAX = 200, PARAMS_MAX = 20 };

/* Conditions, multiplied out over lists of parameters. */
struct matrix {
	const struct opt_ctx *ctx;
	struct suite *suite;
	const struct condition_draft *draft;
};

static int check_condition_name(const char *text, struct err *err)
{
	char *plain = xstrdup(text);
	int ret;

	/* '=' stands in the names of multiplied conditions */
	for (char *at = plain + (*plain != '\0'); *at; at++)
		if (*at == '=')
			*at = '-';
	ret = name_check(plain, err);
	free(plain);
	return ret;
}

static void add_condition(
	const struct matrix *m, const char *name, const struct pair *params, size_t count)
{
	struct condition_spec *spec;

	if (m->suite->condition_count >= CONDITIONS_MAX)
		return;
	spec = &m->suite->conditions[m->suite->condition_count++];
	*spec = m->draft->spec;
	spec->name = name;
	spec->params.items = arena_copy(m->ctx->arena, params, count, sizeof(*params));
	spec->params.count = count;
}

/* Chooses a value for each parameter from the given one on. */
static void multiply(const struct matrix *m, const char *name, struct pair *params, size_t chosen)
{
	const struct ynode *map = m->draft->params;
	const struct ynode *value;

	if (!map || chosen == map->count) {
		add_condition(m, name, params, chosen);
		return;
	}
	value = map->items[chosen];
	params[chosen].key = map->keys[chosen]->text;
	if (value->kind == YNODE_SCALAR) {
		params[chosen].value = value->text;
		multiply(m, name, params, chosen + 1);
		return;
	}
	for (size_t i = 0; i < value->count && m->suite->condition_count < CONDITIONS_MAX; i++) {
		params[chosen].value = value->items[i]->text;
		multiply(m,
			arena_printf(m->ctx->arena, "%s.%s=%s", name, params[chosen].key,
				params[chosen].value),
			params, chosen + 1);
	}
}

static bool check_param_list(const struct opt_ctx *ctx, const struct ynode *list, const char *key)
{
	bool good = opt_node_is(ctx, list, YNODE_SEQ, key);

	if (good && (!list->count || list->count > CONDITIONS_MAX)) {
		opt_node_error(ctx, list, "%s has %zu values; 1 to %d are wanted", key, list->count,
			CONDITIONS_MAX);
		good = false;
	}
	for (size_t i = 0; good && i < list->count; i++) {
		const char *text = opt_node_text(ctx, list->items[i], key);

		good = text && opt_node_check(ctx, list->items[i], key, text, name_check);
	}
	return good;
}

static bool check_params(const struct opt_ctx *ctx, const struct ynode *map)
{
	bool good = true;

	if (map && map->count > PARAMS_MAX) {
		opt_node_error(ctx, map, "there are %zu parameters; at most %d are allowed",
			map->count, PARAMS_MAX);
		return false;
	}
	for (size_t i = 0; map && i < map->count; i++) {
		const char *key = map->keys[i]->text;

		if (!opt_node_check(ctx, map->keys[i], "params", key, suite_file_check_param))
			good = false;
		else if (map->items[i]->kind == YNODE_SCALAR)
			good = opt_node_text(ctx, map->items[i], key) && good;
		else
			good = check_param_list(ctx, map->items[i], key) && good;
	}
	return good;
}

static void read_condition(const struct opt_ctx *ctx, const struct opt *rows,
	const struct ynode *name, const struct ynode *node, struct suite *suite)
{
	struct condition_draft draft = {0};
	const struct matrix matrix = {ctx, suite, &draft};
	struct pair params[PARAMS_MAX];
	size_t before = suite->condition_count;
	bool good = opt_node_check(ctx, name, "conditions", name->text, check_condition_name);

	if (opt_read_map(ctx, rows, node, &draft, "a condition"))
		return;
	draft.spec.place = suite_file_place(name);
	if (!check_params(ctx, draft.params) || !good)
		return;
	multiply(&matrix, name->text, params, 0);
	if (suite->condition_count >= CONDITIONS_MAX)
		opt_node_error(ctx, name, "there are too many conditions; at most %d are allowed",
			CONDITIONS_MAX - 1);
	for (size_t i = before; i < suite->condition_count; i++)
		if (strlen(suite->conditions[i].name) > 100)
			opt_node_error(ctx, name,
				"the name of the condition with its parameters is too long");
}

void suite_file_read_conditions(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct suite *suite = base;

	if (!opt_node_is(ctx, node, YNODE_MAP, row->name))
		return;
	suite->conditions = arena_alloc(ctx->arena, CONDITIONS_MAX * sizeof(*suite->conditions));
	for (size_t i = 0; i < node->count && suite->condition_count < CONDITIONS_MAX; i++)
		read_condition(ctx, row->rows, node->keys[i], node->items[i], suite);
	if (!node->count)
		opt_node_error(ctx, node, "there are no conditions");
}
