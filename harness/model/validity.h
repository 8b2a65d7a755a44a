/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_VALIDITY_H
#define KB_MODEL_VALIDITY_H

#include "base/base.h"

/*
 * The validity ledger's words: reasons that may make a run unfit, and what is done about each.
 * run/watch finds them, the store keeps them, the judge applies the policy of the experiment.
 */
enum flag_policy {
	FLAG_IGNORE, /* kept, not counted */
	FLAG_KEEP,   /* used, counted as flagged; "flag" in files */
	FLAG_DROP,   /* not used, counted as dropped */
};

struct validity_reason {
	const char *name;	 /* "throttled": in files, in the database and in reports */
	enum flag_policy policy; /* when the experiment says nothing */
	const char *about;	 /* one line for reports and the manual */
};

extern const struct validity_reason validity_reasons[];
extern const size_t validity_reason_count;

/* NULL when there is no such reason. */
const struct validity_reason *validity_find(const char *name);
/* "ignore", "flag", "drop". */
const char *flag_policy_name(enum flag_policy policy);
/* Returns false for any other text; *out is then untouched. */
KB_MUST_CHECK bool flag_policy_parse(const char *text, enum flag_policy *out);

#endif
