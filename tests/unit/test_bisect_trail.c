/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a bisect's events to what they show, and to what is to be measured next. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "judge/bisect_trail.h"
#include "model/bisect_log.h"

enum { LISTED = 8, EVENTS_MAX = 64 };

static const struct trail_cost cost = {600, 60, 10};

/* A record with eight steps; values are added as boots. */
struct made {
	struct arena arena;
	struct bisect_record record;
	struct bisect_step steps[LISTED + 2];
	struct bisect_event events[EVENTS_MAX];
	struct bisect_finding finding;
};

static int set_up(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->record = (struct bisect_record){.name = "made",
		.metric = "rate",
		.unit = "x/s",
		.tree = "",
		.machine = "",
		.condition = "",
		.steps = m->steps,
		.step_count = LISTED + 2,
		.listed = LISTED,
		.bad = LISTED,
		.spec = {.confidence_pct = 95, .max_boots = 60, .runs = 3},
		.max_boots = 60,
		.events = m->events};
	for (int i = 0; i < LISTED + 2; i++)
		m->steps[i] = (struct bisect_step){.name = arena_printf(&m->arena, "commit-%d", i),
			.subject = "s",
			.author = "a"};
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct made *m = *state;

	arena_release(&m->arena);
	free(m);
	return 0;
}

static struct bisect_event *add(struct made *m, enum bisect_event_kind kind, int position)
{
	struct bisect_event *event = &m->events[m->record.event_count++];

	assert_true(m->record.event_count <= EVENTS_MAX);
	*event = (struct bisect_event){.number = (int64_t)m->record.event_count,
		.kind = kind,
		.position = position,
		.text = "",
		.reason = ""};
	return event;
}

/* A boot of a step whose runs lie around a value, never twice the same. */
static struct bisect_event *boot(struct made *m, int position, double value)
{
	struct bisect_event *event = add(m, EVENT_BOOT, position);
	double turn = (double)(m->record.event_count % 5) - 2;

	event->state = STATE_DONE;
	event->values = arena_alloc(&m->arena, 3 * sizeof(double));
	event->value_count = 3;
	for (int i = 0; i < 3; i++)
		event->values[i] = value * (1 + 0.001 * (turn + i - 1));
	return event;
}

static void decide(struct made *m)
{
	struct err err = ERR_INIT;

	if (bisect_trail(&m->record, &cost, &m->arena, &m->finding, &err))
		fail_msg("%s", err.text);
}

/* Boots whatever is asked for, with a change of 10 % at a step, until it ends. */
static void walk(struct made *m, int culprit)
{
	for (decide(m); m->finding.word == FOUND_SEARCHING; decide(m))
		boot(m, m->finding.next, m->finding.next >= culprit ? 90 : 100);
}

static void a_culprit_is_named(void **state)
{
	struct made *m = *state;
	double sum = 0;

	walk(m, 5);
	assert_int_equal(m->finding.word, FOUND_CULPRIT);
	assert_int_equal(m->finding.suspect_count, 1);
	assert_int_equal(m->finding.suspects[0], 5);
	assert_true(m->finding.probability >= 0.95);
	assert_float_equal(m->finding.good_level, 100, 1);
	assert_float_equal(m->finding.bad_level, 90, 1);
	for (int i = 1; i <= LISTED; i++)
		sum += m->finding.posterior[i];
	assert_float_equal(sum + m->finding.none, 1, 1e-9);
	assert_int_equal(m->finding.boots, m->record.event_count);
	assert_int_equal(m->finding.runs, 3 * m->finding.boots);
}

