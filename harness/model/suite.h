/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_SUITE_H
#define KB_MODEL_SUITE_H

#include "base/base.h"

#include "base/diag.h"
#include "base/mem.h"
#include "model/opt.h"
#include "model/pair.h"

/*
 * A suite: how a benchmark program is called and how its output is read; one suites/NAME.yaml.
 * All memory is the arena's.
 */
enum metric_better { BETTER_HIGHER, BETTER_LOWER };
enum metric_reader { READER_REGEX, READER_JSON, READER_CSV, READER_PERF };
enum metric_which { WHICH_ONLY, WHICH_FIRST, WHICH_LAST, WHICH_ALL, WHICH_SUM, WHICH_NTH };
/* Observations that are believed to be behind the values of one metric in one run: their sums over
 * many runs are counted in 64 bits. */
#define OBSERVATIONS_MAX INT64_C(1000000000000)
/* Groups of a regular expression that are looked at, the whole match included. */
enum { METRIC_GROUPS_MAX = 32 };

enum counter_threads { THREADS_SUITE, THREADS_ALL, THREADS_MAIN };
enum output_stream { STREAM_STDOUT, STREAM_STDERR, STREAM_BOTH };

struct metric_spec {
	const char *name;
	struct place place;
	const char *unit;
	enum metric_better better;
	enum metric_reader reader;
	const char *pattern; /* regex: the value is group "value" or group 1; json, csv: a path;
				perf: an event */
	const char *within;  /* regex: only its match is looked at, which must be there once; NULL:
				all of the output */
	double percentile;   /* that the value is, or that is taken of all values; 0: it is none */
	int64_t min_count;   /* observations that must be behind a value, regex group "count" */
	enum metric_which which; /* WHICH_ONLY: more than one match makes the run invalid */
	int64_t nth;		 /* WHICH_NTH, from 1 */
	enum output_stream from;
	double scale;  /* the value read is multiplied by this */
	bool optional; /* absent is fine; otherwise absent makes the run invalid */
	bool zero_ok;  /* 0 is a measurement; otherwise it makes the run invalid */
};

/* True when the values are the observations themselves, or a histogram of them (`count`), of which
 * the percentile is taken over all runs of a boot. */
bool metric_is_pooled(const struct metric_spec *metric);

/* A check on what the program itself printed: the text of the match must equal an expanded
 * template ("workers: {workers}"), else the run is invalid. */
struct echo_check {
	const char *pattern; /* regex with one group */
	const char *expect;  /* template */
	enum output_stream from;
};

struct condition_spec {
	const char *name;
	struct place place;
	const char *const *argv; /* templates; argv[0] is the program */
	bool by_saturation;	 /* one condition per saturation: {workers} or {saturation} is
				    used in argv or in the suite's env */
	struct pairs params;	 /* fixed parameters for templates, one set per condition_spec:
				    lists in the file are already multiplied out into the name,
				    "pairs.groups=4" */
	int64_t duration_ns;	 /* asked of the program as {seconds}; 0: fixed work */
	int64_t expect_ns;	 /* for the estimate: how long a run takes about */
	int64_t timeout_ns;
};

/* Commands, each a NULL-ended list of templates, or expanded. */
struct command_list {
	const char *const **items;
	size_t count;
};

