/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "model/suite.h"
#include "reading.h"

struct reader {
	struct arena arena;
	struct diag diag;
	struct suite suite;
};

static int set_up(void **state)
{
	*state = xcalloc(1, sizeof(struct reader));
	return 0;
}

static int tear_down(void **state)
{
	struct reader *r = *state;

	arena_release(&r->arena);
	diag_release(&r->diag);
	free(r);
	return 0;
}

static int read_text(struct reader *r, const char *text)
{
	return suite_read_node(&r->arena, yaml_of(&r->arena, text), &r->suite, &r->diag);
}

static void must_read(struct reader *r, const char *text)
{
	if (read_text(r, text))
		fail_msg("%s", messages(&r->arena, &r->diag));
}

static const char messaging[] =
	"suite: messaging\n"
	"about: senders and receivers\n"
	"homepage: https://example.org/\n"
	"program: hackbench\n"
	"tasks_per_worker: 2\n"
	"extra_tasks: 1\n"
	"env: {N: \"{workers}\"}\n"
	"fail_if: ['^fail:', prematurely]\n"
	"echo:\n"
	"  - {regex: 'pairs: (\\d+)', expect: \"{workers}\", from: stderr}\n"
	"duration: 500ms\n"
	"tolerance: 5%\n"
	"conditions:\n"
	"  pairs: {argv: [hackbench, -g, \"{workers}\", -t, \"{seconds}\"]}\n"
	"  groups:\n"
	"    argv: [hackbench, -g, \"{groups}\", -l, \"{groups*loops}\"]\n"
	"    params: {groups: [1, 8], loops: 100}\n"
	"    timeout: 2m\n"
	"metrics:\n"
	"  time: {unit: s, better: lower, regex: '^Time: ([0-9.]+)'}\n"
	"  rate: {unit: 1/s, better: higher, json: /a/b, which: nth, nth: 2, from: both, "
	"scale: 0.5, optional: true, zero_ok: true}\n";

static void a_suite_is_read(void **state)
{
	struct reader *r = *state;
	const struct suite *s = &r->suite;

	must_read(r, messaging);
	assert_string_equal(s->name, "messaging");
	assert_int_equal(s->tasks_per_worker, 2);
	assert_true(s->tolerance_pct == 5);
	assert_int_equal(s->output_bytes, 1 << 20);
	assert_int_equal(s->echo_count, 1);
	assert_int_equal(s->echoes[0].from, STREAM_STDERR);
	assert_string_equal(s->fail_if[1], "prematurely");
	assert_int_equal(s->condition_count, 3);
	assert_string_equal(s->conditions[0].name, "pairs");
	assert_true(s->conditions[0].by_saturation);
	assert_int_equal(s->conditions[0].duration_ns, 500 * NS_PER_MS);
	assert_int_equal(s->conditions[0].expect_ns, 500 * NS_PER_MS);
	assert_true(s->conditions[0].timeout_ns > 60 * NS_PER_S);
	assert_string_equal(s->conditions[2].name, "groups.groups=8");
	assert_string_equal(s->conditions[2].params.items[0].value, "8");
	assert_string_equal(s->conditions[2].params.items[1].value, "100");
	assert_int_equal(s->conditions[2].timeout_ns, 120 * NS_PER_S);
	assert_int_equal(s->metric_count, 2);
	assert_int_equal(s->metrics[0].better, BETTER_LOWER);
	assert_int_equal(s->metrics[0].which, WHICH_ONLY);
	assert_true(s->metrics[0].scale == 1);
	assert_int_equal(s->metrics[1].reader, READER_JSON);
	assert_int_equal(s->metrics[1].nth, 2);
	assert_true(s->metrics[1].optional && s->metrics[1].zero_ok);
}

static void its_text_reads_back_as_the_same(void **state)
{
	struct reader *r = *state, again = {0};
	char hex[SHA256_HEX_LEN + 1];

	must_read(r, messaging);
	must_read(&again, r->suite.text);
	assert_string_equal(again.suite.text, r->suite.text);
	assert_string_equal(again.suite.sha256, r->suite.sha256);
	sha256_of(r->suite.text, strlen(r->suite.text), hex);
	assert_string_equal(r->suite.sha256, hex);
	assert_int_equal(again.suite.condition_count, 3);
	assert_true(again.suite.conditions[0].by_saturation);
	arena_release(&again.arena);
}

static struct condition *find(struct condition *all, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	fail_msg("no condition %s", name);
	return NULL;
}

