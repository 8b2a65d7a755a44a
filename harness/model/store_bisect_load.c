/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_bisect.h"
#include "model/store_db.h"

/* What is needed to read a bisect's rows. */
struct loading {
	struct store *store;
	struct arena *arena;
	struct bisect_record *record;
	int64_t metric_id;
};

static enum bisect_axis axis_of(const char *name)
{
	for (int i = AXIS_COMMITS; i <= AXIS_FEATURES; i++)
		if (strcmp(bisect_axis_name((enum bisect_axis)i), name) == 0)
			return (enum bisect_axis)i;
	BUG("no such axis: %s", name); /* the schema knows no other */
}

static int load_head(struct loading *l, struct err *err)
{
	struct bisect_record *record = l->record;
	const char *spec = "";
	struct db_rows *rows;
	int ret = db_query(l->store->db, &rows, err,
		"SELECT experiment.name, axis, bisect.spec, tree, metric_id, listed, machine.name,"
		" condition.name, metric.name, metric.unit, metric.better FROM bisect"
		" JOIN experiment ON experiment.id = bisect.experiment_id"
		" JOIN metric ON metric.id = metric_id"
		" JOIN condition ON condition.id = condition_id"
		" JOIN machine ON machine.id = machine_id WHERE bisect.experiment_id = ?",
		"i", record->experiment_id);

	if (ret)
		return ret;
	ret = db_next(rows, err);
	if (ret == 1) {
		record->name = store_arena_text(l->arena, rows, 0);
		record->axis = axis_of(db_text(rows, 1));
		spec = store_arena_text(l->arena, rows, 2);
		record->tree = store_arena_text(l->arena, rows, 3);
		l->metric_id = db_int(rows, 4);
		record->listed = (size_t)db_int(rows, 5);
		record->machine = store_arena_text(l->arena, rows, 6);
		record->condition = store_arena_text(l->arena, rows, 7);
		record->metric = store_arena_text(l->arena, rows, 8);
		record->unit = store_arena_text(l->arena, rows, 9);
		record->lower_is_better = !strcmp(db_text(rows, 10), "lower");
	}
	db_end(rows);
	if (ret == 0)
		return err_set(err, ERR_NOT_FOUND, "experiment %lld is no bisect",
			(long long)record->experiment_id);
	return ret < 0 ? ret : bisect_spec_read(l->arena, spec, &record->spec, err);
}

static int load_steps(struct loading *l, struct err *err)
{
	struct bisect_step *steps = NULL;
	size_t count = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(l->store->db, &rows, err,
		"SELECT name, subject, author, time_s, recipe FROM bisect_step"
		" WHERE experiment_id = ? ORDER BY position",
		"i", l->record->experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(steps, count, capacity);
		steps[count++] = (struct bisect_step){
			.name = store_arena_text(l->arena, rows, 0),
			.subject = store_arena_text(l->arena, rows, 1),
			.author = store_arena_text(l->arena, rows, 2),
			.time_s = db_int(rows, 3),
			.recipe = store_arena_text(l->arena, rows, 4),
		};
	}
	db_end(rows);
	l->record->steps = arena_copy(l->arena, steps, count, sizeof(*steps));
	l->record->step_count = count;
	free(steps);
	return ret;
}

static int read_event(struct loading *l, struct db_rows *rows, struct bisect_event *event)
{
	if (!bisect_event_parse(db_text(rows, 2), &event->kind))
		return ERR_INVALID;
	event->number = db_int(rows, 0);
	event->time_ns = db_int(rows, 1);
	event->position = (int)db_int(rows, 3);
	event->other = (int)db_int(rows, 4);
	event->boot_id = store_int_or(rows, 5, 0);
	event->experiment_id = store_int_or(rows, 6, 0);
	event->text = store_arena_text(l->arena, rows, 7);
	event->state = STATE_PLANNED;
	event->reason = "";
	if (event->boot_id) {
		event->state = store_state_parse(db_text(rows, 8));
		event->reason = store_arena_text(l->arena, rows, 9);
		event->lost = db_int(rows, 10) > 0;
	}
	return event->position < 0 || (size_t)event->position >= l->record->step_count ? ERR_INVALID
										       : 0;
}

static int load_events(struct loading *l, struct err *err)
{
	struct bisect_event *events = NULL;
	size_t count = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(l->store->db, &rows, err,
		"SELECT number, bisect_event.time_ns, bisect_event.kind, position, other,"
		" bisect_event.boot_id, proof_id, bisect_event.text, boot.state,"
		" trim(boot.reason || ' ' || boot.detail), (SELECT count(*) FROM event"
		"  WHERE event.boot_id = boot.id AND event.kind = 'lost') FROM bisect_event"
		" LEFT JOIN boot ON boot.id = bisect_event.boot_id"
		" WHERE bisect_event.experiment_id = ? ORDER BY number",
		"i", l->record->experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(events, count, capacity);
		events[count] = (struct bisect_event){0};
		if (read_event(l, rows, &events[count++]))
			break;
	}
	db_end(rows);
	l->record->events = arena_copy(l->arena, events, count, sizeof(*events));
	l->record->event_count = count;
	free(events);
	if (ret == 1)
		return err_set(err, ERR_INFRA,
			"the database %s is damaged: an event of the bisect does not fit its steps",
			db_path(l->store->db));
	return ret;
}

/* A run's value is the mean of what it printed; runs that policy leaves out do not count. */
static int load_values(struct loading *l, struct bisect_event *event, struct err *err)
{
	double *values = NULL;
	size_t count = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(l->store->db, &rows, err,
		"SELECT avg(value) FROM run JOIN sample ON run_id = run.id"
		" AND sample.reading = run.reading AND metric_id = ?1"
		" WHERE boot_id = ?2 AND kind = 0 AND state = 'done' AND NOT EXISTS"
		" (SELECT 1 FROM flag JOIN policy ON policy.reason = flag.reason"
		"  AND experiment_id = ?3 AND policy = 'drop' WHERE flag.run_id = run.id)"
		" GROUP BY run.id ORDER BY position, try",
		"iii", l->metric_id, event->boot_id, l->record->experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		double value = db_double(rows, 0);

		if (!(value > 0) || isinf(value))
			continue; /* has no logarithm */
		GROW(values, count, capacity);
		values[count++] = value;
	}
	db_end(rows);
	event->values = arena_copy(l->arena, values, count, sizeof(*values));
	event->value_count = count;
	free(values);
	return ret;
}

int store_bisect_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct bisect_record *out, struct err *err)
{
	struct loading l = {store, arena, out, 0};
	int ret;

	*out = (struct bisect_record){.experiment_id = experiment_id};
	ret = load_head(&l, err);
	if (!ret)
		ret = load_steps(&l, err);
	if (!ret)
		ret = load_events(&l, err);
	for (size_t i = 0; i < out->event_count && !ret; i++)
		if (out->events[i].boot_id && out->events[i].state == STATE_DONE)
			ret = load_values(&l, &out->events[i], err);
	return ret ? ret : bisect_record_finish(out, arena, err);
}
