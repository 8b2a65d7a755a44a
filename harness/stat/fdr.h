/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_STAT_FDR_H
#define KB_STAT_FDR_H

#include "base/base.h"

/*
 * Benjamini and Hochberg's false discovery rate over one family of tests.
 * docs/statistics.md, section 7.
 *
 * q[i] = min over the p values not smaller than p[i] of p * n / rank, at most 1.
 * p values that are NAN are no members of the family: their q is NAN and they
 * do not count in n. p and q may be the same array.
 */
void fdr_bh(const double *p, size_t count, double *q);

#endif
