/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_READER_OPS_H
#define KB_BACKEND_READER_OPS_H

#include "base/base.h"

#include "backend/reader.h"

/* Inside backend/ only: the numbers that one metric's pattern finds, in the order of the output. */
struct findings {
	double *values;
	size_t count, capacity;
};

/* A run that prints more of one metric than this is not read. */
enum { FINDINGS_MAX = 1000000 };

/* ERR_INVALID when the output cannot be read as the metric says, or holds something that is not a
 * number where one must stand. None found is no error here. */
typedef int reader_find_fn(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err);

int reader_find_regex(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err);
int reader_find_json(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err);
int reader_find_csv(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err);

/* Reads one number with its unit and appends it, scaled as the metric says. */
KB_MUST_CHECK int findings_add(const struct metric_spec *metric, const char *text, size_t len,
	struct findings *out, struct err *err);

#endif
