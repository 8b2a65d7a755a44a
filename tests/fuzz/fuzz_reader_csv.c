/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of any program, read as CSV. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const columns[] = {"n", "n[a=b]", "the, rate", "n[", "[=]"};
	const struct suite suite = {.name = "csv"};
	const struct condition condition = {.cpus = 1};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		feed_reader(
			(struct metric_spec){
				.reader = READER_CSV, .pattern = columns[i], .unit = "ops/s"},
			suite, condition, bytes, len);
	return 0;
}