static void conditions_are_expanded(void **state)
{
	static const double pcts[] = {100, 50, 31.25, 25};
	struct reader *r = *state;
	struct condition *all, *c;
	struct err err = ERR_INIT;
	size_t count;

	must_read(r, messaging);
	assert_int_equal(suite_expand(&r->arena, &r->suite, 8, pcts, 4, &all, &count, &err), 0);
	/* every condition of the suite uses {workers}: in env */
	assert_int_equal(count, 12);
	c = find(all, count, "messaging/pairs 31.25%");
	assert_int_equal(c->workers, 3);
	assert_int_equal(c->tasks, 7);
	assert_true(c->saturation_pct == 31.25);
	assert_true(c->effective_pct == 37.5);
	assert_null(c->merged);
	assert_string_equal(c->argv[2], "3");
	assert_string_equal(c->argv[4], "0.5");
	assert_null(c->argv[5]);
	assert_string_equal(c->env[0], "LC_ALL=C");
	assert_string_equal(c->env[1], "N=3");
	assert_null(c->env[2]);
	assert_string_equal(c->expects[0], "3");
	c = find(all, count, "messaging/groups.groups=8 25%");
	assert_string_equal(c->argv[4], "800");
}

static const char plain[] = "suite: s\nprogram: p\nenv: {LC_ALL: de_DE.UTF-8}\n"
			    "conditions: {by: {argv: [p, \"{workers}\"]}, one: {argv: [p]}}\n"
			    "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n";

