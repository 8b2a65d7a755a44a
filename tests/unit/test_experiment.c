/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/strv.h"
#include "model/experiment.h"
#include "experiments.h"
#include "reading.h"

struct reader {
	struct arena arena;
	struct diag diag;
	struct experiment e;
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
	return experiment_read_text(&r->arena, "test.yaml", text, strlen(text), &r->e, &r->diag);
}

static int read_with(struct reader *r, int variants, const char *more)
{
	char *text = experiment_text(variants, more);
	int ret = read_text(r, text);

	free(text);
	return ret;
}

static void must_read(struct reader *r, int variants, const char *more)
{
	if (read_with(r, variants, more))
		fail_msg("%s", messages(&r->arena, &r->diag));
}

static void defaults_are_filled_in(void **state)
{
	struct reader *r = *state;
	const struct experiment *e = &r->e;

	must_read(r, 2, "");
	assert_string_equal(e->name, "test");
	assert_int_equal(e->machine_count, 1);
	assert_int_equal(e->machines[0].cpus, 8);
	assert_int_equal(e->machines[0].boot, BOOT_KEXEC);
	assert_int_equal(e->variant_count, 2);
	assert_string_equal(e->variants[0]->name, "A");
	assert_int_equal(e->suite_count, 3);
	assert_int_equal(e->saturation_count, 1);
	assert_true(e->saturations_pct[0] == 100);
	assert_int_equal(e->design.order, ORDER_BRACKETED);
	assert_int_equal(e->design.boots, 4);
	assert_int_equal(e->design.runs, 9);
	assert_int_equal(e->design.warmup, 1);
	assert_true(e->gates.cv_pct < 0 && e->gates.drift_pct < 0);
	assert_true(e->gates.margin_pct == 1 && e->gates.alpha_pct == 5);
	assert_int_equal(e->duration_ns, 0);
	assert_null(e->decide[0]);
}

static void everything_can_be_said(void **state)
{
	struct reader *r = *state;
	const struct experiment *e = &r->e;
	char *line;

	must_read(r, 3,
		"about: all of it\n"
		"saturation: [100%, 31.25%]\n"
		"duration: 2s\n"
		"design: {order: shuffled, boots: 3, runs: 1, warmup: 0, seed: 7}\n"
		"gates: {cv: 1.5%, drift: 2%, margin: 0.5%, alpha: 1%}\n"
		"policies: {steal: drop, taint: ignore}\n"
		"decide: [alpha, beta/two]\n");
	assert_int_equal(e->design.order, ORDER_SHUFFLED);
	assert_int_equal(e->design.boots, 3);
	assert_true(e->gates.cv_pct == 1.5);
	assert_int_equal(e->suites[0].conditions[0].duration_ns, 2 * NS_PER_S);
	assert_int_equal(e->suites[1].conditions[0].duration_ns, 0);
	assert_int_equal(experiment_policy(e, "steal"), FLAG_DROP);
	assert_int_equal(experiment_policy(e, "taint"), FLAG_IGNORE);
	assert_int_equal(experiment_policy(e, "throttled"), FLAG_KEEP);
	assert_true(experiment_decides(e, &e->suites[0], "alpha/by 31.25%"));
	assert_true(experiment_decides(e, &e->suites[1], "beta/two"));
	assert_false(experiment_decides(e, &e->suites[1], "beta/one"));
	line = experiment_design_line(e);
	assert_string_equal(line, "shuffled, 3 boots, 1 run, 0 warm-ups, seed 7");
	free(line);
}

static void without_decide_all_but_controls_decide(void **state)
{
	struct reader *r = *state;

	must_read(r, 2, "");
	assert_true(experiment_decides(&r->e, &r->e.suites[0], "alpha/by 100%"));
	assert_false(experiment_decides(&r->e, &r->e.suites[2], "canary/c"));
}

static void an_explicit_order_brings_its_own_boots(void **state)
{
	struct reader *r = *state;
	char *line;

	must_read(r, 2, "design: {order: [A, B, A], seed: 3}\n");
	assert_int_equal(r->e.design.order, ORDER_EXPLICIT);
	assert_int_equal(r->e.design.boots, 0);
	assert_string_equal(r->e.design.explicit_order[1], "B");
	line = experiment_design_line(&r->e);
	assert_string_equal(line, "order A B A, 9 runs, 1 warm-up, seed 3");
	free(line);
}

