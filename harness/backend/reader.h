/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_READER_H
#define KB_BACKEND_READER_H

#include "base/base.h"

#include "base/err.h"
#include "model/suite.h"

/* Output readers: what a program printed -> samples. Pure: no files, no machine. */
struct reading_value {
	size_t metric;	      /* index into suite->metrics */
	int ordinal;	      /* from 1, within the metric and run */
	double value;	      /* in the metric's unit */
	int64_t observations; /* observations behind it, of a percentile or mean; 0: not told */
};

struct reading {
	struct reading_value *values;
	size_t count, capacity;
};

#define READING_INIT       \
	{                  \
		NULL, 0, 0 \
	}

struct program_output {
	const char *out;
	size_t out_len;
	const char *err_out;
	size_t err_len;
};

/* Reads everything that the suite declares. ERR_INVALID with the reason when a required metric is
 * missing or ambiguous, a value is zero, negative, NaN or infinite where it must not be, a fail_if
 * pattern matches, or the program's own printed parameters differ from those asked for. Nothing is
 * ever guessed: on failure *out stays empty. The caller releases it. */
KB_MUST_CHECK int reader_read(const struct condition *condition,
	const struct program_output *output, struct reading *out, struct err *err);
void reading_release(struct reading *reading);

/* A number as benchmarks print it, brought to the unit that the metric declares: "1234", "1e5",
 * "2.22 M" and "1.5K" (1000-based), "1.5k ops/s", times in another unit of time ("37 usec" in ms).
 * ERR_INVALID when it is none, and for what can be read in two ways: "1,234.5", "5 M" in a unit of
 * time, "1.5K" in bytes. */
KB_MUST_CHECK int reader_number(
	const char *text, size_t len, const char *unit, double *out, struct err *err);

#endif