static void conditions_without_workers_stand_once(void **state)
{
	static const double pcts[] = {100, 50};
	struct reader *r = *state;
	struct condition *all;
	struct err err = ERR_INIT;
	size_t count;

	must_read(r, plain);
	assert_int_equal(suite_expand(&r->arena, &r->suite, 8, pcts, 2, &all, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_string_equal(all[2].name, "s/one");
	assert_int_equal(all[2].workers, 0);
	assert_true(all[2].saturation_pct == 0);
	assert_string_equal(all[2].env[0], "LC_ALL=de_DE.UTF-8");
	assert_null(all[2].env[1]);
	assert_int_equal(
		suite_expand(&r->arena, &r->suite, 0, pcts, 2, &all, &count, &err), ERR_USAGE);
}

/* What runs at once is told of the suites that come with kbracket, also where it is no multiple of
 * the workers. */
static void tasks_are_counted(void **state KB_UNUSED)
{
	static const struct {
		const char *path, *condition;
		int64_t workers, tasks;
	} cases[] = {
		{"suites/hackbench.yaml", "hackbench/pairs 31.25%", 15, 30},
		{"suites/hackbench-long.yaml", "hackbench-long/pairs 31.25%", 15, 30},
		{"suites/hackbench-groups.yaml", "hackbench-groups/groups.groups=4", 0, 160},
		{"suites/perf-messaging.yaml", "perf-messaging/groups.groups=10", 0, 400},
		{"suites/stress-ng.yaml", "stress-ng/sock 31.25%", 15, 30},
		{"suites/sembench-published.yaml", "sembench-published/many", 0, 816},
		{"suites/schbench-published.yaml", "schbench-published/auto-128", 0, 516},
		{"suites/schbench-published.yaml", "schbench-published/ninety", 0, 91},
	};
	static const double saturation_pct = 31.25;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = ARENA_INIT;
		struct diag diag = DIAG_INIT;
		struct err err = ERR_INIT;
		struct condition *conditions;
		struct suite suite;
		bool found = false;
		size_t count;

		assert_int_equal(suite_read(&arena, cases[i].path, &suite, &diag), 0);
		assert_int_equal(suite_expand(&arena, &suite, 48, &saturation_pct, 1, &conditions,
					 &count, &err),
			0);
		for (size_t k = 0; k < count; k++) {
			if (strcmp(conditions[k].name, cases[i].condition) != 0)
				continue;
			found = true;
			assert_int_equal(conditions[k].workers, cases[i].workers);
			assert_int_equal(conditions[k].tasks, cases[i].tasks);
		}
		if (!found)
			fail_msg("there is no %s", cases[i].condition);
		arena_release(&arena);
	}
}

static void saturations_become_workers(void **state KB_UNUSED)
{
	static const struct {
		int64_t cpus;
		double pct;
		int64_t workers;
	} cases[] = {{48, 100, 48}, {48, 50, 24}, {48, 31.25, 15}, {48, 25, 12}, {8, 100, 8},
		{8, 50, 4}, {8, 31.25, 3}, {8, 25, 2}, {1, 100, 1}, {1, 25, 1}, {3, 100, 3},
		{3, 50, 2}, {3, 31.25, 1}, {3, 25, 1}, {2, 25, 1}, {1000, 14.35, 144},
		{1000, 14.25, 143}, {1000, 0.01, 1}, {48, 200, 96}, {384, 31.25, 120}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(saturation_workers(cases[i].cpus, cases[i].pct), cases[i].workers);
}

static void equal_worker_counts_are_merged(void **state)
{
	static const double pcts[] = {100, 50, 31.25, 25};
	static const struct {
		int64_t cpus;
		size_t count;
		const char *names[4], *merged[4];
	} cases[] = {{48, 4, {"s/by 100%", "s/by 50%", "s/by 31.25%", "s/by 25%"}, {NULL}},
		{8, 4, {"s/by 100%", "s/by 50%", "s/by 31.25%", "s/by 25%"}, {NULL}},
		{3, 3, {"s/by 100%", "s/by 50%", "s/by 31.25%"}, {NULL, NULL, "25%"}},
		{1, 1, {"s/by 100%"}, {"50%, 31.25%, 25%"}}};
	struct reader *r = *state;

	must_read(r, plain);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct condition *all;
		struct err err = ERR_INIT;
		size_t count;

		assert_int_equal(suite_expand(&r->arena, &r->suite, cases[i].cpus, pcts, 4, &all,
					 &count, &err),
			0);
		assert_int_equal(count, cases[i].count + 1); /* and s/one */
		for (size_t k = 0; k < cases[i].count; k++) {
			assert_string_equal(all[k].name, cases[i].names[k]);
			if (cases[i].merged[k])
				assert_string_equal(all[k].merged, cases[i].merged[k]);
			else
				assert_null(all[k].merged);
		}
	}
}

static void a_template_that_fails_on_a_machine_is_named(void **state)
{
	static const double pcts[] = {100, 25};
	struct reader *r = *state;
	struct condition *all = NULL;
	struct err err = ERR_INIT;
	size_t count;

	must_read(r, "suite: s\nprogram: p\n"
		     "conditions: {c: {argv: [p, \"{8 / (workers - 1)}\"]}}\n"
		     "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n");
	assert_int_equal(
		suite_expand(&r->arena, &r->suite, 4, pcts, 2, &all, &count, &err), ERR_USAGE);
	assert_string_equal(err.text, "condition s/c 25%: template '{8 / (workers - 1)}': "
				      "division by zero");
	assert_null(all);
}

static void the_duration_can_be_overridden(void **state)
{
	struct reader *r = *state;
	const char *before;

	must_read(r, "suite: s\nprogram: p\nduration: 30s\nexpect: 31s\n"
		     "conditions: {c: {argv: [p, \"{seconds}\"]}, d: {argv: [p], duration: 1s}}\n"
		     "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n");
	before = r->suite.sha256;
	suite_set_duration(&r->arena, &r->suite, 500 * NS_PER_MS);
	assert_int_equal(r->suite.conditions[0].duration_ns, 500 * NS_PER_MS);
	assert_int_equal(r->suite.conditions[0].expect_ns, 1500 * NS_PER_MS);
	assert_int_equal(r->suite.conditions[1].duration_ns, 500 * NS_PER_MS);
	assert_string_not_equal(before, r->suite.sha256);
	suite_set_duration(&r->arena, &r->suite, 120 * NS_PER_S);
	assert_true(r->suite.conditions[0].timeout_ns > 120 * NS_PER_S);
	must_read(r, r->suite.text);
}

/* stress-ng takes half a second as no end at all. */
static void durations_are_whole_steps(void **state)
{
	struct reader *r = *state;

	must_read(r, "suite: s\nprogram: p\nduration: 2500ms\nduration_step: 1s\n"
		     "conditions: {c: {argv: [p, \"{seconds}\"]}, d: {argv: [p], duration: 4s}}\n"
		     "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n");
	assert_int_equal(r->suite.conditions[0].duration_ns, 3 * NS_PER_S);
	assert_int_equal(r->suite.conditions[1].duration_ns, 4 * NS_PER_S);
	suite_set_duration(&r->arena, &r->suite, 500 * NS_PER_MS);
	assert_int_equal(r->suite.conditions[0].duration_ns, NS_PER_S);
	assert_int_equal(r->suite.conditions[1].duration_ns, NS_PER_S);
	must_read(r, r->suite.text);
	assert_int_equal(r->suite.conditions[0].duration_ns, NS_PER_S);
}

static void wrong_suites_are_told(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "suite: ../x\n"
				      "program: p\n"
				      "env: {'A=B': c}\n"
				      "fail_if: ['(']\n"
				      "echo: [{regex: abc, expect: x}, {regex: '(a)'}]\n"
				      "output: 1\n"
				      "conditions:\n"
				      "  a b: {argv: [p]}\n"
				      "  b: {argv: []}\n"
				      "  c: {arvg: [p]}\n"
				      "  d: {argv: [p], params: {workers: 1, x: {}, Y: 1, z: []}}\n"
				      "metrics:\n"
				      "  m: {unit: s, better: best, regex: 'x'}\n"
				      "  n: {unit: s, better: lower, regex: '(x)', csv: y}\n"
				      "  o: {unit: '', better: lower}\n"
				      "  p: {unit: s, better: lower, json: /x, which: nth}\n"
				      "  q: {unit: s, better: lower, json: /x, nth: 2}\n"
				      "  r: {unit: s, better: lower, json: a/b}\n"
				      "  s: {unit: s, better: lower, json: /a~2b}\n"
				      "  t: {unit: s, better: lower, csv: ''}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:1:8: suite: '../x' is not a name: letters, digits and . _ + - only, a "
		"letter, digit or _ first\n"
		"test.yaml:3:7: env: 'A=B' is not the name of an environment variable\n"
		"test.yaml:4:11: fail_if: '(' is not a regular expression: the pattern '(' "
		"is wrong at offset 1: missing closing parenthesis\n"
		"test.yaml:5:16: regex: 'abc' has no group (...) around the value\n"
		"test.yaml:5:33: an echo check lacks the key 'expect' (what that must be; a "
		"template)\n"
		"test.yaml:6:9: output: 1 is out of range: 4K to 1G\n"
		"test.yaml:8:3: conditions: 'a b' is not a name: letters, digits and . _ + - "
		"only, a letter, digit or _ first\n"
		"test.yaml:9:13: argv has 0 items; at least 1 are wanted\n"
		"test.yaml:10:6: a condition lacks the key 'argv' (argument list; templates)\n"
		"test.yaml:10:7: unknown key 'arvg' in a condition; did you mean 'argv'?\n"
		"test.yaml:11:27: params: 'workers' is a word that templates know already\n"
		"test.yaml:11:42: x wants a list such as [a, b], not a mapping\n"
		"test.yaml:11:46: params: 'Y' is not the name of a parameter: a-z, 0-9 and _ "
		"only\n"
		"test.yaml:11:55: z has 0 values; 1 to 200 are wanted\n"
		"test.yaml:13:24: better: 'best' is not one of: higher, lower\n"
		"test.yaml:13:37: regex: 'x' has no group (...) around the value\n"
		"test.yaml:14:50: csv: the metric has regex already; one reader is wanted\n"
		"test.yaml:15:13: unit: '' is not a unit of 1 to 32 characters\n"
		"test.yaml:16:3: metric 'p': which: nth and nth: N go together\n"
		"test.yaml:17:3: metric 'q': which: nth and nth: N go together\n"
		"test.yaml:18:37: json: 'a/b' is not a path such as /jobs/0/iops: it begins with "
		"a slash\n"
		"test.yaml:19:37: json: '/a~2b' has a ~ that is neither ~0 (a tilde) nor ~1 (a "
		"slash)\n"
		"test.yaml:20:36: csv: '' is empty: nothing has that name\n");
}

