/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_ROWS_H
#define KB_MODEL_STORE_ROWS_H

#include "base/base.h"

#include "stat/verdict.h"
#include "model/run_kind.h"
#include "model/store.h"

/* Single runs, samples and files, for show, export and reread; and verdicts. Text in rows given to
 * a callback is borrowed during the call. Callbacks: 0 goes on, anything else ends the walk and is
 * what the walk returns. */

/* What a comparison of a row counts for, and how its kernel was started. */
struct store_marks {
	const char *control_of; /* the variant that this one is another label of; "" */
	bool control;		/* its suite is a canary */
	bool decides;		/* its condition is of the headline set */
	const char *against;	/* the variant's baseline; "" it is compared with nothing */
	const char *layout_of;	/* the variant that this one is in another code layout; "" */
	const char *start;	/* of its boot: kexec, cold; "" in none of these ways */
};

/* One sample with everything that says where it is from. */
struct store_sample_row {
	const char *machine, *variant;
	int boot, block;
	const char *suite, *condition;
	double saturation_pct;
	int64_t workers, cpus;
	const char *metric, *unit;
	bool lower_is_better;
	struct store_marks marks;
	enum run_kind kind;
	int run; /* ordinal within boot, condition and kind */
	int attempt_try;
	int64_t run_id;
	int64_t started_ns;
	const char *flags; /* reasons, joined by a space; "" */
	int ordinal;
	double value;
	int64_t observations; /* that a percentile or mean is of; 0: not told */
	double percentile;    /* that the metric is; NaN: none */
	bool pooled;	      /* the sample is an observation, or so many of it */
};
typedef int store_sample_fn(void *arg, const struct store_sample_row *row);
/* Every sample of the reading that counts, but not those of runs under counters, in order of
 * machine, boot, position, metric, ordinal. */
KB_MUST_CHECK int store_each_sample(struct store *store, int64_t experiment_id, store_sample_fn *fn,
	void *arg, struct err *err);

/* One imported boot mean. */
struct store_mean_row {
	const char *machine, *variant;
	int boot, block;
	const char *suite, *condition;
	double saturation_pct;
	int64_t workers, cpus;
	const char *metric, *unit;
	bool lower_is_better;
	struct store_marks marks;
	int64_t runs;
	double mean, cv_pct; /* cv_pct NaN: not published */
};
typedef int store_mean_fn(void *arg, const struct store_mean_row *row);
KB_MUST_CHECK int store_each_mean(
	struct store *store, int64_t experiment_id, store_mean_fn *fn, void *arg, struct err *err);

/* One run, any state. Numbers that are not known are -1 (times: 0). */
struct store_run_row {
	int64_t id, boot_id, condition_id, attempt_id;
	const char *machine, *variant, *condition, *suite;
	int boot, block, position;
	double saturation_pct;
	int64_t workers, cpus;
	struct store_marks marks;
	enum run_kind kind;
	int ordinal, attempt_try;
	enum store_state state;
	const char *reason, *detail;
	const char *program, *program_sha256, *program_version, *program_built;
	/* "" when nothing served it */
	const char *server, *server_sha256, *server_version, *server_built;
	int64_t started_ns, ended_ns, wall_ns, exit_code, signal;
	int64_t user_ns, system_ns, max_rss_bytes, voluntary_switches, involuntary_switches;
	const char *environment; /* JSON; "" */
	const char *flags;	 /* "reason: detail" lines; "" */
	int reading;		 /* which reading of its output counts; 0: none */
};
typedef int store_run_fn(void *arg, const struct store_run_row *row);

struct store_run_filter {
	int64_t experiment_id, boot_id, run_id; /* 0: any */
	const char *suite;			/* NULL: any */
};
KB_MUST_CHECK int store_each_run(struct store *store, const struct store_run_filter *filter,
	store_run_fn *fn, void *arg, struct err *err);

struct store_value {
	int64_t metric_id;
	const char *metric, *unit;
	int reading, ordinal;
	double value;
	int64_t observations; /* that a percentile or mean is of; 0: not told */
};
/* The samples of one run, all readings. */
KB_MUST_CHECK int store_load_samples(struct store *store, int64_t run_id, struct arena *arena,
	struct store_value **out, size_t *count, struct err *err);

struct store_raw_row {
	const char *kind, *path, *sha256;
	int64_t bytes;
};
/* Files of a run, of an attempt or of a build: give one id, 0 for the others. */
KB_MUST_CHECK int store_load_raws(struct store *store, int64_t run_id, int64_t attempt_id,
	int64_t build_id, struct arena *arena, struct store_raw_row **out, size_t *count,
	struct err *err);
/* The unpacked content of a file, its SHA-256 checked. Appended to *out. */
struct str;
KB_MUST_CHECK int store_read_raw(
	struct store *store, const struct store_raw_row *raw, struct str *out, struct err *err);

/* What the samples of two variants say about one metric of one condition. NaN where there is no
 * number. Columns as in the schema. */
struct store_verdict {
	int64_t machine_id, condition_id, metric_id, variant_id, against_id;
	enum verdict_word word;
	const char *reason;
	int64_t further_boots;			/* per kernel; -1: not known */
	double effect, effect_low, effect_high; /* ln ratio */
	double se, df, p, q;
	const char *method;
	int64_t method_version;
	int64_t boots, runs, against_boots, against_runs;
	double mean, cv_pct, against_mean, against_cv_pct;
	double within_sd, between_sd;
	double drift, drift_expected; /* ratio - 1 */
	int64_t dropped, flagged;
	const char *word_kept; /* the verdict if dropped runs were kept; "" the same */
	int64_t family;
	bool headline;
	int look;	    /* that it was reached at, from 1; 0: the experiment has none */
	double level;	    /* p at that look is held to it; NaN: there are no looks */
	const char *layout; /* of a change: "held", "suspect", "open" in other code layouts; "" */
	int64_t observations, against_observations; /* behind a percentile; 0: not told, or none */
	double order_low, order_high, against_order_low, against_order_high;
};

/* Replaces all verdicts of the experiment. condition_id is not stored (the metric knows it). */
KB_MUST_CHECK int store_verdicts_replace(struct store *store, int64_t experiment_id,
	const struct store_verdict *verdicts, size_t count, const char *version, struct err *err);
/* In order of machine, condition position, metric position, variant position. */
KB_MUST_CHECK int store_verdicts_load(struct store *store, int64_t experiment_id,
	struct arena *arena, struct store_verdict **out, size_t *count, struct err *err);

#endif
