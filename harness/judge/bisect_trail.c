/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "judge/bisect.h"
#include "judge/bisect_trail.h"

/* A record on its way through the engine. */
struct trail {
	const struct bisect_record *record;
	struct arena *arena;
	struct bisect_chain chain; /* without kernels that cannot differ from the one before */
	int *link_of;		   /* by position; -1: not in the chain */
	struct bisect *engine;
};

/* What is known of a position's code; NULL: it was not built. */
static const char *code_of(const struct bisect_record *record, int position)
{
	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind == EVENT_BUILT && event->position == position && !event->undone)
			return event->text;
	}
	return NULL;
}

static bool same_code(const struct bisect_record *record, int a, int b)
{
	const char *one = code_of(record, a), *other = code_of(record, b);

	if (record->axis == AXIS_FEATURES)
		return false; /* one kernel, set differently */
	return one && other && one[0] && !strcmp(one, other);
}

/* Every listed step a link of its own. */
static void default_chain(struct trail *t)
{
	size_t count = t->record->listed + 1;

	t->chain.count = count;
	t->chain.links = arena_alloc(t->arena, count * sizeof(*t->chain.links));
	for (size_t i = 1; i < count; i++) {
		t->chain.links[i].position = (int)i;
		t->chain.links[i].members = arena_alloc(t->arena, sizeof(int));
		t->chain.links[i].members[0] = (int)i;
		t->chain.links[i].count = 1;
	}
}

/* A link whose code is that of the one before goes. The last one stays, and takes the place of the
 * one before. */
static void drop_same(struct trail *t)
{
	struct bisect_link *links = t->chain.links;
	size_t kept = 1;

	for (size_t i = 1; i < t->chain.count; i++) {
		if (same_code(t->record, links[i].position, links[kept - 1].position)) {
			if (i + 1 < t->chain.count || kept == 1)
				continue;
			links[kept - 1].position = links[i].position;
			continue;
		}
		links[kept++] = links[i];
	}
	t->chain.count = kept;
}

static int make_chain(struct trail *t, struct err *err)
{
	int stage = bisect_stage(t->record), ret = 0;

	if (stage < 0)
		default_chain(t);
	else
		ret = bisect_chain_read(t->arena, t->record->events[stage].text,
			t->record->step_count, &t->chain, err);
	if (ret)
		return ret;
	drop_same(t);
	t->link_of = arena_alloc(t->arena, t->record->step_count * sizeof(*t->link_of));
	for (size_t i = 0; i < t->record->step_count; i++)
		t->link_of[i] = -1;
	for (size_t i = 0; i < t->chain.count; i++)
		t->link_of[t->chain.links[i].position] = (int)i;
	return 0;
}

static bool counts(const struct bisect_event *event)
{
	return event->kind == EVENT_BOOT && !event->undone && event->value_count;
}

static void feed(struct trail *t)
{
	for (size_t i = 0; i < t->record->event_count; i++) {
		const struct bisect_event *event = &t->record->events[i];
		int link = t->link_of[event->position];

		if (link < 0 || event->undone)
			continue;
		if (counts(event))
			bisect_fed(t->engine, link, event->values, event->value_count);
		else if (event->kind == EVENT_SKIP)
			bisect_skip(t->engine, link);
		else if (event->kind == EVENT_BUILT)
			bisect_built(t->engine, link);
	}
}

static void count(const struct bisect_record *record, struct bisect_finding *out)
{
	bool *seen = xcalloc(record->step_count + 1, sizeof(*seen));

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (counts(event) || (event->kind == EVENT_BUILT && !event->undone))
			seen[event->position] = true;
		if (!counts(event))
			continue;
		out->boots++;
		out->runs += (int64_t)event->value_count;
	}
	for (size_t i = 0; i < record->step_count; i++)
		out->builds += seen[i];
	free(seen);
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Median of the boots of kernels from one link to another; NaN when there are none. */
static double level(const struct trail *t, int from, int to)
{
	double *means = xcalloc(t->record->event_count + 1, sizeof(*means)), middle;
	size_t boots = 0;

	for (size_t i = 0; i < t->record->event_count; i++) {
		const struct bisect_event *event = &t->record->events[i];
		int link = t->link_of[event->position];

		if (!counts(event) || link < from || link > to)
			continue;
		for (size_t k = 0; k < event->value_count; k++)
			means[boots] += log(event->values[k]) / (double)event->value_count;
		boots++;
	}
	qsort(means, boots, sizeof(*means), by_value);
	middle = boots ? exp((means[(boots - 1) / 2] + means[boots / 2]) / 2) : (double)NAN;
	free(means);
	return middle;
}

static void spread(const struct trail *t, const double *by_link, double *posterior)
{
	for (size_t i = 1; i < t->chain.count; i++)
		for (size_t k = 0; k < t->chain.links[i].count; k++)
			posterior[t->chain.links[i].members[k]] +=
				by_link[i] / (double)t->chain.links[i].count;
}

