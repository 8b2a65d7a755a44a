/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_COMPARE_H
#define KB_REPORT_COMPARE_H

#include "base/base.h"

#include "report/report.h"

/*
 * Two experiments side by side: the effects of variants of the same name, against baselines of the
 * same name, in the same conditions. Effects are compared, never levels: each effect was bracketed
 * by its own baseline boots, while levels of different experiments were taken at different times.
 */
struct compare_row {
	const char *machine, *condition, *metric, *unit, *variant, *against;
	const struct store_verdict *a, *b;
	const char *obstacle; /* why the two can't be compared; "" when they can */
};

struct compare {
	const struct report *a, *b;
	struct compare_row *rows; /* what both have */
	size_t count, capacity;
	size_t only_a, only_b;	   /* verdicts without a partner */
	struct report_note *notes; /* what differs between the two as a whole */
	size_t note_count, note_capacity;
};

/* Both reports must outlive the result, which lives in the arena. */
void compare_make(
	const struct report *a, const struct report *b, struct arena *arena, struct compare *out);
/* The two say the same: as far as their 95 % intervals go. */
enum compare_word { COMPARE_APART, COMPARE_OVERLAP, COMPARE_UNKNOWN };
enum compare_word compare_word_of(const struct compare_row *row);

void compare_write_text(
	const struct compare *compare, const struct layout *layout, struct str *out);
void compare_write_json(const struct compare *compare, struct str *out);

#endif
