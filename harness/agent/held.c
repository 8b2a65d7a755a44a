/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "agent/held.h"
#include "agent/js.h"
#include "agent/place.h"
#include "agent/probe.h"

enum { HELD_MAX_BYTES = 8 << 20 }; /* some switches for each of thousands of CPUs */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int damaged(const char *path, struct err *err)
{
	return err_set(err, ERR_INFRA,
		"%s, which holds what was changed on this machine, is damaged; put things right by "
		"hand (a restart does) and remove it",
		path);
}

static int take_entries(const json_t *object, struct held *held, struct err *err)
{
	const json_t *list = json_object_get(object, "entries");
	size_t i;
	json_t *entry;

	json_array_foreach(list, i, entry)
	{
		const struct switch_place place = {
			switch_kind_parse(text_of(entry, "kind")), text_of(entry, "at")};

		if (place.kind == SWITCH_KINDS || !switch_is_allowed(&place))
			return damaged(held->path, err);
		held_add(held, text_of(entry, "key"), &place, text_of(entry, "original"));
	}
	return 0;
}

static void take_scheduler(const json_t *object, struct held *held)
{
	const json_t *scheduler = json_object_get(object, "scheduler");

	held->scheduler.pid = (pid_t)json_integer_value(json_object_get(scheduler, "pid"));
	held->scheduler.started = json_integer_value(json_object_get(scheduler, "started"));
	held->scheduler_argv = json_incref(json_object_get(scheduler, "argv"));
}

static int parse(const struct str *text, struct held *held, struct err *err)
{
	json_t *object = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, NULL);
	int ret = 0;

	if (!json_is_object(object))
		ret = damaged(held->path, err);
	else if (strcmp(text_of(object, "boot_id"), held->boot_id) == 0) {
		ret = take_entries(object, held, err);
		take_scheduler(object, held);
	}
	json_decref(object);
	return ret;
}

static int check_folder(const char *path, struct err *err)
{
	char *folder = path_dir(path);
	int ret = path[0] == '/' ? place_check_folder(folder, err)
				 : err_set(err, ERR_USAGE, "%s is no absolute path", path);

	free(folder);
	return ret;
}

int held_read(const char *root, const char *path, struct held *held, struct err *err)
{
	struct str text = STR_INIT, boot_id = STR_INIT;
	int ret = check_folder(path, err);

	(void)probe_line(&boot_id, root, "/proc/sys/kernel/random/boot_id"); /* "" without it */
	*held = (struct held){.path = xstrdup(path), .boot_id = str_take(&boot_id)};
	if (!ret)
		ret = file_read(path, HELD_MAX_BYTES, &text, err);
	if (ret == ERR_NOT_FOUND)
		ret = err_set(err, ERR_NONE, "%s", "");
	else if (!ret)
		ret = parse(&text, held, err);
	str_release(&text);
	return ret;
}

static json_t *entries_json(const struct held *held)
{
	json_t *list = json_array();

	for (size_t i = 0; i < held->count; i++) {
		const struct held_entry *entry = &held->entries[i];
		json_t *o = json_object();

		js_text(o, "key", entry->key);
		js_text(o, "kind", switch_kind_name(entry->kind));
		js_text(o, "at", entry->at);
		js_text(o, "original", entry->original);
		(void)json_array_append_new(list, o);
	}
	return list;
}

json_t *held_json(const struct held *held)
{
	json_t *o = json_object(), *scheduler;

	js_text(o, "boot_id", held->boot_id);
	js_set(o, "entries", entries_json(held));
	if (held->scheduler_argv) {
		scheduler = json_object();
		js_int(scheduler, "pid", held->scheduler.pid);
		js_int(scheduler, "started", held->scheduler.started);
		js_set(scheduler, "argv", json_incref(held->scheduler_argv));
		js_set(o, "scheduler", scheduler);
	}
	return o;
}

int held_write(const struct held *held, struct err *err)
{
	struct str text = STR_INIT;
	json_t *o;
	int ret;

	if (!held->count && !held->scheduler_argv)
		return unlink(held->path) == 0 || errno == ENOENT
			       ? 0
			       : err_errno(err, ERR_INFRA, errno, "cannot remove %s", held->path);
	o = held_json(held);
	js_write(o, &text);
	ret = file_write_atomic(held->path, text.text, text.len, 0600, err);
	json_decref(o);
	str_release(&text);
	return ret;
}

const struct held_entry *held_find(const struct held *held, const struct switch_place *place)
{
	for (size_t i = 0; i < held->count; i++)
		if (held->entries[i].kind == place->kind &&
			strcmp(held->entries[i].at, place->at) == 0)
			return &held->entries[i];
	return NULL;
}

void held_add(
	struct held *held, const char *key, const struct switch_place *place, const char *original)
{
	if (held_find(held, place))
		return;
	GROW(held->entries, held->count, held->capacity);
	held->entries[held->count++] = (struct held_entry){
		xstrdup(key), place->kind, xstrdup(place->at), xstrdup(original)};
}

static void release_entry(struct held_entry *entry)
{
	free(entry->key);
	free(entry->at);
	free(entry->original);
}

void held_remove(struct held *held, size_t index)
{
	release_entry(&held->entries[index]);
	held->count--;
	memmove(held->entries + index, held->entries + index + 1,
		(held->count - index) * sizeof(*held->entries));
}

void held_release(struct held *held)
{
	for (size_t i = 0; i < held->count; i++)
		release_entry(&held->entries[i]);
	free(held->entries);
	free(held->path);
	free(held->boot_id);
	json_decref(held->scheduler_argv);
	*held = (struct held){.path = NULL};
}
