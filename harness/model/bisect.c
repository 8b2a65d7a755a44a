/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdlib.h>

#include "base/num.h"
#include "model/bisect.h"
#include "sys/json.h"
#include "sys/json_put.h"

enum { CHAIN_MAX_BYTES = 4 << 20 };

static const char *const event_names[] = {[EVENT_STAGE] = "stage",
	[EVENT_BOOT] = "boot",
	[EVENT_SKIP] = "skip",
	[EVENT_GOOD] = "good",
	[EVENT_BAD] = "bad",
	[EVENT_BUILT] = "built",
	[EVENT_UNDO] = "undo",
	[EVENT_PROOF] = "proof",
	[EVENT_NOTE] = "note"};

const char *bisect_event_name(enum bisect_event_kind kind)
{
	return event_names[kind];
}

bool bisect_event_parse(const char *name, enum bisect_event_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_names); i++)
		if (strcmp(event_names[i], name) == 0) {
			*kind = (enum bisect_event_kind)i;
			return true;
		}
	return false;
}

const char *bisect_word_name(enum bisect_word word)
{
	static const char *const names[] = {[FOUND_SEARCHING] = "searching",
		[FOUND_CULPRIT] = "culprit",
		[FOUND_RANGE] = "range",
		[FOUND_SEVERAL] = "several",
		[FOUND_NONE] = "none",
		[FOUND_UNDECIDED] = "undecided"};

	return names[word];
}

int bisect_last(const struct bisect_record *record, enum bisect_event_kind kind)
{
	for (size_t i = record->event_count; i-- > 0;)
		if (record->events[i].kind == kind && !record->events[i].undone)
			return (int)i;
	return -1;
}

int bisect_stage(const struct bisect_record *record)
{
	for (size_t i = record->event_count; i-- > 0;)
		if (record->events[i].kind == EVENT_STAGE && !record->events[i].undone &&
			record->events[i].other == record->one_step)
			return (int)i;
	return -1;
}

const char *bisect_skipped(const struct bisect_record *record, int position)
{
	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind == EVENT_SKIP && event->position == position && !event->undone)
			return event->text;
	}
	return NULL;
}

static void apply_undo(struct bisect_record *record)
{
	for (size_t i = record->event_count; i-- > 0;) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind != EVENT_UNDO || event->undone)
			continue;
		for (size_t k = 0; k < i; k++)
			if (record->events[k].number == event->other)
				record->events[k].undone = true;
	}
}

static int step_number(const struct bisect_record *record, const char *text)
{
	int64_t number;

	if (strlen(text) > 6 || num_int(text, 0, (int64_t)record->step_count - 1, &number, NULL))
		return -1;
	return (int)number;
}

int bisect_step_find(
	const struct bisect_record *record, const char *text, int *position, struct err *err)
{
	size_t len = strlen(text), found = SIZE_MAX, matches = 0;
	int number = step_number(record, text);

	for (size_t i = 0; i < record->step_count; i++)
		if (strcmp(record->steps[i].name, text) == 0) {
			*position = (int)i;
			return 0;
		}
	for (size_t i = 0; i < record->step_count && len >= 4; i++)
		if (strncmp(record->steps[i].name, text, len) == 0) {
			found = i;
			matches++;
		}
	if (matches == 1)
		number = (int)found;
	if (matches > 1)
		return err_set(err, ERR_USAGE, "\"%.60s\" is the start of %zu of the names", text,
			matches);
	if (number < 0)
		return err_set(err, ERR_USAGE,
			"\"%.60s\" is no step of this bisect: a commit of its list is wanted, by "
			"at "
			"least 4 digits, or a number from 1 to %zu",
			text, record->listed);
	*position = number;
	return 0;
}

char *bisect_chain_json(const struct bisect_chain *chain)
{
	json_t *list = json_array();
	struct str text = STR_INIT;

	for (size_t i = 0; i < chain->count; i++) {
		json_t *link = json_array();

		json_push(link, json_integer(chain->links[i].position));
		for (size_t k = 0; k < chain->links[i].count; k++)
			json_push(link, json_integer(chain->links[i].members[k]));
		json_push(list, link);
	}
	json_write(list, false, &text);
	json_decref(list);
	return str_take(&text);
}

/* -1 when it is no position. */
static int position_of(const json_t *item, size_t step_count)
{
	json_int_t value = json_is_integer(item) ? json_integer_value(item) : -1;

	return value >= 0 && (size_t)value < step_count ? (int)value : -1;
}

static bool read_link(
	struct arena *arena, const json_t *item, size_t step_count, struct bisect_link *out)
{
	size_t count = json_is_array(item) ? json_array_size(item) : 0;

	if (!count || count > step_count + 1)
		return false;
	out->members = arena_alloc(arena, count * sizeof(*out->members));
	out->position = position_of(json_array_get(item, 0), step_count);
	for (size_t i = 1; i < count; i++) {
		int member = position_of(json_array_get(item, i), step_count);

		if (member < 1)
			return false;
		out->members[out->count++] = member;
	}
	return out->position >= 0;
}

int bisect_chain_read(struct arena *arena, const char *json, size_t step_count,
	struct bisect_chain *out, struct err *err)
{
	struct bisect_chain chain = {0};
	json_t *list = NULL;
	int ret = json_parse(json, strlen(json), CHAIN_MAX_BYTES, &list, err);
	size_t count = json_is_array(list) ? json_array_size(list) : 0;
	bool good = !ret && count >= 2;

	if (good)
		chain.links = arena_alloc(arena, count * sizeof(*chain.links));
	for (; good && chain.count < count; chain.count++)
		good = read_link(arena, json_array_get(list, chain.count), step_count,
			&chain.links[chain.count]);
	json_decref(list);
	if (!good)
		return err_set(err, ERR_INVALID, "a stage of the bisect is no chain of its steps");
	*out = chain;
	return 0;
}

static void add_budget(struct bisect_record *record)
{
	record->max_boots = record->spec.max_boots;
	record->since_ns = record->event_count ? record->events[0].time_ns : 0;
	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind != EVENT_NOTE || event->undone || event->other <= 0)
			continue;
		record->max_boots += event->other;
		record->since_ns = event->time_ns;
	}
}

/* The first chain goes to the person's own bad end; without one the list does. */
int bisect_record_finish(struct bisect_record *record, struct arena *arena, struct err *err)
{
	struct bisect_chain chain;
	int ret = 0;

	record->bad = (int)record->listed;
	apply_undo(record);
	add_budget(record);
	for (size_t i = record->event_count; i-- > 0 && !ret;) {
		if (record->events[i].kind != EVENT_STAGE || record->events[i].other)
			continue;
		ret = bisect_chain_read(
			arena, record->events[i].text, record->step_count, &chain, err);
		if (!ret)
			record->bad = chain.links[chain.count - 1].position;
	}
	return ret;
}
