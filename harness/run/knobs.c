/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "run/knobs.h"

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* The state that a feature (NAME or NO_NAME) has now, in that spelling. */
static char *present_state(const char *features, const char *feature)
{
	const char *name = str_starts(feature, "NO_") ? feature + 3 : feature;
	char *off = xasprintf("NO_%s", name);
	char *state = xstrdup(has_word(features, off) ? off : name);

	free(off);
	return state;
}

static int set_features(struct rig *rig, const char *const *features, struct err *err)
{
	struct strv arguments = STRV_INIT;
	json_t *answer = NULL;
	int ret;

	strv_add(&arguments, "set-feature");
	strv_add_all(&arguments, features);
	ret = remote_json(&rig->remote, strv_argv(&arguments), &answer, err);
	json_decref(answer);
	strv_release(&arguments);
	return ret;
}

static int set_sysctls(
	struct rig *rig, const struct pairs *sysctls, json_t **report, struct err *err)
{
	struct strv arguments = STRV_INIT;
	int ret;

	strv_add(&arguments, "set");
	for (size_t i = 0; i < sysctls->count; i++)
		strv_addf(&arguments, "%s=%s", sysctls->items[i].key, sysctls->items[i].value);
	ret = remote_json(&rig->remote, strv_argv(&arguments), report, err);
	strv_release(&arguments);
	return ret;
}

static void note_features(const struct variant *variant, const char *features, struct strv *noted)
{
	strv_release(noted);
	for (size_t i = 0; i < argv_count(variant->features); i++) {
		char *state = present_state(features, variant->features[i]);

		strv_add(noted, state);
		free(state);
	}
}

void knobs_remember(
	struct rig *rig, const struct variant *variant, const char *proof, struct live *live)
{
	json_t *stored = NULL, *sysctls;

	if (rig_is_booted(rig) || json_parse(proof, strlen(proof), 1 << 20, &stored, NULL))
		return;
	note_features(variant, json_get_text(stored, "features_before", ""), &live->features);
	sysctls = json_object_get(stored, "sysctls");
	json_decref(live->undo);
	live->undo = json_incref(sysctls);
	json_decref(stored);
}

int knobs_apply(struct rig *rig, const struct variant *variant, const json_t *before,
	struct live *live, json_t **sysctls, struct err *err)
{
	const char *features = json_get_text(before, "features", "");
	int ret = 0;

	if (!rig_is_booted(rig))
		note_features(variant, features, &live->features);
	if (argv_count(variant->features))
		ret = set_features(rig, variant->features, err);
	if (!ret && variant->sysctls.count)
		ret = set_sysctls(rig, &variant->sysctls, sysctls, err);
	if (!ret && !rig_is_booted(rig)) {
		json_decref(live->undo);
		live->undo = json_incref(*sysctls);
	}
	return ret;
}

static int restore_sysctls(struct rig *rig, const json_t *report, struct err *err)
{
	struct pairs pairs = {xcalloc(json_array_size(report) + 1, sizeof(struct pair)), 0};
	json_t *answer = NULL;
	int ret = 0;

	/* the other way round: one may have been set twice */
	for (size_t i = json_array_size(report); i-- > 0;) {
		const json_t *entry = json_array_get(report, i);

		pairs.items[pairs.count].key = json_get_text(entry, "key", "");
		pairs.items[pairs.count++].value = json_get_text(entry, "before", "");
	}
	if (pairs.count)
		ret = set_sysctls(rig, &pairs, &answer, err);
	json_decref(answer);
	free(pairs.items);
	return ret;
}

/* "vm.swappiness was 60": what a person has to set again. */
static void describe_undo(const json_t *report, struct str *out)
{
	size_t i;
	json_t *entry;

	json_array_foreach(report, i, entry)
	{
		const char *key = json_get_text(entry, "key", "");
		const char *before = json_get_text(entry, "before", "");

		str_add(out, i ? ", " : "");
		str_add_safe(out, key, strlen(key));
		str_add(out, " was ");
		str_add_safe(out, before, strlen(before));
	}
}

void knobs_restore(struct rig *rig, struct live *live)
{
	const char *machine = rig->plan->machine->name;
	struct str what = STR_INIT;
	struct err err = ERR_INIT;

	rig->remote.urgent = true;
	if (live->features.count && set_features(rig, strv_argv(&live->features), &err))
		log_line(LOG_WARN, "%s: scheduler features stay changed: %s", machine, err.text);
	if (live->undo && restore_sysctls(rig, live->undo, &err)) {
		describe_undo(live->undo, &what);
		log_line(LOG_WARN,
			"%s: sysctls stay changed (%s; `kbracket resume` sets them back): %s",
			machine, str_text(&what), err.text);
	}
	rig->remote.urgent = false;
	str_release(&what);
	strv_release(&live->features);
	json_decref(live->undo);
	live->undo = NULL;
}
