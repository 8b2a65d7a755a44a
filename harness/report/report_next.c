/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/feature.h"
#include "model/toggle.h"
#include "report/report_next.h"
#include "report/report_notes.h"
#include "sys/json.h"

enum { SUSPECTS_SHOWN = 4, PROOF_MAX_BYTES = 8 << 20 };

bool report_regressed(const struct report *report, const struct store_variant *variant)
{
	for (size_t i = 0; i < report->verdict_count; i++)
		if (report->verdicts[i].variant_id == variant->id && report->verdicts[i].headline &&
			report->verdicts[i].word == VERDICT_REGRESSED)
			return true;
	return false;
}

static const char *features_of_boot(const struct report *report, const struct store_boot *boot)
{
	for (size_t a = boot->attempt_count; a-- > 0;) {
		json_t *proof = NULL;
		const char *list;

		if (strcmp(boot->attempts[a].outcome, "proved") != 0 ||
			json_parse(boot->attempts[a].proof, strlen(boot->attempts[a].proof),
				PROOF_MAX_BYTES, &proof, NULL))
			continue;
		list = arena_strdup(report->arena,
			json_get_text(json_object_get(proof, "seen"), "features", ""));
		json_decref(proof);
		return list;
	}
	return "";
}

/* The scheduler features of a variant's kernel as its boots had them; "" when none were seen. */
static const char *features_of(const struct report *report, const struct store_variant *variant)
{
	for (size_t m = 0; m < report->view.machine_count; m++)
		for (size_t b = 0; b < report->view.machines[m].boot_count; b++) {
			const struct store_boot *boot = &report->view.machines[m].boots[b];
			const char *list = boot->variant->id == variant->id
						   ? features_of_boot(report, boot)
						   : "";

			if (*list)
				return list;
		}
	return "";
}

/* "NI_RANDOM (baseline's kernel has none), NI_RATE, and 3 more" */
static void add_suspects(const struct store_variant *base, const char *before,
	const struct strv *suspects, struct str *out)
{
	size_t shown = suspects->count < SUSPECTS_SHOWN ? suspects->count : SUSPECTS_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		const char *name = suspects->items[i];

		str_addf(out, "%s%s", i ? ", " : "", name);
		if (*before && !feature_listed(before, name))
			str_addf(out, " (%s's kernel has none)", base->name);
		else if (*before && !feature_on(before, name))
			str_addf(out, " (off in %s)", base->name);
	}
	if (suspects->count > shown)
		str_addf(out, ", and %zu more", suspects->count - shown);
}

/* The features that the recipe sets already: a list of its own would take their place. */
static void add_own(const struct store_variant *variant, struct str *out)
{
	json_t *recipe = NULL, *item;
	size_t i;

	if (json_parse(variant->recipe, strlen(variant->recipe), PROOF_MAX_BYTES, &recipe, NULL))
		return;
	json_array_foreach(json_object_get(recipe, "features"), i, item)
	{
		if (json_is_string(item))
			str_addf(out, "%s, ", json_string_value(item));
	}
	json_decref(recipe);
}

static void add_how(const struct store_variant *variant, const char *feature, struct str *out)
{
	str_addf(out, "`%s-off: { like: %s, features: [", variant->name, variant->name);
	add_own(variant, out);
	str_addf(out,
		"NO_%s] }` among the kernels, and an experiment with `baseline: %s`, `variants: "
		"[%s-off]` and `design: { order: toggle }`.",
		feature, variant->name, variant->name);
}

/* Features that are on and new, or were off; then those on that the source's change touches. */
static void suspect(const char *before, const char *after, const struct report_touch *touch,
	struct strv *suspects)
{
	struct strv on = STRV_INIT;

	feature_list_on(after, &on);
	for (size_t i = 0; *before && i < on.count; i++)
		if (!feature_on(before, on.items[i]))
			strv_add(suspects, on.items[i]);
	for (size_t i = 0; i < touch->features->count; i++)
		if (strv_has(&on, touch->features->items[i]) &&
			!strv_has(suspects, touch->features->items[i]))
			strv_add(suspects, touch->features->items[i]);
	strv_release(&on);
}

static void say_suspects(const struct store_variant *variant, const char *before,
	const struct strv *suspects, struct str *out)
{
	str_addf(out, "%s regressed, and what it changes touches the scheduler feature%s ",
		variant->name, suspects->count == 1 ? "" : "s");
	add_suspects(variant->against, before, suspects, out);
	str_addf(out, ". Whether %s behind it shows inside one boot, without another build: ",
		suspects->count == 1 ? "that is" : "one of them is");
	add_how(variant, suspects->items[0], out);
	str_addf(out,
		" When %s-off is improved by about as much as %s regressed, it is, as far as one "
		"boot can tell.",
		variant->name, variant->name);
}

/* The scheduler was changed, and nothing that is switched on points to a feature. */
static void say_nothing_named(
	const struct store_variant *variant, const char *after, struct str *out)
{
	struct strv on = STRV_INIT;

	feature_list_on(after, &on);
	str_addf(out, "%s regressed and changes kernel/sched, ", variant->name);
	if (on.count) {
		str_addf(out,
			"but no code that a scheduler feature switches. Its kernel has %zu "
			"features on (%s, ...). To see whether one of them plays a part: ",
			on.count, on.items[0]);
		add_how(variant, on.items[0], out);
	} else {
		str_add(out,
			"but its boots showed no scheduler features, so that nothing of it can be "
			"switched off at run time: that takes CONFIG_DEBUG_FS and, before Linux "
			"6.15, CONFIG_SCHED_DEBUG.");
	}
	strv_release(&on);
}

static bool is_one_kernel(const struct store_variant *a, const struct store_variant *b)
{
	return a->build && b->build ? a->build->id == b->build->id : !a->build && !b->build;
}

void report_next(struct report *report, const struct store_variant *variant,
	const struct report_touch *touch)
{
	const char *before, *after;
	struct strv suspects = STRV_INIT;
	struct str text = STR_INIT;

	if (!variant->against || !report_regressed(report, variant) || toggle_seen(&report->view))
		return;
	before = features_of(report, variant->against);
	after = features_of(report, variant);
	suspect(before, after, touch, &suspects);
	if (!is_one_kernel(variant, variant->against)) {
		if (suspects.count)
			say_suspects(variant, before, &suspects, &text);
		else if (touch->known && touch->scheduler)
			say_nothing_named(variant, after, &text);
	} else if (strcmp(variant->runtime_sha256, variant->against->runtime_sha256) != 0) {
		str_addf(&text,
			"%s and %s are one kernel run in two ways: `design: { order: toggle }` "
			"compares them inside one boot.",
			variant->name, variant->against->name);
	}
	if (text.len)
		report_note(report, NOTE_NEXT, str_text(&text));
	str_release(&text);
	strv_release(&suspects);
}
