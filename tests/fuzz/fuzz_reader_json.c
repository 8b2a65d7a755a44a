/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of any program, read as JSON. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const paths[] = {"/jobs/0/read/iops", "/*", "/*/*", "/a~1b"};
	const struct suite suite = {.name = "json"};
	const struct condition condition = {.cpus = 1};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		feed_reader(
			(struct metric_spec){
				.reader = READER_JSON, .pattern = paths[i], .unit = "ops/s"},
			suite, condition, bytes, len);
	return 0;
}
