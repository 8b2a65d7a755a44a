/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/num.h"
#include "base/str.h"
#include "base/strv.h"
#include "model/toggle.h"
#include "report/config_diff.h"
#include "report/report_notes.h"
#include "sys/json.h"

enum { CONFIG_OPTIONS_SHOWN = 12, RECIPE_MAX_BYTES = 1 << 20 };

const char *report_note_name(enum report_note_kind kind)
{
	static const char *const names[] = {
		[NOTE_NEXT] = "next",
		[NOTE_WARNING] = "warning",
		[NOTE_BUILD] = "build",
		[NOTE_BOOT] = "boot",
		[NOTE_SKIPPED] = "skipped",
		[NOTE_RUNS] = "runs",
		[NOTE_MERGED] = "merged",
		[NOTE_CONFIG] = "config",
	};

	return names[kind];
}

KB_PRINTF(3, 4)
static void note(struct report *report, enum report_note_kind kind, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	report_note(report, kind, str_text(&text));
	str_release(&text);
}

static void note_state(struct report *report)
{
	const struct store_experiment *head = &report->view.head;
	int64_t done = 0, all = 0;

	for (size_t m = 0; m < report->view.machine_count; m++)
		for (size_t b = 0; b < report->view.machines[m].boot_count; b++) {
			enum store_state state = report->view.machines[m].boots[b].state;

			all++;
			done += state == STATE_DONE || state == STATE_FAILED;
		}
	if (done < all)
		note(report, NOTE_WARNING,
			"Not finished: %lld of %lld boots. What stands here is provisional; "
			"`kbracket resume %lld` goes on.",
			(long long)done, (long long)all, (long long)head->id);
	else if (head->looks && head->state != STATE_DONE)
		note(report, NOTE_WARNING,
			"Not finished: the look after the last block is to come. `kbracket resume "
			"%lld` goes on.",
			(long long)head->id);
	if (head->means_only)
		note(report, NOTE_WARNING,
			"Means only: single runs were not published, so there is an estimate and "
			"a drift, but no CV and no verdict.");
}

/* Blocks that were repeated because a boot of them scattered beyond the CV gate. */
static void note_repeats(struct report *report, const struct store_machine *machine)
{
	for (size_t i = 0; i < machine->extension_count; i++) {
		const struct plan_extension *extension = &machine->extensions[i];

		if (extension->repeats)
			note(report, NOTE_BOOT,
				"Block %d on %s is a %s (its runs scatter beyond the CV gate), for "
				"%zu of %zu conditions. Where the repeat is whole it counts in the "
				"block's place, for all kernels.",
				extension->block, machine->name, extension->reason,
				extension->condition_count, machine->condition_count);
	}
}

static void note_builds(struct report *report)
{
	for (size_t v = 0; v < report->view.variant_count; v++) {
		const struct store_variant *variant = &report->view.variants[v];

		if (variant->state == STATE_FAILED)
			note(report, NOTE_BUILD, "The build of %s failed: %s", variant->name,
				variant->reason);
	}
}

/* Failed boots of one variant with the same reason make one note. */
static void note_failed_boots(struct report *report, const struct store_machine *machine,
	const struct store_variant *variant)
{
	for (size_t first = 0; first < machine->boot_count; first++) {
		const struct store_boot *boot = &machine->boots[first];
		int all = 0, same = 0;
		bool told = false;

		if (boot->variant->id != variant->id || boot->state != STATE_FAILED ||
			variant->state == STATE_FAILED) /* told with the builds */
			continue;
		for (size_t b = 0; b < machine->boot_count; b++) {
			const struct store_boot *other = &machine->boots[b];

			all += other->variant->id == variant->id;
			if (other->variant->id != variant->id || other->state != STATE_FAILED ||
				strcmp(other->reason, boot->reason) != 0)
				continue;
			told |= b < first;
			same++;
		}
		if (!told)
			note(report, NOTE_BOOT,
				"%d of %d boots of %s on %s failed: %s%s%s (boot %d)", same, all,
				variant->name, machine->name, boot->reason,
				*boot->detail ? ": " : "", boot->detail, boot->ordinal);
	}
}

/* The machine went on under the kernel that it had. */
static bool never_booted(const struct store_attempt *attempt)
{
	return strcmp(attempt->method, "none") == 0;
}

static void note_toggle(struct report *report)
{
	if (toggle_seen(&report->view))
		note(report, NOTE_WARNING,
			"Toggled inside one boot: the unit is the run, and what is called a boot "
			"here is a part of one. What it says holds for that boot. That two boots "
			"of one kernel differ is not in these numbers, and they are never taken "
			"together with booted ones.");
}

