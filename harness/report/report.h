/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_REPORT_H
#define KB_REPORT_REPORT_H

#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/store_counter.h"
#include "model/store_rows.h"
#include "model/store_tally.h"
#include "model/store_view.h"
#include "model/suite_mean.h"
#include "report/layout.h"

/*
 * What a report tells, put together from plan rows and verdict rows. Nothing is computed here but
 * percentages from ln ratios; every form (text, JSON, ...) writes the same struct.
 */

/* One condition and metric. */
struct report_column {
	const struct store_condition *condition;
	const struct store_metric *metric;
	const struct store_verdict **cells; /* by variant position; NULL where there is none */
	size_t cell_count;
};

/* The columns that make one table: a metric of a suite's workload over its saturations. */
struct report_block {
	const struct store_machine *machine;
	const char *title; /* "hackbench/pairs: time" */
	const char *unit;
	bool lower_is_better;
	struct report_column *columns;
	size_t count, capacity;
};

enum report_note_kind {
	NOTE_NEXT,    /* what can be tried after a regression */
	NOTE_WARNING, /* something that may make the numbers mean less than they seem to */
	NOTE_BUILD,   /* a build that failed */
	NOTE_BOOT,    /* boots that failed */
	NOTE_SKIPPED, /* optional suites that were left out */
	NOTE_RUNS,    /* runs that failed, were left out, or are marked */
	NOTE_MERGED,  /* conditions that stand for others too */
	NOTE_CONFIG,  /* how the kernels' configurations differ */
};
const char *report_note_name(enum report_note_kind kind); /* "warning", ... */

struct report_note {
	enum report_note_kind kind;
	const char *text; /* one or two sentences; raw */
};

/* A boot's mean, for experiments in which nothing is compared: calibrations. */
struct report_mean {
	int64_t metric_id, boot_id, runs;
	double mean, cv_pct; /* cv_pct NaN below two runs */
};

/* How often each word is said in the headline set. */
struct report_count {
	int64_t words[VERDICT_INVALID + 1];
	int64_t missing; /* verdicts that there should be and are not */
};

struct report {
	struct arena *arena;
	struct store_view view;
	const char *subject; /* what the title adds to the experiment's name; "" */
	struct store_verdict *verdicts;
	size_t verdict_count;
	struct store_tally *tallies;
	size_t tally_count;
	struct report_block *blocks;
	size_t block_count, block_capacity;
	/* Geometric means, from the judge; report_load leaves them empty: the caller sets them. */
	const struct suite_mean *suites;
	size_t suite_count;
	struct store_counter_mean *counters; /* no part of any verdict */
	size_t counter_count;
	struct report_mean *means; /* of experiments without a comparison */
	size_t mean_count, mean_capacity;
	struct report_note *notes;
	size_t note_count, note_capacity;
	/* Comparisons of one kernel under two labels: those that could be tested, how many of them
	 * were called different, and those that could not. */
	int64_t control_tested, control_different, control_untested;
	struct report_count count;     /* over all machines */
	struct report_count *machines; /* of each, in the view's order */
	const char **parked;	       /* of each, why its boots were left; NULL: they were not */
};

/* Loads everything about an experiment into the arena. Verdicts are taken as they are stored. */
KB_MUST_CHECK int report_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct report *out, struct err *err);

/* The same for rows that are not stored: two variants of one experiment compared with each other.
 * The report holds these two only; rows are in the order that store_verdicts_load has. */
KB_MUST_CHECK int report_load_pair(struct store *store, const struct store_view *view,
	const struct store_variant *variant, const struct store_variant *against,
	struct store_verdict *rows, size_t count, struct arena *arena, struct report *out,
	struct err *err);

/* True when the verdict calls the two kernels different. */
bool report_moved(const struct store_verdict *verdict);

/* 100 * (e^x - 1): a ln ratio as a percentage; NaN stays NaN. */
double report_pct(double ln_ratio);

/* True when two blocks tell of the same metric of the same workload, on different machines or not.
 */
bool report_same_metric(const struct report_block *a, const struct report_block *b);

/* What the headline set says, for the exit code. */
enum report_outcome { OUTCOME_FINE, OUTCOME_REGRESSED, OUTCOME_OPEN };
enum report_outcome report_outcome(const struct report *report);
/* The same on one machine (an index). */
enum report_outcome report_outcome_on(const struct report *report, size_t machine);
const char *report_outcome_name(enum report_outcome outcome); /* "fine", "regressed", "open" */
/* True when something is open and builds or boots failed, a machine was parked, or runs failed by
 * no fault of theirs: infrastructure kept the answer from being known. */
bool report_infra_failed(const struct report *report);

/* The report for a terminal or a mail. */
void report_write_text(const struct report *report, const struct layout *layout, struct str *out);
/* What stands behind each verdict: method, boots and runs (variant and baseline), standard
 * deviations between and within boots, p and q. */
void report_write_numbers(
	const struct report *report, const struct layout *layout, struct str *out);

/* All of it as one JSON object; "schema" is raised when a member changes its meaning or goes. */
enum { REPORT_JSON_SCHEMA = 1 };
void report_write_json(const struct report *report, struct str *out);

#endif
