/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strv.h"

#include "agent/held.h"
#include "agent/hold.h"
#include "agent/js.h"
#include "agent/knobs.h"
#include "agent/launch.h"
#include "agent/tunable.h"

/* One thing that is asked for. */
struct wish {
	char *key;
	const char *value;
	struct tunable tunable;
	struct str before, after;
	struct err err; /* of the first that went wrong */
};

struct holding {
	const char *root;
	struct held held;
	struct wish *wishes;
	size_t count;
	json_t *left;
};

static struct switch_place place_of(const struct tunable_place *place)
{
	return (struct switch_place){place->kind, place->at};
}

static int read_wishes(struct holding *holding, const char *const *items, struct err *err)
{
	holding->wishes = xcalloc(argv_count(items) + 1, sizeof(*holding->wishes));
	for (size_t i = 0; i < argv_count(items); i++) {
		const char *equals = strchr(items[i], '=');
		struct wish *wish = &holding->wishes[holding->count];

		if (!equals || equals == items[i])
			return err_set(err, ERR_USAGE, "\"%s\" is not KEY=VALUE", items[i]);
		holding->count++;
		wish->key = xstrndup(items[i], (size_t)(equals - items[i]));
		wish->value = equals + 1;
		if (tunable_resolve(holding->root, wish->key, wish->value, &wish->tunable,
			    &wish->err) == ERR_USAGE)
			return err_set(err, ERR_USAGE, "%s: %s", wish->key, wish->err.text);
	}
	return 0;
}

/* Asked for: by its key, since files of CPUs that are offline now are not found. */
static bool is_wished(const struct holding *holding, const struct held_entry *entry)
{
	for (size_t i = 0; i < holding->count; i++)
		if (strcmp(holding->wishes[i].key, entry->key) == 0)
			return true;
	return false;
}

static void note_left(struct holding *holding, const char *key, const char *at,
	const char *original, const char *why)
{
	json_t *o = json_object();

	js_text(o, "key", key);
	js_text(o, "at", at);
	js_text(o, "original", original);
	js_text(o, "error", why);
	(void)json_array_append_new(holding->left, o);
}

/* The other way round: what was changed last may stand on what was changed before. */
static void put_back(struct holding *holding)
{
	struct held *held = &holding->held;

	for (size_t i = held->count; i-- > 0;) {
		const struct held_entry *entry = &held->entries[i];
		const struct switch_place place = {entry->kind, entry->at};
		struct err why = ERR_INIT;

		if (is_wished(holding, entry))
			continue;
		if (switch_write(holding->root, &place, entry->original, NULL, &why))
			note_left(holding, entry->key, entry->at, entry->original, why.text);
		else
			held_remove(held, i);
	}
}

static bool same_argv(const json_t *kept, const char *const *argv)
{
	if (json_array_size(kept) != argv_count(argv))
		return false;
	for (size_t i = 0; i < argv_count(argv); i++) {
		const char *text = json_string_value(json_array_get(kept, i));

		if (!text || strcmp(text, argv[i]) != 0)
			return false;
	}
	return true;
}

/* A scheduler that is not asked for, or has ended. */
static void stop_scheduler(struct holding *holding, const char *const *argv)
{
	struct held *held = &holding->held;
	struct err why = ERR_INIT;

	if (!held->scheduler_argv)
		scheduler_stop_strangers(holding->root);
	if (!held->scheduler_argv || (argv_count(argv) && same_argv(held->scheduler_argv, argv) &&
					     scheduler_runs(&held->scheduler)))
		return;
	if (scheduler_stop(holding->root, &held->scheduler, &why)) {
		note_left(holding, "scheduler", "", "", why.text);
		return;
	}
	json_decref(held->scheduler_argv);
	held->scheduler_argv = NULL;
	held->scheduler = (struct scheduler){0, 0};
}

static void add_distinct(struct str *out, const char *value)
{
	if (!out->len)
		str_add(out, value);
	else if (strcmp(out->text, value) != 0 && !strstr(out->text, ", "))
		str_addf(out, ", %s", value);
}

static void save_originals(struct holding *holding, struct wish *wish)
{
	struct str value = STR_INIT;

	for (size_t i = 0; i < wish->tunable.count && !wish->err.code; i++) {
		struct switch_place place = place_of(&wish->tunable.places[i]);
		const struct held_entry *entry = held_find(&holding->held, &place);

		if (!entry && switch_read(holding->root, &place, &value, &wish->err) == 0)
			held_add(&holding->held, wish->key, &place, str_text(&value));
		entry = held_find(&holding->held, &place);
		if (entry)
			add_distinct(&wish->before, entry->original);
	}
	str_release(&value);
}