struct suite {
	const char *name;
	struct place place;
	const char *text;   /* the suite as YAML, defaults filled in; reads back as the same */
	const char *sha256; /* of text */
	const char *about, *homepage;
	const char *program; /* name; found on the machine, or from the machine's programs: */
	const char *const *version; /* argv that prints its version; empty: not known how */
	bool optional;		    /* it is left out where the program is missing */
	bool native;		    /* one of our own workloads */
	bool control; /* a canary: its movement is drift, never part of the headline */
	int64_t tasks_per_worker;
	int64_t extra_tasks;	   /* runnable tasks besides the workers (messengers) */
	const char *tasks;	   /* template of their number, instead of these two; "" */
	bool on_second;		   /* start at a second's edge */
	struct pairs env;	   /* values are templates; LC_ALL=C is always set */
	struct pairs files;	   /* name in the run's folder, path on this host */
	struct pairs files_sha256; /* of those whose content is settled: name, 64 hex digits */
	struct command_list setup, teardown; /* before each run; after it */
	const char *const *server; /* argv of what runs beside the program; empty: nothing */
	const char *const *server_version; /* argv that prints the server's version, beginning with
					      what serves; empty: server[0], not known how */
	const char *const
		*ready;	    /* argv that exits with 0 once the server works; empty: not asked */
	int64_t ready_port; /* of 127.0.0.1, taken once the server works; 0: not asked */
	int64_t step_ns;    /* for each command, and for the server to be ready */
	const char *const *fail_if; /* regexes: a match in stdout or stderr makes the run invalid */
	struct echo_check *echoes;
	size_t echo_count;
	double tolerance_pct; /* of the run's wall time against duration, for timed suites; 0: none
			       */
	double overrun_pct;   /* the same for a run that lasted longer; 0: as tolerance_pct */
	int64_t duration_step_ns; /* durations are rounded up to a multiple of it; 0: any will do */
	int64_t output_bytes;	  /* limit of stdout and stderr each */
	const char *operations;	  /* what counts are divided by: a metric's name, or a template that
				     gives a number; "": counts are told per run */
	enum counter_threads counter_threads; /* whose events are counted; never THREADS_SUITE */
	int64_t duration_ns, expect_ns, timeout_ns; /* of conditions that do not say; 0: unset */
	struct condition_spec *conditions;
	size_t condition_count;
	struct metric_spec *metrics;
	size_t metric_count;
};

/* Every mistake goes to diag, then ERR_USAGE. */
KB_MUST_CHECK int suite_read(
	struct arena *arena, const char *path, struct suite *out, struct diag *diag);
/* The same from a mapping already read. */
KB_MUST_CHECK int suite_read_node(
	struct arena *arena, const struct ynode *node, struct suite *out, struct diag *diag);
/* As a mapping that suite_read_node reads back. New reference. */
json_t *suite_json(const struct suite *suite);
/* Gives every timed condition another duration, in whole steps; expectation and timeout move along.
 * The suite's text is made anew. */
void suite_set_duration(struct arena *arena, struct suite *suite, int64_t duration_ns);

/* Leaves the suite one of its conditions; its text is made anew. */
void suite_keep_condition(
	struct arena *arena, struct suite *suite, const struct condition_spec *condition);

/* Settles what the suite's files hold, as files_sha256; the suite's text is made anew. ERR_USAGE
 * when one is not there, or is not what the suite says it is. */
KB_MUST_CHECK int suite_pin_files(struct arena *arena, struct suite *suite, struct err *err);
/* What a file of a suite is called on machines, apart from those of other suites; the arena's. */
const char *suite_file_name(struct arena *arena, const struct suite *suite, const char *name);

extern const char *const suite_thread_names[]; /* of enum counter_threads, NULL-ended */
extern const struct opt suite_opts[];
extern const struct opt condition_opts[]; /* of each condition */
extern const struct opt metric_opts[];	  /* of each metric */
extern const struct opt echo_opts[];	  /* of each echo check */

/* A condition on a machine: what a run executes. */
struct condition {
	const struct suite *suite;
	const struct condition_spec *spec;
	char *name;	       /* "hackbench/pairs 31.25%": unique in an experiment */
	double saturation_pct; /* as asked; 0 when not by saturation */
	double effective_pct;  /* workers / cpus * 100 */
	int64_t workers;       /* 0 when not by saturation */
	int64_t tasks;	       /* runnable tasks: workers * tasks_per_worker + extra */
	int64_t cpus;
	const char *const *argv;	     /* expanded */
	const char *const *env;		     /* expanded NAME=VALUE */
	struct command_list setup, teardown; /* expanded, as the two after them */
	const char *const *server, *const *server_version, *const *ready;
	const char *const *expects; /* what each of suite->echoes must say, expanded */
	const char *operations;	    /* as the suite's, expanded */
	const char *merged; /* "50%" or "50%, 25%" when this also stands for saturations with as
			       many workers; NULL when not */
};

/* Workers for a saturation: round half up of cpus * pct / 100, at least 1. */
int64_t saturation_workers(int64_t cpus, double pct);

/* All conditions of a suite on a machine with that many CPUs, in file order, saturations in the
 * given order; those with equal workers are merged (the first stands for both, `merged` says so).
 */
KB_MUST_CHECK int suite_expand(struct arena *arena, const struct suite *suite, int64_t cpus,
	const double *saturations_pct, size_t saturation_count, struct condition **out,
	size_t *count, struct err *err);

#endif
