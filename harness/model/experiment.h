/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_EXPERIMENT_H
#define KB_MODEL_EXPERIMENT_H

#include "base/base.h"

#include "base/diag.h"
#include "base/mem.h"
#include "model/hook.h"
#include "model/machine.h"
#include "model/suite.h"
#include "model/validity.h"
#include "model/variant.h"

/*
 * One experiment: machines × variants × conditions × design, read from configs/NAME.yaml and the
 * files it names. Machines are configs/machines/NAME.yaml beside it, suites are NAME.yaml in the
 * suites folder of the lab (../suites), unless given as paths. All memory is the arena's.
 */
enum design_order {
	ORDER_BRACKETED,
	ORDER_SHUFFLED,
	ORDER_TOGGLE,	/* A B A inside one boot; see model/toggle.h */
	ORDER_ADAPTIVE, /* no boots at first: they are appended one by one (plan_extend) */
	ORDER_EXPLICIT
};

/* When an experiment has enough boots. */
enum design_until {
	UNTIL_BOOTS,   /* after those that boots: says */
	UNTIL_VERDICT, /* a look after every block, until all that decides is decided */
	UNTIL_WIDTH,   /* a look after every block, until the intervals are narrow enough */
};

struct design {
	enum design_order order;
	const char *const *explicit_order; /* variant names; ORDER_EXPLICIT */
	int64_t boots;			   /* of each variant; even for bracketed; with toggle,
					      starts of the kernel; 0 for an
					      explicit order, whose list says it, for an
					      adaptive one, and with until: */
	enum design_until until;
	double until_pct;  /* UNTIL_WIDTH: half of the 95 % interval's width */
	int64_t max_boots; /* with a look: of each variant at most, even; else 0 */
	int64_t runs;	   /* measured runs in a boot and condition */
	int64_t warmup;	   /* runs before them, per suite and boot */
	int64_t seed;
};

struct gates {
	double cv_pct;	  /* < 0: auto */
	double drift_pct; /* < 0: auto */
	double margin_pct;
	double alpha_pct;
};

/* What is counted, in runs of their own. */
struct counting {
	const char *const *events;    /* of perf stat */
	const char *const *functions; /* of the kernel: their calls */
	enum counter_threads threads; /* THREADS_SUITE: as each suite says */
	int64_t runs;		      /* in a boot and condition */
};

struct experiment {
	const char *name;
	struct place place;
	const char *about;
	struct machine_spec *machines;
	size_t machine_count;
	struct kernels kernels;
	const struct variant **variants; /* [0] is the baseline; against: baselines that were not
					    listed are added last */
	size_t variant_count;
	size_t listed_count; /* variants from here on are there only as another's baseline, or
				were made by layout_null */
	bool layout_null;    /* variants are compared with their baselines in other layouts, too */
	struct suite *suites;
	size_t suite_count;
	double *saturations_pct;
	size_t saturation_count;
	struct design design;
	struct gates gates;
	struct pairs policies; /* validity reason -> drop, flag, ignore */
	struct hook *hooks;
	size_t hook_count;
	const char *const *dmesg_allow; /* patterns of kernel warnings that mean nothing */
	const char *const *decide;	/* suites, or SUITE/CONDITION, that decide the exit code;
					   empty: all but controls */
	int64_t duration_ns;		/* overrides the suites' duration; 0: theirs */
	struct counting counting;
	int64_t profile_hz; /* every measured run is made under `perf record`, with so many samples
			       a second and CPU; 0: none is */
};

/* Reads the experiment and everything it names. Every mistake in every file goes to diag, then
 * ERR_USAGE. */
KB_MUST_CHECK int experiment_read(
	struct arena *arena, const char *path, struct experiment *out, struct diag *diag);
/* The same from text, such as experiment_dump wrote; name stands for the file in messages. */
KB_MUST_CHECK int experiment_read_text(struct arena *arena, const char *name, const char *text,
	size_t len, struct experiment *out, struct diag *diag);
/* The effective configuration as YAML that can be read back, defaults filled in, all files merged:
 * what is stored with the results. Freed by the caller. */
char *experiment_dump(const struct experiment *experiment);
/* Index of a variant by name, or -1. */
int experiment_variant_index(const struct experiment *experiment, const char *name);
/* Index of the variant that this one is compared with: what against: names, else 0. */
size_t experiment_baseline_of(const struct experiment *experiment, size_t variant);
/* True for a variant that is compared with another: listed, or another's layout. */
bool experiment_is_compared(const struct experiment *experiment, size_t variant);
/* Runs under counters in a boot and condition; 0: nothing is counted. */
int64_t experiment_counted_runs(const struct experiment *experiment);
/* What the experiment does with a run that carries the reason. */
enum flag_policy experiment_policy(const struct experiment *experiment, const char *reason);
/* True when the condition belongs to the headline set: named by decide:, or, without decide:, not
 * a control. */
bool experiment_decides(
	const struct experiment *experiment, const struct suite *suite, const char *condition_name);
/* How many looks the experiment has at most, one after every block; 0: its boots are fixed. */
int experiment_looks(const struct experiment *experiment);
/* "bracketed, 4 boots, 9 runs, 1 warm-up, seed 7"; freed by the caller. */
char *experiment_design_line(const struct experiment *experiment);

extern const struct opt experiment_opts[];

#endif