static void apply(struct holding *holding, struct wish *wish)
{
	struct str value = STR_INIT;

	for (size_t i = 0; i < wish->tunable.count && !wish->err.code; i++) {
		const struct tunable_place *at = &wish->tunable.places[i];
		struct switch_place place = place_of(at);

		if (switch_write(holding->root, &place, at->value, at->also, &wish->err) == 0 &&
			switch_read(holding->root, &place, &value, &wish->err) == 0)
			add_distinct(&wish->after, str_text(&value));
	}
	str_release(&value);
}

static void put_error(json_t *o, const struct err *err)
{
	js_text(o, "error", err->code ? err->text : NULL);
	js_bool(o, "missing", err->code == ERR_NOT_FOUND);
}

static int try_scheduler(struct holding *holding, const char *const *argv, struct err *err)
{
	static const char *const env[] = {LAUNCH_PATH, NULL};
	struct held *held = &holding->held;
	char *path = launch_find(argv[0], env), *folder = path_dir(held->path);
	char *log = xasprintf("%s/scheduler.log", folder);
	struct strv call = STRV_INIT;
	int ret;

	strv_add(&call, path ? path : "");
	strv_add_all(&call, argv + 1);
	if (!path)
		ret = err_set(err, ERR_INFRA, "there is no program \"%.100s\"", argv[0]);
	else
		ret = scheduler_start(holding->root, strv_argv(&call), log, &held->scheduler, err);
	if (!ret) {
		held->scheduler_argv = json_array();
		for (size_t i = 0; i < argv_count(argv); i++)
			js_add_text(held->scheduler_argv, argv[i]);
	}
	strv_release(&call);
	free(path);
	free(folder);
	free(log);
	return ret;
}

static json_t *start_scheduler(struct holding *holding, const char *const *argv)
{
	const struct held *held = &holding->held;
	struct err why = ERR_INIT;
	json_t *o, *seen;

	if (!argv_count(argv))
		return json_null();
	if (!held->scheduler_argv)
		(void)!try_scheduler(holding, argv, &why); /* is in the report */
	else if (!same_argv(held->scheduler_argv, argv))
		(void)err_set(&why, ERR_INFRA, "the one before it cannot be stopped");
	seen = scheduler_look(holding->root);
	o = json_object();
	js_text(o, "ops", json_string_value(json_object_get(seen, "ops")));
	put_error(o, &why);
	json_decref(seen);
	return o;
}

static json_t *wishes_json(const struct holding *holding)
{
	json_t *list = json_array();

	for (size_t i = 0; i < holding->count; i++) {
		const struct wish *wish = &holding->wishes[i];
		json_t *o = json_object();

		js_text(o, "key", wish->key);
		js_text(o, "before", wish->before.len ? wish->before.text : NULL);
		js_text(o, "after", wish->after.len ? wish->after.text : NULL);
		put_error(o, &wish->err);
		(void)json_array_append_new(list, o);
	}
	return list;
}

static void write_report(const struct holding *holding, json_t *scheduler, json_t *report)
{
	struct str features = STR_INIT;

	js_set(report, "held", wishes_json(holding));
	js_set(report, "left", json_incref(holding->left));
	js_set(report, "scheduler", scheduler);
	js_text(report, "features",
		knobs_features(holding->root, &features) ? features.text : NULL);
	str_release(&features);
}

/* Originals are on the disk before anything is changed, and until it has been put back. */
static int change(
	struct holding *holding, const char *const *scheduler, json_t *report, struct err *err)
{
	json_t *started;
	int ret;

	stop_scheduler(holding, scheduler);
	put_back(holding);
	for (size_t i = 0; i < holding->count; i++)
		save_originals(holding, &holding->wishes[i]);
	ret = held_write(&holding->held, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < holding->count; i++)
		apply(holding, &holding->wishes[i]);
	started = start_scheduler(holding, scheduler);
	ret = held_write(&holding->held, err);
	write_report(holding, started, report);
	return ret;
}

static void release(struct holding *holding)
{
	for (size_t i = 0; i < holding->count; i++) {
		free(holding->wishes[i].key);
		tunable_release(&holding->wishes[i].tunable);
		str_release(&holding->wishes[i].before);
		str_release(&holding->wishes[i].after);
	}
	free(holding->wishes);
	json_decref(holding->left);
	held_release(&holding->held);
}

int hold(const char *root, const char *path, const char *const *items, const char *const *scheduler,
	json_t **report, struct err *err)
{
	struct holding holding = {.root = root, .left = json_array()};
	int ret = held_read(root, path, &holding.held, err);

	*report = json_object();
	if (!ret)
		ret = read_wishes(&holding, items, err);
	if (!ret)
		ret = change(&holding, scheduler, *report, err);
	release(&holding);
	return ret;
}
