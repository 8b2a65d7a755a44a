/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_IMPORT_H
#define KB_MODEL_IMPORT_H

#include "base/base.h"

#include "model/store_result.h"

/*
 * The long CSV that `kbracket export` writes and `kbracket import` reads: see kbracket(1), FILES.
 * Pure: text -> rows, every mistake with its line.
 */
struct import_table {
	struct store_import_row *rows;
	size_t count;
	size_t failed;	       /* rows of runs without samples, which are left out */
	const char *name;      /* the experiment column; "" when there is none */
	bool has_against;      /* it says itself what each variant is compared with */
	const char *baseline;  /* then the one that comes first; "" when nothing is compared */
	const char **variants; /* in order of appearance, NULL-ended */
};

/* Reads a whole table; text lives in the arena, and the caller ends with import_release. ERR_USAGE
 * for a missing or unknown column, a value that is none, and names that could not be written in a
 * configuration; the text begins with "line N: ". */
KB_MUST_CHECK int import_read(struct arena *arena, const char *bytes, size_t len,
	struct import_table *out, struct err *err);
void import_release(struct import_table *table);

#endif
