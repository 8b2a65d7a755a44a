/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_GATES_H
#define KB_JUDGE_GATES_H

#include "base/base.h"

#include "base/str.h"
#include "judge/rate.h"

/* Looks for what is wrong with the runs behind a comparison of arm b with arm a whose effect and
 * row are filled in: sets gate, gate_text, disturbed and the row's drift. The first that is found
 * holds. What is no obstacle but has to be said goes to notes, each with "; " before it. history
 * may be NULL; texts live in the arena. */
void gates_find(const struct store_view *view, const struct evidence_cell *cell, int a, int b,
	const struct history *history, struct arena *arena, struct rate *rate, struct str *notes);

#endif
