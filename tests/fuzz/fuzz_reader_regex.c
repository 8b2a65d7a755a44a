/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of any program, read with patterns as suites have them: failures, echoes, a value. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const fail_if[] = {"^fail: ", "longjmp'ing out", NULL};
	static const char *const expects[] = {"2"};
	struct echo_check echo = {.pattern = "([0-9]+) (?:groups|sock)", .from = STREAM_BOTH};
	const struct suite suite = {.fail_if = fail_if, .echoes = &echo, .echo_count = 1};
	const struct suite bare = {.name = "bare"};
	const struct condition condition = {.expects = expects};

	feed_reader((struct metric_spec){.pattern = "^Time: ([0-9]+\\.[0-9]+)$", .unit = "s"},
		suite, condition, bytes, len);
	feed_reader((struct metric_spec){.pattern = "^(?:\\S+ )*(?<value>\\S+) *(?:k|M|usec)?",
			    .unit = "us"},
		bare, condition, bytes, len);
	feed_reader((struct metric_spec){.pattern = "^(?<count>.*) samples: (?<value>.*)$",
			    .within = "^begin\\R(?:.*\\R)*?end$",
			    .min_count = 2,
			    .unit = "us"},
		bare, condition, bytes, len);
	feed_reader((struct metric_spec){.pattern = ": *(.*)$", .unit = "ops/s"}, bare, condition,
		bytes, len);
	return 0;
}