/* Every key, so that each can be wrong. */
static const char complete[] =
	"suite: all\nabout: a\nhomepage: h\nprogram: p\nversion: [p, -v]\noptional: true\n"
	"native: true\ncontrol: true\ntasks_per_worker: 2\nextra_tasks: 1\ntasks: '{workers}'\n"
	"on_second: true\nenv: {A: '{workers}'}\nfiles: {f: ../f}\n"
	"files_sha256: {f: "
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}\n"
	"setup: [[a, '{workers}']]\nserver: [s]\nserver_version: [s, -v]\nready: [r]\n"
	"ready_port: 1\nteardown: [[t]]\nstep: 1s\nfail_if: [bad]\n"
	"echo: [{regex: '(x)', expect: '{workers}', from: stderr}]\ntolerance: 5%\n"
	"overrun: 5%\noperations: m\ncounter_threads: main\noutput: 1M\nduration: 1s\n"
	"duration_step: 1s\nexpect: 1s\ntimeout: 1m\n"
	"conditions:\n"
	"  c: {argv: [p, '{n}', '{seconds}'], params: {n: [1, 2]}, duration: 1s, expect: 2s, "
	"timeout: 1m}\n"
	"metrics:\n"
	"  m: {unit: u/s, better: higher, regex: '(x)', within: w, which: nth, nth: 1, "
	"percentile: 99%, min_count: 1, from: both, scale: 2, optional: true, zero_ok: true}\n"
	"  j: {unit: u, better: lower, json: /a}\n"
	"  k: {unit: u, better: lower, csv: a}\n"
	"  l: {unit: u, better: lower, perf: a}\n";

