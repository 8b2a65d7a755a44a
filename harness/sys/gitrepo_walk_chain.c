/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/gitrepo_walk_int.h"

/* A chain in the making. */
struct chaining {
	const struct gitwalk *walk;
	bool *excluded; /* by node: a good commit has it, or a link before has */
	size_t *stack;	/* of a search */
	size_t *best;	/* by node: the most listed commits on a way to it that are not excluded */
	size_t *from;	/* by node: the parent on that way; SIZE_MAX: it begins here */
	size_t *way;
	size_t way_count;
	struct arena *arena;
	struct gitwalk_link *links;
	size_t count;
};

static size_t chain_node(
	const struct gitwalk *walk, const struct gitid *id, bool *is_good, struct err *err)
{
	git_oid oid;
	size_t node = SIZE_MAX;

	*is_good = false;
	if (!git_oid_fromstr(&oid, id->hex)) {
		*is_good = git_oid_equal(&oid, &walk->good);
		node = gitwalk_node(walk, &oid);
	}
	if (node == SIZE_MAX && !*is_good)
		err_set(err, ERR_USAGE, "commit %.12s is not between good and bad", id->hex);
	return node;
}

/* Excludes a node and what it descends from; the listed ones among the new are put into members
 * (room for all of the list; may be NULL), in no order. Returns how many. */
static size_t exclude(struct chaining *c, size_t node, size_t *members)
{
	const struct gitwalk *walk = c->walk;
	size_t depth = 0, count = 0;

	if (c->excluded[node])
		return 0;
	c->excluded[node] = true;
	c->stack[depth++] = node;
	while (depth) {
		const struct gitnode *at = &walk->nodes[c->stack[--depth]];

		if (at->index >= 0 && members)
			members[count++] = (size_t)at->index;
		for (size_t i = 0; i < at->parent_count; i++) {
			size_t parent = walk->parents[at->first_parent + i];

			if (c->excluded[parent])
				continue;
			c->excluded[parent] = true;
			c->stack[depth++] = parent;
		}
	}
	return count;
}

/* Nodes stand behind their parents, so that one pass is enough. */
static void find_best(struct chaining *c, size_t bad)
{
	for (size_t n = 0; n <= bad; n++) {
		const struct gitnode *node = &c->walk->nodes[n];

		c->from[n] = SIZE_MAX;
		if (c->excluded[n])
			continue;
		for (size_t i = 0; i < node->parent_count; i++) {
			size_t parent = c->walk->parents[node->first_parent + i];

			if (!c->excluded[parent] &&
				(c->from[n] == SIZE_MAX || c->best[parent] > c->best[n])) {
				c->best[n] = c->best[parent];
				c->from[n] = parent;
			}
		}
		c->best[n] += node->index >= 0;
	}
}

static int by_size(const void *a, const void *b)
{
	size_t one = *(const size_t *)a, other = *(const size_t *)b;

	return (one > other) - (one < other);
}

static void add_link(struct chaining *c, size_t node, size_t *members, size_t count)
{
	struct gitwalk_link *link = &c->links[c->count++];

	qsort(members, count, sizeof(*members), by_size);
	git_oid_tostr(link->id.hex, sizeof(link->id.hex), &c->walk->nodes[node].id);
	link->index = c->walk->nodes[node].index;
	link->members = arena_copy(c->arena, members, count, sizeof(*members));
	link->count = count;
}

/* The kernels on the way that bring something listed with them; the last is bad itself, which may
 * bring no more than the one before. */
static void make_links(struct chaining *c, size_t bad)
{
	size_t *members = xcalloc(c->walk->count + 1, sizeof(*members));

	for (size_t n = bad; n != SIZE_MAX; n = c->from[n])
		c->way[c->way_count++] = n;
	c->links = arena_alloc(c->arena, (c->way_count + 1) * sizeof(*c->links));
	while (c->way_count) {
		size_t node = c->way[--c->way_count];
		size_t count = exclude(c, node, members);

		if (count)
			add_link(c, node, members, count);
	}
	if (c->count) {
		struct gitwalk_link *last = &c->links[c->count - 1];

		git_oid_tostr(last->id.hex, sizeof(last->id.hex), &c->walk->nodes[bad].id);
		last->index = c->walk->nodes[bad].index;
	}
	free(members);
}

int gitwalk_chain(const struct gitwalk *walk, const struct gitid *good, size_t good_count,
	const struct gitid *bad, struct arena *arena, struct gitwalk_link **links, size_t *count,
	struct err *err)
{
	struct chaining c = {
		.walk = walk,
		.arena = arena,
		.excluded = xcalloc(walk->node_count + 1, sizeof(*c.excluded)),
		.stack = xcalloc(walk->node_count + 1, sizeof(*c.stack)),
		.best = xcalloc(walk->node_count + 1, sizeof(*c.best)),
		.from = xcalloc(walk->node_count + 1, sizeof(*c.from)),
		.way = xcalloc(walk->node_count + 1, sizeof(*c.way)),
	};
	bool is_good, known = true;
	size_t end;

	for (size_t i = 0; i < good_count && known; i++) {
		size_t node = chain_node(walk, &good[i], &is_good, err);

		known = node != SIZE_MAX || is_good;
		if (node != SIZE_MAX)
			(void)exclude(&c, node, NULL);
	}
	end = known ? chain_node(walk, bad, &is_good, err) : SIZE_MAX;
	if (end != SIZE_MAX) {
		find_best(&c, end);
		make_links(&c, end);
		*links = c.links;
		*count = c.count;
	}
	free(c.excluded);
	free(c.stack);
	free(c.best);
	free(c.from);
	free(c.way);
	return end == SIZE_MAX ? ERR_USAGE : 0;
}
