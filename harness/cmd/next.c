/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "cmd/next.h"
#include "model/feature.h"
#include "report/report_next.h"
#include "sys/gitrepo_diff.h"
#include "sys/json.h"

enum { RECIPE_MAX_BYTES = 1 << 20, DIFF_MAX_BYTES = 16 << 20 };

/* What kernel/sched of the variant has otherwise than that of its baseline. */
static int scheduler_diff(
	const struct store_variant *variant, const char *tree, struct str *diff, struct err *err)
{
	struct gitrepo *repo;
	int ret = gitrepo_open(tree, &repo, err);

	if (ret)
		return ret;
	ret = gitrepo_diff(repo, variant->against->build->tree, variant->build->tree,
		"kernel/sched", DIFF_MAX_BYTES, diff, err);
	gitrepo_free(repo);
	return ret;
}

/* Whatever kept the sources from being compared, the report is none the worse. */
static void compare_sources(
	const struct store_variant *variant, struct report_touch *touch, struct strv *features)
{
	const struct store_build *a = variant->against->build, *b = variant->build;
	struct str diff = STR_INIT;
	struct err err = ERR_INIT;
	json_t *recipe = NULL;
	const char *tree;

	if (!a || !b || !*a->tree || !*b->tree || strcmp(a->tree, b->tree) == 0 ||
		json_parse(variant->recipe, strlen(variant->recipe), RECIPE_MAX_BYTES, &recipe,
			NULL))
		return;
	tree = json_get_text(recipe, "tree", "");
	if (scheduler_diff(variant, tree, &diff, &err)) {
		log_line(LOG_DEBUG, "%s: sources not compared: %s", variant->name, err.text);
	} else {
		touch->known = true;
		touch->scheduler = diff.len > 0;
		feature_list_touched(str_text(&diff), features);
	}
	json_decref(recipe);
	str_release(&diff);
}

void next_steps(struct report *report)
{
	for (size_t v = 0; v < report->view.variant_count; v++) {
		const struct store_variant *variant = &report->view.variants[v];
		struct strv features = STRV_INIT;
		struct report_touch touch = {.features = &features};

		if (!variant->against || !report_regressed(report, variant))
			continue;
		compare_sources(variant, &touch, &features);
		report_next(report, variant, &touch);
		strv_release(&features);
	}
}