static void boots_may_be_added_until_it_is_enough(void **state)
{
	static const struct {
		const char *design, *line;
		enum design_until until;
		int looks;
	} cases[] = {
		{"{until: verdict}",
			"bracketed, until verdict, at most 16 boots, 9 runs, 1 warm-up, seed 1",
			UNTIL_VERDICT, 8},
		{"{until: 1.5%, max: 12}",
			"bracketed, until ±1.5 %, at most 12 boots, 9 runs, 1 warm-up, seed 1",
			UNTIL_WIDTH, 6},
		{"{order: adaptive}", "adaptive, 9 runs, 1 warm-up, seed 1", UNTIL_BOOTS, 0}};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *more = xasprintf("design: %s\n", cases[i].design), *line;

		must_read(r, 2, more);
		assert_int_equal(r->e.design.until, cases[i].until);
		assert_int_equal(r->e.design.boots, 0);
		assert_int_equal(experiment_looks(&r->e), cases[i].looks);
		line = experiment_design_line(&r->e);
		assert_string_equal(line, cases[i].line);
		free(line);
		free(more);
	}
}

static void wrong_designs_are_told(void **state)
{
	static const struct {
		const char *more, *message;
	} cases[] = {{"design: {boots: 3}\n", "boots: 3 is odd; a bracket holds each variant "
					      "twice, so an even number is wanted\n"},
		{"design: {boots: 0}\n", "boots: 0 is out of range: 1 to 1000\n"},
		{"design: {order: [A, B, A], boots: 4}\n",
			"boots: the list in order says how many\n"},
		{"design: {order: [A, B, D]}\n", "order: 'D' is no variant of this experiment\n"},
		{"design: {order: shuffled, boots: 1}\n",
			"boots: 1 boot of each variant shows nothing; 2 at least\n"},
		{"design: {order: [B, B]}\n", "order: the baseline 'A' does not occur\n"},
		{"design: {order: [A, A]}\n", "order: variant 'B' does not occur\n"},
		{"design: {order: []}\n", "order has 0 items; at least 1 are wanted\n"},
		{"design: {order: braketed}\n", "order is bracketed, shuffled, toggle, or a list "
						"of variants such as [A, B, A]\n"},
		{"design: {until: verdict, boots: 4}\n",
			"boots: until says when it is enough, and max bounds it\n"},
		{"design: {until: verdict, max: 5}\n",
			"max: 5 is odd; a bracket holds each variant twice, so an even number is "
			"wanted\n"},
		{"design: {max: 12}\n", "max: goes with until, which is not given\n"},
		{"design: {until: 1%, order: shuffled}\n",
			"until: whole brackets are added, so order is bracketed\n"},
		{"design: {until: 12}\n", "until is verdict, or a half-width such as 1%\n"},
		{"design: {until: 0%}\n", "until: 0% is out of range: 0.01% to 50%\n"},
		{"design: {order: adaptive, boots: 4}\n",
			"boots: an adaptive order begins with none\n"},
		{"saturation: [50%, 25%, 50%]\n", "saturation: 50% is listed twice\n"},
		{"saturation: []\n", "saturation has 0 items; at least 1 are wanted\n"},
		{"decide: [alfa]\n", "decide: 'alfa' is neither a suite of this experiment nor "
				     "SUITE/CONDITION\n"},
		{"decide: [beta/three]\n", "decide: 'beta/three' is neither a suite of this "
					   "experiment nor SUITE/CONDITION\n"},
		{"policies: {steel: drop}\n", "policies: 'steel' is not a reason for a run to be "
					      "unfit; did you mean 'steal'?\n"},
		{"policies: {steal: droop}\n",
			"steal: 'droop' is not one of: drop, flag, ignore\n"},
		{"gates: {margin: 0%}\n", "margin: 0% is out of range: 0.001% to 50%\n"},
		{"gates: {margin: auto}\n", "margin: 'auto' is not a percentage such as 31.25%\n"}};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *seen, *text;

		assert_int_equal(read_with(r, 2, cases[i].more), ERR_USAGE);
		seen = messages(&r->arena, &r->diag);
		text = strstr(seen, ": ");
		assert_non_null(text);
		if (strcmp(text + 2, cases[i].message) != 0)
			fail_msg("%s", seen);
	}
}

