/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of any program, read as what perf stat prints. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const events[] = {"task-clock", "context-switches", "cycles", "", "a;b"};
	const struct suite suite = {.name = "perf"};
	const struct condition condition = {.cpus = 1};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		feed_reader(
			(struct metric_spec){
				.reader = READER_PERF, .pattern = events[i], .unit = "ms"},
			suite, condition, bytes, len);
	return 0;
}