/* What ends for want of boots says how many more it takes; with those it is decided. */
static void a_larger_budget_decides(void **state)
{
	struct made *m = *state;
	struct bisect_event *given;
	struct err err = ERR_INIT;

	m->record.spec.max_boots = m->record.max_boots = 4;
	walk(m, 5);
	assert_int_equal(m->finding.word, FOUND_UNDECIDED);
	assert_in_range(m->finding.boots_left, 2, 20);
	assert_true(m->finding.seconds_left > 60.0 * (double)m->finding.boots_left + 600);
	m->record.axis = AXIS_FEATURES; /* nothing is built for them */
	decide(m);
	assert_float_equal(m->finding.seconds_left, 90.0 * (double)m->finding.boots_left, 1);
	m->record.axis = AXIS_COMMITS;
	given = add(m, EVENT_NOTE, 0);
	given->other = 2 * (int)m->finding.boots_left;
	assert_int_equal(bisect_record_finish(&m->record, &m->arena, &err), 0);
	assert_int_equal(m->record.max_boots, 4 + given->other);
	walk(m, 5);
	assert_int_equal(m->finding.word, FOUND_CULPRIT);
	assert_int_equal(m->finding.suspects[0], 5);
	assert_int_equal(m->finding.boots_left, 0);
}

static void the_same_events_show_the_same(void **state)
{
	struct made *m = *state;
	struct bisect_finding first;

	walk(m, 3);
	first = m->finding;
	decide(m);
	assert_int_equal(first.word, m->finding.word);
	assert_memory_equal(first.posterior, m->finding.posterior, (LISTED + 1) * sizeof(double));
	m->record.event_count -= 2;
	decide(m);
	assert_int_equal(m->finding.word, FOUND_SEARCHING);
	assert_int_equal(m->finding.next, m->events[m->record.event_count].position);
}

/* What cannot be tested comes with what follows it. */
static void neighbours_of_a_skip_are_a_range(void **state)
{
	struct made *m = *state;

	add(m, EVENT_SKIP, 4)->text = "does not build";
	walk(m, 4);
	assert_int_equal(m->finding.word, FOUND_RANGE);
	assert_int_equal(m->finding.suspect_count, 2);
	assert_int_equal(m->finding.suspects[0], 4);
	assert_int_equal(m->finding.suspects[1], 5);
	assert_false(m->finding.splits);
	for (size_t i = 0; i < m->record.event_count; i++)
		assert_false(m->events[i].kind == EVENT_BOOT && m->events[i].position == 4);
}

/* A kernel whose code is that of the one before is no suspect and is not booted. */
static void equal_code_is_never_booted(void **state)
{
	struct made *m = *state;

	for (int i = 0; i <= LISTED; i++)
		add(m, EVENT_BUILT, i)->text =
			i == 5 ? "code 4" : arena_printf(&m->arena, "code %d", i);
	walk(m, 4);
	assert_int_equal(m->finding.word, FOUND_CULPRIT);
	assert_int_equal(m->finding.suspects[0], 4);
	assert_true(m->finding.posterior[5] == 0);
	assert_int_equal(m->finding.builds, LISTED + 1);
	for (size_t i = 0; i < m->record.event_count; i++)
		assert_false(m->events[i].kind == EVENT_BOOT && m->events[i].position == 5);
}

static void all_of_the_same_code_is_no_change(void **state)
{
	struct made *m = *state;

	for (int i = 0; i <= LISTED; i++)
		add(m, EVENT_BUILT, i)->text = "code";
	decide(m);
	assert_int_equal(m->finding.word, FOUND_NONE);
	assert_true(m->finding.none == 1);
	m->record.axis = AXIS_FEATURES; /* what differs is set when it runs */
	decide(m);
	assert_int_equal(m->finding.word, FOUND_SEARCHING);
}

