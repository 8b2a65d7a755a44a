/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "model/store_db.h"
#include "model/store_result.h"

/* Times and counters that are not known are NULL. */
static int set_run(struct store *store, const struct store_run_end *end, struct err *err)
{
	int ret = db_run(store->db, err,
		"UPDATE run SET state = ?, reason = ?, detail = ?, attempt_id = ?,"
		" program_id = nullif(?, 0), server_id = nullif(?, 0), started_ns = nullif(?, 0), "
		"ended_ns = nullif(?, 0),"
		" wall_ns = nullif(?, -1), exit_code = nullif(?, -1), signal = nullif(?, -1),"
		" user_ns = nullif(?, -1), system_ns = nullif(?, -1),"
		" max_rss_bytes = nullif(?, -1), voluntary_switches = nullif(?, -1),"
		" involuntary_switches = nullif(?, -1), reading = ?,"
		" stored_ns = ? WHERE id = ? AND state = 'started'",
		"tttiiiiiiiiiiiiiiii", end->reason ? "failed" : "done",
		end->reason ? end->reason : "", end->detail ? end->detail : "", end->attempt_id,
		end->program_id, end->server_id, end->started_ns, end->ended_ns, end->wall_ns,
		end->exit_code, end->signal, end->user_ns, end->system_ns, end->max_rss_bytes,
		end->voluntary_switches, end->involuntary_switches,
		(int64_t)(end->sample_count + end->counter_count > 0), clock_wall_ns(),
		end->run_id);

	return ret ? ret : store_moved(store, "run", end->run_id, err);
}

static int add_samples(struct store *store, int64_t run_id, int64_t reading,
	const struct store_sample *samples, size_t count, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = db_run(store->db, err,
			"INSERT INTO sample (run_id, reading, metric_id, ordinal, value,"
			" observations) VALUES (?, ?, ?, ?, ?, nullif(?, 0))",
			"iiiidi", run_id, reading, samples[i].metric_id,
			(int64_t)samples[i].ordinal, samples[i].value, samples[i].observations);
	return ret;
}

static int add_flags(struct store *store, const struct store_run_end *end, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < end->flag_count && !ret; i++)
		ret = db_run(store->db, err,
			"INSERT INTO flag (run_id, reason, detail) VALUES (?, ?, ?)", "itt",
			end->run_id, end->flags[i].reason, end->flags[i].detail);
	return ret;
}

int store_run_finish(struct store *store, const struct store_run_end *end, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	ret = set_run(store, end, err);
	if (!ret && end->environment)
		ret = db_run(store->db, err, "INSERT INTO environment VALUES (?, ?)", "it",
			end->run_id, end->environment);
	if (!ret)
		ret = add_samples(store, end->run_id, 1, end->samples, end->sample_count, err);
	if (!ret)
		ret = store_add_counters(
			store, end->run_id, 1, end->counters, end->counter_count, err);
	if (!ret)
		ret = add_flags(store, end, err);
	if (!ret)
		ret = store_add_raws(store, "run_id", end->run_id, end->raws, end->raw_count, err);
	return db_finish(store->db, ret, err);
}

static int add_reading(
	struct store *store, int64_t run_id, const struct store_reading *reading, struct err *err)
{
	const char *reason = reading->reason, *detail = reading->detail;
	int64_t number;
	int ret = db_get_int(store->db, &number, err,
		"SELECT 1 + max(reading, coalesce((SELECT max(reading) FROM sample"
		" WHERE run_id = ?1), 0), coalesce((SELECT max(reading) FROM counter"
		" WHERE run_id = ?1), 0)) FROM run WHERE id = ?1",
		"i", run_id);

	if (!ret)
		ret = db_run(store->db, err,
			"UPDATE run SET state = ?, reason = ?, detail = ?, reading = ? WHERE id = ?"
			" AND state IN ('done', 'failed')",
			"tttii", reason ? "failed" : "done", reason ? reason : "",
			detail ? detail : "", reason ? 0 : number, run_id);
	if (!ret)
		ret = store_moved(store, "run", run_id, err);
	if (!ret)
		ret = add_samples(
			store, run_id, number, reading->samples, reading->sample_count, err);
	return ret ? ret
		   : store_add_counters(
			     store, run_id, number, reading->counters, reading->counter_count, err);
}

int store_reading_add(
	struct store *store, int64_t run_id, const struct store_reading *reading, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	return db_finish(store->db, add_reading(store, run_id, reading, err), err);
}

int store_program(
	struct store *store, const struct store_binary *binary, int64_t *id, struct err *err)
{
	int ret = db_run(store->db, err,
		"INSERT OR IGNORE INTO program (name, sha256, version, built) VALUES (?, ?, ?, ?)",
		"tttt", binary->name, binary->sha256, binary->version, binary->built);

	if (ret)
		return ret;
	return db_get_int(store->db, id, err,
		"SELECT id FROM program WHERE name = ? AND sha256 = ? AND version = ?", "ttt",
		binary->name, binary->sha256, binary->version);
}

int store_event(struct store *store, int64_t experiment_id, int64_t boot_id, const char *kind,
	const char *text, struct err *err)
{
	return db_run(store->db, err,
		"INSERT INTO event (experiment_id, boot_id, time_ns, kind, text)"
		" VALUES (?, nullif(?, 0), ?, ?, ?)",
		"iiitt", experiment_id, boot_id, clock_wall_ns(), kind, text);
}
