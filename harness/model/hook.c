/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/hook.h"
#include "model/name.h"
#include "sys/json_put.h"

enum { HOOKS_MAX = 50 };

static const char *const point_names[] = {[HOOK_BEFORE_EXPERIMENT] = "before-experiment",
	[HOOK_AFTER_EXPERIMENT] = "after-experiment",
	[HOOK_BEFORE_BOOT] = "before-boot",
	[HOOK_AFTER_BOOT] = "after-boot",
	[HOOK_BEFORE_RUN] = "before-run",
	[HOOK_AFTER_RUN] = "after-run",
	NULL};
static const char *const failure_names[] = {
	[HOOK_IGNORE] = "ignore", [HOOK_FLAG] = "flag", [HOOK_STOP] = "stop", NULL};

/* clang-format off */

#define HOOK(member) offsetof(struct hook, member)
const struct opt hook_opts[] = {
	{"at", OPT_CHOICE, HOOK(at), .required = true, .choices = point_names,
		.help = "when it is called"},
	{"run", OPT_LIST, HOOK(argv), .required = true, .min = 1, .max = 100,
		.check = name_check_line, .help = "argument list of a program on this host"},
	{"timeout", OPT_DURATION, HOOK(timeout_ns), .def = "1m", .min = 1e6, .max = 86400e9,
		.help = "it is killed after that, and has failed"},
	{"failure", OPT_CHOICE, HOOK(failure), .def = "flag", .choices = failure_names,
		.help = "what its failure means: ignore, flag or stop"},
	OPT_END};

/* clang-format on */

const char *hook_point_name(enum hook_point at)
{
	return point_names[at];
}

void hooks_read(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct hook *hooks;
	size_t count = 0;

	if (!opt_node_is(ctx, node, YNODE_SEQ, row->name))
		return;
	if (node->count > HOOKS_MAX) {
		opt_node_error(ctx, node, "%s has %zu items; at most %d are wanted", row->name,
			node->count, HOOKS_MAX);
		return;
	}
	hooks = arena_alloc(ctx->arena, (node->count + 1) * sizeof(*hooks));
	for (size_t i = 0; i < node->count; i++)
		if (opt_node_is(ctx, node->items[i], YNODE_MAP, "a hook") &&
			!opt_read_map(ctx, hook_opts, node->items[i], &hooks[count], "a hook"))
			count++;
	*(struct hook **)((char *)base + row->offset) = hooks;
	*(size_t *)((char *)base + row->count_offset) = count;
}

json_t *hooks_json(const struct opt *row, const void *base)
{
	const struct hook *hooks = *(struct hook *const *)((const char *)base + row->offset);
	size_t count = *(const size_t *)((const char *)base + row->count_offset);
	json_t *list;

	if (!count)
		return NULL;
	list = json_array();
	for (size_t i = 0; i < count; i++)
		json_push(list, opt_json(hook_opts, &hooks[i]));
	return list;
}