static const char against[] = "experiment: x\n"
			      "machines: [" TEST_MACHINE "]\n"
			      "baseline: base\n"
			      "variants: [one, two]\n"
			      "kernels:\n"
			      "  variants:\n"
			      "    base: {prebuilt: {package: a}}\n"
			      "    one: {prebuilt: {package: b}, against: other}\n"
			      "    two: {prebuilt: {package: c}}\n"
			      "    other: {prebuilt: {package: d}, against: third}\n"
			      "    third: {prebuilt: {package: e}}\n"
			      "    unused: {prebuilt: {package: f}}\n"
			      "suites:\n" TEST_SUITES;

static void baselines_named_by_against_are_added(void **state)
{
	static const char *const names[] = {"base", "one", "two", "other", "third"};
	static const size_t baselines[] = {0, 3, 0, 4, 0};
	struct reader *r = *state;

	assert_int_equal(read_text(r, against), 0);
	assert_int_equal(r->e.variant_count, 5);
	assert_int_equal(r->e.listed_count, 3);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(r->e.variants[i]->name, names[i]);
		assert_int_equal(experiment_baseline_of(&r->e, i), baselines[i]);
	}
	assert_int_equal(experiment_variant_index(&r->e, "unused"), -1);
}

#define LAYOUT_TEXT(more)                                                                        \
	"experiment: x\nmachines: [" TEST_MACHINE "]\nbaseline: base\n"                          \
	"variants: [new, again, toggled, foreign, deb]\nlayout_null: true\n" more                \
	"kernels:\n  tree: /t\n  variants:\n"                                                    \
	"    base: {ref: HEAD^}\n    new: {ref: HEAD}\n    again: {like: base, control: true}\n" \
	"    toggled: {like: base, features: [NO_NI_RANDOM]}\n"                                  \
	"    foreign: {ref: other, against: theirs}\n    theirs: {ref: other^}\n"                \
	"    deb: {prebuilt: {package: linux}}\n"                                                \
	"suites:\n" TEST_SUITES

/* What is built differently is rebuilt with its baseline; labels, toggles and packages are not. */
static void layouts_come_in_pairs(void **state)
{
	static const struct {
		const char *name, *against, *layout_of;
	} wanted[] = {{"base-aligned", NULL, "base"}, {"new-aligned", "base-aligned", "new"},
		{"base-padded", NULL, "base"}, {"new-padded", "base-padded", "new"},
		{"theirs-aligned", NULL, "theirs"},
		{"foreign-aligned", "theirs-aligned", "foreign"}, {"theirs-padded", NULL, "theirs"},
		{"foreign-padded", "theirs-padded", "foreign"}};
	struct reader *r = *state, again = {0};
	int64_t padding;
	char *dump;

	assert_int_equal(read_text(r, LAYOUT_TEXT("design: {seed: 3}\n")), 0);
	assert_int_equal(r->e.listed_count, 6);
	assert_int_equal(r->e.variant_count, 7 + ARRAY_SIZE(wanted));
	padding = r->e.variants[9]->pad_scheduler;
	assert_true(padding > 0 && padding % 16 == 0 && padding % 64 != 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct variant *v = r->e.variants[7 + i];
		bool aligned = strstr(v->name, "aligned") != NULL;

		assert_string_equal(v->name, wanted[i].name);
		assert_string_equal(v->layout_of, wanted[i].layout_of);
		assert_int_equal(v->align_functions, aligned);
		assert_int_equal(v->pad_scheduler, aligned ? 0 : padding);
		assert_int_equal(experiment_is_compared(&r->e, 7 + i), wanted[i].against != NULL);
		if (wanted[i].against)
			assert_string_equal(
				r->e.variants[experiment_baseline_of(&r->e, 7 + i)]->name,
				wanted[i].against);
	}
	/* what is stored makes them again, and only once */
	dump = experiment_dump(&r->e);
	if (read_text(&again, dump))
		fail_msg("%s\n%s", messages(&again.arena, &again.diag), dump);
	assert_int_equal(again.e.variant_count, r->e.variant_count);
	assert_int_equal(again.e.variants[9]->pad_scheduler, padding);
	free(dump);
	arena_release(&again.arena);
	/* another seed is another size */
	assert_int_equal(read_text(r, LAYOUT_TEXT("design: {seed: 4}\n")), 0);
	assert_int_not_equal(r->e.variants[9]->pad_scheduler, padding);
}