static int by_position(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Adds all members of the links from lo to hi. */
static void name_suspects(const struct trail *t, int lo, int hi, struct bisect_finding *out)
{
	int *suspects = arena_alloc(t->arena, (t->record->step_count + 1) * sizeof(*suspects));

	if (out->suspect_count)
		memcpy(suspects, out->suspects, out->suspect_count * sizeof(*suspects));
	for (int i = lo; i <= hi; i++)
		for (size_t k = 0; k < t->chain.links[i].count; k++)
			suspects[out->suspect_count++] = t->chain.links[i].members[k];
	qsort(suspects, out->suspect_count, sizeof(*suspects), by_position);
	out->suspects = suspects;
}

/* A link that brings several steps with it is a part of the graph of its own. */
static void look_for_split(
	const struct trail *t, const struct bisect_result *result, struct bisect_finding *out)
{
	if (result->verdict != BISECT_CULPRIT || t->chain.links[result->hi].count < 2)
		return;
	out->word = FOUND_RANGE;
	out->splits = true;
	out->split_good = t->chain.links[result->lo - 1].position;
	out->split_bad = t->chain.links[result->hi].position;
}

/* The choice is the engine's, by what a boot tells for its cost; this is what it rests on. */
static const char *reason(const struct trail *t, int link, const double *by_link)
{
	double before = 0;

	if (link == 0 || link == (int)t->chain.count - 1)
		return "an end, whose level and drift are to be known better";
	for (int i = 1; i <= link; i++)
		before += by_link[i];
	if (t->record->axis == AXIS_FEATURES)
		return arena_printf(
			t->arena, "it has the change with a probability of %.0f %%", 100 * before);
	return arena_printf(t->arena,
		"it has the change with a probability of %.0f %%, and its "
		"kernel %s",
		100 * before,
		code_of(t->record, t->chain.links[link].position) ? "is there" : "is to be built");
}

/* Features are set on one kernel, which is there. */
static double build_cost(const struct bisect_record *record, const struct trail_cost *cost)
{
	return record->axis == AXIS_FEATURES ? 0 : cost->build;
}

/* What a larger budget would do. */
static void look_ahead(
	const struct trail *t, const struct trail_cost *cost, struct bisect_finding *out)
{
	struct bisect_needs needs;

	if ((out->word != FOUND_UNDECIDED && out->word != FOUND_SEARCHING) || out->lost_end >= 0 ||
		!bisect_left(t->engine, &needs))
		return;
	out->boots_left = needs.boots;
	out->seconds_left =
		needs.builds * build_cost(t->record, cost) +
		needs.boots *
			(cost->boot + (double)(t->record->spec.runs + t->record->spec.warmup) *
					      cost->run);
}

static void find_interval(double level, double sd, double *out)
{
	out[0] = level * exp(-1.96 * sd);
	out[1] = level * exp(1.96 * sd);
}

static void describe(const struct bisect_result *result, struct bisect_finding *out)
{
	find_interval(out->good_level, result->good_sd, out->good_interval);
	find_interval(out->bad_level, result->bad_sd, out->bad_interval);
	out->within = result->within;
	out->between = result->between;
	out->outlying = result->outlying;
}

static void look_at_ends(const struct trail *t, struct bisect_finding *out)
{
	const struct bisect_link *links = t->chain.links;
	const int ends[] = {links[0].position, links[t->chain.count - 1].position};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (bisect_skipped(t->record, ends[i]))
			out->lost_end = ends[i];
}

static void conclude(const struct trail *t, struct bisect_finding *out)
{
	static const enum bisect_word words[] = {[BISECT_CULPRIT] = FOUND_CULPRIT,
		[BISECT_RANGE] = FOUND_RANGE,
		[BISECT_SEVERAL] = FOUND_SEVERAL,
		[BISECT_NONE] = FOUND_NONE,
		[BISECT_UNDECIDED] = FOUND_UNDECIDED};
	double *by_link = arena_alloc(t->arena, (t->chain.count + 1) * sizeof(*by_link));
	double *posterior = arena_alloc(t->arena, (t->record->step_count + 1) * sizeof(*posterior));
	struct bisect_result result;
	int which;

	bisect_get(t->engine, &result, by_link);
	spread(t, by_link, posterior);
	out->posterior = posterior;
	out->none = result.none;
	out->probability = result.probability;
	out->improved = result.improved;
	/* without a change: those of the ends */
	out->good_level = level(t, 0, result.lo ? result.lo - 1 : 0);
	out->bad_level =
		level(t, result.hi ? result.hi : (int)t->chain.count - 1, (int)t->chain.count - 1);
	describe(&result, out);
	out->why = "";
	if (bisect_next(t->engine, &which) == BISECT_DONE) {
		out->word = words[result.verdict];
		if (out->word == FOUND_SEVERAL)
			for (size_t i = 0; i < ARRAY_SIZE(result.changes); i++)
				name_suspects(t, result.changes[i][0], result.changes[i][1], out);
		else if (out->word != FOUND_NONE)
			name_suspects(t, result.lo, result.hi, out);
		look_for_split(t, &result, out);
		return;
	}
	out->word = FOUND_SEARCHING;
	out->next = t->chain.links[which].position;
	out->next_runs = t->record->spec.runs;
	out->why = reason(t, which, by_link);
}

int bisect_trail(const struct bisect_record *record, const struct trail_cost *cost,
	struct arena *arena, struct bisect_finding *out, struct err *err)
{
	struct trail t = {.record = record, .arena = arena};
	int ret = make_chain(&t, err);

	*out = (struct bisect_finding){.why = "", .lost_end = -1};
	if (ret)
		return ret;
	count(record, out);
	if (t.chain.count < 2) {
		out->word = FOUND_NONE;
		out->none = 1;
		out->why = "all kernels are the same code";
		out->good_level = out->bad_level = (double)NAN;
		describe(&(struct bisect_result){0}, out);
		return 0;
	}
	t.engine = bisect_new(&(struct bisect_options){.commits = (int)t.chain.count - 1,
		.lower_is_better = record->lower_is_better,
		.unordered = record->unordered,
		.confidence = (double)record->spec.confidence_pct / 100,
		.max_boots = (int)record->max_boots,
		.runs = (int)record->spec.runs,
		.cost_build = build_cost(record, cost),
		.cost_boot = cost->boot,
		.cost_run = cost->run});
	feed(&t);
	look_at_ends(&t, out);
	conclude(&t, out);
	look_ahead(&t, cost, out);
	bisect_free(t.engine);
	return 0;
}
