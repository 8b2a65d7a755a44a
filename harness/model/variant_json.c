/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/json_put.h"
#include "model/variant.h"

/* Variants as data: found by name, compared, written out. */

const struct variant *kernels_find(const struct kernels *kernels, const char *name)
{
	for (size_t i = 0; i < kernels->count; i++)
		if (strcmp(kernels->variants[i].name, name) == 0)
			return &kernels->variants[i];
	return NULL;
}

bool variant_has_kernel(const struct variant *variant)
{
	return variant->is_prebuilt || variant->ref;
}

/* All keys that mean something for this kind of variant. */
static json_t *variant_object(const struct variant *variant)
{
	static const char *const build_only[] = {"tree", "config", "lore_url"};
	json_t *object = opt_json(variant_opts, variant);

	for (size_t i = 0; !variant->ref && i < ARRAY_SIZE(build_only); i++)
		(void)json_object_del(object, build_only[i]); /* absent is fine */
	return object;
}

static const char *const labels[] = {"about", "like", "against", "control", NULL};
static const char *const at_run_time[] = {"cmdline", "features", "sysctls", "scheduler", NULL};

static json_t *without(json_t *object, const char *const *keys)
{
	for (; *keys; keys++)
		(void)json_object_del(object, *keys); /* absent is fine */
	return object;
}

static bool equal(json_t *a, json_t *b)
{
	bool same = json_equal(a, b);

	json_decref(a);
	json_decref(b);
	return same;
}

static json_t *recipe_object(const struct variant *variant)
{
	return without(without(variant_object(variant), labels), at_run_time);
}

bool variant_same_recipe(const struct variant *a, const struct variant *b)
{
	return equal(recipe_object(a), recipe_object(b));
}

bool variant_same_kernel(const struct variant *a, const struct variant *b)
{
	return equal(without(variant_object(a), labels), without(variant_object(b), labels));
}

char *variant_json(const struct variant *variant)
{
	struct str text = STR_INIT;
	json_t *object = variant_object(variant);

	json_write(object, false, &text);
	json_decref(object);
	return str_take(&text);
}

json_t *kernels_json(const struct variant *variants, size_t count)
{
	json_t *map = json_object(), *file = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *object = variant_object(&variants[i]);

		/* already merged in */
		(void)json_object_del(object, "like");
		json_put(map, variants[i].name, object);
	}
	json_put(file, "variants", map);
	return file;
}
