/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_READER_OPS_H
#define KB_BACKEND_READER_OPS_H

#include "base/base.h"

#include "base/str.h"
#include "backend/reader.h"

/* Inside backend/ only. */

/* What a program printed on one of its streams; never NULL. */
struct stream {
	const char *bytes;
	size_t len;
};

/* Leaves out what sets colours or erases, if there is any: the stream then points into copy, which
 * was empty and is the caller's. */
void stream_clean(struct stream *stream, struct str *copy);
/* Leaves only what matches, nothing when there is no match. *parts goes up by the number of
 * matches; of several the last is left. */
KB_MUST_CHECK int stream_narrow(
	struct stream *stream, const char *pattern, size_t *parts, struct err *err);

/* The numbers that one metric's pattern finds, in the order of the output. */
struct finding {
	double value;
	int64_t observations; /* number of observations that it is a percentile or mean of; 0: not
				 told */
};

struct findings {
	struct finding *items;
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
int reader_find_perf(const struct metric_spec *metric, const char *bytes, size_t len,
	struct findings *out, struct err *err);

/* Reads one number with its unit and appends it, scaled as the metric says. */
KB_MUST_CHECK int findings_add(const struct metric_spec *metric, const char *text, size_t len,
	struct findings *out, struct err *err);

#endif
