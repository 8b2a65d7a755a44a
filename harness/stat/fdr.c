/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "stat/fdr.h"

struct member {
	double p;
	size_t place;
};

static int ascending(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

void fdr_bh(const double *p, size_t count, double *q)
{
	struct member *family = xmalloc((count + 1) * sizeof(*family));
	double smallest = 1;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(p[i]))
			q[i] = NAN;
		else
			family[n++] = (struct member){p[i], i};
	}
	qsort(family, n, sizeof(*family), ascending);
	for (size_t rank = n; rank > 0; rank--) {
		smallest = fmin(smallest, family[rank - 1].p * (double)n / (double)rank);
		q[family[rank - 1].place] = smallest;
	}
	free(family);
}