static const char *const odd_values[] = {"", "~", "-1", "0", "1e999", "nan",
	"99999999999999999999999", "'{'", "'{1/0}'", "'{x}'", "'('", "'(a)|(?<value>b)'", "\"\\e\"",
	"'a\n\n  b'", "../x", "1s", "5%", "true", "[]", "[[]]", "[a, [b]]", "{}", "{a: b}",
	"{a: [1, {b: c}]}"};

/* Reads the suite with one node after the other replaced by the value, or with its key changed. */
static size_t try_in_place_of_all(
	struct reader *r, const struct ynode *root, struct ynode *node, const struct ynode *odd)
{
	size_t refused = 0;

	for (size_t i = 0; i < node->count; i++) {
		struct ynode *kept = node->items[i], *key = node->keys ? node->keys[i] : NULL;
		struct ynode other;

		node->items[i] = (struct ynode *)odd;
		refused += suite_read_node(&r->arena, root, &r->suite, &r->diag) != 0;
		node->items[i] = kept;
		if (key && odd->kind == YNODE_SCALAR) {
			other = *key;
			other.text = odd->text;
			node->keys[i] = &other;
			refused += suite_read_node(&r->arena, root, &r->suite, &r->diag) != 0;
			node->keys[i] = key;
		}
		refused += try_in_place_of_all(r, root, kept, odd);
	}
	return refused;
}

/* Whatever is wrong with one key, the others are still looked at. */
static void no_mistake_is_more_than_a_message(void **state)
{
	struct reader *r = *state;
	struct ynode *root = (struct ynode *)yaml_of(&r->arena, complete);

	must_read(r, complete);
	for (size_t i = 0; i < ARRAY_SIZE(odd_values); i++) {
		char *text = xasprintf("v: %s\n", odd_values[i]);
		const struct ynode *odd = ynode_get(yaml_of(&r->arena, text), "v");
		size_t refused = try_in_place_of_all(r, root, root, odd);

		/* no value fits half of all places */
		assert_true(refused > 60);
		assert_true(r->diag.count >= refused);
		diag_release(&r->diag);
		free(text);
	}
	must_read(r, complete);
}

static void groups_of_a_pattern_are_bounded(void **state)
{
	struct reader *r = *state;
	struct str text = STR_INIT;

	str_add(&text, "suite: s\nprogram: p\nconditions: {c: {argv: [p]}}\n"
		       "metrics: {m: {unit: s, better: lower, regex: '");
	for (int i = 0; i < 31; i++)
		str_add(&text, "(.)");
	str_add(&text, "(?<value>.)'}}\n");
	assert_int_equal(read_text(r, text.text), ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "too many groups before the one"));
	str_release(&text);
}

static void wrong_templates_are_told(void **state)
{
	struct reader *r = *state;

	assert_int_equal(
		read_text(r, "suite: s\nprogram: p\nenv: {E: \"{oops}\"}\n"
			     "echo: [{regex: '(a)', expect: \"{1\"}]\n"
			     "conditions:\n"
			     "  a: {argv: [q, \"{wrokers}\"], duration: 10s, timeout: 5s}\n"
			     "  b: {argv: [p, \"{seconds}\"], params: {oops: 1}}\n"
			     "  b.x=1: {argv: [p], params: {oops: 1}}\n"
			     "  b.y: {argv: [p], params: {oops: 1}}\n"
			     "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:6:3: condition 'a': argv '{wrokers}': 'wrokers' is neither workers, "
		"cpus, saturation, seconds nor a parameter\n"
		"test.yaml:6:3: condition 'a': argv begins with 'q', not with the program 'p'\n"
		"test.yaml:6:3: condition 'a': echo '{1': '}' is missing\n"
		"test.yaml:6:3: condition 'a': env '{oops}': 'oops' is neither workers, cpus, "
		"saturation, seconds nor a parameter\n"
		"test.yaml:6:3: condition 'a': the timeout is not longer than the duration\n"
		"test.yaml:7:3: condition 'b' uses {seconds} but has no duration\n"
		"test.yaml:7:3: condition 'b': echo '{1': '}' is missing\n"
		"test.yaml:8:3: condition 'b.x=1': echo '{1': '}' is missing\n"
		"test.yaml:9:3: condition 'b.y': echo '{1': '}' is missing\n");
}

static void pins_name_files(void **state)
{
	static const char suite[] = "suite: s\nprogram: p\nfiles: {a: f}\n"
				    "files_sha256: {b: %s}\n"
				    "conditions: {c: {argv: [p]}}\n"
				    "metrics: {m: {unit: s, better: lower, regex: '(1)'}}\n";
	static const char digest[] =
		"a000000000000000000000000000000000000000000000000000000000000000";
	struct reader *r = *state;
	char *short_one = xasprintf(suite, "xyz"), *other = xasprintf(suite, digest);

	assert_true(read_text(r, short_one) != 0);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "SHA-256 of 64 hex digits"));
	assert_true(read_text(r, other) != 0);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "'b' is none of the files"));
	free(short_one);
	free(other);
}

