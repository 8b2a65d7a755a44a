/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "model/store_bisect.h"
#include "model/store_db.h"

static int add_step(struct store *store, int64_t experiment_id, size_t position,
	const struct bisect_step *step, struct err *err)
{
	return db_run(store->db, err,
		"INSERT INTO bisect_step (experiment_id, position, name, subject, author, time_s,"
		" recipe) VALUES (?, ?, ?, ?, ?, ?, ?)",
		"iitttit", experiment_id, (int64_t)position, step->name, step->subject,
		step->author, step->time_s, step->recipe);
}

static int find_metric(
	struct store *store, const struct store_bisect_new *what, int64_t *id, struct err *err)
{
	int ret = db_get_int(store->db, id, err,
		"SELECT metric.id FROM metric JOIN condition ON condition.id = condition_id"
		" WHERE experiment_id = ? AND condition.name = ? AND metric.name = ?",
		"itt", what->experiment_id, what->condition, what->metric);

	if (ret != ERR_NOT_FOUND)
		return ret;
	return err_set(
		err, ERR_USAGE, "there is no metric '%s' of '%s'", what->metric, what->condition);
}

static int create(struct store *store, const struct store_bisect_new *what, struct err *err)
{
	int64_t metric_id;
	int ret = find_metric(store, what, &metric_id, err);

	if (!ret)
		ret = db_run(store->db, err,
			"INSERT INTO bisect (experiment_id, axis, spec, tree, metric_id, listed)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			"itttii", what->experiment_id, bisect_axis_name(what->axis), what->spec,
			what->tree, metric_id, (int64_t)what->listed);
	for (size_t i = 0; i < what->step_count && !ret; i++)
		ret = add_step(store, what->experiment_id, i, &what->steps[i], err);
	return ret;
}

int store_bisect_create(struct store *store, const struct store_bisect_new *what, struct err *err)
{
	int ret = db_begin(store->db, err);

	return ret ? ret : db_finish(store->db, create(store, what, err), err);
}

static int add_next_step(struct store *store, int64_t experiment_id, const struct bisect_step *step,
	int64_t *position, struct err *err)
{
	int ret = db_get_int(store->db, position, err,
		"SELECT 1 + max(position) FROM bisect_step WHERE experiment_id = ?", "i",
		experiment_id);

	return ret ? ret : add_step(store, experiment_id, (size_t)*position, step, err);
}

int store_bisect_add_step(struct store *store, int64_t experiment_id,
	const struct bisect_step *step, int *position, struct err *err)
{
	int64_t next;
	int ret = db_begin(store->db, err);

	if (!ret)
		ret = db_finish(
			store->db, add_next_step(store, experiment_id, step, &next, err), err);
	if (!ret)
		*position = (int)next;
	return ret;
}

int store_bisect_event(struct store *store, int64_t experiment_id, const struct bisect_event *event,
	struct err *err)
{
	return db_run(store->db, err,
		"INSERT INTO bisect_event (experiment_id, number, time_ns, kind, position, other,"
		" boot_id, proof_id, text) VALUES (?1, 1 + coalesce((SELECT max(number) FROM"
		" bisect_event WHERE experiment_id = ?1), 0), ?2, ?3, ?4, ?5, nullif(?6, 0),"
		" nullif(?7, 0), ?8)",
		"iitiiiit", experiment_id, clock_wall_ns(), bisect_event_name(event->kind),
		(int64_t)event->position, (int64_t)event->other, event->boot_id,
		event->experiment_id, event->text ? event->text : "");
}

int store_bisect_newest_boot(
	struct store *store, int64_t experiment_id, int64_t *boot_id, struct err *err)
{
	return db_get_int(store->db, boot_id, err,
		"SELECT id FROM boot WHERE experiment_id = ? ORDER BY ordinal DESC LIMIT 1", "i",
		experiment_id);
}

int store_bisect_of(struct store *store, int64_t experiment_id, int64_t *bisect_id, struct err *err)
{
	return db_get_int(store->db, bisect_id, err,
		"SELECT coalesce((SELECT experiment_id FROM bisect WHERE experiment_id = ?1),"
		" (SELECT max(experiment_id) FROM bisect_event WHERE proof_id = ?1), 0)",
		"i", experiment_id);
}

int store_bisect_is(struct store *store, int64_t experiment_id, bool *is, struct err *err)
{
	int64_t count;
	int ret = db_get_int(store->db, &count, err,
		"SELECT count(*) FROM bisect WHERE experiment_id = ?", "i", experiment_id);

	*is = !ret && count;
	return ret;
}

int store_bisect_find(
	struct store *store, const char *name_or_id, int64_t *experiment_id, struct err *err)
{
	bool is;
	int ret;

	if (!name_or_id) {
		ret = db_get_int(store->db, experiment_id, err,
			"SELECT max(experiment_id) FROM bisect HAVING count(*) > 0", "");
		return ret == ERR_NOT_FOUND
			       ? err_set(err, ret, "there is no bisect in this database")
			       : ret;
	}
	ret = store_find(store, name_or_id, experiment_id, err);
	if (!ret)
		ret = store_bisect_is(store, *experiment_id, &is, err);
	if (!ret && !is)
		ret = err_set(err, ERR_NOT_FOUND, "experiment %lld is no bisect",
			(long long)*experiment_id);
	return ret;
}