static void note_unbooted(struct report *report, const struct store_machine *machine)
{
	for (size_t b = 0; b < machine->boot_count; b++)
		for (size_t a = 0; a < machine->boots[b].attempt_count; a++) {
			if (!never_booted(&machine->boots[b].attempts[a]))
				continue;
			note(report, NOTE_WARNING,
				"%s was never booted: what is called a boot here is a group of "
				"runs under one kernel. That two boots of one kernel differ is not "
				"in these numbers.",
				machine->name);
			return;
		}
}

static void note_attempts(struct report *report, const struct store_machine *machine,
	const struct store_variant *variant)
{
	const struct store_attempt *first = NULL;
	int retried = 0, continued = 0, weak = 0, boots = 0;

	for (size_t b = 0; b < machine->boot_count; b++) {
		const struct store_boot *boot = &machine->boots[b];
		bool failed = false, is_weak = false;

		if (boot->variant->id != variant->id || boot->state != STATE_DONE)
			continue;
		for (size_t a = 0; a < boot->attempt_count; a++) {
			failed |= strcmp(boot->attempts[a].outcome, "failed") == 0;
			if (failed && !first)
				first = &boot->attempts[a];
			is_weak |= boot->attempts[a].weak && !never_booted(&boot->attempts[a]);
		}
		boots++;
		retried += failed;
		weak += is_weak;
		continued += boot->proved > 1;
	}
	if (retried)
		note(report, NOTE_BOOT,
			"%d of %d boots of %s on %s needed a second try (first: %s: %.200s).",
			retried, boots, variant->name, machine->name, first->reason, first->detail);
	if (continued)
		note(report, NOTE_WARNING,
			"%d of %d boots of %s on %s went on in a fresh start of the kernel after "
			"an interruption: each counts as one boot but is two.",
			continued, boots, variant->name, machine->name);
	if (weak)
		note(report, NOTE_WARNING,
			"Weak proof: %d of %d boots of %s on %s could not be compared by build-id; "
			"release and /proc/version agree.",
			weak, boots, variant->name, machine->name);
}

const struct store_condition *report_condition(
	const struct report *report, int64_t id, const struct store_machine **machine)
{
	for (size_t m = 0; m < report->view.machine_count; m++) {
		const struct store_machine *here = &report->view.machines[m];

		for (size_t c = 0; c < here->condition_count; c++)
			if (here->conditions[c].id == id) {
				if (machine)
					*machine = here;
				return &here->conditions[c];
			}
	}
	return NULL;
}

static const struct store_variant *variant_of(const struct report *report, int64_t id)
{
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (report->view.variants[v].id == id)
			return &report->view.variants[v];
	return NULL;
}

static enum flag_policy policy_of(const struct report *report, const char *reason)
{
	for (size_t p = 0; p < report->view.policy_count; p++)
		if (strcmp(report->view.policies[p].reason, reason) == 0)
			return report->view.policies[p].policy;
	return FLAG_KEEP;
}

const char *report_tally_fate(const struct report *report, const struct store_tally *tally)
{
	if (tally->failed)
		return "failed";
	switch (policy_of(report, tally->reason)) {
	case FLAG_IGNORE:
		return "ignored";
	case FLAG_KEEP:
		return "flagged";
	case FLAG_DROP:
		return "dropped";
	}
	return "flagged";
}

/* One note per reason: how many runs, and where the first of them was. */
static void note_runs(struct report *report)
{
	for (size_t t = 0; t < report->tally_count; t++) {
		const struct store_tally *tally = &report->tallies[t];
		const char *fate = report_tally_fate(report, tally);
		const struct store_variant *variant = variant_of(report, tally->variant_id);
		const struct store_condition *condition =
			report_condition(report, tally->condition_id, NULL);
		bool told = strcmp(fate, "ignored") == 0 || !variant || !condition ||
			    *condition->skipped;
		int64_t runs = 0;
		size_t places = 0;

		for (size_t o = 0; o < report->tally_count; o++) {
			const struct store_tally *other = &report->tallies[o];

			if (other->failed != tally->failed || other->counted != tally->counted ||
				strcmp(other->reason, tally->reason) != 0)
				continue;
			told |= o < t;
			runs += other->runs;
			places++;
		}
		if (told)
			continue;
		note(report, NOTE_RUNS, "%lld run%s%s %s: %s%s%s (%s%s in %s)", (long long)runs,
			runs == 1 ? "" : "s", tally->counted ? " under counters" : "", fate,
			tally->reason, *tally->detail ? ": " : "", tally->detail,
			places > 1 ? "first: " : "", variant->name, condition->name);
	}
}

