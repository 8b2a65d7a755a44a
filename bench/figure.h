/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_FIGURE_H
#define KB_BENCH_FIGURE_H

#include "base/base.h"

/* Lines of the table that every benchmark prints. A figure is ours beside a reference that was
 * measured in the same run; the ratio is what can be compared between machines. */

static inline void figure_head(const char *title)
{
	printf("\n%-46s %14s %14s %8s  %s\n", title, "ours", "reference", "ratio", "aim");
	fflush(stdout);
}

/* ratio NaN: none. aim "": none was set. */
static inline void figure_line(const char *name, const char *ours, const char *reference,
	double ratio, const char *aim, bool met)
{
	char text[16] = "";

	if (ratio == ratio)
		(void)snprintf(text, sizeof(text), "%.2f", ratio);
	printf("%-46s %14s %14s %8s  %s%s\n", name, ours, reference, text, aim,
		!*aim ? ""
		: met ? ": met"
		      : ": MISSED");
	fflush(stdout);
}

static inline int figure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double figure_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), figure_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
