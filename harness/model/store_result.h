/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_RESULT_H
#define KB_MODEL_STORE_RESULT_H

#include "base/base.h"

#include "model/store_counter.h"
#include "model/store_plan.h"

/* What was seen. Rows of this kind are added, never changed. */

struct store_sample {
	int64_t metric_id;
	int ordinal; /* from 1, within the metric and run */
	double value;
	int64_t observations; /* that a percentile or mean is of; 0: not told */
};

struct store_flag {
	const char *reason; /* one of validity_reasons */
	const char *detail;
};

/* A finished run. Counters that are not known are -1. */
struct store_run_end {
	int64_t run_id, attempt_id;
	int64_t program_id; /* 0: not known */
	int64_t server_id;  /* of what served the program; 0: nothing */
	const char
		*reason; /* NULL: done; else exit, signal, timeout, output-limit, unparsable, ... */
	const char *detail;
	int64_t started_ns, ended_ns; /* wall clock of the machine */
	int64_t wall_ns;
	int64_t exit_code, signal;
	int64_t user_ns, system_ns, max_rss_bytes;
	int64_t voluntary_switches, involuntary_switches;
	const char *environment; /* JSON: before and after; NULL: none */
	const struct store_sample *samples;
	size_t sample_count;
	const struct store_counter *counters; /* of a run made for counting */
	size_t counter_count;
	const struct store_flag *flags;
	size_t flag_count;
	const struct store_raw *raws;
	size_t raw_count;
};

/* The run's end, its samples, flags and files in one transaction. A run that is not
 * started, or has ended already, is ERR_USAGE: nothing is ever stored twice. */
KB_MUST_CHECK int store_run_finish(
	struct store *store, const struct store_run_end *end, struct err *err);

/* Another reading of a run's old output (a mended suite). */
struct store_reading {
	const struct store_sample *samples;
	size_t sample_count;
	const struct store_counter *counters;
	size_t counter_count;
	const char *reason; /* NULL: done; else the run stays or becomes failed with it */
	const char *detail; /* may be NULL */
};

/* Its samples and counters become the ones that count; older readings stay. */
KB_MUST_CHECK int store_reading_add(
	struct store *store, int64_t run_id, const struct store_reading *reading, struct err *err);

/* A benchmark binary; all but its name may be "". */
struct store_binary {
	const char *name, *sha256, *version;
	const char *built; /* what its file says of compilers and options */
};

/* Kept once; *id is its row. */
KB_MUST_CHECK int store_program(
	struct store *store, const struct store_binary *binary, int64_t *id, struct err *err);

/* What happened between runs. boot_id 0: none. */
KB_MUST_CHECK int store_event(struct store *store, int64_t experiment_id, int64_t boot_id,
	const char *kind, const char *text, struct err *err);

/* One line of an imported table. Rows of one boot, condition or metric must agree. */
struct store_import_row {
	const char *machine, *variant;
	int boot, block; /* from 1 */
	const char *suite, *condition;
	double saturation_pct; /* 0: not by saturation */
	int64_t workers, cpus;
	const char *metric, *unit;
	bool lower_is_better;
	const char *control_of; /* the variant that this one is another label of; NULL or "" */
	const char *layout_of;	/* the variant that this one is in another code layout; the same */
	const char *against;	/* its baseline, where the rows say it; NULL or "": none */
	bool control;		/* its suite is a canary */
	bool undeciding;	/* its condition is not of the headline set; nor is a canary */
	const char *start; /* of its boot: kexec, cold; NULL or "" otherwise, or not known */
	int64_t run; /* from 1; 0: the value is the boot's mean, of `runs` runs with CV cv_pct */
	bool warmup;
	const char *flags; /* reasons of the validity ledger, joined by a space; "" */
	int ordinal;	   /* of the sample in the run, from 1 */
	double value;
	int64_t observations; /* behind a sample; 0: not told */
	double percentile;    /* that the metric is; 0: none */
	bool pooled;	      /* samples are observations, of which it is taken */
	int64_t runs;
	double cv_pct;	     /* NaN: not published */
	const char *counter; /* NULL: a sample. Else metric is ""; value NaN where flags, being its
				reason, says why */
	double total, counted_pct;
};

struct store_import {
	const char *name, *about;
	const char *const *variants; /* in order, the first is the baseline; NULL-ended */
	double margin_pct, alpha_pct;
	const char *version;
	const struct store_import_row *rows;
	size_t count;
	bool has_against; /* each is compared with what its rows say, else with the first; those
			     with layout_of always with what they say */
};

/* Published or foreign measurements as an experiment of kind import, all or nothing. Either all
 * rows have runs or none has. ERR_USAGE names the row (from 1) that does not fit. */
KB_MUST_CHECK int store_import(struct store *store, const struct store_import *what,
	int64_t *experiment_id, struct err *err);

/* Deletes all rows of an experiment but builds, programs, suites and facts that others use, and
 * returns the raw paths that nothing names any more (for the caller to remove after the commit).
 * For `kbracket prune` only. */
KB_MUST_CHECK int store_prune(struct store *store, int64_t experiment_id, struct arena *arena,
	const char ***paths, size_t *count, struct err *err);

#endif
