/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/sha256.h"
#include "model/store_db.h"
#include "model/store_rows.h"
#include "sys/compress.h"

/* More than this a packed file does not unpack to: suites limit their output far below. */
enum { MAX_RAW_BYTES = 1 << 30 };

static const char *text_or_empty(struct db_rows *rows, int column)
{
	const char *text = db_text(rows, column);

	return text ? text : "";
}

struct store_marks store_read_marks(struct db_rows *rows, int at)
{
	return (struct store_marks){
		text_or_empty(rows, at),
		db_int(rows, at + 1),
		db_int(rows, at + 2),
		text_or_empty(rows, at + 3),
		text_or_empty(rows, at + 4),
		text_or_empty(rows, at + 5),
	};
}

int store_each_sample(
	struct store *store, int64_t experiment_id, store_sample_fn *fn, void *arg, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT machine.name, variant.name, boot.ordinal, boot.block, suite.name,"
		" condition.name, saturation_pct, workers, cpus, metric.name, metric.unit,"
		" better = 'lower', run.kind, run.ordinal, try, run.id, run.started_ns,"
		" (SELECT group_concat(reason, ' ') FROM flag WHERE flag.run_id = run.id),"
		" sample.ordinal, value, sample.observations, percentile, "
		"pooled," STORE_MARK_COLUMNS " FROM boot"
		" CROSS JOIN run ON run.boot_id = boot.id"
		" CROSS JOIN sample ON sample.run_id = run.id AND sample.reading = run.reading"
		" CROSS JOIN metric ON metric.id = metric_id"
		" CROSS JOIN condition ON condition.id = run.condition_id"
		" CROSS JOIN suite ON suite.id = suite_id"
		" CROSS JOIN variant ON variant.id = boot.variant_id"
		" CROSS JOIN machine ON machine.id = boot.machine_id"
		" WHERE boot.experiment_id = ? AND run.kind <> 2"
		" ORDER BY boot.id, run.position, run.try, metric_id,"
		" sample.ordinal",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		const char *flags = db_text(rows, 17);
		struct store_sample_row row = {
			.machine = db_text(rows, 0),
			.variant = db_text(rows, 1),
			.boot = (int)db_int(rows, 2),
			.block = (int)db_int(rows, 3),
			.suite = db_text(rows, 4),
			.condition = db_text(rows, 5),
			.saturation_pct = db_double(rows, 6),
			.workers = db_int(rows, 7),
			.cpus = db_int(rows, 8),
			.metric = db_text(rows, 9),
			.unit = db_text(rows, 10),
			.lower_is_better = db_int(rows, 11),
			.kind = (enum run_kind)db_int(rows, 12),
			.run = (int)db_int(rows, 13),
			.attempt_try = (int)db_int(rows, 14),
			.run_id = db_int(rows, 15),
			.started_ns = store_int_or(rows, 16, 0),
			.flags = flags ? flags : "",
			.ordinal = (int)db_int(rows, 18),
			.value = db_double(rows, 19),
			.observations = store_int_or(rows, 20, 0),
			.percentile = db_double(rows, 21),
			.pooled = db_int(rows, 22),
			.marks = store_read_marks(rows, 23),
		};

		ret = fn(arg, &row);
		if (ret)
			break;
	}
	db_end(rows);
	return ret;
}

int store_each_mean(
	struct store *store, int64_t experiment_id, store_mean_fn *fn, void *arg, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT machine.name, variant.name, boot.ordinal, boot.block, suite.name,"
		" condition.name, saturation_pct, workers, cpus, metric.name, metric.unit,"
		" better = 'lower', runs, mean, boot_mean.cv_pct," STORE_MARK_COLUMNS " FROM boot"
		" JOIN boot_mean ON boot_mean.boot_id = boot.id"
		" JOIN metric ON metric.id = metric_id"
		" JOIN condition ON condition.id = condition_id"
		" JOIN suite ON suite.id = suite_id"
		" JOIN variant ON variant.id = boot.variant_id"
		" JOIN machine ON machine.id = boot.machine_id"
		" WHERE boot.experiment_id = ? ORDER BY boot.id, metric_id",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_mean_row row = {
			.machine = db_text(rows, 0),
			.variant = db_text(rows, 1),
			.boot = (int)db_int(rows, 2),
			.block = (int)db_int(rows, 3),
			.suite = db_text(rows, 4),
			.condition = db_text(rows, 5),
			.saturation_pct = db_double(rows, 6),
			.workers = db_int(rows, 7),
			.cpus = db_int(rows, 8),
			.metric = db_text(rows, 9),
			.unit = db_text(rows, 10),
			.lower_is_better = db_int(rows, 11),
			.runs = db_int(rows, 12),
			.mean = db_double(rows, 13),
			.cv_pct = db_double(rows, 14),
			.marks = store_read_marks(rows, 15),
		};

		ret = fn(arg, &row);
		if (ret)
			break;
	}
	db_end(rows);
	return ret;
}

