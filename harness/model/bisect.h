/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_BISECT_H
#define KB_MODEL_BISECT_H

#include "base/base.h"

#include "base/mem.h"
#include "model/opt.h"
#include "model/store.h"

/*
 * A bisect: what was asked for, the steps between good and bad, and what happened, in order. The
 * events are its state: everything else is made from them again (judge/bisect_trail.h).
 */
enum bisect_axis { AXIS_COMMITS, AXIS_PATCHES, AXIS_CONFIGS, AXIS_FEATURES };
const char *bisect_axis_name(enum bisect_axis axis); /* "commits", ... */

/* What was asked for. bisect_opts reads it from a command line and from what is stored. */
struct bisect_spec {
	const char *good, *bad; /* refs as written; NULL: not of this axis */
	const char *machine, *condition, *metric;
	const char *kernels, *variant; /* file; whose recipe is taken for every step */
	const char *const *paths;
	const char *not_subject;
	bool merges, first_parent;
	const char *patches;	    /* a folder, or a file that lists patches */
	const char *const *configs; /* two fragments: of good, of bad */
	const char *features;	    /* scheduler features, separated by commas */
	double saturation_pct;
	int64_t confidence_pct, max_boots, runs, warmup, duration_ns, proof_boots;
	double max_hours;  /* 0: no bound */
	const char *check; /* command that says whether a build is to be tested; NULL */
};
extern const struct opt bisect_opts[];
/* The axis that a spec asks for; ERR_USAGE when it asks for none, for two, or lacks an end. */
KB_MUST_CHECK int bisect_spec_check(
	const struct bisect_spec *spec, enum bisect_axis *axis, struct err *err);
/* As YAML, freed by the caller; and back, in the arena. */
char *bisect_spec_dump(const struct bisect_spec *spec);
KB_MUST_CHECK int bisect_spec_read(
	struct arena *arena, const char *text, struct bisect_spec *out, struct err *err);

/* Position 0 is good. The listed ones follow, 1 to listed, oldest first; behind them what is only
 * tested: merges, a bad end that is not listed. */
struct bisect_step {
	const char *name; /* 40 hex digits, or what the step is called */
	const char *subject, *author;
	int64_t time_s;	    /* of the commit; 0: not a commit */
	const char *recipe; /* variant as JSON; "": the good one's with this commit as ref */
};

enum bisect_event_kind {
	EVENT_STAGE, /* text: the chain that is tested from here on (struct bisect_chain); other is
		      * 1 for one that is for a single commit (`--step`) */
	EVENT_BOOT,  /* of position; boot_id says how it went */
	EVENT_SKIP,  /* position cannot be tested: text says why */
	EVENT_GOOD,  /* the person says so of position */
	EVENT_BAD,
	EVENT_BUILT, /* position: text is what the code is (build.code_sha256, or the key); other:
			 seconds */
	EVENT_UNDO,  /* the event with number other counts no more */
	EVENT_PROOF, /* experiment_id compares, text says what */
	EVENT_NOTE,  /* text says what happened; other: so many boots may be made besides */
};
const char *bisect_event_name(enum bisect_event_kind kind); /* "boot", ... */
bool bisect_event_parse(const char *name, enum bisect_event_kind *kind);

struct bisect_event {
	int64_t number, time_ns; /* from 1 */
	enum bisect_event_kind kind;
	int position, other;
	int64_t boot_id, experiment_id; /* 0: none */
	const char *text;
	bool undone;
	/* Of a boot: how it stands, and the values of its measured runs that count. */
	enum store_state state;
	const char *reason;
	bool lost; /* the machine was lost in it: that says nothing about the kernel */
	double *values;
	size_t value_count;
};

/* Kernels to test, each with all that the one before has; members are the listed steps that come
 * with it. links[0] is the good one and has none. */
struct bisect_link {
	int position;
	int *members; /* positions, ascending */
	size_t count;
};
struct bisect_chain {
	struct bisect_link *links;
	size_t count;
};
/* As JSON text, freed by the caller; and back. ERR_INVALID when it is none for so many steps. */
char *bisect_chain_json(const struct bisect_chain *chain);
KB_MUST_CHECK int bisect_chain_read(struct arena *arena, const char *json, size_t step_count,
	struct bisect_chain *out, struct err *err);

struct bisect_record {
	int64_t experiment_id; /* 0: read from a log */
	const char *name;
	enum bisect_axis axis;
	struct bisect_spec spec;
	const char *machine, *condition, *metric, *unit;
	bool lower_is_better;
	const char *tree; /* repository; "" */
	struct bisect_step *steps;
	size_t step_count, listed;
	int bad;	   /* position of the bad end */
	bool unordered;	   /* boots do not stand in the order in which they were made */
	bool one_step;	   /* look at the chain for a single commit; set by the caller */
	int64_t max_boots; /* with what was given since */
	int64_t since_ns;  /* when it began, or was given more */
	struct bisect_event *events;
	size_t event_count;
};

/* What the events show: what the judge makes of a record, and reports tell. */
enum bisect_word {
	FOUND_SEARCHING, /* next says what is to be measured */
	FOUND_CULPRIT,	 /* one step */
	FOUND_RANGE,	 /* steps that cannot be told apart */
	FOUND_SEVERAL,	 /* more than one change */
	FOUND_NONE,	 /* bad is not worse than good */
	FOUND_UNDECIDED, /* the bounds came first */
};
const char *bisect_word_name(enum bisect_word word); /* "searching", "culprit", ... */

struct bisect_finding {
	enum bisect_word word;
	const int *suspects; /* positions, ascending: the culprit, or what cannot be told apart */
	size_t suspect_count;
	double probability;	      /* of the suspects together */
	const double *posterior;      /* by position */
	double none;		      /* probability that nothing changed */
	double improved;	      /* of NONE: probability that bad is better than good */
	double good_level, bad_level; /* of the metric; NaN: not known */
	/* 95 % intervals of these, low and high; and the noise that goes with them, as shares: of
	 * the runs of a boot, of boots beyond that, and how many boots come up elsewhere. */
	double good_interval[2], bad_interval[2], within, between, outlying;
	int next; /* FOUND_SEARCHING: the position to boot */
	int64_t next_runs;
	const char *why;	     /* one clause on that choice, or on the end; "" */
	int64_t boots, runs, builds; /* that count */
	/* Of SEARCHING and UNDECIDED: about what it takes until it is decided; 0: cannot be told.
	 */
	int64_t boots_left;
	double seconds_left;
	int lost_end; /* position of an end that cannot be tested, so that nothing can be decided;
		       * -1: none */
	bool splits;  /* the suspects lie on several branches: a chain through them tells more */
	int split_good, split_bad; /* positions of its ends */
};

/* Index of the newest event of that kind that counts, or -1. */
int bisect_last(const struct bisect_record *record, enum bisect_event_kind kind);
/* The newest stage that counts, or -1. */
int bisect_stage(const struct bisect_record *record);
/* Why a position cannot be tested, or NULL. */
const char *bisect_skipped(const struct bisect_record *record, int position);
/* The step that a person means: a number, or the start of a name that is not ambiguous. ERR_USAGE.
 */
KB_MUST_CHECK int bisect_step_find(
	const struct bisect_record *record, const char *text, int *position, struct err *err);
/* After reading: sets undone in all events that an undo names, adds up what it may take, and finds
 * the bad end. ERR_INVALID when a stage is no chain. */
KB_MUST_CHECK int bisect_record_finish(
	struct bisect_record *record, struct arena *arena, struct err *err);

#endif
