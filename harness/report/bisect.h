/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_BISECT_H
#define KB_REPORT_BISECT_H

#include "base/base.h"

#include "model/bisect.h"
#include "model/store_rows.h"
#include "report/layout.h"

/* What a bisect found, told: from its record, what the judge makes of it, and its proofs. */

/* An experiment that compares a culprit with what is there without it. */
struct bisect_proof {
	int position; /* of the culprit */
	int64_t experiment_id;
	const char *what; /* "parent" or "revert" */
	bool judged;	  /* false: not measured to its end */
	struct store_verdict verdict;
};

struct bisect_report {
	const struct bisect_record *record;
	const struct bisect_finding *finding;
	struct bisect_proof *proofs; /* of the culprits of the finding only */
	size_t proof_count;
};

/* store NULL: there are no proofs. The proofs' verdicts are taken as they are stored. */
KB_MUST_CHECK int bisect_report_load(struct store *store, const struct bisect_record *record,
	const struct bisect_finding *finding, struct arena *arena, struct bisect_report *out,
	struct err *err);

/* Whether the proofs bear the finding out. */
enum bisect_proved { PROVED_NOT_TRIED, PROVED_YES, PROVED_NO, PROVED_OPEN };
enum bisect_proved bisect_report_proved(const struct bisect_report *report);

/* The report for a terminal or a file: what was found, its proof, and the commits newest first,
 * each sample under its commit, with a bar for the posterior. all: also those that nothing is known
 * of. */
void bisect_report_text(
	const struct bisect_report *report, bool all, const struct layout *layout, struct str *out);
/* A draft of a mail to the culprit's author. */
void bisect_report_mail(
	const struct bisect_report *report, const struct layout *layout, struct str *out);

/* All of it as one JSON object, with what a picture needs; "schema" is raised when a member changes
 * its meaning or goes. */
enum { BISECT_JSON_SCHEMA = 2 };
void bisect_report_json(const struct bisect_report *report, struct str *out);

/* Shared by the forms: what was found, in one sentence. Raw. */
void bisect_report_conclusion(const struct bisect_report *report, struct str *out);
/* What a proof shows, in one sentence. Raw. */
void bisect_report_proof(
	const struct bisect_report *report, const struct bisect_proof *proof, struct str *out);

#endif
