/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"
#include "base/wire.h"
#include "backend/counters.h"
#include "backend/kernel_counts.h"
#include "backend/perf_line.h"

struct collecting {
	struct arena *arena;
	const struct counter_source *source;
	struct wire_reply parts;
	double operations; /* NaN: not known */
	bool per_run;
	struct counter *items;
	size_t count, capacity;
};

static struct stream part(const struct collecting *c, const char *name)
{
	const struct wire_part *found = wire_find(&c->parts, name);

	return found ? (struct stream){found->bytes, found->len} : (struct stream){"", 0};
}

static bool is_known(const struct collecting *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->items[i].name, name) == 0)
			return true;
	return false;
}

/* unit "": a number of events; "ns": a time; else as perf calls it. */
static const char *unit_of(const struct collecting *c, const char *unit)
{
	const char *each = c->per_run ? "run" : strcmp(unit, "ns") ? "1000 op" : "op";

	return arena_printf(c->arena, "%s/%s", unit, each);
}

static struct counter *add(struct collecting *c, const char *name, const char *unit, double total)
{
	double scale = !c->per_run && strcmp(unit, "ns") ? 1000 : 1;
	struct counter *counter;

	GROW(c->items, c->count, c->capacity);
	counter = &c->items[c->count++];
	*counter = (struct counter){
		.name = name,
		.unit = unit_of(c, unit),
		.total = total,
		.value = total * scale / c->operations,
		.counted_pct = isnan(total) ? 0 : 100,
		.reason = "",
	};
	if (!isnan(total) && isnan(c->operations))
		counter->reason = "the run did not tell its operations";
	return counter;
}

static void add_absent(struct collecting *c, const char *name, const char *reason)
{
	add(c, name, "", (double)NAN)->reason = arena_strdup(c->arena, reason);
}

static bool is_rate(const char *unit)
{
	return str_ends(unit, "/s");
}

/* Rates are averaged and multiplied by the time that was asked for, or that fixed work took;
 * numbers are added up. NaN when the run has no value of the metric. */
static double metric_operations(const struct collecting *c, size_t metric)
{
	const struct counter_source *source = c->source;
	const struct condition *condition = source->condition;
	double seconds = condition->spec->duration_ns
				 ? (double)condition->spec->duration_ns / (double)NS_PER_S
				 : source->seconds;
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < source->reading->count; i++)
		if (source->reading->values[i].metric == metric) {
			sum += source->reading->values[i].value;
			count++;
		}
	if (!count)
		return (double)NAN;
	if (!is_rate(condition->suite->metrics[metric].unit))
		return sum;
	return sum / (double)count * seconds;
}

/* How many operations the run made, and what they are called. */
static const char *find_operations(struct collecting *c)
{
	const struct condition *condition = c->source->condition;
	const struct suite *suite = condition->suite;

	c->operations = (double)NAN;
	for (size_t i = 0; i < suite->metric_count; i++) {
		const char *unit = suite->metrics[i].unit;
		size_t len = strlen(unit) - (is_rate(unit) ? 2 : 0);

		if (strcmp(suite->metrics[i].name, condition->operations) != 0)
			continue;
		c->operations = metric_operations(c, i);
		return arena_printf(c->arena, "%.*s", (int)len, unit);
	}
	if (!*condition->operations) {
		c->operations = 1;
		c->per_run = true;
		return "runs";
	}
	/* a template that gives no number leaves them unknown */
	if (num_double(condition->operations, &c->operations, NULL))
		c->operations = (double)NAN;
	return "operations";
}

static void add_operations(struct collecting *c)
{
	const char *unit = find_operations(c);
	struct counter *counter;

	if (!(c->operations > 0) || !isfinite(c->operations))
		c->operations = (double)NAN;
	counter = add(c, "operations", "", c->operations);
	counter->unit = unit;
	counter->value = c->operations;
	if (isnan(c->operations))
		counter->reason = "the run did not tell its operations";
}

static const char *safe_text(const struct collecting *c, struct stream field)
{
	struct str safe = STR_INIT;
	const char *text;

	str_add_safe(&safe, field.bytes, field.len < 200 ? field.len : 200);
	text = arena_strdup(c->arena, str_text(&safe));
	str_release(&safe);
	return text;
}