static void layouts_of_nothing_are_refused(void **state)
{
	struct reader *r = *state;
	char *text = experiment_text(2, "layout_null: true\n");

	assert_int_equal(read_text(r, text), ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag),
		"layout_null: no variant here is built from another source"));
	free(text);
	assert_int_equal(
		read_text(r, LAYOUT_TEXT("design: {order: [base, new, base]}\n")), ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "layout_null: it adds variants"));
}

/* The dump is what is stored and what a resumed experiment is read from. */
static void what_is_dumped_reads_as_the_same(void **state)
{
	struct reader *r = *state, again = {0};
	static const char *const mores[] = {"", "duration: 2s\ndesign: {order: [A, B, A]}\n",
		("saturation: [33.3%]\ngates: {cv: 3%}\npolicies: {steal: drop}\ndecide: [beta]\n"
		 "design: {order: shuffled, boots: 5}\nabout: \"x: y\"\n"),
		"design: {until: verdict, max: 12}\n", "design: {until: 0.7%}\n",
		"design: {order: adaptive}\n"};

	for (size_t i = 0; i < ARRAY_SIZE(mores) + 1; i++) {
		char *once, *twice;

		if (i < ARRAY_SIZE(mores))
			must_read(r, 2, mores[i]);
		else
			assert_int_equal(read_text(r, against), 0);
		once = experiment_dump(&r->e);
		if (read_text(&again, once))
			fail_msg("%s\n%s", messages(&again.arena, &again.diag), once);
		twice = experiment_dump(&again.e);
		assert_string_equal(once, twice);
		assert_int_equal(again.e.variant_count, r->e.variant_count);
		assert_int_equal(again.e.listed_count, r->e.listed_count);
		assert_string_equal(again.e.suites[0].sha256, r->e.suites[0].sha256);
		assert_int_equal(again.e.design.boots, r->e.design.boots);
		assert_int_equal(again.e.design.until, r->e.design.until);
		assert_int_equal(again.e.design.max_boots, r->e.design.max_boots);
		assert_true(again.e.design.until_pct == r->e.design.until_pct);
		free(once);
		free(twice);
		arena_release(&again.arena);
	}
}

static void wrong_variants_are_told(void **state)
{
	struct reader *r = *state;
	struct str text = STR_INIT;

	str_add(&text, "experiment: x\nmachines: [" TEST_MACHINE ", " TEST_MACHINE "]\n"
		       "baseline: bsae\nvariants: [base, one, one, two, nope]\n"
		       "kernels: {variants: {base: {prebuilt: {package: a}}, one: {prebuilt: "
		       "{package: b}}}}\nsuites:\n" TEST_SUITES TEST_SUITES);
	assert_int_equal(read_text(r, str_text(&text)), ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:2:67: machines: 'guest' is listed twice\n"
		"test.yaml:3:11: baseline: there is no variant 'bsae' in test.yaml; did you mean "
		"'base'?\n"
		"test.yaml:4:23: variants: 'one' is listed twice\n"
		"test.yaml:4:28: variants: there is no variant 'two' in test.yaml\n"
		"test.yaml:4:33: variants: there is no variant 'nope' in test.yaml\n"
		"test.yaml:22:5: suites: 'alpha' is listed twice\n"
		"test.yaml:27:5: suites: 'beta' is listed twice\n"
		"test.yaml:32:5: suites: 'canary' is listed twice\n");
	str_release(&text);
}

