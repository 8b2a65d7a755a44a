/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_REPORT_NEXT_H
#define KB_REPORT_REPORT_NEXT_H

#include "base/base.h"

#include "base/strv.h"
#include "report/report.h"

/* What the source of a variant's kernel has otherwise than its baseline's. */
struct report_touch {
	bool known;		     /* the two sources were compared */
	bool scheduler;		     /* kernel/sched is among what differs */
	const struct strv *features; /* scheduler features that the difference touches */
};

/* True when a verdict of the headline set says that the variant regressed. */
bool report_regressed(const struct report *report, const struct store_variant *variant);

/*
 * After a regression: adds a note that tells how a scheduler feature which may be behind it is
 * switched inside one boot (order: toggle). Suspected are features that the variant's boots had on
 * and its baseline's did not have or had off, and those that its change of source touches. Nothing
 * is added where there is nothing to suspect, where parts of one boot were compared already, or
 * where the variant did not regress.
 */
void report_next(struct report *report, const struct store_variant *variant,
	const struct report_touch *touch);

#endif