static void read_run(struct db_rows *rows, struct store_run_row *out)
{
	*out = (struct store_run_row){
		.id = db_int(rows, 0),
		.boot_id = db_int(rows, 1),
		.condition_id = db_int(rows, 2),
		.attempt_id = store_int_or(rows, 3, 0),
		.machine = db_text(rows, 4),
		.variant = db_text(rows, 5),
		.condition = db_text(rows, 6),
		.suite = db_text(rows, 7),
		.boot = (int)db_int(rows, 8),
		.position = (int)db_int(rows, 9),
		.kind = (enum run_kind)db_int(rows, 10),
		.ordinal = (int)db_int(rows, 11),
		.attempt_try = (int)db_int(rows, 12),
		.state = store_state_parse(db_text(rows, 13)),
		.reason = db_text(rows, 14),
		.detail = db_text(rows, 15),
		.program = text_or_empty(rows, 16),
		.program_sha256 = text_or_empty(rows, 17),
		.program_version = text_or_empty(rows, 18),
		.started_ns = store_int_or(rows, 19, 0),
		.ended_ns = store_int_or(rows, 20, 0),
		.wall_ns = store_int_or(rows, 21, -1),
		.exit_code = store_int_or(rows, 22, -1),
		.signal = store_int_or(rows, 23, -1),
		.user_ns = store_int_or(rows, 24, -1),
		.system_ns = store_int_or(rows, 25, -1),
		.max_rss_bytes = store_int_or(rows, 26, -1),
		.voluntary_switches = store_int_or(rows, 27, -1),
		.involuntary_switches = store_int_or(rows, 28, -1),
		.environment = text_or_empty(rows, 29),
		.flags = text_or_empty(rows, 30),
		.reading = (int)db_int(rows, 31),
		.block = (int)db_int(rows, 32),
		.saturation_pct = db_double(rows, 33),
		.workers = db_int(rows, 34),
		.cpus = db_int(rows, 35),
		.server = text_or_empty(rows, 36),
		.server_sha256 = text_or_empty(rows, 37),
		.server_version = text_or_empty(rows, 38),
		.program_built = text_or_empty(rows, 39),
		.server_built = text_or_empty(rows, 40),
		.marks = store_read_marks(rows, 41),
	};
}

static int check_filtered(
	struct store *store, const struct store_run_filter *filter, struct err *err)
{
	int64_t experiment_id;
	int ret = db_get_int(store->db, &experiment_id, err,
		"SELECT coalesce(nullif(?1, 0),"
		" (SELECT experiment_id FROM boot WHERE id = ?2),"
		" (SELECT experiment_id FROM run JOIN boot ON boot.id = boot_id"
		"  WHERE run.id = ?3), 0)",
		"iii", filter->experiment_id, filter->boot_id, filter->run_id);

	return ret ? ret : store_check(store, experiment_id, err);
}

