/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "model/store_db.h"
#include "model/store_rows.h"

/* Verdicts: derived rows that the judge drops and writes again. */

static int add_verdict(struct store *store, int64_t experiment_id, const struct store_verdict *v,
	int64_t now, const char *version, struct err *err)
{
	return db_run(store->db, err,
		"INSERT INTO verdict (experiment_id, machine_id, metric_id, variant_id, against_id,"
		" word, reason, further_boots, effect, effect_low, effect_high, se, df, p, q,"
		" method, method_version, boots, runs, against_boots, against_runs, mean, cv_pct,"
		" against_mean, against_cv_pct, within_sd, between_sd, drift, drift_expected,"
		" dropped, flagged, word_kept, family, headline, judged_ns, version, look, level,"
		" observations, against_observations, order_low, order_high, against_order_low,"
		" against_order_high, layout)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0),"
		" ?, ?, ?, ?, ?)",
		"iiiiittidddddddtiiiiiddddddddiitiiitidiiddddt", experiment_id, v->machine_id,
		v->metric_id, v->variant_id, v->against_id, verdict_word_name(v->word), v->reason,
		v->further_boots, v->effect, v->effect_low, v->effect_high, v->se, v->df, v->p,
		v->q, v->method, v->method_version, v->boots, v->runs, v->against_boots,
		v->against_runs, v->mean, v->cv_pct, v->against_mean, v->against_cv_pct,
		v->within_sd, v->between_sd, v->drift, v->drift_expected, v->dropped, v->flagged,
		v->word_kept, v->family, (int64_t)v->headline, now, version, (int64_t)v->look,
		v->look ? v->level : __builtin_nan(""), v->observations, v->against_observations,
		v->order_low, v->order_high, v->against_order_low, v->against_order_high,
		v->layout ? v->layout : "");
}

int store_verdicts_replace(struct store *store, int64_t experiment_id,
	const struct store_verdict *verdicts, size_t count, const char *version, struct err *err)
{
	int64_t now = clock_wall_ns();
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	ret = db_run(
		store->db, err, "DELETE FROM verdict WHERE experiment_id = ?", "i", experiment_id);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_verdict(store, experiment_id, &verdicts[i], now, version, err);
	return db_finish(store->db, ret, err);
}

static void read_verdict(struct arena *arena, struct db_rows *rows, struct store_verdict *out)
{
	*out = (struct store_verdict){
		.machine_id = db_int(rows, 0),
		.condition_id = db_int(rows, 1),
		.metric_id = db_int(rows, 2),
		.variant_id = db_int(rows, 3),
		.against_id = db_int(rows, 4),
		.word = (enum verdict_word)verdict_word_parse(db_text(rows, 5)),
		.reason = store_arena_text(arena, rows, 6),
		.further_boots = store_int_or(rows, 7, -1),
		.effect = db_double(rows, 8),
		.effect_low = db_double(rows, 9),
		.effect_high = db_double(rows, 10),
		.se = db_double(rows, 11),
		.df = db_double(rows, 12),
		.p = db_double(rows, 13),
		.q = db_double(rows, 14),
		.method = store_arena_text(arena, rows, 15),
		.method_version = db_int(rows, 16),
		.boots = db_int(rows, 17),
		.runs = db_int(rows, 18),
		.against_boots = db_int(rows, 19),
		.against_runs = db_int(rows, 20),
		.mean = db_double(rows, 21),
		.cv_pct = db_double(rows, 22),
		.against_mean = db_double(rows, 23),
		.against_cv_pct = db_double(rows, 24),
		.within_sd = db_double(rows, 25),
		.between_sd = db_double(rows, 26),
		.drift = db_double(rows, 27),
		.drift_expected = db_double(rows, 28),
		.dropped = db_int(rows, 29),
		.flagged = db_int(rows, 30),
		.word_kept = store_arena_text(arena, rows, 31),
		.family = db_int(rows, 32),
		.headline = db_int(rows, 33),
		.look = (int)db_int(rows, 34),
		.level = db_double(rows, 35),
		.observations = store_int_or(rows, 36, 0),
		.against_observations = store_int_or(rows, 37, 0),
		.order_low = db_double(rows, 38),
		.order_high = db_double(rows, 39),
		.against_order_low = db_double(rows, 40),
		.against_order_high = db_double(rows, 41),
		.layout = store_arena_text(arena, rows, 42),
	};
}

int store_verdicts_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_verdict **out, size_t *count, struct err *err)
{
	struct store_verdict *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT verdict.machine_id, condition.id, metric_id, variant_id,"
		" verdict.against_id, word, verdict.reason, further_boots, effect, effect_low,"
		" effect_high, se, df, p, q, method, method_version, boots, runs, against_boots,"
		" against_runs, mean, cv_pct, against_mean, against_cv_pct, within_sd, between_sd,"
		" drift, drift_expected, dropped, flagged, word_kept, family, headline, look,"
		" level, observations, against_observations, order_low, order_high,"
		" against_order_low, against_order_high, layout"
		" FROM verdict JOIN metric ON metric.id = metric_id"
		" JOIN condition ON condition.id = condition_id"
		" JOIN variant ON variant.id = variant_id"
		" WHERE verdict.experiment_id = ? ORDER BY verdict.machine_id, condition.position,"
		" metric.position, variant.position",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		read_verdict(arena, rows, &items[n++]);
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}
