/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_VIEW_H
#define KB_MODEL_STORE_VIEW_H

#include "base/base.h"

#include "model/store_plan.h"

/*
 * An experiment as structs, without its runs: what judge and report start from. Arrays are in the
 * order of position or ordinal; pointers between them stay valid as long as the arena.
 */
struct store_variant {
	int64_t id;
	int position; /* 0 is the experiment's baseline */
	const char *name, *about;
	const char *recipe; /* JSON */
	const char *ref_commit, *ref_subject;
	const struct store_variant *against; /* its baseline; NULL: it is one */
	enum store_state state;
	const char *reason;
	const char *runtime_sha256;	 /* of what differs at run time only (command line, ...) */
	const struct store_build *build; /* NULL: not built */
	bool control;			 /* the same kernel as `against` under another label */
	const struct store_variant *layout_of; /* that it is in another code layout; NULL */
};

struct store_metric {
	int64_t id;
	int position;
	const char *name, *unit;
	bool lower_is_better;
	double percentile; /* 0 or NaN: it is none */
	bool pooled;	   /* taken of all observations of a boot; else the runs' median */
};

struct store_condition {
	int64_t id;
	int position;
	const char *suite, *suite_sha256, *name;
	double saturation_pct, effective_pct; /* 0: not by saturation */
	int64_t workers, tasks, cpus;
	const char *argv, *env; /* JSON lists */
	const char *merged;	/* saturations that it also stands for; "" */
	bool control, decides;
	const char *skipped; /* why its optional suite was left out on the machine; "" it was not */
	/* of its newest run; "" before */
	const char *program, *program_sha256, *program_version, *program_built;
	/* of what served it; "" none */
	const char *server, *server_sha256, *server_version, *server_built;
	struct store_metric *metrics;
	size_t metric_count;
};

struct store_attempt {
	int64_t id;
	int number;
	const char *method;
	int64_t started_ns, ended_ns; /* 0: not ended */
	const char *outcome;	      /* started, proved, failed, interrupted */
	const char *reason, *detail;
	const char *kernel_boot_id;
	bool weak;
	const char *proof; /* JSON; "" */
	int64_t facts_id;  /* 0: none */
};

struct store_boot {
	int64_t id;
	int ordinal, block; /* from 1 */
	const struct store_variant *variant;
	enum store_state state;
	const char *reason, *detail;
	const char *start; /* how its kernel was started: kexec, cold; "" otherwise, or not yet */
	struct store_attempt *attempts;
	size_t attempt_count;
	int proved; /* kernel starts that were measured in; 2: went on after an interruption */
};

struct store_machine {
	int64_t id;
	const char *name, *kind;
	const char *facts; /* JSON of the newest proved attempt; "" before */
	struct store_condition *conditions;
	size_t condition_count;
	struct store_boot *boots;
	size_t boot_count;
	struct plan_extension *extensions; /* boots that were appended, in order */
	size_t extension_count;
};

struct store_policy {
	const char *reason;
	enum flag_policy policy;
};

struct store_view {
	struct store_experiment head;
	struct store_variant *variants;
	size_t variant_count;
	struct store_machine *machines; /* in the experiment's order */
	size_t machine_count;
	struct store_policy *policies; /* of every reason */
	size_t policy_count;
};

KB_MUST_CHECK int store_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_view *out, struct err *err);

/* A facts row's JSON by its id. */
KB_MUST_CHECK int store_load_facts(struct store *store, int64_t facts_id, struct arena *arena,
	const char **json, struct err *err);
/* A build's resolved .config; "" when not known. */
KB_MUST_CHECK int store_load_config(struct store *store, int64_t build_row_id, struct arena *arena,
	const char **text, struct err *err);

struct store_event_row {
	int64_t time_ns;
	int64_t boot_id; /* 0: none */
	const char *kind, *text;
};
KB_MUST_CHECK int store_load_events(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_event_row **out, size_t *count, struct err *err);

#endif