/* The good end, then a kernel that brings 1 to 3, one that brings 4 to 8: position 9 is a merge. */
static void several_commits_of_one_kernel_are_split(void **state)
{
	static const char chain[] = "[[0],[3,1,2,3],[9,4,5,6,7],[8,8]]";
	struct made *m = *state;

	add(m, EVENT_STAGE, 0)->text = chain;
	for (decide(m); m->finding.word == FOUND_SEARCHING; decide(m)) {
		assert_true(m->finding.next == 0 || m->finding.next == 3 || m->finding.next == 9 ||
			    m->finding.next == 8);
		boot(m, m->finding.next, m->finding.next >= 8 ? 90 : 100);
	}
	assert_int_equal(m->finding.word, FOUND_RANGE);
	assert_true(m->finding.splits);
	assert_int_equal(m->finding.suspect_count, 4);
	assert_int_equal(m->finding.suspects[0], 4);
	assert_int_equal(m->finding.split_good, 3);
	assert_int_equal(m->finding.split_bad, 9);
	/* all that was measured of the ends counts in the chain that follows */
	add(m, EVENT_STAGE, 0)->text = "[[3],[4,4],[5,5],[6,6],[9,7]]";
	decide(m);
	assert_int_equal(m->finding.word, FOUND_SEARCHING);
	for (; m->finding.word == FOUND_SEARCHING; decide(m))
		boot(m, m->finding.next, m->finding.next >= 6 ? 90 : 100);
	assert_int_equal(m->finding.word, FOUND_CULPRIT);
	assert_int_equal(m->finding.suspects[0], 6);
}

static void undo_last(struct made *m)
{
	int last = (int)m->events[m->record.event_count - 1].number;

	add(m, EVENT_UNDO, 0)->other = last;
}

static void what_is_undone_does_not_count(void **state)
{
	struct made *m = *state;
	struct err err = ERR_INIT;
	int64_t boots;

	walk(m, 2);
	boots = m->finding.boots;
	add(m, EVENT_SKIP, 6)->text = "by hand";
	undo_last(m);
	boot(m, 6, 90);
	undo_last(m);
	assert_int_equal(bisect_record_finish(&m->record, &m->arena, &err), 0);
	assert_null(bisect_skipped(&m->record, 6));
	decide(m);
	assert_int_equal(m->finding.boots, boots);
}

static void broken_chains_are_refused(void **state)
{
	static const char *const broken[] = {"", "{}", "[]", "[[0]]", "[[0],[]]", "[[0],[10,1]]",
		"[[0],[1,0]]", "[[0],[1,\"1\"]]", "[[0],[-1]]", "[[0],1]"};
	struct made *m = *state;
	struct bisect_chain chain;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		if (bisect_chain_read(&m->arena, broken[i], LISTED + 2, &chain, &err) !=
			ERR_INVALID)
			fail_msg("%s was read", broken[i]);
	add(m, EVENT_STAGE, 0)->text = "[[0]]";
	assert_int_equal(
		bisect_trail(&m->record, &cost, &m->arena, &m->finding, &err), ERR_INVALID);
}

/* The published bisect by hand: what the author named is the likeliest by far, and its samples do
 * not reach the certainty that he gave it: the engine asks for one more boot of that commit. */
static void the_published_answer_is_the_likeliest(void **state)
{
	struct made *m = *state;
	struct bisect_record record;
	struct err err = ERR_INIT;
	struct str text = STR_INIT;
	int best = 1;

	if (file_read("tests/fixtures/published/schbench-bisect.yaml", 1 << 20, &text, &err) ||
		bisect_log_read(&m->arena, "log", str_text(&text), text.len, &record, &err) ||
		bisect_trail(&record, &cost, &m->arena, &m->finding, &err))
		fail_msg("%s", err.text);
	str_release(&text);
	assert_int_equal(record.listed, 174);
	for (int i = 1; i <= 174; i++)
		if (m->finding.posterior[i] > m->finding.posterior[best])
			best = i;
	assert_string_equal(record.steps[best].name, "729288bc6856");
	assert_int_equal(175 - best, 152);
	assert_true(m->finding.posterior[best] > 0.5);
	assert_true(m->finding.none < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_culprit_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_larger_budget_decides, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_events_show_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			neighbours_of_a_skip_are_a_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_code_is_never_booted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			all_of_the_same_code_is_no_change, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			several_commits_of_one_kernel_are_split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_undone_does_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(broken_chains_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_published_answer_is_the_likeliest, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
