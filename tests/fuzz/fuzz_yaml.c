/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML from a person: any bytes give a tree whose nodes have places, or at least one problem. */
#include "base/base.h"

#include "sys/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_node(const struct ynode *node, int level)
{
	if (node->line < 1 || node->column < 1 || !node->file || level > 64)
		BUG("a node without a place");
	if (node->kind == YNODE_SCALAR) {
		if (node->count || strlen(node->text) > 1 << 20)
			BUG("a text that is none");
		return;
	}
	for (size_t i = 0; i < node->count; i++) {
		check_node(node->items[i], level + 1);
		if (node->kind != YNODE_MAP)
			continue;
		check_node(node->keys[i], level + 1);
		if (ynode_get(node, node->keys[i]->text) != node->items[i])
			BUG("a key that is there twice was taken");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct ynode *root = NULL;
	struct arena arena = ARENA_INIT;
	struct diag diag = DIAG_INIT;
	int ret = yaml_read_text(&arena, "f", (const char *)bytes, len, &root, &diag);

	if ((ret == 0) != (diag.count == 0) || (ret == 0) != (root != NULL))
		BUG("neither a tree nor a problem");
	if (root)
		check_node(root, 0);
	for (size_t i = 0; i < diag.count; i++)
		if (diag.items[i].line < 1 || diag.items[i].column < 1)
			BUG("a problem without a place: %s", diag.items[i].text);
	diag_release(&diag);
	arena_release(&arena);
	return 0;
}