static void wrong_machines_are_told(void **state)
{
	static const struct {
		const char *machine, *message;
	} cases[] = {{"{connect: local}", "a machine lacks the key 'machine' (its name)\n"},
		{"{machine: m}", "a machine lacks the key 'connect' (local, {ssh: DESTINATION} or "
				 "{qemu: {...}})\n"},
		{"{machine: m, connect: remote}",
			"connect is local, {ssh: DESTINATION} or {qemu: {...}}\n"},
		{"{machine: m, connect: {ssh: a, qemu: {}}}",
			"connect is local, {ssh: DESTINATION} or {qemu: {...}}\n"},
		{"{machine: m, connect: {ssh: -oProxyCommand=x}}",
			"ssh: '-oProxyCommand=x' is not a destination such as root@host\n"},
		{"{machine: m, connect: {qemu: {cpus: 8, llcs: 3}}}",
			"llcs: 8 CPUs cannot be split evenly into 3\n"},
		{"{machine: m, connect: {qemu: {memory: 1M}}}",
			"memory: 1M is out of range: 128M to 16T\n"},
		{"{machine: m, connect: {qemu: {acel: tcg}}}",
			"unknown key 'acel' in qemu; did you mean 'accel'?\n"},
		{"{machine: m, connect: {qemu: {}}, cpus: 4}",
			"cpus: the guest has 8; leave this out\n"},
		{"{machine: m, connect: local, boot: kexec}",
			"boot: kexec does not go with connect: local\n"},
		{"{machine: m, connect: {ssh: h}, boot: direct}",
			"boot: direct does not go with connect: ssh\n"},
		{"{machine: m, connect: {ssh: h}, workdir: /tmp}",
			"workdir: '/tmp' is shared; kbracket wants a folder of its own\n"},
		{"{machine: m, connect: {ssh: h}, workdir: /a/../etc}",
			"workdir: '/a/../etc' is not an absolute path\n"},
		{"{machine: m, connect: {ssh: h}, initramfs: [mk, \"{initrdd}\"]}",
			"initramfs: '{initrdd}' 'initrdd' is neither workers, cpus, saturation, "
			"seconds nor a parameter\n"}};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine_spec machine;
		const char *seen;

		assert_int_equal(machine_read_node(&r->arena, yaml_of(&r->arena, cases[i].machine),
					 &machine, &r->diag),
			ERR_USAGE);
		seen = messages(&r->arena, &r->diag);
		if (strcmp(strstr(seen, ": ") + 2, cases[i].message) != 0)
			fail_msg("%s", seen);
	}
}

static void machines_are_read(void **state)
{
	struct reader *r = *state;
	struct machine_spec m;
	char *home = xstrdup(getenv("HOME") ? getenv("HOME") : "");

	setenv("HOME", "/home/me", 1);
	assert_int_equal(
		machine_read_node(&r->arena,
			yaml_of(&r->arena,
				"machine: threadripper\n"
				"connect: { ssh: root@tr9960x }\n"
				"boot: kexec\n"
				"initramfs: [mkinitramfs, -o, \"{initrd}\", \"{release}\"]\n"
				"power: { cycle: [ipmitool, -H, bmc-tr, chassis, power, cycle] }\n"
				"programs: { schbench: ~/bench/schbench/schbench }\n"),
			&m, &r->diag),
		0);
	assert_int_equal(m.kind, MACHINE_SSH);
	assert_string_equal(m.ssh.to, "root@tr9960x");
	assert_string_equal(m.initramfs[2], "{initrd}");
	assert_int_equal(argv_count(m.power_cycle), 6);
	assert_string_equal(m.programs.items[0].value, "/home/me/bench/schbench/schbench");
	assert_int_equal(m.boot_timeout_ns, 300 * NS_PER_S);
	assert_int_equal(m.cpus, 0);
	assert_int_equal(
		machine_read_node(&r->arena, yaml_of(&r->arena, "{machine: here, connect: local}"),
			&m, &r->diag),
		0);
	assert_int_equal(m.kind, MACHINE_LOCAL);
	assert_int_equal(m.boot, BOOT_NONE);
	setenv("HOME", home, 1);
	free(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults_are_filled_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(everything_can_be_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			without_decide_all_but_controls_decide, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_explicit_order_brings_its_own_boots, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			boots_may_be_added_until_it_is_enough, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_designs_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			baselines_named_by_against_are_added, set_up, tear_down),
		cmocka_unit_test_setup_teardown(layouts_come_in_pairs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(layouts_of_nothing_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_dumped_reads_as_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_variants_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_machines_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machines_are_read, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
