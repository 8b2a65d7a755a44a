/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_PROFILE_H
#define KB_REPORT_PROFILE_H

#include "base/base.h"

#include "base/mem.h"
#include "model/store_view.h"
#include "report/layout.h"
#include "stat/share.h"

/*
 * The differential profile of an experiment whose runs were made under perf (profile:): which
 * functions gained or lost samples between its baseline and its variant. Shares are per cent of the
 * samples outside the idle loop.
 */
struct profile_line {
	const char *name;
	bool kernel;
	struct share_difference share;
	double q; /* among the functions with a share worth looking at; NaN: none of those */
};
/* The function gained or lost more than is likely by chance (q, 5 %). */
bool profile_moved(const struct profile_line *line);

enum profile_unit { PROFILE_BOOTS, PROFILE_RUNS };

struct profile {
	struct store_view view;
	const struct store_machine *machine;
	const struct store_condition *condition;
	const struct store_variant *variants[2]; /* baseline, variant */
	int64_t hz;				 /* samples a second and CPU that were asked for */
	const char *event;		       /* what perf sampled by; "" when there is nothing */
	enum profile_unit unit;		       /* what intervals are computed over */
	int64_t boots[2], runs[2], samples[2]; /* that the profile is made of */
	int64_t lost;			       /* samples that perf had no room for */
	int64_t missing;		       /* runs without a profile */
	const char *why;		       /* of one of them; "" */
	double unnamed_pct;		       /* of the kernel's samples: without a symbol */
	struct profile_line kernel;	       /* all of the kernel */
	struct profile_line idle;	       /* of all samples */
	/* largest difference first: by the function that ran, and with what it called */
	struct profile_line *lines, *reaching;
	size_t count, reaching_count;
};

/* ERR_USAGE for an experiment that is no profile, ERR_INVALID when a side has no samples. */
KB_MUST_CHECK int profile_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct profile *out, struct err *err);

/* The first `limit` lines, and what must be known to read them. */
void profile_write_text(
	const struct profile *profile, size_t limit, const struct layout *layout, struct str *out);
/* All lines as one JSON object; "schema" as in report.h. */
void profile_write_json(const struct profile *profile, struct str *out);

#endif
