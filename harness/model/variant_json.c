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

static json_t *recipe_object(const struct variant *variant)
{
	static const char *const other[] = {
		"about", "like", "against", "cmdline", "features", "sysctls", "scheduler"};
	json_t *object = variant_object(variant);

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		(void)json_object_del(object, other[i]); /* absent is fine */
	return object;
}

bool variant_same_recipe(const struct variant *a, const struct variant *b)
{
	json_t *ja = recipe_object(a), *jb = recipe_object(b);
	bool same = json_equal(ja, jb);

	json_decref(ja);
	json_decref(jb);
	return same;
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