static int add_perf_line(struct collecting *c, const struct perf_line *line, struct err *err)
{
	static const struct {
		const char *unit;
		double ns;
	} times[] = {{"msec", 1e6}, {"ms", 1e6}, {"ns", 1}, {"nsec", 1}, {"sec", 1e9}};
	const char *name = safe_text(c, perf_line_event(line));
	struct perf_count count;
	const char *unit;
	double value;
	int ret;

	if (is_known(c, name))
		return 0;
	ret = perf_line_count(line, &count, err);
	if (!ret && (count.absent || count.pct <= 0)) { /* of no time at all nothing is known */
		add_absent(c, name, count.absent ? count.absent : "not counted");
		return 0;
	}
	if (!ret)
		ret = num_double(count.number, &value, err);
	if (ret)
		return err_wrap(err, "%s", name);
	unit = arena_strdup(c->arena, count.unit);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (strcmp(unit, times[i].unit) == 0) {
			value *= times[i].ns;
			unit = "ns";
		}
	add(c, name, unit, value)->counted_pct = count.pct;
	return 0;
}

static int add_perf(struct collecting *c, struct err *err)
{
	struct stream rest = part(c, "perf"), why = part(c, "perf-error"), line;
	struct perf_line fields;
	size_t before = c->count;
	int ret = 0;

	while (!ret && kernel_next_line(&rest, &line)) {
		bool whole = line.bytes + line.len < part(c, "perf").bytes + part(c, "perf").len;

		if (!line.len || *line.bytes == '#')
			continue;
		perf_line_split(line.bytes, line.len, ';', &fields);
		if (!whole || fields.count <= PERF_EVENT || !fields.fields[PERF_EVENT].len)
			ret = err_set(err, ERR_INVALID, "'%.60s' is no line of perf stat -x';'",
				safe_text(c, line));
		else if (c->count >= COUNTERS_MAX)
			ret = err_set(err, ERR_INVALID, "perf tells of more than %d events",
				COUNTERS_MAX);
		else
			ret = add_perf_line(c, &fields, err);
	}
	if (!ret && why.len)
		add_absent(c, "perf", safe_text(c, why));
	else if (!ret && c->count == before && part(c, "perf").len)
		add_absent(c, "perf", "it told of no event");
	return ret;
}

/* What came between two looks at a number that only grows. */
static void add_growth(struct collecting *c, const char *name, double before, double after)
{
	if (isnan(before) || isnan(after))
		return;
	if (after < before)
		add_absent(c, name, "it fell: CPUs came or went");
	else
		add(c, name, "", after - before);
}

static void add_stat(struct collecting *c)
{
	static const char *const names[][2] = {
		{"machine switches", "ctxt"}, {"machine interrupts", "intr"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_growth(c, names[i][0], kernel_stat(part(c, "stat-before"), names[i][1]),
			kernel_stat(part(c, "stat-after"), names[i][1]));
}

static void add_interrupts(struct collecting *c)
{
	static const char *const names[][3] = {{"IPI reschedule", "RES", "Rescheduling interrupts"},
		{"IPI call", "CAL", "Function call interrupts"},
		{"IPI TLB", "TLB", "TLB shootdowns"}};
	struct stream before = part(c, "interrupts-before"), after = part(c, "interrupts-after");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_growth(c, names[i][0], kernel_interrupts(before, names[i][1], names[i][2]),
			kernel_interrupts(after, names[i][1], names[i][2]));
}

/* Nothing counted ever is nothing counted at all: kernel.sched_schedstats was off. */
static void add_newidle(struct collecting *c)
{
	struct newidle_counts before = kernel_newidle(part(c, "schedstat-before"));
	struct newidle_counts after = kernel_newidle(part(c, "schedstat-after"));

	if (after.calls == 0) {
		add_absent(c, "newidle balance", "kernel.sched_schedstats is off");
		return;
	}
	add_growth(c, "newidle balance", before.calls, after.calls);
	add_growth(c, "newidle pulled", before.pulled, after.pulled);
}

static void add_functions(struct collecting *c)
{
	const struct counter_source *source = c->source;
	struct stream report = part(c, "functions");

	for (size_t i = 0; i < argv_count(source->functions); i++) {
		const char *name = arena_printf(c->arena, "%s()", source->functions[i]);
		char why[200];
		double calls = kernel_calls(report, source->functions[i], why, sizeof(why));

		if (is_known(c, name))
			continue;
		if (isnan(calls))
			add_absent(c, name, safe_text(c, (struct stream){why, strlen(why)}));
		else
			add(c, name, "", calls);
	}
}

int counters_read(struct arena *arena, const struct counter_source *source, struct counter **out,
	size_t *count, struct err *err)
{
	struct collecting c = {.arena = arena, .source = source};
	int ret = wire_parse(source->bytes, source->len, &c.parts, err);

	if (ret)
		return err_set(err, ERR_INVALID, "what the agent counted came back damaged");
	add_operations(&c);
	ret = add_perf(&c, err);
	if (!ret) {
		add_functions(&c);
		add_newidle(&c);
		add_interrupts(&c);
		add_stat(&c);
		*out = arena_copy(arena, c.items, c.count, sizeof(*c.items));
		*count = c.count;
	}
	free(c.items);
	return ret;
}
