/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_DIAG_H
#define KB_BASE_DIAG_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * Everything that is wrong with the files a person wrote, gathered so that all of it is told at
 * once. Sorted by file, line and column when written.
 */
struct diag_item {
	char *file;
	int line, column; /* 0: about the whole file */
	char *text;
};

struct diag {
	struct diag_item *items;
	size_t count, capacity;
};

#define DIAG_INIT          \
	{                  \
		NULL, 0, 0 \
	}

KB_PRINTF(5, 6)
void diag_add(struct diag *diag, const char *file, int line, int column, const char *fmt, ...);
/* One "file:line:column: text" per line, sorted, equal ones once; control characters made safe.
 * At most 200 lines, then how many more there are. Afterwards diag->count counts equal ones once.
 */
void diag_write(struct diag *diag, struct str *out);
void diag_release(struct diag *diag);

#endif
