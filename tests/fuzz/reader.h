/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FUZZ_READER_H
#define KB_TESTS_FUZZ_READER_H

#include "base/base.h"

#include <math.h>

#include "backend/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Reads the bytes as stdout and once more as stderr of a program, in each way of choosing. A
 * reading holds measurements only; a refusal has a reason and no values. */
static void feed_reader(struct metric_spec metric, struct suite suite, struct condition condition,
	const uint8_t *bytes, size_t len)
{
	const struct program_output output = {(const char *)bytes, len, (const char *)bytes, len};

	metric.name = "m";
	metric.scale = 1;
	suite.metrics = &metric;
	suite.metric_count = 1;
	condition.suite = &suite;
	for (int which = WHICH_ONLY; which <= WHICH_NTH; which++) {
		struct reading reading = READING_INIT;
		struct err err = ERR_INIT;
		int ret;

		metric.which = (enum metric_which)which;
		metric.nth = which == WHICH_NTH ? 2 : 0;
		metric.from = which == WHICH_ALL ? STREAM_BOTH : STREAM_STDOUT;
		ret = reader_read(&condition, &output, &reading, &err);
		if (ret && (ret != ERR_INVALID || !err.text[0] || reading.count || reading.values))
			BUG("a refusal without a reason, or with values");
		if (!ret && !reading.count)
			BUG("a required metric is missing");
		for (size_t i = 0; i < reading.count; i++)
			if (!isfinite(reading.values[i].value) || reading.values[i].value <= 0 ||
				reading.values[i].ordinal != (int)i + 1)
				BUG("%g is no measurement", reading.values[i].value);
		reading_release(&reading);
	}
}

#endif
