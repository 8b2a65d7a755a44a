/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as what the agent counted: as its whole file, and as each part of one. */
#include "base/base.h"

#include <math.h>

#include "base/wire.h"
#include "backend/counters.h"
#include "backend/kernel_counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char *const functions[] = {"schedule", "inlined", "a.clone.0", NULL};

/* A number is one, or a reason stands in its place. */
static void check(const struct counter *counter)
{
	bool counted = isfinite(counter->total) && isfinite(counter->value);

	if (!counted && !*counter->reason)
		BUG("'%s' has neither a number nor a reason", counter->name);
	if (counter->total < 0 || counter->value < 0 || isinf(counter->total))
		BUG("%g is no count", counter->total);
}

static void feed(const char *bytes, size_t len)
{
	const struct metric_spec metric = {.name = "m", .unit = "ops/s"};
	const struct suite suite = {.metrics = (struct metric_spec *)&metric, .metric_count = 1};
	const struct condition_spec spec = {.name = "c"};
	const struct condition condition = {.suite = &suite, .spec = &spec, .operations = "m"};
	struct reading_value value = {.metric = 0, .ordinal = 1, .value = 8};
	const struct reading reading = {&value, 1, 1};
	const struct counter_source source = {&condition, &reading, 2, functions, bytes, len};
	struct arena arena = ARENA_INIT;
	struct counter *counters = NULL;
	size_t count = 0;
	struct err err = ERR_INIT;
	int ret = counters_read(&arena, &source, &counters, &count, &err);

	if (ret && (ret != ERR_INVALID || !err.text[0] || count))
		BUG("a refusal without a reason, or with values");
	for (size_t i = 0; i < count; i++)
		check(&counters[i]);
	arena_release(&arena);
}

/* A whole file in which the bytes are two of the parts, so that there is a before and an after. */
static void feed_part(const char *first, const char *second, const char *bytes, size_t len)
{
	struct str file = STR_INIT;

	wire_add_start(&file);
	wire_add_part(&file, first, len);
	str_add_bytes(&file, bytes, len);
	str_add_char(&file, '\n');
	if (second) {
		wire_add_part(&file, second, len / 2);
		str_add_bytes(&file, bytes, len / 2);
		str_add_char(&file, '\n');
	}
	wire_add_end(&file, second ? 2 : 1);
	feed(file.text, file.len);
	str_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = len ? (const char *)bytes : "";

	feed(text, len);
	feed_part("perf", NULL, text, len);
	feed_part("perf-error", NULL, text, len);
	feed_part("functions", NULL, text, len);
	feed_part("stat-after", "stat-before", text, len);
	feed_part("interrupts-after", "interrupts-before", text, len);
	feed_part("schedstat-after", "schedstat-before", text, len);
	return 0;
}