int store_each_run(struct store *store, const struct store_run_filter *filter, store_run_fn *fn,
	void *arg, struct err *err)
{
	struct db_rows *rows;
	int ret = check_filtered(store, filter, err);

	if (ret)
		return ret;
	ret = db_query(store->db, &rows, err,
		"SELECT run.id, run.boot_id, run.condition_id, run.attempt_id, machine.name,"
		" variant.name, condition.name, suite.name, boot.ordinal, run.position, run.kind,"
		" run.ordinal, try, run.state, run.reason, run.detail, program.name,"
		" program.sha256, program.version, started_ns, ended_ns, wall_ns, exit_code,"
		" signal, user_ns, system_ns, max_rss_bytes, voluntary_switches,"
		" involuntary_switches, environment.json,"
		" (SELECT group_concat(flag.reason || ': ' || flag.detail, char(10)) FROM flag"
		"  WHERE flag.run_id = run.id), reading, boot.block, saturation_pct, workers, cpus,"
		" server.name, server.sha256, server.version, program.built, "
		"server.built," STORE_MARK_COLUMNS " FROM boot JOIN run ON run.boot_id = boot.id"
		" JOIN condition ON condition.id = run.condition_id"
		" JOIN suite ON suite.id = suite_id"
		" JOIN variant ON variant.id = boot.variant_id"
		" JOIN machine ON machine.id = boot.machine_id"
		" LEFT JOIN program ON program.id = program_id"
		" LEFT JOIN program server ON server.id = server_id"
		" LEFT JOIN environment ON environment.run_id = run.id"
		" WHERE (?1 = 0 OR boot.experiment_id = ?1) AND (?2 = 0 OR boot.id = ?2)"
		" AND (?3 = 0 OR run.id = ?3) AND (?4 IS NULL OR suite.name = ?4)"
		" ORDER BY boot.id, run.position, try",
		"iiit", filter->experiment_id, filter->boot_id, filter->run_id, filter->suite);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_run_row row;

		read_run(rows, &row);
		ret = fn(arg, &row);
		if (ret)
			break;
	}
	db_end(rows);
	return ret;
}

int store_load_samples(struct store *store, int64_t run_id, struct arena *arena,
	struct store_value **out, size_t *count, struct err *err)
{
	struct store_value *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT metric_id, name, unit, reading, ordinal, value,"
		" coalesce(observations, 0) FROM sample JOIN metric ON metric.id = metric_id WHERE "
		"run_id = ?"
		" ORDER BY reading, metric.position, ordinal",
		"i", run_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_value){
			.metric_id = db_int(rows, 0),
			.metric = store_arena_text(arena, rows, 1),
			.unit = store_arena_text(arena, rows, 2),
			.reading = (int)db_int(rows, 3),
			.ordinal = (int)db_int(rows, 4),
			.value = db_double(rows, 5),
			.observations = db_int(rows, 6),
		};
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}

int store_load_raws(struct store *store, int64_t run_id, int64_t attempt_id, int64_t build_id,
	struct arena *arena, struct store_raw_row **out, size_t *count, struct err *err)
{
	struct store_raw_row *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT kind, path, sha256, bytes, id FROM raw WHERE run_id = ?1"
		" UNION ALL SELECT kind, path, sha256, bytes, id FROM raw WHERE attempt_id = ?2"
		" UNION ALL SELECT kind, path, sha256, bytes, id FROM raw WHERE build_id = ?3"
		" ORDER BY id",
		"iii", run_id, attempt_id, build_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = (struct store_raw_row){
			.kind = store_arena_text(arena, rows, 0),
			.path = store_arena_text(arena, rows, 1),
			.sha256 = store_arena_text(arena, rows, 2),
			.bytes = db_int(rows, 3),
		};
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}

int store_read_raw(
	struct store *store, const struct store_raw_row *raw, struct str *out, struct err *err)
{
	char *path = path_join(store->folder, raw->path);
	struct str packed = STR_INIT, content = STR_INIT;
	char sha256[SHA256_HEX_LEN + 1];
	int ret = file_read(path, MAX_RAW_BYTES, &packed, err);

	if (!ret)
		ret = compress_unpack(
			COMPRESS_ZSTD, packed.text, packed.len, MAX_RAW_BYTES, &content, err);
	if (!ret) {
		sha256_of(content.text, content.len, sha256);
		if (strcmp(sha256, raw->sha256))
			ret = err_set(err, ERR_INVALID,
				"its content is not what was stored: the SHA-256 differs");
	}
	if (ret)
		err_wrap(err, "%s", path);
	else
		str_add_bytes(out, content.text, content.len);
	str_release(&packed);
	str_release(&content);
	free(path);
	return ret;
}
