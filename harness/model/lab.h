/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_LAB_H
#define KB_MODEL_LAB_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strv.h"

/*
 * A lab: the folder that holds a person's configs/, kernels/, suites/ and results/. What kbracket
 * brings itself (suites, the quickstart) lies in the share folder: $KBRACKET_SHARE, PREFIX/share/
 * kbracket of an installed program, or the source tree that the program was built in.
 */
struct lab {
	const char *root;
	const char *results;  /* root/results */
	const char *database; /* root/results/kbracket.db */
	const char *cache;    /* root/kernels/cache: builds */
	const char *share;    /* NULL when it cannot be found */
};

/* The lab that a path (a config, or a folder) belongs to: the nearest folder from it upwards that
 * has a folder configs/. ERR_NOT_FOUND when there is none, with what to do. path NULL: the current
 * folder. All text is the arena's, absolute. */
KB_MUST_CHECK int lab_find(struct arena *arena, const char *path, struct lab *out, struct err *err);

/* The share folder; NULL when it cannot be found. The arena's. */
const char *lab_share(struct arena *arena);

/* Makes a lab in a new or empty folder: its folders, and copies of a first experiment, its kernels
 * and a guest machine; suites are used from the share folder. Names of what was made, relative to
 * root, go to *made. ERR_USAGE when root is not empty. */
KB_MUST_CHECK int lab_make(const char *root, struct strv *made, struct err *err);

#endif
