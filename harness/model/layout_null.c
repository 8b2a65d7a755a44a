/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/sha256.h"
#include "model/layout_null.h"

enum { STEP_BYTES = 16, CACHE_LINE_BYTES = 64, MAX_STEPS = 255 };

static const struct layout {
	const char *suffix;
	bool align;
} layouts[] = {{"aligned", true}, {"padded", false}};

/* The size of the padding, from the seed: whole functions' alignments, and never whole cache lines,
 * which would leave the place within them as it was. */
static int64_t padding_bytes(int64_t seed)
{
	char text[40], hex[SHA256_HEX_LEN + 1];
	int64_t bytes;

	(void)snprintf(text, sizeof(text), "padding %lld", (long long)seed);
	sha256_of(text, strlen(text), hex);
	hex[8] = 0;
	bytes = STEP_BYTES * (1 + (int64_t)(strtoul(hex, NULL, 16) % MAX_STEPS));
	return bytes % CACHE_LINE_BYTES ? bytes : bytes + STEP_BYTES;
}

static bool can_be_rebuilt(const struct variant *variant)
{
	return variant->ref && !variant->is_prebuilt;
}

/* The variant in that layout, added once. */
static const struct variant *add_layout(const struct opt_ctx *ctx, struct experiment *e,
	const struct variant *from, const struct layout *layout, const char *against)
{
	const char *name = arena_printf(ctx->arena, "%s-%s", from->name, layout->suffix);
	int found = experiment_variant_index(e, name);
	struct variant *made;

	if (found >= 0)
		return e->variants[found];
	made = arena_alloc(ctx->arena, sizeof(*made));
	*made = *from;
	made->name = name;
	made->about = "";
	made->like = NULL;
	made->against = against;
	made->layout_of = from->name;
	if (layout->align)
		made->align_functions = true;
	else
		made->pad_scheduler += padding_bytes(e->design.seed);
	e->variants[e->variant_count++] = made;
	return made;
}

void layout_null_add(
	const struct opt_ctx *ctx, struct experiment *experiment, const struct ynode *node)
{
	size_t written = experiment->variant_count;

	if (experiment->design.order == ORDER_EXPLICIT)
		opt_node_error(ctx, node,
			"layout_null: it adds variants, so an order that names every boot does not "
			"go with it");
	for (size_t i = 1; i < experiment->listed_count; i++) {
		const struct variant *variant = experiment->variants[i];
		const struct variant *base =
			experiment->variants[experiment_baseline_of(experiment, i)];

		if (variant->control || !can_be_rebuilt(variant) || !can_be_rebuilt(base) ||
			variant_same_recipe(variant, base))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(layouts); k++) {
			const struct variant *there =
				add_layout(ctx, experiment, base, &layouts[k], NULL);

			(void)add_layout(ctx, experiment, variant, &layouts[k], there->name);
		}
	}
	if (experiment->variant_count == written)
		opt_node_error(ctx, node,
			"layout_null: no variant here is built from another source or "
			"configuration than its baseline");
}
