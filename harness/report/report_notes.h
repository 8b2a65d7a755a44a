/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_REPORT_NOTES_H
#define KB_REPORT_REPORT_NOTES_H

#include "base/base.h"

#include "report/report.h"

/* What else a reader must know, beside the tables. Called by report_load when the view, verdicts,
 * tallies and blocks are in place. */
KB_MUST_CHECK int report_make_notes(struct report *report, struct store *store, struct err *err);

/* Adds one note; the text is copied. */
void report_note(struct report *report, enum report_note_kind kind, const char *text);

/* The condition with that id, and its machine; NULL when there is none. machine may be NULL. */
const struct store_condition *report_condition(
	const struct report *report, int64_t id, const struct store_machine **machine);
/* What happened to runs: "failed", "dropped", "flagged", "ignored". */
const char *report_tally_fate(const struct report *report, const struct store_tally *tally);
/* items, or a copy with room for one more when it is full. In the arena. */
void *report_grown(struct arena *arena, void *items, size_t count, size_t *capacity, size_t bytes);

/* Machines that are parked, and those that share a host. */
void report_note_machines(struct report *report);

/* What a machine's file wanted set and the machine could not set, from its boots' proofs. */
void report_note_unset(struct report *report, const struct store_machine *machine);

#endif