/* One note for each suite and machine. */
static void note_skipped(struct report *report, const struct store_machine *machine)
{
	for (size_t c = 0; c < machine->condition_count; c++) {
		const struct store_condition *condition = &machine->conditions[c];
		bool told = !*condition->skipped;

		for (size_t o = 0; o < c && !told; o++)
			told = *machine->conditions[o].skipped &&
			       strcmp(machine->conditions[o].suite, condition->suite) == 0;
		if (!told)
			note(report, NOTE_SKIPPED, "skipped (optional): %s, %s", condition->suite,
				condition->skipped);
	}
}

static void note_kept(struct report *report)
{
	int64_t dropped = 0;
	bool changed = false;

	for (size_t i = 0; i < report->verdict_count; i++) {
		const struct store_verdict *verdict = &report->verdicts[i];
		const struct store_variant *variant = variant_of(report, verdict->variant_id);
		const struct store_condition *condition =
			report_condition(report, verdict->condition_id, NULL);

		dropped += verdict->dropped;
		if (!*verdict->word_kept || !variant || !condition)
			continue;
		changed = true;
		note(report, NOTE_RUNS,
			"With dropped runs kept, %s in %s would be %s instead of %s.",
			variant->name, condition->name, verdict->word_kept,
			verdict_word_name(verdict->word));
	}
	if (dropped && !changed)
		note(report, NOTE_RUNS, "With dropped runs kept, every verdict would be the same.");
}

static void note_conditions(struct report *report)
{
	for (size_t m = 0; m < report->view.machine_count; m++) {
		const struct store_machine *machine = &report->view.machines[m];

		for (size_t c = 0; c < machine->condition_count; c++) {
			const struct store_condition *condition = &machine->conditions[c];

			if (*condition->merged)
				note(report, NOTE_MERGED,
					"%s on %s also stands for %s: %lld worker%s on %lld CPUs.",
					condition->name, machine->name, condition->merged,
					(long long)condition->workers,
					condition->workers == 1 ? "" : "s",
					(long long)condition->cpus);
		}
	}
}

static void note_label(struct report *report, const struct store_verdict *verdict,
	const struct store_variant *variant, const struct store_condition *condition,
	const struct store_machine *machine)
{
	note(report, NOTE_WARNING,
		"%s and %s are one kernel under two labels and were called different by %s %% "
		"in %s on %s (q %.2g): chance does that to %g %% of such sets at most, so "
		"something else than the kernels moves this machine's numbers by that much.",
		variant->name, variant->against->name,
		num_say_pct(report_pct(verdict->effect), 2, true).text, condition->name,
		machine->name, verdict->q, report->view.head.alpha_pct);
}

/* A canary that moves says that the machine moved, not the kernel; so does a second label. */
static void note_controls(struct report *report)
{
	for (size_t i = 0; i < report->verdict_count; i++) {
		const struct store_verdict *verdict = &report->verdicts[i];
		const struct store_machine *machine;
		const struct store_condition *condition =
			report_condition(report, verdict->condition_id, &machine);
		const struct store_variant *variant = variant_of(report, verdict->variant_id);

		if (!condition || !variant || !report_moved(verdict))
			continue;
		if (variant->control && !condition->control)
			note_label(report, verdict, variant, condition, machine);
		else if (condition->control)
			note(report, NOTE_WARNING,
				"The control %s moved by %s %% with %s on %s: no kernel change "
				"should "
				"move it, so the machine did.",
				condition->name,
				num_say_pct(report_pct(verdict->effect), 2, true).text,
				variant->name, machine->name);
	}
}

static bool recipe_empty(const json_t *recipe, const char *key)
{
	const json_t *value = json_object_get(recipe, key);

	return !value || json_is_null(value) || (json_is_array(value) && !json_array_size(value));
}

static bool recipe_changes_source(const json_t *recipe)
{
	return !recipe_empty(recipe, "patches") || !recipe_empty(recipe, "revert") ||
	       !recipe_empty(recipe, "pick");
}

static json_t *recipe_of(const struct store_variant *variant)
{
	json_t *recipe = NULL;
	struct err err = ERR_INIT;

	if (json_parse(variant->recipe, strlen(variant->recipe), RECIPE_MAX_BYTES, &recipe, &err))
		return NULL; /* an import has none */
	return recipe;
}

