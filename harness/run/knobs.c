/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/knobs.h"

/* Services and schedulers take their time. */
#define HOLD_NS (300 * NS_PER_S)

static int call_hold(struct rig *rig, const struct strv *settings, const char *const *scheduler,
	json_t **report, struct err *err)
{
	struct strv arguments = STRV_INIT;
	int ret;

	strv_add(&arguments, "hold");
	strv_addf(&arguments, "%s/held.json", rig->remote.ops->workdir(rig->remote.machine));
	strv_add_all(&arguments, strv_argv(settings));
	if (argv_count(scheduler)) {
		const char *path = rig->remote.ops->program_path(rig->remote.machine, scheduler[0]);

		strv_add(&arguments, "--scheduler");
		strv_add(&arguments, path ? path : scheduler[0]);
		strv_add_all(&arguments, scheduler + 1);
	}
	ret = remote_json_in(&rig->remote, strv_argv(&arguments), HOLD_NS, report, err);
	strv_release(&arguments);
	return ret;
}

static void add_variant(const struct variant *variant, struct strv *out)
{
	for (size_t i = 0; i < argv_count(variant->features); i++) {
		const char *name = variant->features[i];

		if (str_starts(name, "NO_"))
			strv_addf(out, "feature.%s=off", name + strlen("NO_"));
		else
			strv_addf(out, "feature.%s=on", name);
	}
	for (size_t i = 0; i < variant->sysctls.count; i++)
		strv_addf(out, "%s=%s", variant->sysctls.items[i].key,
			variant->sysctls.items[i].value);
}

/* "governor: it has no cpufreq driver" */
static char *complaint(const char *key, const char *error)
{
	struct str text = STR_INIT;

	str_add_safe(&text, key, strnlen(key, 100));
	str_add(&text, ": ");
	str_add_safe(&text, error, strnlen(error, 400));
	return str_take(&text);
}

/* Of the machine's own settings; once for each. */
static void tell(struct rig *rig, const char *key, const char *error)
{
	char *text = complaint(key, error);

	if (!strv_has(&rig->complaints, text)) {
		strv_add(&rig->complaints, text);
		log_line(LOG_WARN, "%s: not set: %s", rig->plan->machine->name, text);
		engine_note(
			rig->engine, 0, "tune", "%s: not set: %s", rig->plan->machine->name, text);
	}
	free(text);
}

static int fail(const json_t *item, const char *key, const char *error, struct err *err)
{
	char *text = complaint(key, error);
	int ret = err_set(
		err, json_get_bool(item, "missing", false) ? ERR_NOT_FOUND : ERR_INFRA, "%s", text);

	free(text);
	return ret;
}

/* The first `own` items are the machine's, the others the variant's. */
static int check(struct rig *rig, const json_t *report, size_t own, struct err *err)
{
	const json_t *scheduler = json_object_get(report, "scheduler");
	const char *error = json_get_text(scheduler, "error", NULL);
	size_t i;
	json_t *item;
	int ret = 0;

	json_array_foreach(json_object_get(report, "held"), i, item)
	{
		const char *key = json_get_text(item, "key", "");
		const char *why = json_get_text(item, "error", NULL);

		if (why && i < own)
			tell(rig, key, why);
		else if (why && !ret)
			ret = fail(item, key, why, err);
	}
	return ret || !error ? ret : fail(scheduler, "the sched_ext scheduler", error, err);
}

/* What an earlier variant changed and is still so. */
static int check_left(const json_t *report, struct err *err)
{
	const json_t *item = json_array_get(json_object_get(report, "left"), 0);

	if (!item)
		return 0;
	(void)fail(item, json_get_text(item, "key", ""), json_get_text(item, "error", ""), err);
	return err_wrap(err, "cannot be put back");
}

int knobs_apply(struct rig *rig, const struct variant *variant, json_t **report, struct err *err)
{
	struct strv settings = STRV_INIT;
	size_t own;
	int ret = 0;

	tune_settings(&rig->plan->machine->tune, &settings);
	own = settings.count;
	add_variant(variant, &settings);
	/* a booted kernel is fresh; elsewhere somebody may have left something */
	if (!rig_is_booted(rig) || rig->held || settings.count || argv_count(variant->scheduler)) {
		rig->held = true;
		ret = call_hold(rig, &settings, variant->scheduler, report, err);
		if (!ret)
			ret = check_left(*report, err);
		if (!ret)
			ret = check(rig, *report, own, err);
	}
	strv_release(&settings);
	return ret;
}

void knobs_forget(struct rig *rig)
{
	rig->held = false;
}

/* "vm.swappiness was 60": what a person has to set again. */
static void describe_left(const json_t *report, struct str *out)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(report, "left"), i, item)
	{
		const char *key = json_get_text(item, "key", "");
		const char *original = json_get_text(item, "original", "");

		str_add(out, i ? ", " : "");
		str_add_safe(out, key, strnlen(key, 100));
		str_add(out, " was ");
		str_add_safe(out, original, strnlen(original, 100));
	}
}

void knobs_restore(struct rig *rig)
{
	struct strv nothing = STRV_INIT;
	struct str left = STR_INIT;
	struct err err = ERR_INIT;
	json_t *report = NULL;

	if (!rig->held)
		return;
	rig->remote.urgent = true;
	if (call_hold(rig, &nothing, NULL, &report, &err))
		log_line(LOG_WARN,
			"%s: its settings stay changed (`kbracket-agent hold %s/held.json` there, "
			"as "
			"root, puts them back): %s",
			rig->plan->machine->name, rig->remote.ops->workdir(rig->remote.machine),
			err.text);
	describe_left(report, &left);
	if (left.len)
		log_line(LOG_WARN, "%s: some settings cannot be put back: %s",
			rig->plan->machine->name, str_text(&left));
	rig->remote.urgent = false;
	rig->held = false;
	json_decref(report);
	str_release(&left);
}