static void what_is_around_is_read(void **state)
{
	static const char suite[] = "suite: s\nprogram: p\n%s\n"
				    "conditions: {c: {argv: [p, \"{workers}\"]}}\n"
				    "metrics: {m: {unit: s, better: lower, regex: '(1)'}}\n";
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"server: [d]", "the server needs ready or ready_port"},
		{"ready_port: 80", "ready and ready_port need a server"},
		{"setup: [a]", "setup"},
		{"setup: [[]]", "setup"},
		{"setup: [[a, '{wrokers}']]", "setup '{wrokers}'"},
		{"version: [q]", "version does not begin with the program"},
	};
	static const double all[] = {100};
	struct reader *r = *state;
	struct condition *conditions;
	char *text = xasprintf(suite, "setup: [[a], [b, '{cpus}']]\nserver: [d, '{workers}']\n"
				      "ready_port: 80\nteardown: [[e]]\nstep: 5s");
	size_t count;

	assert_int_equal(read_text(r, text), 0);
	free(text);
	assert_int_equal(
		suite_expand(&r->arena, &r->suite, 6, all, 1, &conditions, &count, NULL), 0);
	assert_int_equal(conditions[0].setup.count, 2);
	assert_string_equal(conditions[0].setup.items[1][1], "6");
	assert_string_equal(conditions[0].server[1], "6");
	assert_null(conditions[0].ready[0]);
	assert_string_equal(conditions[0].teardown.items[0][0], "e");
	assert_non_null(strstr(r->suite.text, "step: 5s"));
	assert_non_null(strstr(r->suite.text, "setup:"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		text = xasprintf(suite, wrong[i].text);
		assert_true(read_text(r, text) != 0);
		assert_non_null(strstr(messages(&r->arena, &r->diag), wrong[i].message));
		free(text);
	}
}

static void a_matrix_is_bounded(void **state)
{
	struct reader *r = *state;

	assert_int_equal(
		read_text(r,
			"suite: s\nprogram: p\n"
			"conditions: {c: {argv: [p], params: {a: [1, 2, 3, 4, 5, 6, 7, 8], b: [1, "
			"2, "
			"3, 4, 5, 6, 7, 8], d: [1, 2, 3, 4, 5, 6, 7, 8], e: [1, 2, 3, 4, 5, 6, 7], "
			"f: [1, 2, 3, 4, 5, 6], g: [1, 2, 3, 4, 5, 6], h: [1, 2, 3, 4, 5, 6]}}}\n"
			"metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"),
		ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "too many conditions"));
	assert_int_equal(read_text(r, "suite: s\nprogram: p\n"
				      "conditions: {c: {argv: [p], params: {a: [1, 1]}}}\n"
				      "metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag, "test.yaml:3:14: two conditions are called 'c.a=1'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_suite_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_text_reads_back_as_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(conditions_are_expanded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			conditions_without_workers_stand_once, set_up, tear_down),
		cmocka_unit_test(tasks_are_counted),
		cmocka_unit_test(saturations_become_workers),
		cmocka_unit_test_setup_teardown(equal_worker_counts_are_merged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_template_that_fails_on_a_machine_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_duration_can_be_overridden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(durations_are_whole_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_suites_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			no_mistake_is_more_than_a_message, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_of_a_pattern_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_templates_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pins_name_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_around_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_matrix_is_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