/* What differs between a variant and its baseline beyond what its recipe says. */
static void note_bases(struct report *report, const struct store_variant *variant)
{
	const struct store_variant *base = variant->against;
	json_t *recipe = recipe_of(variant);
	const struct store_build *a = base->build, *b = variant->build;

	if (variant->control) {
		json_decref(recipe);
		return; /* that is what it is for */
	}
	if (recipe && recipe_changes_source(recipe) && *variant->ref_commit &&
		strcmp(variant->ref_commit, base->ref_commit) != 0)
		note(report, NOTE_WARNING,
			"%s and its baseline %s start from different commits (%.12s and %.12s): "
			"its "
			"effect holds everything between the two, not only its patches.",
			variant->name, base->name, variant->ref_commit, base->ref_commit);
	if (a && b && strcmp(a->compiler, b->compiler) != 0)
		note(report, NOTE_WARNING, "%s and %s were built by different compilers: %s; %s.",
			variant->name, base->name, b->compiler, a->compiler);
	if (a && b && strcmp(a->key, b->key) == 0 &&
		strcmp(variant->runtime_sha256, base->runtime_sha256) == 0)
		note(report, NOTE_WARNING,
			"%s is the same kernel as %s, run the same way: it is compared with "
			"itself.",
			variant->name, base->name);
	json_decref(recipe);
}

static bool same_config_asked(const struct store_variant *a, const struct store_variant *b)
{
	json_t *x = recipe_of(a), *y = recipe_of(b);
	bool same =
		x && y && json_equal(json_object_get(x, "config"), json_object_get(y, "config"));

	json_decref(x);
	json_decref(y);
	return same;
}

static int note_config(struct report *report, struct store *store,
	const struct store_variant *variant, struct err *err)
{
	const struct store_variant *base = variant->against;
	const char *a = "", *b = "";
	struct strv options = STRV_INIT;
	struct str text = STR_INIT;
	int ret;

	if (!base->build || !variant->build ||
		strcmp(base->build->config_sha256, variant->build->config_sha256) == 0)
		return 0;
	ret = store_load_config(store, base->build->id, report->arena, &a, err);
	if (!ret)
		ret = store_load_config(store, variant->build->id, report->arena, &b, err);
	if (ret || !*a || !*b)
		return ret;
	config_diff(a, b, &options);
	for (size_t i = 0; i < options.count && i < CONFIG_OPTIONS_SHOWN; i++)
		str_addf(&text, "%s%s", i ? ", " : "", options.items[i]);
	if (options.count > CONFIG_OPTIONS_SHOWN)
		str_addf(&text, ", and %zu more", options.count - CONFIG_OPTIONS_SHOWN);
	if (options.count)
		note(report, NOTE_CONFIG, "%s against %s%s: %s", variant->name, base->name,
			same_config_asked(variant, base) ? ", though both ask for the same" : "",
			str_text(&text));
	strv_release(&options);
	str_release(&text);
	return 0;
}

int report_make_notes(struct report *report, struct store *store, struct err *err)
{
	int ret = 0;

	note_state(report);
	report_note_machines(report);
	note_controls(report);
	for (size_t v = 0; v < report->view.variant_count; v++)
		if (report->view.variants[v].against)
			note_bases(report, &report->view.variants[v]);
	note_builds(report);
	for (size_t m = 0; m < report->view.machine_count; m++)
		note_repeats(report, &report->view.machines[m]);
	note_toggle(report);
	for (size_t m = 0; m < report->view.machine_count && !toggle_seen(&report->view); m++)
		note_unbooted(report, &report->view.machines[m]);
	for (size_t m = 0; m < report->view.machine_count; m++)
		report_note_unset(report, &report->view.machines[m]);
	for (size_t m = 0; m < report->view.machine_count; m++)
		for (size_t v = 0; v < report->view.variant_count; v++) {
			note_failed_boots(
				report, &report->view.machines[m], &report->view.variants[v]);
			note_attempts(report, &report->view.machines[m], &report->view.variants[v]);
		}
	for (size_t m = 0; m < report->view.machine_count; m++)
		note_skipped(report, &report->view.machines[m]);
	note_runs(report);
	note_kept(report);
	note_conditions(report);
	for (size_t v = 0; v < report->view.variant_count && !ret; v++)
		if (report->view.variants[v].against)
			ret = note_config(report, store, &report->view.variants[v], err);
	return ret;
}
