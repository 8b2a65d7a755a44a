/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/counting.h"

int counting_read(struct arena *arena, const struct counter_source *source,
	struct store_counter **out, size_t *count, struct err *err)
{
	struct store_counter *rows;
	struct counter *counters;
	int ret = counters_read(arena, source, &counters, count, err);

	if (ret)
		return ret;
	rows = arena_alloc(arena, (*count + 1) * sizeof(*rows));
	for (size_t i = 0; i < *count; i++)
		rows[i] = (struct store_counter){
			.name = counters[i].name,
			.unit = counters[i].unit,
			.total = counters[i].total,
			.value = counters[i].value,
			.counted_pct = counters[i].counted_pct,
			.reason = counters[i].reason,
		};
	*out = rows;
	return 0;
}
